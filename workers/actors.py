"""The Dramatiq actors, one for each kind of work: a message says that there is something to do, the database what."""

import logging
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import dramatiq
from dramatiq.middleware.time_limit import TimeLimitExceeded

import store
from insides.dramatiq import Broker
from rules.clock import now
from store import outbox
from store.database import aside
from store.database.aside import Row
from store.outbox import Taken
from workers import broker, few, leases, measures, rests
from workers.jobs import JOBS, Job, wait
from workers.turns import Turns

log = logging.getLogger("hiring.work")

FAILED_SECONDS = 0.1  # that whoever failed rests
PATIENCE_SECONDS = 2.0  # for the turn of somebody else, where what is due is of those who have their share
WAITED = timedelta(seconds=0.05)  # longer than a message takes
ON_SECONDS = 1.0  # for which a message does piece after piece
AHEAD = 8  # messages of a kind that wait in Redis, for each of its threads


class Actors:
    """The actors of some kinds of work, each with a broker of its own and a queue of its own name."""

    def __init__(self, brokers: Mapping[str, Broker]) -> None:
        self._brokers, self._client = brokers, next(iter(brokers.values())).client
        self._turns = {
            kind: Turns(kind, threads=JOBS[kind].threads, a_second=JOBS[kind].a_second) for kind in brokers
        }
        self._actors = {kind: _actor(broker, kind, self._turns[kind]) for kind, broker in brokers.items()}

    def ring(self, kind: str) -> None:
        """Wake whichever thread is free, for one piece of outbox work."""
        self._actors[kind].send()

    def look(self) -> None:
        """Have the threads look that wait for those who have their share."""
        for turns in self._turns.values():
            turns.look()

    def first(self, ids: Sequence[UUID], most: int) -> int:
        """Note that so many pieces of work are rung for of which nobody has lately; say for how many there were."""
        return broker.rung_first(self._client, ids, most)

    def most(self) -> dict[str, int]:
        """Return for each kind how many messages its threads will soon begin."""
        return {kind: JOBS[kind].threads * AHEAD for kind in self._brokers}

    def waiting(self, kinds: Sequence[str]) -> dict[str, int]:
        """Return of kinds how many messages have been sent and not been fetched."""
        return broker.waiting(self._client, kinds)


def _actor(broker: dramatiq.Broker, kind: str, turns: Turns) -> "dramatiq.Actor[..., None]":
    def rung(
        *_: object,
    ) -> None:  # an older version's message names a piece of work: it is a bell all the same
        work(turns)

    # Nothing is tried again by Dramatiq, since the row is; its limit of time is the net below those of the work itself,
    # for it cannot end a call that blocks. It begins with the message, and a piece up to so many seconds after that.
    longest = JOBS[kind].longest + timedelta(seconds=max(PATIENCE_SECONDS, ON_SECONDS))
    options: dict[str, Any] = {"max_retries": 0, "time_limit": longest / timedelta(milliseconds=1)}
    return dramatiq.actor(broker=broker, actor_name=kind, queue_name=kind, **options)(rung)


def work(turns: Turns) -> None:
    """Do the next piece of work of a kind, if there is any, and the next after one that waited.

    A message takes what is due first. Where one is lost, that would be done with the message of the next piece, which
    would wait for the one after it, and so on for as long as something comes again before it is rung for anew.
    """
    end = time.monotonic() + ON_SECONDS
    patience = PATIENCE_SECONDS
    while True:
        with turns.next(patience=patience) as taken:
            if taken is None:
                return
            has_waited = now() - taken.due_at > WAITED
            do(taken, JOBS[taken.job])
        if not has_waited or time.monotonic() > end:
            return
        patience = 0.0


def do(taken: Taken, job: Job) -> None:
    """Do a piece of work that was begun, and note what came of it."""
    try:
        with leases.kept(taken, longest=job.longest):
            job.run(taken.id, taken.arguments)
    except (Exception, TimeLimitExceeded) as fault:
        with few.at_once():
            log.exception(
                "The job %s failed.", taken.job, extra={"item": str(taken.id), "attempts": taken.attempts}
            )
            measures.JOBS.labels(taken.job, "failed").inc()
            _failed(taken, fault, job)
        time.sleep(rests.after(FAILED_SECONDS))
    else:
        with store.at_once() as means:
            outbox.finish(means, taken)
        measures.JOBS.labels(taken.job, "done").inc()


def _failed(item: Taken, fault: BaseException, job: Job) -> None:
    """Put it off; where it has been tried often enough set it aside, and where it has its answer give it up."""
    error = aside.reason(fault)
    refused = isinstance(fault, job.final)
    with store.transaction() as session:
        if not refused and item.attempts < job.attempts:
            outbox.put_off(session, item, delay=wait(item.attempts), error=error)
            return
        outbox.give_up(session, item, error=error)
        job.given_up(session, item.arguments, fault)
        if not refused:
            owner = Row(item.id, item.organisation_id, item.livemode)
            aside.keep(session, item.job, [owner], fault, again=False)
