"""Starts the supervisor, from outside of the walls, and remembers whether this machine can build them."""

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gateways.languages import python

PROCESSES = 64
RETRY_SECONDS = 60.0  # a machine that could not do something is asked again after this

_START = "import sys; sys.path.append(sys.argv[1]); from gateways.jail.supervise import main; main()"


class Known:
    """Why this machine cannot do something, empty if it can; found out once, and after a no now and then again."""

    def __init__(self, find: Callable[[], str]) -> None:
        self.find = find
        self.reason, self.found = "", 0.0
        self._finding = threading.Lock()

    def why_not(self) -> str:
        """Give the reason, found out by trying if it is not known."""
        with self._finding:
            if not self.found or (self.reason and time.monotonic() - self.found >= RETRY_SECONDS):
                self.reason = self.find()
                self.found = time.monotonic()
            return self.reason

    def doubt(self) -> None:
        """Find out anew when it is asked for next."""
        self.found = 0.0


def supervise(spec: dict[str, Any], *, patience: float) -> dict[str, Any]:
    """Start the supervisor in a fresh interpreter with an empty environment and wait for its answer."""
    root = str(Path(__file__).resolve().parents[2])
    with subprocess.Popen(  # noqa: S603 - our own interpreter and our own code
        [python(), "-I", "-S", "-c", _START, root],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={},
        cwd="/",
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(json.dumps(spec).encode(), timeout=patience)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    if process.returncode:
        return {"fault": err.decode(errors="replace").strip()[-300:] or f"exit {process.returncode}"}
    answer: dict[str, Any] = json.loads(out)
    return answer


def process_limit() -> int:
    """Leave room for PROCESSES of the program; before Linux 5.14 the limit counts the user's others too."""
    major, minor = (int(part) for part in os.uname().release.split(".")[:2])
    if (major, minor) >= (5, 14):
        return PROCESSES
    return PROCESSES + sum(1 for _ in Path("/proc").glob("[0-9]*/task/[0-9]*"))
