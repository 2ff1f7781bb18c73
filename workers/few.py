"""Few at once: where much falls due or fails at the same moment, most of it waits, in the order in which it came."""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager


class Few:
    """Lets so many be at work at once; nobody waits for others longer than so many seconds, and then joins them."""

    def __init__(self, number: int, *, seconds: float) -> None:
        self._free, self._seconds = number, seconds
        self._waiting: deque[threading.Event] = deque()
        self._lock = threading.Lock()

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Be at work until the block ends."""
        has_place = threading.Event()
        with self._lock:
            self._waiting.append(has_place)
            self._hand_on()
        try:
            has_place.wait(self._seconds)
            yield
        finally:
            with self._lock:
                if has_place.is_set():
                    self._free += 1
                    self._hand_on()
                else:
                    self._waiting.remove(has_place)

    def _hand_on(self) -> None:
        while self._free and self._waiting:
            self._free -= 1
            self._waiting.popleft().set()


# Of a process: each kind of what falls due has a thread, and each kind of work some. Fifty that begin or fail together
# have the interpreter and the database do so much at once that others wait for each step of theirs.
at_once = Few(2, seconds=1.0).at_once
