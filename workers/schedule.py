"""What becomes due by itself, and what is done then: one line for each kind. Each row is taken once, whoever asks."""

import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

import rules.jobs
import rules.offers
import schemas.applications
import schemas.enrollments
import schemas.interviews
import schemas.invitations
import schemas.jobs
import schemas.offers
import schemas.people
import schemas.sessions
import store
from gateways.letters import fonts
from rules import plans
from rules.clock import now
from rules.refusal import Refusal
from store import events, outbox
from store.accounts import idempotency, keys, members, organisations, sign_ins, signed_in, starts
from store.advancing import waiting
from store.applying import moves
from store.assessing import invitations, recordings, sessions
from store.auditing import sealing, trail
from store.database import aside
from store.database.aside import Row
from store.database.due import Due
from store.delivering import pending
from store.hiring import jobs, tallies
from store.interviewing import moves as interview_moves
from store.interviewing import presence, rooms
from store.measuring import counts
from store.offering import moves as offer_moves
from store.offering import offers
from store.operating import retention
from store.people import candidates, erasing, untouched
from workers import apart, few, measures

log = logging.getLogger("hiring.schedule")

BATCH = 1000  # rows in one transaction, where one statement does them all
FEW = 200  # where each is looked at
A_HANDFUL = 10  # where each has thousands of others
LONGEST_TURN = timedelta(seconds=2)  # until a process that stops, or a clock that does it itself, goes on
LONGEST_SLEEP = timedelta(seconds=1)  # something may become due earlier than what was next


@dataclass(frozen=True)
class Kind:
    """One kind of row with a moment at which it is due."""

    due: Due
    do: Callable[[Session, Sequence[Row]], int]  # to those that are still due; return to how many
    size: int = BATCH
    quiet: bool = False  # they are only forgotten: nobody is told, and nothing follows

    @property
    def name(self) -> str:
        """What it is called in logs, figures and notes."""
        return self.due.kind

    def batch(self, *, closer: bool = False) -> tuple[datetime | None, int | None]:
        """Do what is due, up to a batch; return when it is due and how much was done (None: it is not due yet).

        Where some of it fails that is known of no moment, and whoever's it is waits, all of theirs, unless somebody
        waits for them: then it is looked at `closer` here, in a hurry.
        """
        chosen: list[Row] = []

        def carry_out(session: Session) -> tuple[datetime | None, int | None]:
            apart.hurried(session)
            due = self.due.next(session)
            if due is None or due > now():
                return due, None
            chosen[:] = self.due.choose(session, self.size)
            done = self.do(session, chosen) if chosen else 0
            aside.done(session, self.name, chosen)
            return due, done

        try:
            with nullcontext() if closer else few.at_once():
                return store.in_transaction(carry_out)
        except store.OUTAGES:
            raise
        except Exception:
            if not chosen:
                raise
            measures.FAULTS.labels(self.name).inc()
            return None, apart.each(self.name, chosen, self.do, closer=closer, hurry=closer)


def expire_invitations(session: Session, rows: Sequence[Row]) -> int:
    """Expire what nobody started in time."""
    return invitations.expire(session, rows, schemas.invitations.event)


def finish_sessions(session: Session, rows: Sequence[Row]) -> int:
    """Complete sessions whose time is up, as their candidate would have."""
    due = sessions.overdue(session, rows)
    moment = sessions.moment(session)
    for one in due:
        sessions.finish(session, one, moment, schemas.sessions.event)
    return len(due)


def publish_jobs(session: Session, rows: Sequence[Row]) -> int:
    """Publish drafts whose moment has come; one that is not fit stays a draft, with the reason kept."""
    for row in rows:
        caller = organisations.caller_of(session, row)
        organisations.lock(session, caller)
        job = jobs.get(session, caller, str(row.id), for_update=True)
        moment = job.scheduled_publish_at
        if job.status != "draft" or job.publish_error or moment is None or moment > now():
            continue  # another schedule, or somebody, was faster
        try:
            jobs.publish(session, caller, job, schemas.jobs.event)
        except Refusal as refusal:
            job.publish_error = str(refusal)
            trail.by_itself(session, "job.published", "job", job, error_code=refusal.code)
            log.warning(
                "A job could not be published on schedule.",
                extra={"job": str(job.id), "refusal": refusal.code},
            )
    return len(rows)


def close_jobs(session: Session, rows: Sequence[Row]) -> int:
    """Close open jobs whose time is over."""
    due = jobs.overdue(session, rows)
    for job in due:
        events.apply(session, job, rules.jobs.close(job.status), schemas.jobs.event)
    return len(due)


def mail_rejections(session: Session, rows: Sequence[Row]) -> int:
    """Mail the candidates whose rejection they may hear of by now."""
    return moves.mail_rejections(session, rows, schemas.applications)


def resume_enrollments(session: Session, rows: Sequence[Row]) -> int:
    """Enter the stages that could not be entered before."""
    return waiting.resume(session, rows, schemas.enrollments)


def send_offers(session: Session, rows: Sequence[Row]) -> int:
    """Send offers whose moment has come; one that is not fit is a draft again, with the reason kept."""
    for row in rows:
        caller = organisations.caller_of(session, row)
        offer = offers.hold(session, caller, row.id)
        moment = offer.scheduled_send_at
        if offer.status != "scheduled" or moment is None or moment > now():
            continue  # another schedule, or somebody, was faster
        try:
            plans.require(caller.plan_name, "offers")
            offer_moves.send(session, caller, offer, schemas.offers, fonts.unprintable)
        except Refusal as refusal:
            trail.by_itself(session, "offer.sent", "offer", offer, error_code=refusal.code)
            offer_moves.put_back(session, offer, rules.offers.reason(refusal))
            log.warning(
                "An offer could not be sent on schedule.",
                extra={"offer": str(offer.id), "refusal": refusal.code},
            )
    return len(rows)


