"""`hiring up`."""

import os
import signal
import threading
from pathlib import Path

import click
from click.core import ParameterSource

from app.cli import options
from app.cli.up import ephemeral
from app.instance import up


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
@click.option(
    "--until-stdin-ends",
    is_flag=True,
    help="Stop when standard input ends, as it does with who has started this.",
)
@options.data
@options.as_json
@click.pass_context
def command(
    ctx: click.Context,
    port: int,
    host: str,
    data: Path,
    *,
    metrics: bool,
    is_ephemeral: bool,
    until_stdin_ends: bool,
    as_json: bool,
) -> None:
    """Run everything on this machine: servers, web, worker, schedule and a demo organisation."""
    if until_stdin_ends:
        threading.Thread(target=_stop_at_the_end, daemon=True).start()
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


def _stop_at_the_end() -> None:
    while os.read(0, 65_536):  # no lock of sys.stdin is held when we end otherwise
        pass
    os.kill(os.getpid(), signal.SIGTERM)
