"""`hiring audit`."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import click

from app.cli import options
from app.cli.administration import transaction
from app.instance.trouble import Trouble

TOLD_EACH = 100_000  # rows, where no terminal is watched


@click.group("audit")
def command() -> None:
    """Verify the audit log."""


@command.command()
@options.data
@options.as_json
def verify(data: Path, *, as_json: bool) -> None:
    """Follow every chain of the audit log; name the first row of each that is not as it was sealed.

    Says on standard error how far it is; the exit status is 1 where anything is at fault.
    """
    from store.auditing import verifying  # slow to load

    with transaction(data, secrets=True) as session:
        found = verifying.verify(session, _telling())
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


def _telling() -> Callable[[int, int], None]:
    """Return what says how far a verification is: in one line that changes, or in a line now and then for a log."""
    told, terminal = 0, sys.stderr.isatty()

    def tell(done: int, known: int) -> None:
        nonlocal told
        words = f"{done:,} of {max(done, known):,} rows"
        if terminal:
            click.echo(f"\r{words}" + ("\n" if done >= known else ""), err=True, nl=False)
        elif done - told >= TOLD_EACH:
            told = done
            click.echo(words, err=True)

    return tell
