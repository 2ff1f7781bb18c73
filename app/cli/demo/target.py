"""Where the demo plays: an instance that runs, or one of its own."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path

import click
import httpx

from app.instance import demo_keys, embedded, places
from app.instance.trouble import Trouble


@dataclass(frozen=True)
class Target:
    """A running instance, the keys of its demo organisation, and the folder where its mail lies."""

    base_url: str
    organisation: str
    live_key: str
    test_key: str
    mail_dir: Path


@contextmanager
def found(data: Path) -> Iterator[Target]:
    """Find the running instance of a data folder, or start one as long as the block."""
    running = _running(data)
    if running:
        yield running
        return
    click.echo(f"Nothing runs in {data}; starting an instance of the demo's own …")
    with tempfile.TemporaryDirectory(prefix="hiring-demo-") as folder:
        Path(folder).chmod(0o711)  # as root: the servers' user has to get to what it keeps there
        command = [sys.executable, "-P", "-m", "app.cli", "up", "--port", "0", "--data", folder, "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as up:
            try:
                line = up.stdout.readline() if up.stdout else ""
                if not line:
                    raise Trouble("The demo's own instance did not start.")
                facts = json.loads(line)
                known = {one.name: facts[one.name] for one in fields(Target)}
                yield Target(**known | {"mail_dir": Path(facts["mail_dir"])})
            finally:
                up.terminate()
                up.wait(30)


def _running(data: Path) -> Target | None:
    where = places.find(data)
    if where is None:
        return None
    base_url = embedded.published(where).get("base_url")
    kept = demo_keys.kept(where)
    if not base_url or not kept:
        return None
    try:
        httpx.get(base_url, timeout=5, trust_env=False)
    except httpx.HTTPError:
        return None
    return Target(base_url, kept["organisation"], kept["live_key"], kept["test_key"], where.mail)
