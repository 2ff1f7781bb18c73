"""Places where programs run: as many at a time as the machine can take, shared fairly between those who want one."""

import contextlib
import itertools
import threading
import time
from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

QUIET_SECONDS = 0.25


@dataclass(frozen=True)
class Holder:
    """For whom a program runs: one session of one organisation."""

    organisation: Hashable
    session: Hashable


@dataclass
class Turn:
    """One program's wish for places, one input after the other."""

    holder: Holder | None = None
    used: float = 0.0  # seconds that it has had a place; whoever had less goes first
    waited: float = 0.0  # seconds that it has waited for one
    number: int = 0


class Places:
    """Places that are taken for one input at a time.

    A session never holds more than one, and an organisation never all of them where there is more than one. Of those
    who wait the one whose organisation holds least goes first, then whose program has run for the shortest time.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._held: Counter[Hashable] = Counter()
        self._taken = 0
        self._left = 0.0  # when a place was given back last
        self._waiting: list[Turn] = []
        self._numbers = itertools.count()
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def taken(self, turn: Turn, timeout: float) -> Iterator[None]:
        """Hold a place; raises TimeoutError where none is free in time."""
        came = time.monotonic()
        with self._changed:
            turn.number = next(self._numbers)
            self._waiting.append(turn)
            try:
                if not self._changed.wait_for(lambda: self._next() is turn, timeout):
                    raise TimeoutError
                self._count(turn, 1)
            finally:
                self._waiting.remove(turn)
                self._changed.notify_all()
        started = time.monotonic()
        turn.waited += started - came
        try:
            yield
        finally:
            turn.used += time.monotonic() - started
            with self._changed:
                self._left = time.monotonic()
                self._count(turn, -1)
                self._changed.notify_all()

    def until_quiet(self) -> None:
        """Wait until nobody has had a place or waited for one for a while."""
        with self._changed:
            while self._taken or self._waiting or (left := self._left + QUIET_SECONDS - time.monotonic()) > 0:
                self._changed.wait(None if self._taken or self._waiting else left)

    def ahead(self, session: Hashable) -> int | None:
        """Count whose turn comes before that of a session which waits to begin; None where it does not."""
        with self._changed:
            beginning = [turn for turn in self._waiting if not turn.used]
            its = next((turn for turn in beginning if turn.holder and turn.holder.session == session), None)
            return None if its is None else sum(self._rank(turn) < self._rank(its) for turn in beginning)

    def waiting(self) -> int:
        """Count who waits to begin."""
        with self._changed:
            return sum(not turn.used for turn in self._waiting)

    def _next(self) -> Turn | None:
        """Say whose turn it is, if a place is free that anybody who waits may have."""
        if self._taken >= self.count:
            return None
        may = [turn for turn in self._waiting if self._may(turn.holder)]
        return min(may, key=self._rank, default=None)

    def _may(self, holder: Holder | None) -> bool:
        if holder is None:
            return True
        return not self._held[holder] and self._held[holder.organisation] < max(1, self.count - 1)

    def _rank(self, turn: Turn) -> tuple[int, float, int]:
        return (self._held[turn.holder.organisation] if turn.holder else 0, turn.used, turn.number)

    def _count(self, turn: Turn, change: int) -> None:
        self._taken += change
        if turn.holder:
            for one in (turn.holder, turn.holder.organisation):
                self._held[one] += change
                if not self._held[one]:
                    del self._held[one]
