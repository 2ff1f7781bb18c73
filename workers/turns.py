"""Whose turn it is: within one kind of work and one process, organisations follow each other."""

import logging
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from uuid import UUID

import store
from gateways import cores
from gateways.load import Load
from rules.clock import now
from store import outbox
from store.database.aside import Row
from store.database.base import Party
from store.outbox import FIRST_TURN, Taken
from workers import leases
from workers.refused import Refused

log = logging.getLogger("hiring.work")

TRIES = (
    4  # at beginning something: two name who has what cannot be begun, and one more may name somebody else
)
LOOK_SECONDS = 0.1  # between two looks for others' work, while what is due is of those who have their share
# How much somebody may have begun at once that would take so long at an even pace: what gathers while the database is
# away for ten seconds goes out within a few, and a flood costs half a second of a core before it is held to its pace.
BURST_SECONDS = 5.0
CALM_SECONDS = 1.0  # of them that need no core to be idle
BEHIND = timedelta(seconds=0.25)  # what waited longer is of somebody who wants more than it gets


class _Thread(threading.local):
    """What each thread knows of itself."""

    def __init__(self) -> None:
        self.waits = cores.Waits()


class Turns:
    """Takes work of one kind: one piece of each party after the other's, and never with every thread for one.

    Where a kind has a pace, an organisation begins no more than `a_second`: a flood that took all the processor there
    is would take it from everybody. On a full machine whoever has most and wants more rests between its pieces, and
    so does whoever is far ahead of its pace.
    """

    def __init__(self, kind: str, *, threads: int, a_second: float | None = None) -> None:
        self.kind = kind
        self._share = max(1, threads - 1)
        self._interval = 1 / a_second if a_second else 0.0
        self._last: Party = FIRST_TURN
        self._under_way: Counter[UUID] = Counter()  # by organisation
        self._paid: dict[UUID, float] = {}  # until when, on the clock of time.monotonic, its pace is used up
        self._load, self._thread = Load(), _Thread()
        self._resting: list[tuple[float, UUID]] = []  # until when, on the same clock, whose place is kept
        self._changed = threading.Condition()
        self._looking = False  # a thread looks again soon: the others that wait need not
        self._refused = Refused(kind)
        self._suspected: UUID | None = None  # whose work could not be begun the last time

    @contextmanager
    def next(self, *, patience: float = 0.0) -> Iterator[Taken | None]:
        """Begin the next piece of work, for as long as the block; None where nobody has any whose turn it can be.

        Where somebody has their share, what is due may be theirs: then there are so many seconds for that to change,
        or for somebody else to have some.
        """
        taken = self._take(patience)
        is_late = taken is not None and now() - taken.due_at > BEHIND
        try:
            yield taken
        finally:
            waited = self._thread.waits.since()
            if taken:
                self._give_back(taken.organisation_id, is_late=is_late, waited=waited)

    def look(self) -> None:
        """Say that there is work which was not there before."""
        if self._looking:  # else nobody waits, and the lock may be held while a thread asks for work
            with self._changed:
                self._changed.notify()

    def _take(self, patience: float) -> Taken | None:
        with self._changed:
            try:
                return self._next(time.monotonic() + patience)
            finally:
                if not self._looking:  # whoever else waits looks from now on, or nobody would
                    self._changed.notify()

    def _next(self, end: float) -> Taken | None:
        tries = TRIES
        while True:
            busy = self._busy()
            try:
                with store.at_once() as means:
                    taken = outbox.take(means, self.kind, after=self._last, busy=busy, lease=leases.LEASE)
            except (*store.OUTAGES, store.WaitRanOut):
                raise
            except Exception as fault:
                tries -= 1
                if not tries:
                    raise
                self._suspect(busy, fault)
                continue
            if taken:
                self._refused.taken([taken.organisation_id])
                self._note(taken)
                return taken
            left = end - time.monotonic()
            if not busy or left <= 0:
                return None
            self._wait(left)

    def _suspect(self, busy: list[UUID], fault: Exception) -> None:
        """Have nothing begun for a while of whom something cannot be.

        Once it may be somebody else who is named, where another process had the one that failed in hand just now.
        """
        with store.at_once() as means:
            owner = outbox.whose_turn(means, self.kind, after=self._last, busy=busy)
        if owner is not None and owner == self._suspected:
            self._refused.add(Row(owner, owner), fault)
            extra = {"job": self.kind, "organisation": str(owner)}
            log.error("Work cannot be begun.", exc_info=fault, extra=extra)
        self._suspected = owner

    def _busy(self) -> list[UUID]:
        self._end_rests()
        used_up = time.monotonic() + BURST_SECONDS
        return [
            *self._refused.all(),
            *(owner for owner, count in self._under_way.items() if count >= self._share),
            *(owner for owner, paid in self._paid.items() if paid > used_up),
        ]

    def _note(self, taken: Taken) -> None:
        owner = taken.organisation_id
        self._last = (owner, taken.livemode)
        self._under_way += Counter([owner])  # forgets whoever has none
        self._load.change(owner, 1)
        if self._interval:
            moment = time.monotonic()
            self._paid = {one: paid for one, paid in self._paid.items() if paid > moment}
            self._paid[owner] = self._paid.get(owner, moment) + self._interval

    def _give_back(self, owner: UUID, *, is_late: bool, waited: float) -> None:
        with self._changed:
            moment = time.monotonic()
            rests = (
                self._load.crowds(owner, wants=is_late) or self._paid.get(owner, 0.0) > moment + CALM_SECONDS
            )
            self._resting.append((moment + cores.rest(waited) if rests else moment, owner))
            self._end_rests()

    def _end_rests(self) -> None:
        moment = time.monotonic()
        over = [owner for until, owner in self._resting if until <= moment]
        if over:
            self._resting = [one for one in self._resting if one[0] > moment]
        for owner in over:
            if self._under_way[owner] == self._share:
                self._changed.notify()
            self._under_way[owner] -= 1
            self._load.change(owner, -1)

    def _wait(self, seconds: float) -> None:
        if self._looking:
            self._changed.wait(seconds)
            return
        self._looking = True
        try:
            self._changed.wait(min(seconds, LOOK_SECONDS))
        finally:
            self._looking = False
