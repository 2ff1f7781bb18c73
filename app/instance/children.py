"""Child processes that never outlive us."""

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1
LOG_LIMIT = 10 * 1024 * 1024

# Loaded before any fork: the time between fork and exec is no place for imports.
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


@dataclass(frozen=True)
class Account:
    """The user and group a child runs as."""

    uid: int
    gid: int


@dataclass(frozen=True)
class Recipe:
    """How to start one child, as often as it takes."""

    name: str
    command: Sequence[str]
    log: Path
    environ: Mapping[str, str]
    account: Account | None = None  # None: ours
    stop: signal.Signals = signal.SIGTERM
    cwd: Path | None = None
    descriptors: Sequence[int] = field(default=())


def spawn(recipe: Recipe, *, waits: bool = False) -> subprocess.Popen[bytes]:
    """Start a child that is stopped when we die. Call from the main thread: it is the one that counts.

    One that `waits` reads its environment from standard input when it has loaded what it needs: see `tell`.
    """
    keep_short(recipe.log)
    with recipe.log.open("ab") as log:
        recipe.log.chmod(0o600)
        return subprocess.Popen(
            list(recipe.command),
            stdin=subprocess.PIPE if waits else subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=dict(recipe.environ),
            cwd=recipe.cwd,
            pass_fds=tuple(recipe.descriptors),
            # Ctrl-C in the terminal reaches us alone: we stop the children in the right order.
            start_new_session=True,
            preexec_fn=_die_with_parent(os.getpid(), recipe.stop),  # noqa: PLW1509 - two system calls
            **as_account(recipe.account),
        )


def tell(process: subprocess.Popen[bytes], environ: Mapping[str, str]) -> None:
    """Let a child go on that waits; one that has died meanwhile is noticed by whoever looks after it."""
    assert process.stdin
    with contextlib.suppress(BrokenPipeError), process.stdin:
        process.stdin.write(json.dumps(dict(environ)).encode())


def told() -> None:
    """Wait for that as such a child; end where who started us has."""
    os.environ.update(json.loads(sys.stdin.read() or sys.exit(1)))


def as_account(account: Account | None) -> dict[str, Any]:
    """Return Popen's arguments for running as `account`; nothing when that is who we are."""
    if account is None or account.uid == os.geteuid():
        return {}
    return {"user": account.uid, "group": account.gid, "extra_groups": [], "umask": 0o077}


def stop(process: subprocess.Popen[bytes], sign: signal.Signals, *, patience: float) -> None:
    """Ask a child to stop; after `patience` seconds kill it and what it started."""
    ask(process, sign)
    _ended(process, patience)
    end_group(process)
    _ended(process, patience)


def _ended(process: subprocess.Popen[bytes], patience: float) -> bool:
    """Wait for a child's end, and say whether it came.

    `Popen.wait` takes a lock that a signal's exception may have left taken in `Popen.poll`: it would wait for ever.
    """
    deadline = time.monotonic() + patience
    while process.returncode is None:
        try:
            done, status = os.waitpid(process.pid, os.WNOHANG)
        except ChildProcessError:  # somebody has seen its end already
            return True
        if done:
            process.returncode = os.waitstatus_to_exitcode(status)
        elif time.monotonic() > deadline:
            return False
        else:
            time.sleep(0.01)
    return True


def ask(process: subprocess.Popen[bytes], sign: signal.Signals) -> None:
    """Ask a child to stop, without waiting."""
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(sign)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left of a child and of what it started: its session is its own."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def keep_short(log: Path) -> None:
    """Put a log aside once it has grown large; one older log is kept."""
    if log.exists() and log.stat().st_size > LOG_LIMIT:
        log.replace(log.with_suffix(".log.1"))


def tail(log: Path, *, lines: int = 12) -> str:
    """Return the last lines of a log for people to read."""
    if not log.exists():
        return ""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 65536))
        return "\n".join(_plain(line) for line in file.read().decode(errors="replace").splitlines()[-lines:])


def _plain(line: str) -> str:
    """Shorten one of our structured lines to its message and the fault's last line."""
    if not line.startswith("{"):
        return line
    try:
        entry = json.loads(line)
    except ValueError:
        return line
    fault = str(entry.get("traceback", "")).strip().splitlines()[-1:]
    return "  ".join([str(entry.get("message", line)).strip(), *fault])


def die_with_parent() -> None:
    """Be stopped when the process that started this one dies; where the system cannot do that, live on."""
    if _libc is not None:
        _libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM))
    parent = parent_process()
    if parent is not None and not parent.is_alive():  # it died before the call above
        os._exit(1)


def _die_with_parent(parent: int, sign: signal.Signals) -> Callable[[], None] | None:
    if _libc is None:
        return None  # elsewhere the next start clears what a killed one left
    prctl = _libc.prctl

    def hook() -> None:
        prctl(PR_SET_PDEATHSIG, int(sign))
        if os.getppid() != parent:  # died before the call above
            os._exit(1)

    return hook
