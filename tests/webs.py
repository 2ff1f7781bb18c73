"""Web processes of their own on one database and Redis, which tests may kill."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from app.instance.settings import ROOT, Settings, environment

OTHERS = {"CANDIDATE_LIMIT": "1000000", "LOG_LEVEL": "WARNING", "WEB_THREADS": "4"}


@dataclass
class Web:
    """One web process, and the port that it keeps when it starts again."""

    settings: Settings
    port: int = 0
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="hiring-web-")))

    def __post_init__(self) -> None:
        if not self.port:
            with socket.create_server(("127.0.0.1", 0)) as free:
                self.port = free.getsockname()[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> "Web":
        return self.begin().ready()

    def begin(self) -> "Web":
        words = ["-P", "-m", "app.cli", "web", "--port", str(self.port), "--data", str(self.folder)]
        environ = {**os.environ, **environment(self.settings), **OTHERS, "PYTHONPATH": str(ROOT)}
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen([sys.executable, *words], env=environ, stdout=log, stderr=log)
        return self

    def ready(self) -> "Web":
        """Wait until it answers."""
        until = time.monotonic() + 60
        while time.monotonic() < until:
            try:
                if httpx.get(f"{self.url}/healthz", timeout=2).status_code == 200:
                    return self
            except httpx.TransportError:
                time.sleep(0.1)
        raise AssertionError((self.folder / "log").read_text())

    def kill(self) -> None:
        """End it as a power cut would."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.kill()


def two(settings: Settings) -> tuple[Web, Web]:
    """Start two of one instance."""
    made = Web(settings).begin(), Web(settings).begin()
    return made[0].ready(), made[1].ready()
