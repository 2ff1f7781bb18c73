"""`hiring migrate`."""

from pathlib import Path

import click

from app.cli import options
from app.instance.opening import instance
from store.operating import migrate


@click.command("migrate")
@options.data
def command(data: Path) -> None:
    """Bring the database to the newest schema."""
    with instance(data) as settings:
        changed = migrate.upgrade(settings.database_url)
    click.echo("The database has been brought up to date." if changed else "The database is up to date.")
