"""`hiring squads`."""

from pathlib import Path
from uuid import UUID

import click

from app.cli import options
from app.cli.administration import noted, organisation, transaction
from rules import plans
from rules.caller import Caller
from store.accounts import organisations, squad_members, squads
from store.accounts.organisations import Organisation

_org = click.option("--org", required=True, metavar="SLUG")


@click.group("squads")
def command() -> None:
    """Manage the squads of an organisation."""


@command.command("create")
@click.argument("name")
@_org
@options.data
@options.as_json
def create_squad(name: str, org: str, data: Path, *, as_json: bool) -> None:
    """Make a squad called NAME, without members."""
    if not 1 <= len(name.strip()) <= 120:
        raise click.BadParameter("a name has 1 to 120 characters.", param_hint="NAME")
    with transaction(data) as session:
        caller = _caller(organisation(session, org))
        organisations.lock(session, caller)
        made = squads.create(session, caller, name.strip())
        noted(session, "squads.create", "squad", made.id, owner=caller.organisation_id)
        facts = {"id": str(made.id), "slug": made.slug}
    options.show(facts, as_json=as_json)


@command.command("list")
@_org
@options.data
@options.as_json
def list_squads(org: str, data: Path, *, as_json: bool) -> None:
    """List an organisation's squads, the first one first."""
    with transaction(data) as session:
        rows = [
            {"id": str(one.id), "slug": one.slug, "name": one.name}
            for one in squads.of(session, _caller(organisation(session, org)))
        ]
    options.table(rows, as_json=as_json)


@command.command("add")
@click.argument("squad", type=click.UUID)
@click.argument("user", type=click.UUID)
@_org
@options.data
@options.as_json
def add_squad_member(squad: UUID, user: UUID, org: str, data: Path, *, as_json: bool) -> None:
    """Add a member of the organisation, by their user id, to the squad with an id."""
    with transaction(data) as session:
        caller = _caller(organisation(session, org))
        squad_members.add(session, caller, squads.get(session, caller, squad), user)
        noted(session, "squads.add", "squad", squad, owner=caller.organisation_id)
    options.show({"squad": str(squad), "user_id": str(user)}, as_json=as_json)


def _caller(found: Organisation) -> Caller:
    """Return an organisation whose plan has squads as a caller."""
    plans.require(found.plan, "squads")
    return Caller(found.id, livemode=True, plan_name=found.plan)
