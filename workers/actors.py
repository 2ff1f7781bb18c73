"""The Dramatiq actors: messages say that there is something to do, the database says what."""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from uuid import UUID

import dramatiq

import store
from store import outbox
from store.outbox import Handed
from workers import leases, measures
from workers.jobs import JOBS, wait

log = logging.getLogger("hiring.work")


class Actors:
    """The actors of one broker."""

    def __init__(self, broker: dramatiq.Broker, *, ring: Callable[[], None] = lambda: None) -> None:
        self._work = dramatiq.actor(broker=broker, actor_name="work", queue_name="work")(work)

        @dramatiq.actor(broker=broker, actor_name="deliver", queue_name="deliver")
        def deliver(ids: list[str]) -> None:
            ring()  # the sender takes whatever is due, these among it

        self._deliver = deliver

    def hand(self, item: Handed) -> None:
        """Hand one piece of outbox work to whichever process is free."""
        self._work.send(str(item.id), item.due_at.isoformat())

    def deliver(self, ids: Sequence[UUID]) -> None:
        """Tell a sender that these deliveries have been made."""
        self._deliver.send([str(id) for id in ids])


def work(id: str, due_at: str) -> None:
    """Do one piece of outbox work, unless it is done or somebody else is at it."""
    with store.transaction() as session:
        item = outbox.find(session, UUID(id))
        job = JOBS.get(item.job) if item else None
        if item is None or job is None:
            return  # a job of a newer version waits for a worker that knows it
        taken = outbox.take(session, item.id, datetime.fromisoformat(due_at), lease=leases.LEASE)
    if taken is None:
        return
    try:
        with leases.kept(taken.id, longest=job.longest):
            job.run(taken.id, taken.arguments)
    except Exception as fault:
        log.exception("The job %s failed.", taken.job, extra={"item": id, "attempts": taken.attempts})
        measures.JOBS.labels(taken.job, "failed").inc()
        used_up = job.attempts is not None and taken.attempts >= job.attempts
        _failed(taken, fault, given_up=used_up or isinstance(fault, job.final))
    else:
        with store.transaction() as session:
            outbox.finish(session, taken.id)
        measures.JOBS.labels(taken.job, "done").inc()


def _failed(item: outbox.OutboxItem, fault: Exception, *, given_up: bool) -> None:
    error = f"{type(fault).__name__}: {fault}"[:1_000].replace("\x00", "")
    with store.transaction() as session:
        if given_up:
            outbox.finish(session, item.id, error=error)
        else:
            outbox.put_off(session, item.id, delay=wait(item.attempts), error=error)
