"""`hiring orgs`."""

import json
import sys
from pathlib import Path

import click

import store
from app.cli import options
from app.cli.administration import database, noted, transaction
from rules.plans import RANKS
from store.accounts import keys, organisations


@click.group("orgs")
def command() -> None:
    """Make and list organisations."""


@command.command("create")
@click.argument("name")
@click.option("--plan", type=click.Choice(RANKS), default=RANKS[0], show_default=True)
@options.data
@options.as_json
def create_organisation(name: str, plan: str, data: Path, *, as_json: bool) -> None:
    """Make an organisation called NAME."""
    if not 1 <= len(name.strip()) <= 200:
        raise click.BadParameter("a name has 1 to 200 characters.", param_hint="NAME")
    with transaction(data) as session:
        made = organisations.create(session, name=name.strip(), plan=plan)
        noted(session, "orgs.create", "organisation", made.id, owner=made.id)
        facts = {"id": str(made.id), "slug": made.slug}
    options.show(facts, as_json=as_json)


@command.command("create-each")
@click.option("--plan", type=click.Choice(RANKS), default=RANKS[0], show_default=True)
@options.data
def create_each(plan: str, data: Path) -> None:
    """Make an organisation and a key of each mode for each name on standard input; each is a line of JSON at once."""
    with database(data):
        for line in sys.stdin:
            with store.transaction() as session:
                made = organisations.create(session, name=line.strip()[:200] or "Acme", plan=plan)
                noted(session, "orgs.create", "organisation", made.id, owner=made.id)
                facts = {"id": str(made.id), "slug": made.slug}
                for mode in ("test", "live"):
                    key, facts[f"{mode}_key"] = keys.create(
                        session, organisation=made, name=f"{mode} key", livemode=mode == "live"
                    )
                    noted(session, "keys.create", "key", key.id, owner=made.id)
            click.echo(json.dumps(facts))
            sys.stdout.flush()


@command.command("list")
@options.data
@options.as_json
def list_organisations(data: Path, *, as_json: bool) -> None:
    """List the organisations, oldest first."""
    with transaction(data) as session:
        rows = [
            {"id": str(one.id), "slug": one.slug, "name": one.name, "plan": one.plan}
            for one in organisations.everyone(session)
        ]
    if as_json:
        click.echo(json.dumps(rows))
    for row in () if as_json else rows:
        click.echo("\t".join(row.values()))
