"""`hiring bench`."""

import subprocess
import sys

import click

from app.instance.settings import ROOT


@click.command("bench", context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(arguments: tuple[str, ...]) -> None:
    """Measure speed beside peers; a whole run writes docs/speed.md and the README's rows."""
    bench = [sys.executable, "-W", "ignore", "-m", "bench", *arguments]
    sys.exit(subprocess.run(bench, cwd=ROOT, check=False).returncode)
