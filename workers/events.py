"""From events to deliveries: a relay's turn for everybody, and a thread for whose events cannot be made such."""

import logging
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import partial
from typing import Protocol
from uuid import UUID

from sqlalchemy.orm import Session

import store
from store.database import aside
from store.database.aside import Row
from store.database.base import Party
from store.delivering import fanout
from workers import apart, measures
from workers.outbox import FULL_SECONDS, POLL_SECONDS
from workers.shares import LEASE, Taking

log = logging.getLogger("hiring.relay")

# In one transaction, which costs as much for few: as many as become so many deliveries, and always so many. Others wait
# for a thousand, which fifty are with twenty endpoints each.
DELIVERIES, EVENTS, MOST = 500, 50, 250
APART = 4  # parties whose events are made deliveries apart at once


class Sends(Protocol):
    """Who sends what is due."""

    def ring(self) -> None:
        """Look for what is due."""

    def taking(self) -> AbstractContextManager[Taking]:
        """Let some be claimed as they are made; what was `taken` by the end of the block is sent."""


class Events:
    """Makes events deliveries. Nobody waits for a party of which some cannot be: other threads see to those."""

    def __init__(self, sender: Sends) -> None:
        self._sender = sender
        self._apart: set[Party] = set()
        self._threads = ThreadPoolExecutor(APART, thread_name_prefix="apart")
        self._stopping = threading.Event()
        self._first: UUID | None = None  # event that waited when it was followed last
        self._limit = EVENTS  # of the next turn
        self._again_at = 0.0  # when something may be tried again, on the clock of time.monotonic

    def stop(self) -> None:
        """End after what is under way; waits for it."""
        self._stopping.set()
        self._threads.shutdown(cancel_futures=True)

    def turn(self) -> float:
        """Make a batch deliveries, and ring for whoever sends what is due; return how long to rest."""
        try:
            with self._sender.taking() as taking:
                turn = self._together(taking.rooms)
                taking.taken = turn.claimed
        except store.OUTAGES:
            raise
        except Exception as fault:
            self._part(fault)
            return 0.0
        measures.FANNED_OUT.inc(turn.events)
        self._limit = max(EVENTS, min(MOST, DELIVERIES * turn.events // max(1, turn.deliveries)))
        # Without events too: the bell also rings for what is to be sent again. Who was given everything looks soon.
        if not turn.claimed or len(turn.claimed) < turn.deliveries:
            self._sender.ring()
        if turn.more or self._tried_again():
            return 0.0
        return FULL_SECONDS if turn.left else POLL_SECONDS

    def follow(self) -> float:
        """Ring for whoever sends what is due; take a turn only where what waits first is what did the last time."""
        self._sender.ring()
        with store.reading() as reading:
            first = fanout.first(reading)
        stands_still = first is not None and first == self._first
        self._first = first
        return self.turn() if stands_still else POLL_SECONDS if first is None else 0.0

    def _together(self, rooms: fanout.Rooms) -> fanout.FannedOut:
        turn = partial(
            fanout.fan_out, limit=self._limit, rooms=rooms, lease=LEASE, without=tuple(self._apart)
        )
        try:
            return store.in_writing(turn)
        except store.WaitRanOut:  # somebody's endpoint is not let go of: this time without them
            return store.in_writing(partial(turn, wait=False))

    def _part(self, fault: Exception) -> None:
        """Make those deliveries that can be; of whom some cannot, all are made apart from now on."""
        log.warning("Events could not be made deliveries together: %s", aside.reason(fault))
        with store.transaction() as session:
            waiting = fanout.waiting(session, self._limit, without=tuple(self._apart))
        if not waiting:
            raise fault
        failing = apart.failing(fanout.WAITING.kind, waiting, _some)
        measures.FANNED_OUT.inc(sum(row.party() not in failing for row in waiting))
        self._sender.ring()
        for party in failing:
            self._apart.add(party)
            self._threads.submit(self._alone, party)

    def _alone(self, party: Party) -> None:
        """Make a batch of one party's events deliveries, and set those aside that fail; again until none of it does.

        The next batch waits for its turn among those of others.
        """
        some_failed = False
        try:
            with store.transaction() as session:
                waiting = fanout.waiting_of(session, party, EVENTS)
            done = apart.each(fanout.WAITING.kind, waiting, _some, pause=self._stopping.wait)
            some_failed = done < len(waiting)
            measures.FANNED_OUT.inc(done)
            self._sender.ring()
        except store.OUTAGES as fault:
            log.warning("The database cannot be reached; trying again: %s", fault)
        except Exception:
            log.exception("Events could not be parted; trying again.")
        if some_failed and not self._stopping.is_set():
            self._threads.submit(self._alone, party)
        else:
            self._apart.discard(party)

    def _tried_again(self) -> bool:
        """Try one event anew that was set aside, between two turns of all others; say whether there was one."""
        if time.monotonic() < self._again_at:
            return False
        with store.reading() as reading:
            waiting = fanout.again(reading)
        if not waiting:
            self._again_at = time.monotonic() + POLL_SECONDS
            return False
        rest = apart.once_more(fanout.WAITING.kind, waiting, _some)
        if rest:
            self._again_at = time.monotonic() + rest
        else:
            measures.FANNED_OUT.inc()
            self._sender.ring()
        return not rest


def _some(session: Session, rows: Sequence[Row]) -> object:
    # What is locked just now did not fail: it stays where it is.
    return fanout.fan_out(session, limit=EVENTS, wait=False, only=rows)
