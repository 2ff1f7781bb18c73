"""`hiring migrate`."""

from pathlib import Path

import click

from app.cli import options
from app.instance.opening import instance
from app.instance.trouble import Trouble
from store.operating import migrate


@click.command("migrate")
@options.data
def command(data: Path) -> None:
    """Bring the database to the newest schema."""
    with instance(data) as settings:
        try:
            changed = migrate.upgrade(settings.database_url)
        except migrate.Busy as busy:
            raise Trouble(str(busy)) from busy
    click.echo("The database has been brought up to date." if changed else "The database is up to date.")
