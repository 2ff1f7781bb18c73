"""What waits for a thread, in turns: one of each party after the other, so that nobody waits behind somebody's many."""

import queue
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from gateways.load import Load

Thing = TypeVar("Thing")

GROWN = 2  # times its share, by which what a party has waiting has grown, and not only come and gone


class Full(Exception):
    """A party has as much waiting as there is room for."""


class Turns(Generic[Thing]):
    """At most `room` things, divided evenly between the parties that wait; `share` of one party are taken at once.

    `alone` are, while nobody else is known.
    """

    def __init__(self, *, room: int, share: int, alone: int | None = None, load: Load | None = None) -> None:
        self.room, self.share, self.alone = room, share, max(share, alone or 0)
        self.load = load or Load()
        self._lock = threading.Lock()
        self._bell: queue.SimpleQueue[None] = queue.SimpleQueue()  # a ring for each idle taker that is wanted
        self._idle = 0  # takers that nobody has rung for
        self._waiting: OrderedDict[Hashable, deque[Thing]] = OrderedDict()  # of parties below their share
        self._held: dict[Hashable, deque[Thing]] = {}  # of parties that have as much as they may
        self._taken: dict[Hashable, int] = {}
        # Of parties that want more than their share: how much waited when they began to, and how often they are spared.
        self._wanting: dict[Hashable, tuple[int, int]] = {}

    def put(self, party: Hashable, thing: Thing) -> None:
        """Have a thing wait, or raise Full."""
        with self._lock:
            held = self._has_enough(party)
            line = self._held if held else self._waiting
            its = line.get(party) or deque()
            parties = len(self._waiting) + len(self._held) + (party not in line)
            if len(its) >= self.room // parties:
                raise Full
            its.append(thing)
            line[party] = its
            wanted = not held and self._idle > 0
            self._idle -= wanted
        if wanted:
            self._bell.put(None)

    def take(self) -> tuple[Hashable, Thing]:
        """Wait for a thing whose turn it is; whoever took it calls `give_back`, and then takes the next."""
        while True:
            with self._lock:
                if found := self.next():
                    return found
                self._idle += 1
            self._bell.get()

    def at_once(self, party: Hashable) -> bool:
        """Take what waits for nobody, if a party may: it has less than its share, and nothing waits before it."""
        if self._waiting or self._has_enough(party):
            return False
        self._take_one(party)
        return True

    def next(self) -> tuple[Hashable, Thing] | None:
        """Take a thing whose turn it is, if there is one; for who alone takes them."""
        while self._waiting:
            party, its = self._waiting.popitem(last=False)
            if self._has_enough(party):  # since others have come
                self._held[party] = its
                continue
            thing = its.popleft()
            self._take_one(party)
            if its:
                (self._held if self._has_enough(party) else self._waiting)[party] = its
            return party, thing
        return None

    def _has_enough(self, party: Hashable) -> bool:
        most = self.alone if self.load.is_alone() else self.share
        return party in self._held or self._taken.get(party, 0) >= most

    def _take_one(self, party: Hashable) -> None:
        self.load.change(party, 1)
        self._taken[party] = self._taken.get(party, 0) + 1

    def ahead(self, is_it: Callable[[Thing], bool]) -> int | None:
        """Count what is taken before a thing, if nothing else comes; None where it does not wait."""
        with self._lock:
            lines = [*self._waiting.values(), *self._held.values()]
            for place, line in enumerate(lines):
                for number, thing in enumerate(line):
                    if is_it(thing):
                        earlier = sum(min(len(one), number + 1) for one in lines[:place])
                        return earlier + number + sum(min(len(one), number) for one in lines[place + 1 :])
        return None

    def crowds(self, party: Hashable) -> bool:
        """Say whether a party wants more than its share, here or in another lane, and nobody else had more lately.

        Whoever asks once it is answered has always as much waiting. Where ever more waits, the party asks at a pace of
        its own, and what it has waiting may have come of its rests: it is spared them for long enough to catch up.
        """
        if self.load.is_alone():
            self._wanting.clear()
            return False
        return self.load.crowds(party, wants=self._wants(party), lane=id(self))

    def _wants(self, party: Hashable) -> bool:
        waiting = len(self._held.get(party, ()))
        if not waiting:
            self._wanting.pop(party, None)
            return False
        began, spared = self._wanting.get(party, (waiting, 0))
        if waiting > began + GROWN * self.share:
            # Spared, or if it was spared already and more waits still, in vain: not again before that has doubled.
            began, spared = (2 * waiting, 0) if spared else (waiting, 2 * waiting)
        elif spared == 1:
            began = 2 * waiting
        self._wanting[party] = began, max(0, spared - 1)
        return not spared

    def give_back(self, party: Hashable) -> None:
        """Say that what was taken is done with."""
        self.load.change(party, -1)
        with self._lock:
            left = self._taken[party] - 1
            if left:
                self._taken[party] = left
            else:
                del self._taken[party]
            its = self._held.pop(party, None)
            if its:
                (self._held if self._has_enough(party) else self._waiting)[party] = its
