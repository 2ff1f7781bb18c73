"""Processes that are started ahead: each waits behind its own walls for one program, runs that and ends.

An interpreter that is slow to start, as Node is, has been started with a pipe where its program's file will be, and
waits for what it reads there. Until then it holds nothing of anybody. They are started while no program runs, one
after the other, once their kind has been asked for, and end when nobody has asked for it for ten minutes.
"""

import json
import os
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from gateways.jail import boxes, frames, starting

KEPT_SECONDS = 600.0  # since a program of the kind was last asked for
READY_SECONDS = 20.0  # for a process to be started
BEGIN_SECONDS = 2.0  # for one that waits to take its program; another is started instead then
LARGEST = 1 << 20  # of what a program starts with: larger boxes need more room than they have


class Ahead:
    """What waits, for each kind of orders, in the process that made it."""

    def __init__(self, most: int, until_quiet: Callable[[], None]) -> None:
        """Let so many wait at most, and start them when `until_quiet` has returned."""
        self.most, self.until_quiet = most, until_quiet
        self.owner = os.getpid()
        self._waiting: dict[str, deque[socket.socket]] = {}
        self._asked: dict[str, float] = {}  # when, on the monotonic clock
        self._changed = threading.Condition()
        self._filling = False

    def until(self, count: int, seconds: float) -> bool:
        """Wait until so many wait; say whether that came to be."""
        with self._changed:
            return self._changed.wait_for(lambda: sum(map(len, self._waiting.values())) == count, seconds)

    def end(self) -> None:
        """Let nothing wait any more; who holds the other ends is told by the kernel."""
        with self._changed:
            self._asked.clear()
            self._drop()
            self._changed.notify_all()

    def run(self, spec: dict[str, Any], given: bytes, box: bytes, *, patience: float) -> dict[str, Any]:
        """Do as `starting.supervise`, in a process that waits if there is one that takes the program."""
        until = time.monotonic() + patience
        start = box or boxes.pack_texts(spec["files"])
        waiting = self._take(spec) if self.owner == os.getpid() and len(start) <= LARGEST else None
        if waiting:
            with waiting:
                if _begins(waiting, spec["seconds"], given, start):
                    return starting.answer(waiting, until)
        cold = {name: value for name, value in spec.items() if name != "waits"}
        return starting.supervise(cold, given, box, patience=patience)

    def expect(self, spec: dict[str, Any]) -> None:
        """Have some wait for programs that may come."""
        with self._changed:
            self._ask(_kind(spec))

    def _take(self, spec: dict[str, Any]) -> socket.socket | None:
        with self._changed:
            waiting = self._ask(_kind(spec))
            return waiting.popleft() if waiting else None

    def _ask(self, kind: str) -> deque[socket.socket]:
        self._asked[kind] = time.monotonic()
        if not self._filling:
            self._filling = True
            threading.Thread(target=self._fill, name="programs ahead", daemon=True).start()
        self._changed.notify_all()
        return self._waiting.setdefault(kind, deque())

    def _fill(self) -> None:
        """Start what is missing and end what is old, until nothing is wanted any more."""
        while kind := self._wanted():
            self.until_quiet()
            started = _start(kind)
            with self._changed:
                if started and kind in self._asked:
                    self._waiting[kind].append(started)
                elif started:
                    started.close()
                else:
                    self._asked.pop(kind, None)  # until it is asked for again
                self._changed.notify_all()

    def _wanted(self) -> str:
        """Wait for a kind of which more are wanted; empty where none is any more."""
        with self._changed:
            while True:
                self._drop()
                if not self._asked:
                    self._filling = False
                    return ""
                missing = [kind for kind in self._asked if len(self._waiting[kind]) < self._share()]
                if missing:
                    return missing[0]
                self._changed.wait(min(self._asked.values()) + KEPT_SECONDS - time.monotonic())

    def _share(self) -> int:
        return self.most // len(self._asked)

    def _drop(self) -> None:
        """End what waits of kinds that nobody has asked for in a while, and what is beyond a kind's share."""
        now = time.monotonic()
        self._asked = {kind: when for kind, when in self._asked.items() if now - when < KEPT_SECONDS}
        for kind in self._waiting.keys() - self._asked.keys():
            for end in self._waiting.pop(kind):
                end.close()
            self._changed.notify_all()
        for waiting in self._waiting.values():
            while len(waiting) > self._share():
                waiting.popleft().close()


def _kind(spec: dict[str, Any]) -> str:
    """Say what a process has to be started with; whichever program it gets, that is the same."""
    return json.dumps({name: value for name, value in spec.items() if name not in ("files", "seconds")})


def _begins(waiting: socket.socket, seconds: float, given: bytes, start: bytes) -> bool:
    """Give a process that waits its program; say whether it took it."""
    try:
        waiting.settimeout(BEGIN_SECONDS)
        frames.send(waiting, {"seconds": seconds}, given, start)
        said, _ = frames.receive(waiting, time.monotonic() + BEGIN_SECONDS)
    except (frames.GoneError, OSError):
        return False
    return "begun" in said


def _start(kind: str) -> socket.socket | None:
    """Have a process started that waits; None where that is not to be had."""
    try:
        end = starting.supervisor()
    except starting.ServerError:
        return None
    try:
        end.settimeout(READY_SECONDS)
        frames.send(end, json.loads(kind) | {"files": {}, "seconds": 0}, b"", b"")
        said, _ = frames.receive(end, time.monotonic() + READY_SECONDS)
    except (frames.GoneError, OSError):
        said = {}
    if "ready" in said:
        return end
    end.close()
    return None
