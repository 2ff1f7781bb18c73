"""`hiring work`."""

from dataclasses import replace
from pathlib import Path

import click

from app.cli import options
from app.instance import places, processes
from app.instance.opening import instance, need_schema


@click.command("work")
@click.option(
    "--queues", default=",".join(processes.KINDS), show_default=True, callback=options.queues,
    help="Kinds of work that this process does, comma-separated.",
)  # fmt: skip
@options.metrics_port
@options.data
def command(queues: tuple[str, ...], metrics_port: int | None, data: Path) -> None:
    """Do what happens after a request: deliveries, mail, grading."""
    with instance(data) as settings:
        need_schema(settings)
        folder = places.run_folder(data)
        processes.work(replace(settings, metrics_port=metrics_port), kinds=queues, folder=folder)
