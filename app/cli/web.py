"""`hiring web`."""

import gc
import socket
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import click

from app.cli import options
from app.instance import children, listening, places


@click.command("web")
@options.port
@options.host
@click.option("--processes", type=click.IntRange(1, 64), default=1, show_default=True)
@click.option("--fd", type=int, hidden=True, help="A listening socket that is open already.")
@click.option(
    "--waits", is_flag=True, hidden=True, help="Load all, then take the environment from standard input."
)
@options.metrics_port
@options.data
def command(
    port: int, host: str, processes: int, fd: int | None, metrics_port: int | None, data: Path, *, waits: bool
) -> None:
    """Answer requests."""
    # What is loaded stays: to look for garbage in it takes a third of the start. The application ends this.
    gc.disable()
    from app.http import server
    from app.instance.opening import instance, need_schema

    if waits:
        import_module("app.http.application")
        children.told()

    listener = listening.listen(host, port) if fd is None else socket.socket(fileno=fd)
    with instance(data, base_url=listening.url(listener)) as settings:
        need_schema(settings)
        given = replace(settings, metrics_port=metrics_port)
        server.serve(given, listener, processes=processes, folder=places.run_folder(data))
