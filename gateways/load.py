"""How much of a process each party has, in all that computes together."""

import math
import threading
import time
from collections.abc import Hashable
from dataclasses import dataclass

LATELY = 5.0  # seconds for which it is counted, twice in a row
NEARLY = 0.9  # of the most that anybody had
WANTED = 1.0  # seconds for which it counts that somebody wanted more
HERE = 1.0  # seconds for which somebody counts as there who has nothing now


@dataclass(slots=True)
class _Party:
    """What one has, and had: `since` when it has so many, or has nothing any more."""

    since: float
    has: int = 0  # places and threads
    lately: float = 0.0  # seconds of them since counting began, until `since`
    before: float = 0.0  # in as long a time before

    def settle(self, now: float) -> None:
        if self.has:
            self.lately += self.has * (now - self.since)
            self.since = now

    def had(self, now: float) -> float:
        self.settle(now)
        return self.lately + self.before

    def is_here(self, now: float) -> bool:
        return self.has > 0 or now - self.since <= HERE


class Load:
    """For how long each party had places or threads lately: one that rests has them still.

    What each was served would not say who wants most: whoever crowds others out and therefore rests is served less
    than they are.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._parties: dict[Hashable, _Party] = {}
        # By party and lane, when it wanted more last.
        self._wanted: dict[tuple[Hashable, Hashable], float] = {}
        self._began = -math.inf

    def change(self, party: Hashable, by: int) -> None:
        """Note that a party has so many more."""
        now = time.monotonic()
        with self._lock:
            if now - self._began >= LATELY:
                self._begin(now)
            one = self._parties.get(party)
            if one is None:
                one = self._parties[party] = _Party(now)
            one.settle(now)
            one.since = now
            one.has += by

    def is_alone(self) -> bool:
        """Say whether nobody else is known: the usual case, for who has something itself."""
        return len(self._parties) == 1

    def crowds(self, party: Hashable, *, wants: bool, lane: Hashable = None) -> bool:
        """Say whether a party wants more than its share, and no other one had more lately, or hardly.

        `wants`: it does now, in this lane; or it did in another one within a second. Who is alone crowds nobody out,
        and who was there some seconds ago is there no more: it would gain nothing if somebody rested.
        """
        if not wants and not self._wanted:
            return False
        now = time.monotonic()
        with self._lock:
            if now - self._began >= LATELY:
                self._begin(now)
            if wants:
                self._wanted[party, lane] = now
            elif not self._wanted_elsewhere(party, lane, now):
                return False
            if not any(one.is_here(now) for name, one in self._parties.items() if name != party):
                return False
            had = {name: one.had(now) for name, one in self._parties.items()}
            return had.get(party, 0.0) >= NEARLY * max(had.values())

    def _wanted_elsewhere(self, party: Hashable, lane: Hashable, now: float) -> bool:
        return any(
            one == party and where != lane and now - at <= WANTED for (one, where), at in self._wanted.items()
        )

    def _begin(self, now: float) -> None:
        """Begin to count anew, and forget who is gone."""
        gone = now - self._began >= 2 * LATELY
        self._began = now
        for name, one in list(self._parties.items()):
            one.settle(now)
            one.before, one.lately = 0.0 if gone else one.lately, 0.0
            if not one.before and not one.is_here(now):
                del self._parties[name]
        self._wanted = {one: at for one, at in self._wanted.items() if now - at <= WANTED}
