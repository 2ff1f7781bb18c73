"""`hiring aside`."""

import json
from pathlib import Path
from uuid import UUID

import click

from app.cli import options
from app.cli.administration import noted, transaction
from store.operating import returning


@click.group("aside")
def command() -> None:
    """List what failed and was set aside, and put it back."""


@command.command("list")
@options.data
@options.as_json
def list_rows(data: Path, *, as_json: bool) -> None:
    """List the rows that failed, the first one first."""
    with transaction(data) as session:
        rows = [
            {
                "kind": one.kind,
                "id": str(one.row_id),
                "organisation": str(one.organisation_id or ""),
                "tries": str(one.tries),
                "since": one.created_at.isoformat(),
                "reason": one.reason,
            }
            for one in returning.everything(session)
        ]
    if as_json:
        click.echo(json.dumps(rows))
    for row in () if as_json else rows:
        click.echo("\t".join(row.values()))


@command.command("back")
@click.argument("kind")
@click.argument("id", type=click.UUID, required=False)
@options.data
def put_back(kind: str, id: UUID | None, data: Path) -> None:
    """Have rows of a KIND, or the one with an ID, taken again at once."""
    with transaction(data) as session:
        count = returning.put_back(session, kind, id)
        noted(session, "aside.back", "row", id)
    click.echo(f"{count} put back.")
