"""The database's bell: rung after a commit, so that nobody's commit waits for it; a poll is the net below it."""

import asyncio
import contextvars
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

import psycopg
from sqlalchemy import text

from store.database import greenlets
from store.database.engine import OUTAGES, Writing, at_once, connect, on_loop
from store.database.prepared import Prepared

log = logging.getLogger("hiring.bell")

OUTBOX = "outbox"
QUIET_SECONDS = 0.002  # after a ring: of hundreds of commits a second each ring is for several
# NOTIFY takes a lock of the whole database until its transaction has ended: alone, and not waiting for the disk, it
# holds it for a moment. Inside the changes themselves it would put all their commits into one line.
_NOTIFY = Prepared(text("SELECT set_config('synchronous_commit', 'off', true), pg_notify('outbox', '')"))
_LEADS = "SELECT pg_try_advisory_lock(hashtext('bell'), hashtext(%s))"


class _ByThread:
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
            _notify(at_once)
            time.sleep(QUIET_SECONDS)


class _ByLoop:
    """The same in a task of an event loop, where a thread's turns would be pauses: five for each ring."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._asked = False
        self._task: asyncio.Task[None] | None = None

    def ring(self) -> None:
        self._asked = True
        if self._task is None:
            nobodys = contextvars.Context()  # it outlives the request that asked first
            self._task = self.loop.create_task(self._run(), context=nobodys)

    async def _run(self) -> None:
        try:
            while self._asked:
                self._asked = False
                await greenlets.run(_notify, on_loop)
                await asyncio.sleep(QUIET_SECONDS)
        finally:
            self._task = None


def _notify(take: Callable[[], AbstractContextManager[Writing]]) -> None:
    try:
        with take() as means:
            _NOTIFY.all(means)
    except OUTAGES as fault:
        log.warning("The bell did not ring: %s", fault)
    except Exception:  # a fault of ours must not end who rings
        log.exception("The bell did not ring.")


_by_thread = _ByThread()
_by_loop: _ByLoop | None = None


def ring() -> None:
    """Wake the relays soon, without waiting for it; many calls at once ring once.

    Threads leave it to the event loop that has rung in this process, if there is one.
    """
    global _by_loop  # noqa: PLW0603 - of the loop that serves
    known = _by_loop
    if greenlets.is_current():
        loop = asyncio.get_running_loop()
        if known is None or known.loop is not loop:
            known = _by_loop = _ByLoop(loop)
        known.ring()
        return
    if known and known.loop.is_running():
        with suppress(RuntimeError):  # it has ended
            known.loop.call_soon_threadsafe(known.ring)
            return
    _by_thread.ring()


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
