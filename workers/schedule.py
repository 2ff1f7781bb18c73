"""The schedule: what becomes due by itself. Any number may run side by side; each row is taken once."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

import rules.jobs
import schemas.applications
import schemas.invitations
import schemas.jobs
import schemas.sessions
import store
from rules.clock import now
from rules.errors import Refusal
from store import events
from store.accounts import idempotency, organisations
from store.applying import moves
from store.assessing import invitations, sessions
from store.hiring import jobs
from store.operating import retention
from workers import measures

log = logging.getLogger("hiring.schedule")

BATCH = 1000  # rows in one transaction, where one statement does them all
FEW = 200  # where each is looked at
LONGEST_TURN = timedelta(seconds=0.5)
LONGEST_SLEEP = timedelta(seconds=1)  # something may become due earlier than what was next


@dataclass(frozen=True)
class Kind:
    """One kind of row with a moment at which it is due."""

    name: str
    next_due: Callable[[Session], datetime | None]  # the earliest such moment
    run_batch: Callable[[Session], int]  # do what is due, up to a batch; return how much

    def batch(self, session: Session) -> tuple[datetime | None, int | None]:
        """Do what is due, up to a batch; return when it is due and how much was done (None: it is not due yet)."""
        due = self.next_due(session)
        return due, self.run_batch(session) if due and due <= now() else None


def expire_invitations(session: Session) -> int:
    """Expire what nobody started in time."""
    return invitations.expire_due(session, BATCH, schemas.invitations.event)


def finish_sessions(session: Session) -> int:
    """Complete sessions whose time is up, as their candidate would have."""
    due = sessions.due(session, FEW)
    moment = sessions.moment(session)
    for one in due:
        sessions.finish(session, one, moment, schemas.sessions.event)
    return len(due)


def publish_jobs(session: Session) -> int:
    """Publish a draft whose moment has come; one that is not fit stays a draft, with the reason kept."""
    due = jobs.due_for_publication(session)
    if due is None:
        return 0
    caller = organisations.caller_of(session, due)
    organisations.lock(session, caller)
    job = jobs.get(session, caller, str(due.id), for_update=True)
    moment = job.scheduled_publish_at
    if job.status != "draft" or job.publish_error or moment is None or moment > now():
        return 1  # another schedule, or somebody, was faster
    try:
        jobs.publish(session, caller, job, schemas.jobs.event)
    except Refusal as refusal:
        job.publish_error = str(refusal)
        log.warning(
            "A job could not be published on schedule.", extra={"job": str(job.id), "refusal": refusal.code}
        )
    return 1


def close_jobs(session: Session) -> int:
    """Close open jobs whose time is over."""
    due = jobs.due_for_closing(session, FEW)
    for job in due:
        events.apply(session, job, rules.jobs.close(job.status), schemas.jobs.event)
    return len(due)


def mail_rejections(session: Session) -> int:
    """Mail the candidates whose rejection they may hear of by now."""
    return moves.mail_rejections(session, schemas.applications, FEW)


KINDS = (
    Kind("invitations", invitations.next_due, expire_invitations),
    Kind("sessions", sessions.next_due, finish_sessions),
    Kind("job publications", jobs.next_publication, publish_jobs),
    Kind("job expiries", jobs.next_expiry, close_jobs),
    Kind("rejection mails", moves.next_rejection_mail, mail_rejections),
    Kind("events", retention.events_due, lambda session: retention.delete_events(session, BATCH)),
    Kind("deliveries", retention.deliveries_due, lambda session: retention.delete_deliveries(session, BATCH)),
    Kind("outbox", retention.outbox_due, lambda session: retention.delete_outbox(session, BATCH)),
    Kind(
        "idempotent answers",
        idempotency.answers_due,
        lambda session: idempotency.delete_answers(session, BATCH),
    ),
)


def run(stopping: threading.Event, kinds: tuple[Kind, ...] = KINDS) -> None:
    """Do what becomes due until told to stop."""
    while not stopping.is_set():
        moments = [turn(kind, stopping) for kind in kinds]
        wake = min([*(moment for moment in moments if moment), now() + LONGEST_SLEEP])
        stopping.wait(max(0.0, (wake - now()).total_seconds()))


def turn(kind: Kind, stopping: threading.Event) -> datetime | None:
    """Do what is due of one kind, batch by batch; return when to look again (None: nothing is in sight).

    A kind with a backlog lets the others have their turn after a while.
    """
    began = now()
    try:
        while not stopping.is_set() and now() - began < LONGEST_TURN:
            due, done = store.in_transaction(kind.batch)
            if done is None:
                return due
            if not done:  # another schedule has it in hand
                return now() + LONGEST_SLEEP
            measures.DONE.labels(kind.name).inc(done)
            log.info("Did what was due.", extra={"kind": kind.name, "count": done})
        return now()
    except Exception:
        measures.FAULTS.labels(kind.name).inc()
        log.exception("What was due could not be done; trying again.", extra={"kind": kind.name})
    return now() + LONGEST_SLEEP


def lags(session: Session, kinds: tuple[Kind, ...] = KINDS) -> dict[str, float]:
    """Return for each kind how many seconds ago its earliest row became due; 0 when nothing is due."""
    moment = now()
    found = {kind.name: kind.next_due(session) for kind in kinds}
    return {name: max(0.0, (moment - due).total_seconds()) if due else 0.0 for name, due in found.items()}