def expire_offers(session: Session, rows: Sequence[Row]) -> int:
    """Expire offers that nobody answered in time."""
    due = offers.overdue(session, rows)
    for offer in due:
        events.apply(session, offer, rules.offers.MOVES["expire"], schemas.offers.event)
    return len(due)


def move_interviews(session: Session, rows: Sequence[Row]) -> int:
    """End interviews whose time is up, and close rooms that the other side did not come to, or nobody."""
    due = rooms.overdue(session, rows)
    for room in due:
        interview_moves.fall_due(session, room, schemas.interviews)
    return len(due)


def erase_candidates(session: Session, rows: Sequence[Row]) -> int:
    """Erase people of whom nothing has happened for as long as their organisation keeps them."""
    for row in rows:
        caller = organisations.caller_of(session, row)
        person = candidates.get(session, caller, row.id, for_update=True)
        if not untouched.happened_since(session, caller, row.id):
            erasing.erase(session, caller, row.id, with_answers=False)
            trail.by_itself(session, "candidate.erased", "candidate", person)
    return len(rows)


def mail_key_ends(session: Session, rows: Sequence[Row]) -> int:
    """Mail those who make keys that one of them ends soon."""
    due = keys.ending(session, rows)
    for key, organisation_name in due:
        if key.expires_at is None or key.expires_at <= now():  # nobody was here to say so in time
            continue
        owner = organisations.caller_of(session, Row(key.id, key.organisation_id, key.livemode))
        for member in members.who_make_keys(session, key.organisation_id):
            outbox.add(
                session, owner, "mail", **schemas.people.key_ending_mail(key, organisation_name, member.email)
            )
    return len(due)


KINDS = (
    Kind(keys.DUE, mail_key_ends, FEW),
    Kind(invitations.DUE, expire_invitations),
    Kind(sessions.DUE, finish_sessions, FEW),
    Kind(jobs.PUBLICATIONS, publish_jobs, 1),
    Kind(jobs.EXPIRIES, close_jobs, FEW),
    Kind(tallies.DUE, tallies.fold),
    Kind(pending.DUE, pending.fold),
    Kind(moves.REJECTION_MAILS, mail_rejections, FEW),
    Kind(waiting.RETRIES, resume_enrollments, FEW),
    Kind(offers.SENDINGS, send_offers, 1),
    Kind(offers.EXPIRIES, expire_offers, FEW),
    Kind(rooms.DUE, move_interviews, FEW),
    Kind(presence.DUE, presence.leave, FEW),
    Kind(untouched.DUE, erase_candidates, 1),
    Kind(retention.EVENTS, retention.events_deletion(retention.EVENTS), quiet=True),
    Kind(retention.EVENTS_SOONER, retention.events_deletion(retention.EVENTS_SOONER), quiet=True),
    Kind(recordings.DUE, recordings.let_go(recordings.DUE), A_HANDFUL),
    Kind(recordings.SOONER, recordings.let_go(recordings.SOONER), A_HANDFUL),
    Kind(retention.DELIVERIES, retention.delete_deliveries, quiet=True),
    Kind(retention.OUTBOX, retention.deletion(retention.OUTBOX), quiet=True),
    Kind(retention.SET_ASIDE, retention.deletion(retention.SET_ASIDE), quiet=True),
    Kind(idempotency.DUE, idempotency.delete_answers, quiet=True),
    Kind(signed_in.DUE, retention.deletion(signed_in.DUE)),
    Kind(sign_ins.DUE, retention.deletion(sign_ins.DUE)),
    Kind(starts.DUE, retention.deletion(starts.DUE)),
    Kind(sealing.DUE, sealing.seal),
    Kind(counts.COUNTS, retention.deletion(counts.COUNTS)),
    Kind(counts.SKETCHES, retention.deletion(counts.SKETCHES)),
    Kind(counts.REFUSALS, retention.deletion(counts.REFUSALS)),
)


def turn(kind: Kind, stopping: threading.Event) -> datetime | None:
    """Do what is due of one kind, batch by batch, for a while; return when to look again (None: nothing in sight)."""
    began = now()
    try:
        while not stopping.is_set() and now() - began < LONGEST_TURN:
            due, done = kind.batch()
            if done is None:
                return due
            if done:
                measures.DONE.labels(kind.name).inc(done)
                log.info("Did what was due.", extra={"kind": kind.name, "count": done})
            elif due:  # another schedule has it in hand
                return now() + LONGEST_SLEEP
        return now()
    except Exception:
        measures.FAULTS.labels(kind.name).inc()
        log.exception("What was due could not be done; trying again.", extra={"kind": kind.name})
    return now() + LONGEST_SLEEP


def lags(session: Session, kinds: tuple[Kind, ...] = KINDS) -> dict[str, float]:
    """Return for each kind how many seconds ago its earliest row became due; 0 when nothing is due."""
    moment = now()
    found = {kind.name: kind.due.next(session) for kind in kinds}
    return {name: max(0.0, (moment - due).total_seconds()) if due else 0.0 for name, due in found.items()}
