"""Processes that share the servers of a test, as several machines would."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.instance.settings import ROOT, Settings, environment

HIRING = [sys.executable, "-P", "-m", "app.cli"]


def environ(settings: Settings, root: Path = ROOT) -> dict[str, str]:
    """The whole environment of a deployment, which needs no data folder."""
    return os.environ | environment(settings) | {"PYTHONPATH": str(root), "WEBHOOK_ALLOW_PRIVATE": "1"}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@contextmanager
def process(
    settings: Settings,
    *words: str,
    ready: str,
    descriptors: tuple[int, ...] = (),
    root: Path = ROOT,
) -> Iterator[subprocess.Popen[str]]:
    """One process of a deployment, from the line that says that it is ready until the end of the block."""
    started = subprocess.Popen(
        [*HIRING, *words],
        cwd="/",
        env=environ(settings, root),
        stderr=subprocess.PIPE,
        text=True,
        pass_fds=descriptors,
    )
    lines: list[str] = []
    heard = threading.Event()

    def read() -> None:
        assert started.stderr
        for line in started.stderr:
            lines.append(line)
            if ready in line:
                heard.set()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        assert heard.wait(60), "".join(lines)
        yield started
    finally:
        if started.poll() is None:
            started.kill()
        started.wait()
        reader.join()
        if started.stderr:
            started.stderr.close()
