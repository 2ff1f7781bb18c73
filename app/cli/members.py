"""`hiring members`."""

from pathlib import Path

import click

from app.cli import options
from app.cli.administration import noted, organisation, transaction
from app.instance.trouble import Trouble
from rules import links
from rules.caller import Caller
from rules.members import ROLES
from schemas import team
from store import outbox
from store.accounts import members, sign_ins

_org = click.option("--org", required=True, metavar="SLUG")
_email = click.option("--email", required=True, callback=options.email)
_role = click.option("--role", type=click.Choice(ROLES), default="member", show_default=True)


@click.group("members")
def command() -> None:
    """Manage the people of an organisation."""


@command.command("add")
@_org
@_email
@click.option("--name", required=True)
@_role
@options.data
@options.as_json
def add_member(org: str, email: str, name: str, role: str, data: Path, *, as_json: bool) -> None:
    """Add a person to an organisation; an open invite of theirs is accepted with it."""
    with transaction(data) as session:
        found = organisation(session, org)
        made = members.add(session, organisation=found, email=email, name=name, role=role)
        noted(session, "members.add", "member", made.id, owner=found.id)
        facts = {"id": str(made.id), "user_id": str(made.user_id)}
    options.show(facts, as_json=as_json)


@command.command("invite")
@_org
@_email
@_role
@options.data
@options.as_json
def invite_member(org: str, email: str, role: str, data: Path, *, as_json: bool) -> None:
    """Invite a person by mail; the link in it is open for 14 days."""
    with transaction(data) as session:
        found = organisation(session, org)
        made, token = members.invite(session, organisation=found, email=email, role=role)
        owner = Caller(found.id, livemode=True, plan_name=found.plan)
        outbox.add(session, owner, "mail", **team.invite_mail(made, token, found.name))
        noted(session, "members.invite", "member_invite", made.id, owner=found.id)
        facts = {"id": str(made.id), "expires_at": options.time(made.expires_at)}
    options.show(facts, as_json=as_json)


@command.command("link")
@click.argument("email", metavar="EMAIL")
@options.data
@options.as_json
def link_member(email: str, data: Path, *, as_json: bool) -> None:
    """Make links with which a member signs in to the area: one for each organisation, once, within 15 minutes."""
    with transaction(data) as session:
        found = sign_ins.members_at(session, email)
        if not found:
            raise Trouble(f"Nobody has the address {email!r}. `hiring members add` adds somebody.")
        made = [(member, name, sign_ins.make(session, member)) for member, name in found]
        for member, _, _ in made:
            noted(session, "members.link", "member", member.id, owner=member.organisation_id)
        rows = [
            {"organisation": name, "role": member.role, "url": links.sign_in(one[2])}
            for member, name, one in made
            if one
        ]
    if not rows:
        raise Trouble("There are enough links for this address already; they end within 15 minutes.")
    options.table(rows, as_json=as_json)


@command.command("list")
@_org
@options.data
@options.as_json
def list_members(org: str, data: Path, *, as_json: bool) -> None:
    """List an organisation's members, the first one first."""
    with transaction(data) as session:
        rows = [
            {"user_id": str(one.user_id), "email": one.email, "name": one.name, "role": one.role}
            for one in members.of(session, organisation(session, org))
        ]
    options.table(rows, as_json=as_json)


@command.command("remove")
@_org
@_email
@options.data
@options.as_json
def remove_member(org: str, email: str, data: Path, *, as_json: bool) -> None:
    """Take a member out of an organisation and its squads, or take an open invite back."""
    with transaction(data) as session:
        found = organisation(session, org)
        removed = members.remove(session, organisation=found, email=email)
        noted(session, "members.remove", "member", owner=found.id)
    options.show({"removed": removed, "email": email}, as_json=as_json)
