"""Work under way keeps its lease while its process lives; when the process dies, somebody else begins again soon."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import store
from store import outbox
from store.outbox import Taken

log = logging.getLogger("hiring.work")

LEASE = timedelta(seconds=45)
EVERY_SECONDS = 10.0


@contextmanager
def kept(item: Taken, *, longest: timedelta) -> Iterator[None]:
    """Renew an item's lease during the block, for as long as the work may take at most."""
    done = threading.Event()
    thread = threading.Thread(target=_renew, args=[item, done, longest], name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _renew(item: Taken, done: threading.Event, longest: timedelta) -> None:
    end = time.monotonic() + longest.total_seconds()
    while not done.wait(EVERY_SECONDS) and time.monotonic() < end:
        try:
            with store.transaction() as session:
                outbox.renew(session, item, lease=LEASE)
        except Exception as fault:  # the database is away: the next turn may still be in time
            log.warning("A lease could not be renewed: %s", fault)
