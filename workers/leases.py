"""Work under way keeps its lease while its process lives; when the process dies, somebody else begins again soon."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cache

import store
from store import outbox
from store.outbox import Taken

log = logging.getLogger("hiring.work")

LEASE = timedelta(seconds=45)
EVERY_SECONDS = 10.0

_held: dict[object, tuple[Taken, float]] = {}  # and until when, on the clock of time.monotonic, at most


@contextmanager
def kept(item: Taken, *, longest: timedelta) -> Iterator[None]:
    """Renew an item's lease during the block, for as long as the work may take at most."""
    _keeper()
    mark = object()
    _held[mark] = item, time.monotonic() + longest.total_seconds()
    try:
        yield
    finally:
        del _held[mark]


@cache
def _keeper() -> threading.Thread:
    """One thread for all: most work is over before its lease has to be renewed."""
    thread = threading.Thread(target=_keep, name="leases", daemon=True)
    thread.start()
    return thread


def _keep() -> None:
    while True:
        time.sleep(EVERY_SECONDS)
        for mark in list(_held):
            held = _held.get(mark)
            if held and time.monotonic() < held[1]:
                _renew(held[0])


def _renew(item: Taken) -> None:
    try:
        with store.transaction() as session:
            outbox.renew(session, item, lease=LEASE)
    except Exception as fault:  # the database is away: the next turn may still be in time
        log.warning("A lease could not be renewed: %s", fault)
