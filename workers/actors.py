"""The Dramatiq actors, one for each kind of work: a message says that there is something to do, the database what."""

import logging
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

import dramatiq
from dramatiq.brokers.redis import RedisBroker
from dramatiq.middleware.time_limit import TimeLimitExceeded

import store
from store import outbox
from store.database import aside
from store.database.aside import Row
from store.outbox import Handed
from workers import leases, measures
from workers.jobs import JOBS, Job, wait

log = logging.getLogger("hiring.work")

AHEAD = 8  # messages of a kind that wait in Redis, for each of its threads


class Actors:
    """The actors of some kinds of work, each with a broker of its own and a queue of its own name."""

    def __init__(self, brokers: Mapping[str, RedisBroker]) -> None:
        self._brokers = brokers
        self._actors = {kind: _actor(broker, kind) for kind, broker in brokers.items()}

    def hand(self, item: Handed) -> None:
        """Hand one piece of outbox work to whichever process is free."""
        self._actors[item.job].send(str(item.id), item.attempts)

    def rooms(self) -> dict[str, int]:
        """Return for each kind how many more messages its threads will soon begin."""
        waiting = {kind: int(broker.do_qsize(kind)) for kind, broker in self._brokers.items()}
        return {kind: max(0, JOBS[kind].threads * AHEAD - count) for kind, count in waiting.items()}


def _actor(broker: dramatiq.Broker, kind: str) -> "dramatiq.Actor[[str, int], None]":
    # Nothing is tried again by Dramatiq, since the row is; its limit of time is the net below those of the work itself,
    # for it cannot end a call that blocks.
    options: dict[str, Any] = {"max_retries": 0, "time_limit": JOBS[kind].longest / timedelta(milliseconds=1)}
    return dramatiq.actor(broker=broker, actor_name=kind, queue_name=kind, **options)(work)


def work(id: str, attempts: int) -> None:
    """Do one piece of outbox work after so many attempts, unless it is done or somebody else has begun it."""
    with store.transaction() as session:
        item = outbox.find(session, UUID(id))
        job = JOBS.get(item.job) if item else None
        if item is None or job is None:
            return  # a job of a newer version waits for a worker that knows it
        taken = outbox.take(session, item.id, attempts, lease=leases.LEASE)
    if taken is None:
        return
    try:
        with leases.kept(taken.id, longest=job.longest):
            job.run(taken.id, taken.arguments)
    except (Exception, TimeLimitExceeded) as fault:
        log.exception("The job %s failed.", taken.job, extra={"item": id, "attempts": taken.attempts})
        measures.JOBS.labels(taken.job, "failed").inc()
        _failed(taken, fault, job)
    else:
        with store.transaction() as session:
            outbox.finish(session, taken.id)
        measures.JOBS.labels(taken.job, "done").inc()


def _failed(item: outbox.OutboxItem, fault: BaseException, job: Job) -> None:
    """Put it off; where it has been tried often enough set it aside, and where it has its answer give it up."""
    error = aside.reason(fault)
    refused = isinstance(fault, job.final)
    with store.transaction() as session:
        if not refused and item.attempts < job.attempts:
            outbox.put_off(session, item.id, delay=wait(item.attempts), error=error)
            return
        outbox.finish(session, item.id, error=error)
        if not refused:
            aside.keep(session, item.job, [Row(item.id)], fault, again=False)
