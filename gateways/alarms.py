"""What happens when a time is over: one thread for everybody, since one for each costs more than most exchanges."""

import heapq
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count

_changed = threading.Condition()
_alarms: list[
    tuple[float, int, list[Callable[[], None]]]
] = []  # on the clock of time.monotonic, and in which order
_numbers = count()


@contextmanager
def after(seconds: float, ring: Callable[[], None]) -> Iterator[None]:
    """Call something that does not wait when the block takes longer; never after it."""
    _watch()
    rings = [ring]
    alarm = (time.monotonic() + seconds, next(_numbers), rings)
    with _changed:
        heapq.heappush(_alarms, alarm)
        if _alarms[0] is alarm:
            _changed.notify()
    try:
        yield
    finally:
        with _changed:
            rings.clear()


@cache
def _watch() -> threading.Thread:
    thread = threading.Thread(target=_run, name="alarms", daemon=True)
    thread.start()
    return thread


def _run() -> None:
    with _changed:
        while True:
            left = _alarms[0][0] - time.monotonic() if _alarms else None
            if left is None or left > 0:
                _changed.wait(left)
                continue
            for ring in heapq.heappop(_alarms)[2]:
                ring()
