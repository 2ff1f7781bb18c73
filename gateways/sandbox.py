"""The code sandbox: runs candidates' programs behind walls of the Linux kernel, or not at all.

Each input gets a process in new user, PID, mount, network, IPC and host-name namespaces: no network, a file
system that shows the language's files and nothing else of the machine, one small folder to write to, limits
on time, memory, processes, files and output, and a filter on system calls. Needs no root and no container.
Where the kernel or a container refuses any of this, `available` is False and nothing runs.
"""

import contextlib
import functools
import sys
import threading
import time
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gateways import languages
from gateways.jail import starting
from gateways.jail.ahead import Ahead
from gateways.jail.starting import Known, process_limit, supervise
from gateways.languages import LANGUAGES
from gateways.places import Holder, Places, Turn
from rules import outputs
from rules.errors import Unavailable

OUTPUT_BYTES = 64 * 1024
SECONDS, MEMORY_MB = 5.0, 256  # for a program on one input, if nobody says
EXPECTED_SECONDS = 60.0  # a language that is expected again before that is not looked at again
TOGETHER_SECONDS = 120.0  # for one program on all its inputs; the rest of them count as timeouts
PLACE_SECONDS = 120.0  # for a place where other programs run
BUILD_SECONDS, BUILD_MEMORY_MB, BUILD_BOX_MIB = 30.0, 1024, 256  # for a compiler, once for each submission
PATIENCE_SECONDS = 10.0  # for the walls, beside the program's own time
MIB = 1 << 20

# Programs running at a time in one process, so that a wave of submissions does not make them all late.
_places = Places(2)
_expected: dict[str, float] = {}  # when a language was, on the monotonic clock
_known: dict[str, Known] = {}  # by language


@dataclass(frozen=True)
class Run:
    """What a program did with one input; outcome is ok, error, timeout, memory or output_limit."""

    stdout: str
    stderr: str
    outcome: str
    time_ms: int = field(default=0, compare=False)  # from the start to the end, walls included
    # A signal's is negative; None where it was stopped.
    exit_code: int | None = field(default=None, compare=False)
    compiled: bool = True  # or it was never started, and `stderr` is the compiler's text


# Processes that wait for programs; none until it is said how many may.
_ahead = Ahead(0, _places.until_quiet)


def configure(*, at_a_time: int, ahead: int = 0) -> None:
    """Set how many programs this process runs at a time, and how many processes may wait for some."""
    global _places, _ahead  # noqa: PLW0603 - one process, one number of each
    _places = Places(at_a_time)
    _ahead.end()
    _ahead = Ahead(ahead, _places.until_quiet)


def expect(language: str) -> None:
    """Have processes wait for programs that somebody may soon run, if they do for the language; nobody waits for it."""
    kind, now = LANGUAGES.get(language), time.monotonic()
    due = now - _expected.get(language, -EXPECTED_SECONDS) >= EXPECTED_SECONDS
    if _ahead.most and kind and kind.slow and due:
        _expected[language] = now
        threading.Thread(target=_expect, args=[language], name="programs expected", daemon=True).start()


def _expect(language: str) -> None:
    if not why_not(language):
        with contextlib.suppress(UnavailableError):
            spec = _spec(language, "", seconds=SECONDS, memory_mb=MEMORY_MB)
            _ahead.expect(spec | {"waits": spec["command"][-1]})


def until_ahead(count: int, seconds: float) -> bool:
    """Wait until so many processes wait for programs; say whether that came to be."""
    return _ahead.until(count, seconds)


class UnavailableError(Unavailable):
    """The machine cannot run the language safely; `reason` is for those who run it."""

    code = Unavailable.code

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason


def available(language: str) -> bool:
    """Say whether programs in this language can run here; found out by running one."""
    return not why_not(language)


@functools.cache
def missing() -> tuple[str, ...]:
    """Name the languages that are not installed here; looked up once, and no candidate's program is run."""
    return tuple(sorted(name for name, language in LANGUAGES.items() if not language.find()))


def installed() -> list[str]:
    """Name the languages that are."""
    return [name for name in sorted(LANGUAGES) if name not in missing()]


def why_not(language: str) -> str:
    """Give the reason why a language cannot run here; empty if it can."""
    if language not in _known:
        _known[language] = Known(lambda: _probe(language))
    return _known[language].why_not()


def why_no_groups() -> str:
    """Give the reason why programs are watched instead of counted by the kernel here; empty if they are counted."""
    return starting.why_no_groups()


def run(
    language: str,
    code: str,
    inputs: Sequence[str],
    *,
    seconds: float = SECONDS,
    together: float = TOGETHER_SECONDS,
    memory_mb: int = MEMORY_MB,
    holder: Holder | None = None,
    ahead: bool = True,
) -> list[Run]:
    """Run a program once for each input, from nothing each time; in the share of the session that it is for, if any.

    `ahead` uses processes that wait for programs, which is for who waits for the answer.
    Raises UnavailableError if that cannot be safe here, and Unavailable where no place is free for too long.
    """
    if reason := why_not(language):
        raise UnavailableError(reason)
    turn = Turn(holder)
    return _run(
        language, code, inputs, turn, seconds=seconds, together=together, memory_mb=memory_mb, ahead=ahead
    )


def place(session: Hashable, ahead: int | None) -> int:
    """Say which place a session's program has: 1 is the next one, 0 runs.

    `ahead` is how many wait with it to come here, and come before it; None where it is here already.
    """
    if ahead is not None:
        return _places.waiting() + ahead + 1
    here = _places.ahead(session)
    return 0 if here is None else here + 1


