"""How much of a process each party has, in all that computes together."""

import math
import threading
import time
from collections import defaultdict
from collections.abc import Hashable

LATELY = 5.0  # seconds for which it is counted, twice in a row
NEARLY = 0.9  # of the most that anybody had
WANTED = 1.0  # seconds for which it counts that somebody wanted more
HERE = 1.0  # seconds for which somebody counts as there who has nothing now


class Load:
    """For how long each party had places or threads lately: one that rests has them still.

    What each was served would not say who wants most: whoever crowds others out and therefore rests is served less
    than they are.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._has: defaultdict[Hashable, int] = defaultdict(int)  # places and threads, now
        self._wanted: dict[
            tuple[Hashable, Hashable], float
        ] = {}  # by party and lane, when it wanted more last
        self._left: dict[Hashable, float] = {}  # when each that has nothing had something last
        self._settled = self._began = -math.inf
        # The seconds since that moment, and in as long a time before.
        self._lately: defaultdict[Hashable, float] = defaultdict(float)
        self._before: dict[Hashable, float] = {}

    def change(self, party: Hashable, by: int) -> None:
        """Note that a party has so many more."""
        with self._lock:
            self._settle()
            self._has[party] += by
            if not self._has[party]:
                del self._has[party]
                self._left[party] = self._settled

    def crowds(self, party: Hashable, *, wants: bool, lane: Hashable = None) -> bool:
        """Say whether a party wants more than its share, and no other one had more lately, or hardly.

        `wants`: it does now, in this lane; or it did in another one within a second. Who is alone crowds nobody out,
        and who was there some seconds ago is there no more: it would gain nothing if somebody rested.
        """
        with self._lock:
            self._settle()
            if wants:
                self._wanted[party, lane] = self._settled
            elif not self._wanted_elsewhere(party, lane):
                return False
            if not self._others_are_here(party):
                return False
            had = {
                one: self._lately.get(one, 0.0) + self._before.get(one, 0.0)
                for one in self._lately | self._before
            }
            return had.get(party, 0.0) >= NEARLY * max(had.values(), default=0.0)

    def _wanted_elsewhere(self, party: Hashable, lane: Hashable) -> bool:
        return any(
            one == party and where != lane and self._settled - at <= WANTED
            for (one, where), at in self._wanted.items()
        )

    def _others_are_here(self, party: Hashable) -> bool:
        if len(self._has) > (party in self._has):
            return True
        return any(one != party and self._settled - left <= HERE for one, left in self._left.items())

    def _settle(self) -> None:
        now = time.monotonic()
        for party, count in self._has.items():
            self._lately[party] += count * (now - self._settled)
        self._settled = now
        if now - self._began >= LATELY:
            gone = now - self._began >= 2 * LATELY
            self._began, self._before, self._lately = now, {} if gone else self._lately, defaultdict(float)
            self._wanted = {one: at for one, at in self._wanted.items() if now - at <= WANTED}
            self._left = {one: at for one, at in self._left.items() if now - at <= HERE}
