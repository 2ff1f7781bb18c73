"""`hiring keys`."""

from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import click

from app.cli import options
from app.cli.administration import noted, organisation, transaction
from app.instance.trouble import Trouble
from store.accounts import keys


@click.group("keys")
def command() -> None:
    """Make, list and revoke API keys."""


@command.command("create")
@click.option("--org", required=True, metavar="SLUG")
@click.option("--mode", type=click.Choice(("live", "test")), required=True)
@click.option("--name", default="", help="What the key is for.")
@click.option("--scope", "scopes", multiple=True, callback=options.scopes, help="Repeat; none means all.")
@click.option("--cidr", "cidrs", multiple=True, callback=options.cidrs, help="Repeat; none means anywhere.")
@click.option("--expires-at", callback=options.moment, metavar="TIME", help="ISO 8601 with its offset.")
@options.data
@options.as_json
def create_key(
    *,
    org: str,
    mode: str,
    name: str,
    scopes: tuple[str, ...],
    cidrs: tuple[str, ...],
    expires_at: datetime | None,
    data: Path,
    as_json: bool,
) -> None:
    """Make a key for an organisation; it is shown this once."""
    with transaction(data) as session:
        row, key = keys.create(
            session,
            organisation=organisation(session, org),
            name=name or f"{mode} key",
            livemode=mode == "live",
            scopes=scopes,
            cidrs=cidrs,
            expires_at=expires_at,
        )
        noted(session, "keys.create", "key", row.id, owner=row.organisation_id)
        facts = {"id": str(row.id), "key": key}
    options.show(facts, as_json=as_json)
    if not as_json:
        click.echo("Keep it safe: it cannot be shown again.", err=True)


@command.command("list")
@click.option("--org", required=True, metavar="SLUG")
@options.data
@options.as_json
def list_keys(org: str, data: Path, *, as_json: bool) -> None:
    """List an organisation's keys, without the keys themselves."""
    with transaction(data) as session:
        rows = [_key_facts(row) for row in keys.listing(session, organisation(session, org))]
    options.table(rows, as_json=as_json)


@command.command("revoke")
@click.argument("id", type=click.UUID)
@options.data
@options.as_json
def revoke_key(id: UUID, data: Path, *, as_json: bool) -> None:
    """Revoke a key for good; requests with it fail within a second."""
    with transaction(data) as session:
        row = keys.revoke(session, id)
        if row is None:
            raise Trouble(f"There is no key {id}. `hiring keys list --org SLUG` shows them.")
        noted(session, "keys.revoke", "key", row.id, owner=row.organisation_id)
        facts = {"id": str(row.id), "revoked_at": options.time(row.revoked_at)}
    options.show(facts, as_json=as_json)


def _key_facts(row: Any) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "name": row.name,
        "mode": "live" if row.livemode else "test",
        "prefix": row.prefix,
        "scopes": row.scopes,
        "cidrs": row.cidrs,
        "created_at": options.time(row.created_at),
        "expires_at": options.time(row.expires_at),
        "revoked_at": options.time(row.revoked_at),
        "last_used_at": options.time(row.last_used_at),
    }
