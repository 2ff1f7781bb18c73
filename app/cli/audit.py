"""`hiring audit`."""

import json
from pathlib import Path

import click

from app.cli import options
from app.cli.administration import transaction
from app.instance.trouble import Trouble


@click.group("audit")
def command() -> None:
    """Verify the audit log."""


@command.command()
@options.data
@options.as_json
def verify(data: Path, *, as_json: bool) -> None:
    """Follow every chain of the audit log; name the first row of each that is not as it was sealed."""
    from store.auditing import verifying  # slow to load

    with transaction(data, secrets=True) as session:
        found = verifying.verify(session)
    faults = [vars(fault) for fault in found.faults]
    facts = {"rows": found.rows, "chains": found.chains, "anchors": found.anchors}
    if as_json:
        click.echo(json.dumps(facts | {"faults": faults}))
    else:
        options.show(facts, as_json=False)
        for fault in found.faults:
            click.echo(f"{fault}")
    if faults:
        raise Trouble(
            f"The audit log is not as it was sealed: {len(faults)} of its chains or anchors are at fault."
        )
