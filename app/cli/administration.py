"""Administration: organisations, their keys, their people."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import click

from app.cli import options
from app.instance.trouble import Trouble
from rules.plans import RANKS

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from store.organisations import Organisation

ROLES = ("owner", "admin", "developer", "recruiter", "reviewer", "member")


@click.group()
def orgs() -> None:
    """Make organisations."""


@orgs.command("create")
@click.argument("name")
@click.option("--plan", type=click.Choice(RANKS), default=RANKS[0], show_default=True)
@options.data
@options.as_json
def create_organisation(name: str, plan: str, data: Path, *, as_json: bool) -> None:
    """Make an organisation called NAME."""
    if not 1 <= len(name.strip()) <= 200:
        raise click.BadParameter("a name has 1 to 200 characters.", param_hint="NAME")
    with _transaction(data) as session:
        from store import organisations

        made = organisations.create(session, name=name.strip(), plan=plan)
        facts = {"id": str(made.id), "slug": made.slug}
    options.show(facts, as_json=as_json)


@click.group()
def keys() -> None:
    """Make, list and revoke API keys."""


@keys.command("create")
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
    with _transaction(data) as session:
        from store import keys

        row, key = keys.create(
            session,
            organisation=_organisation(session, org),
            name=name or f"{mode} key",
            livemode=mode == "live",
            scopes=scopes,
            cidrs=cidrs,
            expires_at=expires_at,
        )
        facts = {"id": str(row.id), "key": key}
    options.show(facts, as_json=as_json)
    if not as_json:
        click.echo("Keep it safe: it cannot be shown again.", err=True)


@keys.command("list")
@click.option("--org", required=True, metavar="SLUG")
@options.data
@options.as_json
def list_keys(org: str, data: Path, *, as_json: bool) -> None:
    """List an organisation's keys, without the keys themselves."""
    with _transaction(data) as session:
        from store import keys

        rows = [_key_facts(row) for row in keys.listing(session, _organisation(session, org))]
    if as_json:
        click.echo(json.dumps(rows))
    else:
        _table(rows)


@keys.command("revoke")
@click.argument("id", type=click.UUID)
@options.data
@options.as_json
def revoke_key(id: UUID, data: Path, *, as_json: bool) -> None:
    """Revoke a key for good; requests with it fail within a second."""
    with _transaction(data) as session:
        from store import keys

        row = keys.revoke(session, id)
        if row is None:
            raise Trouble(f"There is no key {id}. `hiring keys list --org SLUG` shows them.")
        facts = {"id": str(row.id), "revoked_at": _time(row.revoked_at)}
    options.show(facts, as_json=as_json)


@click.group()
def members() -> None:
    """Manage the people of an organisation."""


@members.command("add")
@click.option("--org", required=True, metavar="SLUG")
@click.option("--email", required=True, callback=options.email)
@click.option("--name", required=True)
@click.option("--role", type=click.Choice(ROLES), default="member", show_default=True)
@options.data
@options.as_json
def add_member(org: str, email: str, name: str, role: str, data: Path, *, as_json: bool) -> None:
    """Add a person to an organisation."""
    with _transaction(data) as session:
        from sqlalchemy.exc import IntegrityError

        from store import members

        organisation = _organisation(session, org)
        try:
            made = members.add(session, organisation=organisation, email=email, name=name, role=role)
        except IntegrityError as error:
            raise Trouble(f"{email} is a member of {org} already.") from error
        facts = {"id": str(made.id), "user_id": str(made.user_id)}
    options.show(facts, as_json=as_json)


COMMANDS: tuple[click.Command, ...] = (orgs, keys, members)


@contextmanager
def _transaction(data: Path) -> Iterator["Session"]:
    """Open one transaction on the instance's database, brought to the newest schema when it is embedded."""
    from app.instance import places, prepared  # `--help` needs none of it
    from app.instance.opening import instance, wanted

    with instance(data) as settings:
        from sqlalchemy.exc import OperationalError, ProgrammingError

        import store
        from store import engine, migrate

        if "postgres" in wanted():
            migrate.upgrade(settings.database_url)
            prepared.forget(places.settle(data))
        engine.configure(settings.database_url, pool_size=1)
        try:
            with store.transaction() as session:
                yield session
        except ProgrammingError as error:
            raise Trouble(f"The database has another schema; run `hiring migrate`. ({error.orig})") from error
        except OperationalError as error:
            raise Trouble(f"The database does not answer: {error.orig}") from error
        finally:
            engine.engine().dispose()


def _organisation(session: "Session", slug: str) -> "Organisation":
    from store import organisations

    found = organisations.by_slug(session, slug)
    if found is None:
        raise Trouble(f"There is no organisation {slug!r}. `hiring orgs create NAME` makes one.")
    return found


def _key_facts(row: Any) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "name": row.name,
        "mode": "live" if row.livemode else "test",
        "prefix": row.prefix,
        "scopes": row.scopes,
        "cidrs": row.cidrs,
        "created_at": _time(row.created_at),
        "expires_at": _time(row.expires_at),
        "revoked_at": _time(row.revoked_at),
        "last_used_at": _time(row.last_used_at),
    }


def _time(moment: datetime | None) -> str | None:
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z") if moment else None


def _table(rows: list[dict[str, Any]]) -> None:
    """Print rows as a table for people, or separated by tabs for programs."""
    shown = [
        {name: ", ".join(value) if isinstance(value, list) else value or "" for name, value in row.items()}
        for row in rows
    ]
    if not sys.stdout.isatty():
        for row in shown:
            click.echo("\t".join(map(str, row.values())))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(*(shown[0] if shown else {"no keys": ""}))
    for row in shown:
        table.add_row(*map(str, row.values()))
    Console().print(table)
