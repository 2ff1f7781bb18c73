"""The clock: it says that something of a kind is due, and the kind's actor does it. Any number may run side by side."""

import logging
import threading
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import dramatiq
import redis
from sqlalchemy import select

import store
from insides.dramatiq import Broker
from rules.clock import now
from store.database.prepared import Prepared
from workers import broker, measures
from workers.schedule import LONGEST_SLEEP, Kind, turn

log = logging.getLogger("hiring.schedule")

AHEAD = 2  # messages of a kind that wait: a turn has its end, and the next one begins at once
LONGEST = timedelta(minutes=3)  # longer than a turn ever takes: the net below the limits of its statements


class Clock:
    """Rings for kinds of which something is due; where nobody can be rung for, it does their batches itself."""

    def __init__(
        self,
        kinds: Sequence[Kind],
        brokers: Mapping[str, Broker],
        *,
        bell: Broker,
        stopping: threading.Event,
    ) -> None:
        """`bell` is what is rung through; the kinds' own brokers are for those who listen."""
        self._kinds, self._bell, self._stopping = kinds, bell, stopping
        soonest = (kind.due.soonest().scalar_subquery() for kind in kinds)
        self._soonest = Prepared(select(*(one.label(f"kind_{number}") for number, one in enumerate(soonest))))
        self._actors = {kind.name: _actor(brokers[kind.name], kind, stopping) for kind in kinds}

    def run(self) -> None:
        """Look for what is due until told to stop."""
        while not self._stopping.is_set():
            again = self._look()
            self._stopping.wait(max(0.0, (again - now()).total_seconds()))
        self._bell.close()

    def _look(self) -> datetime:
        """Have done what is due; return when to look again."""
        try:
            moments = list(zip(self._kinds, self._next(), strict=True))
            due = [kind for kind, moment in moments if moment and moment <= now()]
            if due:
                self._have_done(due)
        except Exception:
            measures.FAULTS.labels("clock").inc()
            log.exception("What is due could not be found out; trying again.")
            moments = []
        ahead = [moment for _, moment in moments if moment and moment > now()]
        return min([*ahead, now() + LONGEST_SLEEP])

    def _next(self) -> Sequence[datetime | None]:
        """Return when the next row of each kind is due."""
        with store.reading() as reading:
            found: Sequence[datetime | None] = self._soonest.first(reading)
        return found

    def _have_done(self, due: Sequence[Kind]) -> None:
        try:
            self._ring(due)
        except redis.RedisError as fault:
            log.warning("Nobody can be rung for; the clock does it itself: %s", fault)
            for kind in due:
                turn(kind, self._stopping)

    def _ring(self, due: Sequence[Kind]) -> None:
        queues = {_queue(kind): kind for kind in due}
        for queue, waiting in broker.waiting(self._bell.client, list(queues)).items():
            if waiting < AHEAD:
                self._bell.enqueue(self._actors[queues[queue].name].message())


def _queue(kind: Kind) -> str:
    return f"due-{kind.name.replace(' ', '-')}"


def _actor(each: Broker, kind: Kind, stopping: threading.Event) -> "dramatiq.Actor[[], None]":
    def due() -> None:
        turn(kind, stopping)

    return dramatiq.actor(
        broker=each,
        actor_name=_queue(kind),
        queue_name=_queue(kind),
        max_retries=0,
        time_limit=LONGEST / timedelta(milliseconds=1),
    )(due)
