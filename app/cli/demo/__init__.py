"""`hiring demo`: a journey, visibly, through the public API alone."""

from collections.abc import Callable
from pathlib import Path

import click

from app.cli import options
from app.cli.demo import assess, hire, interview
from app.cli.demo.playing import Received, receiver
from app.cli.demo.target import Target, found

JOURNEYS: dict[str, Callable[[Target, str, Received], None]] = {
    "assess": assess.play,
    "hire": hire.play,
    "interview": interview.play,
}


@click.command("demo")
@options.data
@click.option("--journey", type=click.Choice(list(JOURNEYS)), default="assess", show_default=True)
def command(data: Path, journey: str) -> None:
    """Play a journey: from an assessment to a score, from an application to a hire, or an interview."""
    with found(data) as target, receiver() as (hook_url, received):
        JOURNEYS[journey](target, hook_url, received)
