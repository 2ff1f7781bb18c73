"""The service's ends of its fork servers: one of programs and of each work of ours, started when needed and again."""

import atexit
import contextlib
import os
import socket
import subprocess
import sysconfig
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gateways import limited
from gateways.jail import frames
from gateways.jail.walls import ENVIRONMENT, PROCESSES
from gateways.languages import SERVICE, python

RETRY_SECONDS = 60.0  # a machine that could not do something is asked again after this
HELLO_SECONDS = 20.0  # until a fork server is ready
BEGIN_SECONDS = (
    10.0  # until it has forked a supervisor; one that has not by then hangs, and another is started
)

LOST = "the supervisor ended before its program"

PROGRAMS = ""  # no work of ours

_START = "import os, sys; sys.path.append(os.getcwd()); from gateways.jail.server import main; main()()"


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


class ServerError(Exception):
    """The fork server does not do what it is there for."""


class Server:
    """A fork server and the socket on which it is asked for supervisors."""

    def __init__(self, work: str = PROGRAMS, *, groups: bool = True) -> None:
        """Start it; without `groups` it looks for none, as if this machine had none to give."""
        self.owner = os.getpid()
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            self.process = subprocess.Popen(  # noqa: S603 - our own interpreter and our own code
                [
                    python(),
                    "-I",
                    "-S",
                    "-B",
                    "-X",
                    "utf8",
                    "-c",
                    _START,
                    str(theirs.fileno()),
                    "groups" if groups else "",
                    work,
                    os.pathsep.join(code()) if work else "",
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env=ENVIRONMENT | (limited.ENVIRON if work else {}),
                cwd=SERVICE,
                start_new_session=True,
            )
        try:
            hello, _ = frames.receive(self.control, time.monotonic() + HELLO_SECONDS)
        except (frames.GoneError, OSError) as error:
            self.end()
            raise ServerError(f"its fork server does not start (exit {self.process.returncode})") from error
        self.why_no_groups: str = hello["why_no_groups"]
        self.control.settimeout(BEGIN_SECONDS)

    def lives(self) -> bool:
        """Say whether it can be asked; one of the process that forked this one is not ours."""
        return self.owner == os.getpid() and self.process.poll() is None

    def supervisor(self) -> socket.socket:
        """Have a supervisor forked; return the socket to it, once it is there."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with theirs:
                socket.send_fds(self.control, [b"x"], [theirs.fileno()])
            frames.receive(ours, time.monotonic() + BEGIN_SECONDS)
        except (frames.GoneError, OSError) as error:
            ours.close()
            raise ServerError("its fork server does not answer") from error
        return ours

    def end(self) -> None:
        """End it, and with it everything that runs below it."""
        self.control.close()
        if self.owner == os.getpid():
            self.process.kill()
            self.process.wait()


_servers: dict[str, Server] = {}  # of this process, by their work
# One that starts holds up no other work.
_starting: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)


def server(work: str = PROGRAMS) -> Server:
    """Return this process's fork server of a work, started if there is none that lives; raises ServerError."""
    with _starting[work]:
        found = _servers.get(work)
        if found and not found.lives():
            _servers.pop(work).end()
            found = None
        if not found:
            found = _servers[work] = Server(work)
        return found


def code() -> list[str]:
    """List where our code is: the service's, then the libraries."""
    installed = sysconfig.get_paths()
    return [str(SERVICE), *dict.fromkeys((installed["purelib"], installed["platlib"]))]


def why_no_groups() -> str:
    """Give the reason why this machine has no control groups for programs; empty where it has."""
    try:
        return server().why_no_groups
    except ServerError as error:
        return str(error)


def _replace(work: str, failed: Server) -> None:
    with _starting[work]:
        if _servers.get(work) is failed:
            _servers.pop(work).end()


@atexit.register
def _stop() -> None:
    for one in list(_servers.values()):
        if one.owner == os.getpid():
            one.end()


def supervise(
    spec: dict[str, Any], given: bytes = b"", box: bytes = b"", *, patience: float
) -> dict[str, Any]:
    """Have one program run on one input; return how it ended with its stdout, stderr and, if wanted, its box, as bytes.

    Where it could not be run the answer is its `fault`. Raises TimeoutError once patience is over; it is stopped then.
    """
    until = time.monotonic() + patience
    try:
        end = supervisor(spec.get("work", PROGRAMS))
    except ServerError as error:
        return {"fault": str(error)}
    with end:
        try:
            end.settimeout(patience)
            frames.send(end, spec, given, box)
        except TimeoutError:
            raise
        except OSError:
            return {"fault": LOST}
        return answer(end, until)


def answer(end: socket.socket, until: float) -> dict[str, Any]:
    """Wait for what a supervisor answers about its program, until that moment."""
    try:
        said, blocks = frames.receive(end, until)
    except TimeoutError:
        raise
    except (frames.GoneError, OSError):
        return {"fault": LOST}
    return said | dict(zip(("stdout", "stderr", "box"), blocks, strict=False))


def supervisor(work: str = PROGRAMS) -> socket.socket:
    """Ask for a supervisor; a fork server that has died or hangs is replaced once."""
    with contextlib.suppress(ServerError):
        asked = server(work)
        try:
            return asked.supervisor()
        except ServerError:
            _replace(work, asked)
    return server(work).supervisor()


def process_limit() -> int:
    """Leave room for a program's PROCESSES; before Linux 5.14 the limit counts the user's others too."""
    major, minor = (int(part) for part in os.uname().release.split(".")[:2])
    if (major, minor) >= (5, 14):
        return PROCESSES
    return PROCESSES + sum(1 for _ in Path("/proc").glob("[0-9]*/task/[0-9]*"))
