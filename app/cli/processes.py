"""The commands that run something: all of it on one machine, or the processes one by one."""

import gc
import os
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import click

from app.cli import options
from app.instance.settings import ROOT
from app.instance.trouble import Trouble

host = click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
port = click.option(
    "--port", type=click.IntRange(0, 65535), default=8080, show_default=True, help="0: a free one."
)
metrics_port = click.option(
    "--metrics-port",
    type=click.IntRange(0, 65535),
    envvar="METRICS_PORT",
    help="Serve figures for Prometheus there; 0: a free one.",
)


@click.command()
@port
@host
@click.option(
    "--metrics", is_flag=True, help="Serve figures on free ports, written to metrics-… in DATA's run folder."
)
@options.data
@options.as_json
def up(port: int, host: str, data: Path, *, metrics: bool, as_json: bool) -> None:
    """Run everything on this machine: servers, web, worker, schedule and a demo organisation."""
    from app.instance import up  # a command loads what it needs, and no more

    up.run(data, host=host, port=port, metrics=metrics, as_json=as_json)


@click.command()
@port
@host
@click.option("--processes", type=click.IntRange(1, 64), default=1, show_default=True)
@click.option("--fd", type=int, hidden=True, help="A listening socket that is open already.")
@metrics_port
@options.data
def web(port: int, host: str, processes: int, fd: int | None, metrics_port: int | None, data: Path) -> None:
    """Answer requests."""
    # What is loaded stays: to look for garbage in it takes a third of the start. The application ends this.
    gc.disable()
    from app.http import server as web
    from app.instance.opening import instance

    listener = web.listen(host, port) if fd is None else socket.socket(fileno=fd)
    with instance(data) as settings:
        given = replace(settings, metrics_port=metrics_port)
        web.serve(given, listener, processes=processes, folder=_run_folder(data))


@click.command()
@metrics_port
@options.data
def work(metrics_port: int | None, data: Path) -> None:
    """Do what happens after a request: deliveries, mail, grading."""
    from app.instance import processes
    from app.instance.opening import instance

    with instance(data) as settings:
        processes.work(replace(settings, metrics_port=metrics_port), folder=_run_folder(data))


@click.command()
@metrics_port
@options.data
def schedule(metrics_port: int | None, data: Path) -> None:
    """Do what falls due: expiries, sessions whose time is up."""
    from app.instance import processes
    from app.instance.opening import instance

    with instance(data) as settings:
        processes.schedule(replace(settings, metrics_port=metrics_port), folder=_run_folder(data))


def _run_folder(data: Path) -> Path | None:
    """Return where an instance's processes leave what others want to know; nothing where there is no folder."""
    from app.instance import places

    return places.settle(data).run if data.exists() else None


@click.command()
@options.data
def demo(data: Path) -> None:
    """Play the main journey: an assessment, a candidate, a score, signed webhooks."""
    from app.cli import demo

    demo.run(data)


@click.command()
@options.data
def migrate(data: Path) -> None:
    """Bring the database to the newest schema."""
    from app.instance.opening import instance
    from store import migrate

    with instance(data) as settings:
        changed = migrate.upgrade(settings.database_url)
    click.echo("The database has been brought up to date." if changed else "The database is up to date.")


@click.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def test(arguments: tuple[str, ...]) -> None:
    """Run every check and every test; ARGUMENTS go to tox (for example `-e tests`)."""
    import importlib.util

    if importlib.util.find_spec("tox") is None:
        raise Trouble("The test tools are not installed: `./hiring test` installs them.")
    environ = os.environ | {"HIRING_TOOLS": str(Path(sys.executable).parent)}
    command = [sys.executable, "-m", "tox", *(arguments or ("run",))]
    sys.exit(subprocess.run(command, cwd=ROOT, env=environ, check=False).returncode)


@click.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def bench(arguments: tuple[str, ...]) -> None:
    """Measure speed against peers (`--quick`: under five minutes); writes bench/results.json and the README's table."""
    command = [sys.executable, "-W", "ignore", "-m", "bench", *arguments]
    sys.exit(subprocess.run(command, cwd=ROOT, check=False).returncode)


COMMANDS: tuple[click.Command, ...] = (up, web, work, schedule, demo, migrate, test, bench)
