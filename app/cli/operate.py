"""The commands of those who run the service or build against it: see what is wrong, change keys, listen."""

import json
import sys
from dataclasses import asdict
from pathlib import Path

import click

from app.cli import options
from app.instance.trouble import Trouble

SIGNS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "wrong": ("✗", "red")}
ROWS = 200  # in one transaction


@click.command()
@options.data
@options.as_json
def doctor(data: Path, *, as_json: bool) -> None:
    """Say what is wrong, and what helps; the exit status is 1 if anything is."""
    from app.instance import doctor
    from app.instance.opening import instance

    with instance(data) as settings:
        findings = doctor.examine(settings)
    if as_json:
        click.echo(json.dumps([asdict(one) for one in findings]))
    for one in () if as_json else findings:
        sign, colour = SIGNS[one.level]
        click.echo(f"{click.style(sign, fg=colour)} {one.subject:12} {one.text}")
    sys.exit(1 if doctor.sick(findings) else 0)


@click.group()
def secrets() -> None:
    """Manage what is encrypted at rest."""


@secrets.command()
@options.data
@options.as_json
def reencrypt(data: Path, *, as_json: bool) -> None:
    """Encrypt again with the first key of SECRET_KEY what an older one encrypted."""
    from app.instance.opening import instance

    with instance(data) as settings:
        import store
        from app.instance import wiring
        from store import reencryption

        wiring.configure(settings, pool_size=1)
        facts = {"encrypted": 0, "unreadable": 0}
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


@click.command()
@click.option("--forward", metavar="URL", help="Where to post each event; nowhere: they are only printed.")
@click.option("--url", metavar="URL", help="The service to listen to, with --key; otherwise that of --data.")
@click.option("--key", envvar="HIRING_KEY", help="A test-mode API key that may read webhooks.")
@click.option("--types", multiple=True, metavar="TYPE", help="Only these events; may be repeated.")
@options.data
def listen(forward: str | None, url: str | None, key: str | None, types: tuple[str, ...], data: Path) -> None:
    """Print test-mode events as they happen and forward them, signed, to a local address: no tunnel needed."""
    from app.cli import listen

    listen.run(listen.source(data, url, key), forward, types)


COMMANDS: tuple[click.Command, ...] = (doctor, secrets, listen)
