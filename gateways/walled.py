"""Our own code behind the sandbox's walls, for what strangers sent: no network, and no files but that code's.

Not every machine can build them; there the limits that the code takes upon itself (`limited`) have to do.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gateways import languages, limited
from gateways.jail.starting import Known, code, process_limit, supervise

PATIENCE_SECONDS = 10.0  # for the walls, beside the work's own time
MIB = 1 << 20


@dataclass(frozen=True)
class Limits:
    """What one piece of work may take: seconds of processor time and of the clock, MiB of memory, bytes put out."""

    seconds: float
    memory_mb: int
    output_bytes: int


class Walled:
    """One kind of work, and whether it can be done behind walls here; `probe` tries it and says what was wrong."""

    def __init__(self, work: str, probe: Callable[[], str]) -> None:
        self._work = work
        self._known = Known(lambda: probe() if sys.platform == "linux" else "the walls need Linux")

    def why_not(self) -> str:
        """Give the reason why it is done without walls here; empty where it is done behind them."""
        return self._known.why_not()

    def run(
        self, start: str, arguments: Sequence[str], given: bytes, limits: Limits
    ) -> dict[str, Any] | None:
        """Have a process of our own Python do it; return its output and how it ended. None where there are no walls."""
        if self.why_not():
            return None
        answer = run(self._work, start, arguments, given, limits)
        if "fault" in answer:
            self._known.doubt()  # what was sent may have brought them down, or else there are none any more
            return None if self.why_not() else {"stdout": b"", "stderr": b"", "outcome": "error"}
        return answer


def start(work: str) -> str:
    """Write what carries out the module `work`; its first argument is where our code is."""
    return f"import sys; sys.path[:0] = sys.argv[1].split(':'); from {work} import main; main()"


def run(work: str, start: str, arguments: Sequence[str], given: bytes, limits: Limits) -> dict[str, Any]:
    """Run `start` behind walls, where the module `work` is prepared; the answer is a `fault` where there are none."""
    memory = limits.memory_mb * MIB
    command = [languages.python(), "-I", "-S", "-B", "-c", start, os.pathsep.join(code())]
    spec = {
        "work": work,
        "warm": True,
        "command": [*command, *arguments],
        "fine": [0],
        "files": {},
        "walls": _walls(),
        "limits": {
            "RLIMIT_AS": memory,
            "RLIMIT_DATA": memory,
            "RLIMIT_CPU": int(limits.seconds) + 1,
            "RLIMIT_NPROC": process_limit(),
            "RLIMIT_NOFILE": 128,
            "RLIMIT_FSIZE": 0,
            "RLIMIT_SIGPENDING": 256,
            "RLIMIT_MEMLOCK": 0,
            "RLIMIT_CORE": 0,
        },
        "seconds": limits.seconds,
        "memory_bytes": memory,
        "output_bytes": limits.output_bytes,
    }
    try:
        return supervise(spec, given, patience=limits.seconds + PATIENCE_SECONDS)
    except TimeoutError:
        return {"stdout": b"", "stderr": b"", "outcome": "timeout"}


def bare(
    start: str,
    arguments: Sequence[str],
    given: bytes,
    *,
    seconds: float,
    complaints: int = subprocess.DEVNULL,
) -> subprocess.CompletedProcess[bytes]:
    """Run `start` in a process that has its limits alone."""
    return limited.run(
        start, str(languages.SERVICE), *arguments, given=given, seconds=seconds, complaints=complaints
    )


def fault(work: str, answer: dict[str, Any], expected: bytes) -> str:
    """Say what was wrong with a probe; empty if it put out what was expected."""
    if "fault" in answer:
        return f"this machine offers no sandbox: {answer['fault']}"
    if expected not in answer["stdout"]:
        said = answer["stderr"].decode(errors="replace")[-300:]
        return f"the {work} does not work behind them ({answer['outcome']}): {said}"
    return ""


def _walls() -> list[tuple[str, str]]:
    """Show what our code needs; of the service's folder, which may hold its data too, only packages."""
    service, *libraries = code()
    ours = [f"{service}/{package}" for package in ("gateways", "insides", "rules")]
    return [*languages.walls(languages.python()), *(("bind", path) for path in (*libraries, *ours))]
