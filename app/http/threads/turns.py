"""What waits for a thread, in turns: one of each party after the other, so that nobody waits behind somebody's many."""

import math
import queue
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Thing = TypeVar("Thing")

LATELY = 1.0  # seconds for which what each party took is counted, twice in a row


class Full(Exception):
    """A party has as much waiting as there is room for."""


class Turns(Generic[Thing]):
    """At most `room` things, divided evenly between the parties that wait; `share` of one party are taken at once."""

    def __init__(self, *, room: int, share: int) -> None:
        self.room, self.share = room, share
        self._lock = threading.Lock()
        self._bell: queue.SimpleQueue[None] = queue.SimpleQueue()  # a ring for each idle taker that is wanted
        self._idle = 0  # takers that nobody has rung for
        self._waiting: OrderedDict[Hashable, deque[Thing]] = OrderedDict()  # of parties below their share
        self._held: dict[Hashable, deque[Thing]] = {}  # of parties that have it
        self._taken: Counter[Hashable] = Counter()
        # How much each took since that moment, and in as long a time before.
        self._began = -math.inf
        self._lately, self._before = Counter[Hashable](), Counter[Hashable]()

    def put(self, party: Hashable, thing: Thing) -> None:
        """Have a thing wait, or raise Full."""
        with self._lock:
            held = party in self._held
            its = self._held[party] if held else self._waiting.get(party)
            if its is None:
                its = self._waiting[party] = deque()
            if len(its) >= self.room // (len(self._waiting) + len(self._held)):
                raise Full
            its.append(thing)
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
        taken = self._taken[party]
        if self._waiting or taken >= self.share:
            return False
        self._taken[party] = taken + 1
        self._count(party)
        if taken + 1 == self.share:
            self._held[party] = deque()
        return True

    def next(self) -> tuple[Hashable, Thing] | None:
        """Take a thing whose turn it is, if there is one; for who alone takes them."""
        if not self._waiting:
            return None
        party, its = self._waiting.popitem(last=False)
        thing = its.popleft()
        self._taken[party] += 1
        self._count(party)
        if self._taken[party] >= self.share:
            self._held[party] = its
        elif its:
            self._waiting[party] = its
        return party, thing

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
        """Say whether a party has its whole share and wants more, and took more than an even part lately."""
        if not self._held.get(party):
            return False
        with self._lock:
            lately = self._lately + (self._before if time.monotonic() - self._began < LATELY else Counter())
            return lately[party] * len(lately) > lately.total()

    def _count(self, party: Hashable) -> None:
        now = time.monotonic()
        if now - self._began >= LATELY:
            gone = now - self._began >= 2 * LATELY
            self._began, self._before, self._lately = now, Counter() if gone else self._lately, Counter()
        self._lately[party] += 1

    def give_back(self, party: Hashable) -> None:
        """Say that what was taken is done with."""
        with self._lock:
            self._taken[party] -= 1
            if not self._taken[party]:
                del self._taken[party]
            if its := self._held.pop(party, None):
                self._waiting[party] = its
