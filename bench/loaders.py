"""Processes of their own that load a service, and the number of something that it takes."""

import json
import math
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from app.instance.settings import ROOT

ROOMS = "bench.rooms_load"
CLOSE, TRIES = 1.08, 2  # how near a number is found, and how often each is tried, of which once has to hold
SETTLED = 2.0  # seconds from when all are there


class Tried(Protocol):
    """How a number of something went."""

    @property
    def holds(self) -> bool: ...

    def show(self) -> None: ...


T = TypeVar("T", bound=Tried)


def search(
    probe: Callable[[int], T],
    confirm: Callable[[int], T],
    *,
    first: int,
    most: int,
    close: float = CLOSE,
    tries: int = TRIES,
) -> T:
    """Double until it does not hold, halve the gap until it is small, and see whether that holds for long."""

    def holds(count: int) -> bool:  # what else the machine does may spoil one try
        return any(shown(probe(count)).holds for _ in range(tries))

    low, high = 0, first
    while high <= most and holds(high):
        low, high = high, high * 2
    if not low:
        raise SystemExit(f"Not even {first} hold.")
    while high <= most and high / low > close:
        middle = round(math.sqrt(low * high))
        if holds(middle):
            low = middle
        else:
            high = middle
    while not (found := shown(confirm(low))).holds:
        low = int(low * 0.9)
        if not low:
            raise SystemExit("Nothing holds for long.")
    return found


def shown(seen: T) -> T:
    seen.show()
    return seen


@contextmanager
def started(
    tasks: Sequence[dict[str, Any]], module: str = ROOMS
) -> Iterator[Callable[[], list[dict[str, Any]]]]:
    """Start the load; what is given begins it and waits for what it saw."""
    loaders = []
    try:
        for task in tasks:
            loader = subprocess.Popen(
                [sys.executable, "-m", module],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            loaders.append(loader)
            _say(loader, json.dumps(task))
        for loader in loaders:
            if _hear(loader) != "ready":
                raise SystemExit("The people could not come in.")

        def begin() -> list[dict[str, Any]]:
            moment = time.monotonic() + SETTLED
            for loader in loaders:
                _say(loader, str(moment))
            return [json.loads(_hear(loader)) for loader in loaders]

        yield begin
    finally:
        for loader in loaders:
            loader.kill()
            loader.wait()


def _say(loader: "subprocess.Popen[str]", line: str) -> None:
    assert loader.stdin
    loader.stdin.write(line + "\n")
    loader.stdin.flush()


def _hear(loader: "subprocess.Popen[str]") -> str:
    assert loader.stdout
    return loader.stdout.readline().strip()


def percentile(values: list[float], per_cent: float) -> float:
    """Return a percentile of seconds in milliseconds; of nothing, none is too long."""
    if not values:
        return 0.0
    return 1000 * sorted(values)[min(len(values) - 1, int(len(values) * per_cent / 100))]
