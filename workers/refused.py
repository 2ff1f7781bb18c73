"""Of whom nothing could be taken: for a while nothing is, so that everybody else's goes on, and they are set aside."""

import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from uuid import UUID

import store
from store.database import aside
from store.database.aside import Row
from store.database.engine import Change
from store.delivering import sending
from store.delivering.sending import Claimed, Due
from workers.shares import LEASE

log = logging.getLogger("hiring.work")

SECONDS = 30.0
DELIVERIES = "deliveries"


class Refused:
    """Organisations or endpoints, each for so many seconds; set aside until something of theirs is taken again."""

    def __init__(self, kind: str) -> None:
        """Be those of a kind of work."""
        self._kind = kind
        self._until: dict[UUID, float] = {}
        self._aside: set[UUID] = set()
        self._look_at = 0.0  # on the clock of time.monotonic, for what a process set aside that is no more

    def add(self, whose: Row, fault: BaseException) -> None:
        """Take nothing of theirs from now on, and say why."""
        self._until[whose.id] = time.monotonic() + SECONDS
        self._aside.add(whose.id)
        with _unless_away(), store.transaction() as session:
            aside.keep(session, self._kind, [whose], fault, again=True)

    def all(self) -> list[UUID]:
        """Return of whom nothing is taken."""
        moment = time.monotonic()
        self._until = {id: until for id, until in self._until.items() if until > moment}
        return list(self._until)

    def taken(self, ids: Iterable[UUID]) -> None:
        """Hear that what there was of these could be taken."""
        moment = time.monotonic()
        if moment >= self._look_at:
            self._look_at = moment + SECONDS
            with _unless_away(), store.transaction() as session:
                self._aside = aside.known(session, self._kind)
        if over := self._aside.intersection(ids):
            self._aside -= over
            with _unless_away(), store.transaction() as session:
                aside.done(session, self._kind, [Row(id) for id in over])


@contextmanager
def _unless_away() -> Iterator[None]:
    """Do without where the database is away: nobody's work waits for a note."""
    try:
        yield
    except (*store.OUTAGES, store.WaitRanOut):
        log.warning("What is set aside could not be noted.", exc_info=True)


def claim(means: Change, due: Sequence[Due], rooms: Mapping[UUID, int], refused: Refused) -> list[Claimed]:
    """Claim what is due of endpoints, as much as there is room for; where that fails, of each by itself.

    Of whom nothing can be claimed is added to those `refused`, unless that is everybody: then it is not their matter,
    and what it is is raised, as is an outage or a wait that ran out.
    """
    try:
        claimed = sending.claim(means, rooms, lease=LEASE)
    except (*store.OUTAGES, store.WaitRanOut):
        raise
    except Exception as fault:
        return _apart(means, due, rooms, refused, fault)
    refused.taken(rooms)
    return claimed


def _apart(
    means: Change, due: Sequence[Due], rooms: Mapping[UUID, int], refused: Refused, fault: Exception
) -> list[Claimed]:
    claimed: list[Claimed] = []
    failed: list[UUID] = []
    for id, room in rooms.items():
        try:
            claimed += sending.claim(means, {id: room}, lease=LEASE)
        except (*store.OUTAGES, store.WaitRanOut):
            break  # what was claimed is kept
        except Exception:
            failed.append(id)
    if len(failed) > 1 and not claimed:
        raise fault
    owners = {one.endpoint_id: one.organisation_id for one in due}
    for id in failed:
        refused.add(Row(id, owners[id]), fault)
        log.error("Deliveries of an endpoint cannot be taken.", exc_info=fault, extra={"endpoint": str(id)})
    return claimed
