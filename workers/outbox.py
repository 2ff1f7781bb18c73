"""The relays: a commit rings, and what it left to do is handed on. Any number may run side by side."""

import logging
import threading
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from typing import Protocol

import store
from store import outbox
from store.database import aside, bell
from store.delivering import fanout
from store.outbox import Handed
from workers import apart, measures

log = logging.getLogger("hiring.relay")

POLL_SECONDS = 1.0  # the net below the bell
FULL_SECONDS = 0.05  # until there is room again where more is due than the workers can begin
EVENTS = 200  # in one transaction
# What nobody has begun by then is handed over again: Redis was lost.
HANDED_FOR = timedelta(minutes=1)
REDIS_AWAY = timedelta(seconds=2)


class Bells(Protocol):
    """Where work is handed to."""

    def hand(self, item: Handed) -> None:
        """Hand over one piece of outbox work."""

    def rooms(self) -> Mapping[str, int]:
        """Say for each kind how many more pieces its workers will soon begin."""


class Relay:
    """A thread that takes its turn whenever the bell rings, and again after the seconds that a turn returns."""

    def __init__(
        self, name: str, turn: Callable[[], float], *, rung: Callable[[], None] = lambda: None
    ) -> None:
        self._turn = turn
        self._rung = rung
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name)

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
                        if wait(self._turn()):
                            self._rung()
            except store.OUTAGES as fault:
                log.warning("The database cannot be reached; trying again: %s", fault)
                self._stopping.wait(POLL_SECONDS)
            except Exception:  # a fault of ours must not end the relay of a process that seems to live
                log.exception("The relay failed; trying again.")
                self._stopping.wait(POLL_SECONDS)


def fan_out(ring: Callable[[], None]) -> float:
    """Turn a batch of events into deliveries, and ring for whoever sends them; return how long to rest."""
    try:
        events, made = store.in_transaction(partial(fanout.fan_out, limit=EVENTS))
    except store.OUTAGES:
        raise
    except Exception as fault:
        return _fan_out_apart(ring, fault)
    measures.FANNED_OUT.inc(events)
    if made:
        ring()
    return 0.0 if events == EVENTS else POLL_SECONDS


def _fan_out_apart(ring: Callable[[], None], fault: Exception) -> float:
    """Turn those events into deliveries that can be."""
    log.warning("Events could not be made deliveries together: %s", aside.reason(fault))
    with store.transaction() as session:
        waiting = fanout.WAITING.choose(session, EVENTS)
    if not waiting:
        raise fault
    done = apart.each(
        fanout.WAITING.kind,
        waiting,
        lambda session, rows: fanout.fan_out(session, limit=EVENTS, only=rows),
    )
    measures.FANNED_OUT.inc(done)
    ring()
    return 0.0 if done else POLL_SECONDS


def hand_over(bells: Bells) -> float:
    """Hand over what is due, of each kind no more than its workers can begin; return how long to rest."""
    try:
        rooms = bells.rooms()
    except Exception as fault:  # whatever a lost Redis raises: the work stays due in the database
        log.warning("Work cannot be handed over: %s", fault)
        return REDIS_AWAY.total_seconds()
    items = store.in_transaction(partial(outbox.hand_over, rooms=rooms, lease=HANDED_FOR))
    for place, item in enumerate(items):
        try:
            bells.hand(item)
        except Exception as fault:
            log.warning("Work could not be handed over: %s", fault)
            with store.transaction() as session:
                outbox.give_back(session, items[place:], delay=REDIS_AWAY)
            break
        measures.HANDED_OVER.inc()
    left = [rooms[kind] - sum(item.job == kind for item in items) for kind in rooms]
    return POLL_SECONDS if all(left) else FULL_SECONDS
