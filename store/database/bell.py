"""The database's bell: rung after a commit, so that nobody's commit waits for it; a poll is the net below it."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from sqlalchemy import text

from store.database.engine import OUTAGES, at_once, connect
from store.database.prepared import Prepared

log = logging.getLogger("hiring.bell")

OUTBOX = "outbox"
QUIET_SECONDS = 0.002  # after a ring: of hundreds of commits a second each ring is for several
# NOTIFY takes a lock of the whole database until its transaction has ended: alone, and not waiting for the disk, it
# holds it for a moment. Inside the changes themselves it would put all their commits into one line.
_NOTIFY = Prepared(text("SELECT set_config('synchronous_commit', 'off', true), pg_notify('outbox', '')"))
_LEADS = "SELECT pg_try_advisory_lock(hashtext('bell'), hashtext(%s))"


class _Ringer:
    """One thread of this process that rings; whatever asks for it meanwhile is rung for together, once more."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def ring(self) -> None:
        self._asked.set()
        if self._thread is None or not self._thread.is_alive():
            with self._starting:
                if self._thread is None or not self._thread.is_alive():
                    self._thread = threading.Thread(target=self._run, name="bell", daemon=True)
                    self._thread.start()

    def _run(self) -> None:
        while self._asked.wait():
            self._asked.clear()
            try:
                with at_once() as means:
                    _NOTIFY.all(means)
            except OUTAGES as fault:
                log.warning("The bell did not ring: %s", fault)
            except Exception:  # a fault of ours must not end the thread
                log.exception("The bell did not ring.")
            time.sleep(QUIET_SECONDS)


_ringer = _Ringer()


def ring() -> None:
    """Wake the relays soon, without waiting for it; many calls at once ring once."""
    _ringer.ring()


class Listener:
    """Hears the bell, on a connection of its own."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def wait(self, seconds: float) -> bool:
        """Wait that many seconds and say if it rang; what rang before is heard with it."""
        return sum(1 for _ in self._connection.notifies(timeout=seconds, stop_after=1)) > 0

    def leads(self, what: str) -> bool:
        """Say whether nobody else who listens does this; for as long as this one listens nobody else will."""
        return self._connection.execute(_LEADS, [what]).fetchone() == (True,)


@contextmanager
def listening(channel: str = OUTBOX) -> Iterator[Listener]:
    """Listen for as long as the block; raises psycopg.OperationalError when the connection breaks."""
    with connect() as connection:
        connection.execute(psycopg.sql.SQL("LISTEN {}").format(psycopg.sql.Identifier(channel)))
        yield Listener(connection)
