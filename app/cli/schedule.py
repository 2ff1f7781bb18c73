"""`hiring schedule`."""

from dataclasses import replace
from pathlib import Path

import click

from app.cli import options
from app.instance import places, processes
from app.instance.opening import instance, need_schema


@click.command("schedule")
@options.metrics_port
@options.data
def command(metrics_port: int | None, data: Path) -> None:
    """Do what falls due: expiries, sessions whose time is up."""
    with instance(data) as settings:
        need_schema(settings)
        processes.schedule(replace(settings, metrics_port=metrics_port), folder=places.run_folder(data))
