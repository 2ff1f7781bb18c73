"""Of whom nothing could be taken: for a while nothing is, so that everybody else's goes on."""

import logging
import time
from collections.abc import Mapping
from uuid import UUID

import store
from store.database.engine import Change
from store.delivering import sending
from store.delivering.sending import Claimed
from workers.shares import LEASE

log = logging.getLogger("hiring.work")

SECONDS = 30.0


class Refused:
    """Organisations or endpoints, each for so many seconds."""

    def __init__(self) -> None:
        self._until: dict[UUID, float] = {}

    def add(self, id: UUID) -> None:
        """Take nothing of theirs from now on."""
        self._until[id] = time.monotonic() + SECONDS

    def all(self) -> list[UUID]:
        """Return of whom nothing is taken."""
        moment = time.monotonic()
        self._until = {id: until for id, until in self._until.items() if until > moment}
        return list(self._until)


def claim(means: Change, rooms: Mapping[UUID, int], refused: Refused) -> list[Claimed]:
    """Claim deliveries of endpoints, as much as there is room for; where that fails, of each by itself.

    Of whom nothing can be claimed is added to those `refused`, unless that is everybody: then it is not their matter,
    and what it is is raised, as is an outage or a wait that ran out.
    """
    try:
        return sending.claim(means, rooms, lease=LEASE)
    except (*store.OUTAGES, store.WaitRanOut):
        raise
    except Exception as fault:
        return _apart(means, rooms, refused, fault)


def _apart(means: Change, rooms: Mapping[UUID, int], refused: Refused, fault: Exception) -> list[Claimed]:
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
    for id in failed:
        refused.add(id)
        log.error("Deliveries of an endpoint cannot be taken.", exc_info=fault, extra={"endpoint": str(id)})
    return claimed
