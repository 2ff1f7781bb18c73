"""`hiring up`."""

from pathlib import Path

import click

from app.cli import options
from app.instance import up


@click.command("up")
@options.port
@options.host
@click.option(
    "--metrics", is_flag=True, help="Serve figures on free ports, written to metrics-… in DATA's run folder."
)
@options.data
@options.as_json
def command(port: int, host: str, data: Path, *, metrics: bool, as_json: bool) -> None:
    """Run everything on this machine: servers, web, worker, schedule and a demo organisation."""
    up.run(data, host=host, port=port, metrics=metrics, as_json=as_json)
