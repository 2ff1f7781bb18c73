"""Instances of the service for tests: real processes in folders of their own."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.instance.places import POINTER
from app.instance.settings import ROOT

OURS = (
    "DATABASE_URL",
    "REDIS_URL",
    "BASE_URL",
    "MAIL_DIR",
    "FILES_DIR",
    "SECRET_KEY",
    "WEBHOOK_ALLOW_PRIVATE",
)
ENVIRON = {name: value for name, value in os.environ.items() if name not in OURS} | {"PYTHONPATH": str(ROOT)}
COMMAND = [sys.executable, "-P", "-m", "app.cli"]


@dataclass
class Up:
    """A running `hiring up`."""

    process: subprocess.Popen[str]
    facts: dict[str, str]
    line: str


def hiring(*words: str, environ: dict[str, str] | None = None, cwd: Path | None = None) -> Any:
    """Run one command to its end."""
    return subprocess.run(
        [*COMMAND, *words], capture_output=True, text=True, check=False, env=ENVIRON | (environ or {}), cwd=cwd or "/"
    )  # fmt: skip


def facts(*words: str, environ: dict[str, str] | None = None) -> Any:
    """Run one command and return the JSON of its one line."""
    done = hiring(*words, "--json", environ=environ)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1
    return json.loads(done.stdout)


@contextmanager
def walkable() -> Iterator[Path]:
    """Make a folder that every user can walk, and take it away with what its instances kept elsewhere."""
    made = Path(tempfile.mkdtemp(prefix="hiring-test-", dir="/tmp"))
    made.chmod(0o755)
    try:
        yield made
    finally:
        for pointer in made.rglob(POINTER):
            shutil.rmtree(pointer.read_text().strip(), ignore_errors=True)
        shutil.rmtree(made, ignore_errors=True)


@contextmanager
def up(data: Path, *words: str, environ: dict[str, str] | None = None) -> Iterator[Up]:
    """Run `hiring up` until it is ready, and stop it at the end."""
    command = [*COMMAND, "up", "--json", "--port", "0", "--data", str(data), *words]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRON | (environ or {}), cwd="/"
    ) as process:  # fmt: skip
        assert process.stdout
        assert process.stderr
        line = process.stdout.readline()
        assert line, process.stderr.read()
        try:
            yield Up(process, json.loads(line), line)
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)


def of(folder: Path) -> list[int]:
    """Return the processes that name a folder on their command line or work in it."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_text(errors="replace")
            except OSError:
                continue
            if str(folder) in words:
                found.append(int(entry.name))
    return found


def eventually(holds: Callable[[], Any], seconds: float = 30) -> Any:
    """Wait until something holds that no event announces; return what it gave."""
    deadline = time.monotonic() + seconds
    while not (given := holds()):
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.02)
    return given
