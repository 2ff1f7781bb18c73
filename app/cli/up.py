"""`hiring up`."""

from pathlib import Path

import click
from click.core import ParameterSource

from app.cli import options
from app.instance import ephemeral, up


@click.command("up")
@options.port
@options.host
@click.option(
    "--metrics", is_flag=True, help="Serve figures on free ports, written to metrics-… in DATA's run folder."
)
@click.option(
    "--ephemeral",
    "is_ephemeral",
    is_flag=True,
    help="Keep nothing: a free port and a folder of its own, gone when this ends or is killed.",
)
@options.data
@options.as_json
@click.pass_context
def command(
    ctx: click.Context, port: int, host: str, data: Path, *, metrics: bool, is_ephemeral: bool, as_json: bool
) -> None:
    """Run everything on this machine: servers, web, worker, schedule and a demo organisation."""
    if is_ephemeral:
        if _is_said(ctx, "data"):
            raise click.UsageError("Say --ephemeral or --data, not both: nothing is kept.")
        port = port if _is_said(ctx, "port") else 0
        with ephemeral.folder() as folder:
            up.run(folder, host=host, port=port, metrics=metrics, as_json=as_json, durable=False)
        return
    up.run(data, host=host, port=port, metrics=metrics, as_json=as_json)


def _is_said(ctx: click.Context, name: str) -> bool:
    return ctx.get_parameter_source(name) is not ParameterSource.DEFAULT
