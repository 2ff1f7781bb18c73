"""`hiring members`."""

from pathlib import Path

import click
from sqlalchemy.exc import IntegrityError

from app.cli import options
from app.cli.administration import noted, organisation, transaction
from app.instance.trouble import Trouble
from store.accounts import members

ROLES = ("owner", "admin", "developer", "recruiter", "reviewer", "member")


@click.group("members")
def command() -> None:
    """Manage the people of an organisation."""


@command.command("add")
@click.option("--org", required=True, metavar="SLUG")
@click.option("--email", required=True, callback=options.email)
@click.option("--name", required=True)
@click.option("--role", type=click.Choice(ROLES), default="member", show_default=True)
@options.data
@options.as_json
def add_member(org: str, email: str, name: str, role: str, data: Path, *, as_json: bool) -> None:
    """Add a person to an organisation."""
    with transaction(data) as session:
        found = organisation(session, org)
        try:
            made = members.add(session, organisation=found, email=email, name=name, role=role)
        except IntegrityError as error:
            raise Trouble(f"{email} is a member of {org} already.") from error
        noted(session, "members.add", "member", made.id, owner=found.id)
        facts = {"id": str(made.id), "user_id": str(made.user_id)}
    options.show(facts, as_json=as_json)
