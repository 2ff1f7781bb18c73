"""Work under way keeps its lease while its process lives; when the process dies, somebody else begins again soon."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache

import store
from store import outbox
from store.outbox import Taken

log = logging.getLogger("hiring.work")

LEASE = outbox.LEASE
EVERY_SECONDS = outbox.RENEWED_SECONDS


@dataclass(frozen=True, eq=False)
class _Held:
    item: Taken
    end: float  # on the clock of time.monotonic: then it hangs
    renewing: threading.Lock = field(default_factory=threading.Lock)


_held: set[_Held] = set()


@contextmanager
def kept(item: Taken, *, longest: timedelta) -> Iterator[None]:
    """Renew an item's lease during the block, for as long as the work may take at most."""
    _keeper()
    held = _Held(item, time.monotonic() + longest.total_seconds())
    _held.add(held)
    try:
        yield
    finally:
        _held.remove(held)
        with held.renewing:  # nobody renews it after this
            pass


@cache
def _keeper() -> threading.Thread:
    """One thread for all: most work is over before its lease has to be renewed."""
    thread = threading.Thread(target=_keep, name="leases", daemon=True)
    thread.start()
    return thread


def _keep() -> None:
    while True:
        time.sleep(EVERY_SECONDS)
        for held in list(_held):
            with held.renewing:
                if held in _held and time.monotonic() < held.end:
                    _renew(held.item)


def _renew(item: Taken) -> None:
    try:
        with store.transaction() as session:
            outbox.renew(session, item, lease=LEASE)
    except Exception as fault:  # the database is away: the next turn may still be in time
        log.warning("A lease could not be renewed: %s", fault)
