"""Of whom nothing could be taken: for a while nothing is, so that everybody else's goes on, and they are set aside."""

import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from uuid import UUID

import store
from store.database import aside
from store.database.aside import Row
from store.database.engine import Change
from store.delivering import sending
from store.delivering.sending import Claimed
from workers.shares import LEASE

log = logging.getLogger("hiring.work")

SECONDS, LONGEST = 1.0, 30.0  # the first time, and at most: each time twice as long
DELIVERIES = "deliveries"


class Refused:
    """Organisations or endpoints, each for a while; set aside until something of theirs is taken again."""

    def __init__(self, kind: str) -> None:
        """Be those of a kind of work."""
        self._kind = kind
        self._until: dict[UUID, float] = {}
        self._seconds: dict[UUID, float] = {}  # for which nothing of theirs was taken the last time
        self._aside: set[UUID] = set()
        self._look_at = 0.0  # on the clock of time.monotonic, for what a process set aside that is no more

    def add(self, whose: Row, fault: BaseException) -> None:
        """Take nothing of theirs from now on, and say why."""
        self.all()  # forgets whoever was let alone for long
        self._seconds[whose.id] = min(2 * self._seconds.get(whose.id, SECONDS / 2), LONGEST)
        self._until[whose.id] = time.monotonic() + self._seconds[whose.id]
        self._aside.add(whose.id)
        with _whatever_happens(), store.transaction() as session:
            aside.keep(session, self._kind, [whose], fault, again=True)

    def all(self) -> list[UUID]:
        """Return of whom nothing is taken."""
        moment = time.monotonic()
        # Whoever is no longer refused may be again, for longer.
        self._until = {id: until for id, until in self._until.items() if until > moment - LONGEST}
        self._seconds = {id: seconds for id, seconds in self._seconds.items() if id in self._until}
        return [id for id, until in self._until.items() if until > moment]

    def taken(self, ids: Iterable[UUID]) -> None:
        """Hear that what there was of these could be taken."""
        moment = time.monotonic()
        if moment >= self._look_at:
            self._look_at = moment + LONGEST
            with _whatever_happens(), store.transaction() as session:
                self._aside = aside.known(session, self._kind)
        if over := self._aside.intersection(ids):
            self._aside -= over
            for id in over:
                self._seconds.pop(id, None)
            with _whatever_happens(), store.transaction() as session:
                aside.done(session, self._kind, [Row(id) for id in over])


@contextmanager
def _whatever_happens() -> Iterator[None]:
    """Do without: what was taken meanwhile would wait until its lease is over, and no work waits for a note."""
    try:
        yield
    except Exception:
        log.warning("What is set aside could not be noted.", exc_info=True)


def claim(means: Change, rooms: Mapping[UUID, int]) -> tuple[list[Claimed], dict[UUID, Exception]]:
    """Claim deliveries of endpoints, as much as there is room for; where that fails, of each by itself.

    Return them, and why nothing can be claimed of an endpoint. An outage is raised, and a wait that ran out.
    """
    try:
        return sending.claim(means, rooms, lease=LEASE), {}
    except (*store.OUTAGES, store.WaitRanOut):
        raise
    except Exception:
        return _apart(means, rooms)


def _apart(means: Change, rooms: Mapping[UUID, int]) -> tuple[list[Claimed], dict[UUID, Exception]]:
    claimed: list[Claimed] = []
    faults: dict[UUID, Exception] = {}
    for id, room in rooms.items():
        try:
            claimed += sending.claim(means, {id: room}, lease=LEASE)
        except (*store.OUTAGES, store.WaitRanOut):
            break  # what was claimed is kept
        except Exception as fault:
            faults[id] = fault
    return claimed, faults