def _probe(language: str) -> str:
    if language not in LANGUAGES:
        return f"{language} is not a language of this service"
    try:
        (result,) = _run(
            language, LANGUAGES[language].probe, [""], Turn(), seconds=20, together=20, memory_mb=256
        )
    except UnavailableError as error:
        return error.reason
    if result.outcome == "ok" and outputs.same(result.stdout, "42"):
        return ""
    return f"a {language} program ended with {result.outcome}: {result.stderr[-300:]}"


def _run(
    language: str,
    code: str,
    inputs: Sequence[str],
    turn: Turn,
    *,
    seconds: float,
    together: float,
    memory_mb: int,
    ahead: bool = False,
) -> list[Run]:
    if sys.platform != "linux":
        raise UnavailableError("the sandbox needs Linux")
    spec = _spec(language, code, seconds=seconds, memory_mb=memory_mb)
    box = b""
    if "build" in spec:
        built, box = _build(spec, turn, together)
        if built.outcome != "ok":
            return [built for _ in inputs]
        spec["files"] = {}
    if ahead and _ahead.most and LANGUAGES[language].slow:
        spec["waits"] = spec["command"][-1]
    return [_once(spec, given, turn, together, box)[0] for given in inputs]


def _build(spec: dict[str, Any], turn: Turn, together: float) -> tuple[Run, bytes]:
    """Run the compiler; return how it went, an error if it failed in any way, and the box that programs start from."""
    ordered = {
        **spec,
        "command": spec["build"],
        "warm": False,
        "fine": [0],
        "keep": True,
        "box_mib": BUILD_BOX_MIB,
        "seconds": BUILD_SECONDS,
        "memory_bytes": BUILD_MEMORY_MB * MIB,
        "limits": _limits(BUILD_SECONDS, BUILD_MEMORY_MB, reserves=True)
        | {"RLIMIT_FSIZE": BUILD_BOX_MIB * MIB},
    }
    run, box = _once(ordered, "", turn, together)
    if run.outcome == "ok":
        return run, box
    said = "\n".join(filter(None, (run.stderr or run.stdout, _NOT_BUILT.get(run.outcome))))
    return Run("", said, "error", run.time_ms, compiled=False), b""


_NOT_BUILT = {
    "timeout": "The compiler took too long.",
    "memory": "The compiler needed too much memory.",
    "output_limit": "The compiler printed too much.",
}


def _once(
    spec: dict[str, Any], given: str, turn: Turn, together: float, box: bytes = b""
) -> tuple[Run, bytes]:
    """Run a program on one input within the time that is left for all of them, which waiting for places is not."""
    left = together - turn.used
    if left <= 0:
        return Run("", "", "timeout"), b""
    try:
        with _places.taken(turn, min(PLACE_SECONDS, together) - turn.waited):
            answer = _supervised(spec | {"seconds": min(spec["seconds"], left)}, given, box)
    except TimeoutError:
        raise Unavailable("Other code is running just now; try again in a moment.") from None
    if "fault" in answer:
        raise UnavailableError(f"this machine offers no sandbox: {answer['fault']}")
    out, err = (answer[name].decode(errors="replace") for name in ("stdout", "stderr"))
    return Run(out, err, answer["outcome"], answer["time_ms"], answer["exit_code"]), answer["box"]


def _supervised(spec: dict[str, Any], given: str, box: bytes) -> dict[str, Any]:
    data = given.encode(errors="surrogatepass")
    try:
        patience = spec["seconds"] + PATIENCE_SECONDS
        if "waits" in spec:
            return _ahead.run(spec, data, box, patience=patience)
        return supervise(spec, data, box, patience=patience)
    except TimeoutError as late:
        raise UnavailableError("the sandbox did not answer in time") from late


def _spec(language: str, code: str, *, seconds: float, memory_mb: int) -> dict[str, Any]:
    """Write the supervisor's orders."""
    kind = LANGUAGES[language]
    tool = kind.find()
    if not tool:
        raise UnavailableError(f"{language} is not installed here")
    needs = kind.needs(tool)
    named = {"tool": tool, "needs": needs}
    spec = {
        "command": [part.format(memory=memory_mb, **named) for part in (kind.program, *kind.arguments)],
        "warm": tool == languages.python(),
        "fine": kind.fine,
        "files": {kind.file: code, **kind.beside},
        "walls": languages.walls(tool, *needs),
        "environment": kind.environment,
        "limits": _limits(seconds, memory_mb, reserves=kind.reserves),
        "seconds": seconds,
        "memory_bytes": memory_mb * MIB,
        "output_bytes": OUTPUT_BYTES,
    }
    if kind.build:
        spec["build"] = [part.format(memory=BUILD_MEMORY_MB, **named) for part in kind.build]
    return spec


def _limits(seconds: float, memory_mb: int, *, reserves: bool) -> dict[str, int]:
    """Limit each process of a program by itself: all of them together are held by their group, or watched."""
    limits = {
        "RLIMIT_CPU": int(seconds) + 2,
        "RLIMIT_NPROC": process_limit(),
        "RLIMIT_FSIZE": 16 * MIB,
        "RLIMIT_NOFILE": 128,
        "RLIMIT_SIGPENDING": 256,
        "RLIMIT_MEMLOCK": 0,
        "RLIMIT_CORE": 0,
        # Stacks of 64 threads count here, whatever of them is used; memory itself is held by the group or the watch.
        "RLIMIT_DATA": (memory_mb + 1024) * MIB,
    }
    return limits if reserves else limits | {"RLIMIT_AS": (memory_mb + 2048) * MIB}
