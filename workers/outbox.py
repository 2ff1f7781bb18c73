"""The relay: a commit rings, and what it left to do is handed on. Any number may run side by side."""

import logging
import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import Protocol
from uuid import UUID

import store
from store import outbox
from store.database import bell
from store.delivering import fanout
from store.outbox import Handed
from workers import measures

log = logging.getLogger("hiring.relay")

POLL_SECONDS = 1.0  # the net below the bell
EVENTS, ITEMS = 200, 200  # in one transaction
# What nobody has begun by then is handed over again: Redis was lost, or every worker is busy.
HANDED_FOR = timedelta(minutes=1)
REDIS_AWAY = timedelta(seconds=2)


class Bells(Protocol):
    """Where the relay hands work to."""

    def hand(self, item: Handed) -> None:
        """Hand over one piece of outbox work."""

    def deliver(self, ids: Sequence[UUID]) -> None:
        """Tell a sender of new deliveries."""


class Relay:
    """Fans out events, hands over the outbox, and rings for whoever sends in this process."""

    def __init__(self, bells: Bells, *, ring: Callable[[], None] = lambda: None) -> None:
        self._bells = bells
        self._ring = ring
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="relay")

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End after what is under way; waits for it."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                with bell.listening() as wait:
                    while not self._stopping.is_set():
                        if not self.turn() and wait(POLL_SECONDS):
                            self._ring()  # it may have rung for a delivery that is due again
            except store.OUTAGES as fault:
                log.warning("The database cannot be reached; trying again: %s", fault)
                self._stopping.wait(POLL_SECONDS)
            except Exception:  # a fault of ours must not end the relay of a process that seems to live
                log.exception("The relay failed; trying again.")
                self._stopping.wait(POLL_SECONDS)

    def turn(self) -> bool:
        """Do what is due, up to a batch of each kind; say whether there may be more."""
        events, made = store.in_transaction(partial(fanout.fan_out, limit=EVENTS))
        measures.FANNED_OUT.inc(events)
        if made:
            self._ring()
            self._tell(made)
        items = store.in_transaction(partial(outbox.hand_over, lease=HANDED_FOR, limit=ITEMS))
        for place, item in enumerate(items):
            if not self._hand(item):
                with store.transaction() as session:
                    outbox.give_back(session, items[place:], delay=REDIS_AWAY)
                break
            measures.HANDED_OVER.inc()
        return events == EVENTS or len(items) == ITEMS

    def _tell(self, ids: Sequence[UUID]) -> None:
        try:
            self._bells.deliver(ids)
        except Exception as fault:  # whatever a lost Redis raises: senders look by themselves every second
            log.warning("The bell did not ring for deliveries: %s", fault)

    def _hand(self, item: Handed) -> bool:
        try:
            self._bells.hand(item)
        except Exception as fault:  # the item stays due in the database
            log.warning("Work could not be handed over: %s", fault)
            return False
        return True
