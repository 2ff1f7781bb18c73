"""`hiring test`."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import click

from app.instance.settings import ROOT
from app.instance.trouble import Trouble


@click.command("test", context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(arguments: tuple[str, ...]) -> None:
    """Run every check and every test; ARGUMENTS go to tox (for example `-e tests`)."""
    if importlib.util.find_spec("tox") is None:
        raise Trouble("The test tools are not installed: `./hiring test` installs them.")
    environ = os.environ | {"HIRING_TOOLS": str(Path(sys.executable).parent)}
    tox = [sys.executable, "-m", "tox", *(arguments or ("run",))]
    sys.exit(subprocess.run(tox, cwd=ROOT, env=environ, check=False).returncode)
