"""`hiring doctor`."""

import json
import sys
from dataclasses import asdict
from pathlib import Path

import click

from app.cli import options
from app.instance import doctor
from app.instance.opening import instance

SIGNS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "wrong": ("✗", "red")}


@click.command("doctor")
@options.data
@options.as_json
def command(data: Path, *, as_json: bool) -> None:
    """Say what is wrong, and what helps; the exit status is 1 if anything is."""
    with instance(data) as settings:
        findings = doctor.examine(settings)
    if as_json:
        click.echo(json.dumps([asdict(one) for one in findings]))
    for one in () if as_json else findings:
        sign, colour = SIGNS[one.level]
        click.echo(f"{click.style(sign, fg=colour)} {one.subject:12} {one.text}")
    sys.exit(1 if doctor.sick(findings) else 0)
