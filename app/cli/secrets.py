"""`hiring secrets`."""

from pathlib import Path

import click

import store
from app.cli import options
from app.cli.administration import noted
from app.instance import wiring
from app.instance.opening import instance, need_schema
from app.instance.trouble import Trouble
from store.operating import reencryption

ROWS = 200  # in one transaction


@click.group("secrets")
def command() -> None:
    """Manage what is encrypted at rest."""


@command.command()
@options.data
@options.as_json
def reencrypt(data: Path, *, as_json: bool) -> None:
    """Encrypt again with the first key of SECRET_KEY what an older one encrypted."""
    with instance(data) as settings:
        need_schema(settings)
        wiring.configure(settings, pool_size=1)
        facts = {"encrypted": 0, "unreadable": 0}
        with store.transaction() as session:
            noted(session, "secrets.reencrypt", "secret")
        for model in reencryption.ENCRYPTED:
            after, more = None, True
            while more:
                with store.transaction() as session:
                    after, done, unreadable = reencryption.batch(session, model, after, limit=ROWS)
                facts["encrypted"] += done
                facts["unreadable"] += unreadable
                more = after is not None
    options.show(facts, as_json=as_json)
    if facts["unreadable"]:
        raise Trouble("Some could not be read with any key of SECRET_KEY: give the older key too.")
