"""What is done with applications: each move with its event, its line of history and what else it brings."""

from collections.abc import Sequence
from typing import Any, Protocol
from uuid import UUID

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from rules import applications as rules
from rules.caller import Caller
from rules.clock import now
from rules.invitations import check_active
from rules.knockouts import Knockout
from rules.moves import Move
from store import events, outbox
from store.accounts import organisations
from store.advancing import engine, enrolling
from store.advancing.pipelines import Pipeline
from store.applying import applications
from store.applying.applications import Application, ApplicationEvent
from store.assessing import inviting
from store.assessing.assessments import Assessment
from store.database.aside import Row
from store.database.base import beside, visible
from store.database.due import Due
from store.hiring.jobs import Job


class Shows(engine.Shows, Protocol):
    """How applications, what advancing makes, and mails look outside: the module `schemas.applications`."""

    def event(self, application: Any, type: str, /) -> dict[str, Any]:
        """Return the data of an application's event."""

    def rejection_mail(self, application: Any, organisation_name: str, /) -> dict[str, Any]:
        """Return the mail that tells of a rejection, as outbox work."""


def _move(name: str, application: Application) -> Move | None:
    return rules.move(name, application.status, application.held_from)


def hold_month(session: Session, caller: Caller, id: UUID) -> None:
    """Take the month, where advancing may invite, before the application's row: the order of store.database.locks."""
    mine = visible(caller, Application).where(Application.id == id)
    job_id = mine.with_only_columns(Application.job_id).scalar_subquery()
    linked = func.coalesce(Job.pipeline_id, Job.assessment_id)
    if session.scalar(select(linked).where(Job.id == job_id)) is not None:
        organisations.hold_month(session, caller)


def make(
    session: Session,
    application: Application,
    move: Move,
    name: str,
    shows: Shows,
    actor: str,
    **details: Any,
) -> None:
    """Make a move: the status, its line of history, its event. The application row must be locked."""
    session.add(_made(session, application, move, name, shows, actor, **details))
    session.flush()


def _made(
    session: Session,
    application: Application,
    move: Move,
    name: str,
    shows: Shows,
    actor: str,
    **details: Any,
) -> ApplicationEvent:
    was = application.status
    application.held_from = was if name == "held" else None
    events.apply(session, application, move, lambda one: shows.event(one, str(move.event)))
    return applications.line(application, name, was=was, actor=actor, **details)


def knock_out(
    session: Session,
    caller: Caller,
    application: Application,
    knockout: Knockout,
    shows: Shows,
    *,
    is_mailed: bool,
) -> list[ApplicationEvent]:
    """Note in an application that is being made how the knockouts went, and do what the rule that was not met says.

    Who is turned away hears of it. Returns what its history is to say of that.
    """
    application.screening.l1_passed = knockout.passed
    rule = knockout.failed_rule
    if rule is None:
        return []
    failed = {name: rule.get(name) for name in ("field_key", "operator", "value")}
    application.screening.knockout = failed | {"on_fail": knockout.on_fail}
    name, type = {"reject": ("fail", "knockout_failed"), "hold": ("hold", "held")}[str(knockout.on_fail)]
    move = _move(name, application)
    assert move is not None
    said = _made(session, application, move, type, shows, "system", knockout=application.screening.knockout)
    if application.status in rules.TURNED_AWAY and is_mailed:
        _turn_away(session, caller, application, shows)
    return [said]


def advance(
    session: Session,
    caller: Caller,
    application: Application,
    shows: Shows,
    *,
    actor: str,
    send_email: bool,
) -> None:
    """Advance into the linked pipeline or else to the linked assessment, if there is one; both or neither."""
    move = _move("advance", application)
    assert move is not None  # no second time is a repetition
    details: dict[str, str] = {}
    if application.job.pipeline_id is not None:
        details = _enroll(session, caller, application, shows, actor=actor, send_email=send_email)
    elif application.job.assessment_id is not None:
        details = _invite(session, caller, application, shows, send_email=send_email)
    # What a knockout said is not so any more.
    application.rejection_mail_at = application.rejection_mailed_at = None
    make(session, application, move, "advanced", shows, actor, **details)


def _enroll(
    session: Session, caller: Caller, application: Application, shows: Shows, *, actor: str, send_email: bool
) -> dict[str, str]:
    linked = visible(caller, Pipeline).where(Pipeline.id == application.job.pipeline_id)
    pipeline = session.scalars(linked).one()
    person = {
        "email": application.email,
        "candidate_name": application.full_name,
        "candidate_id": application.candidate_id,
        "language": application.job.language,
    }
    enrollment, new = enrolling.enroll(
        session, caller, pipeline, person, shows, actor=actor, send_email=send_email
    )
    application.enrollment_id = enrollment.id
    details = {"enrollment_id": str(enrollment.id)}
    if new and enrollment.invitation_id is not None:
        application.invitation_id = enrollment.invitation_id
        details["invitation_id"] = str(enrollment.invitation_id)
    return details


def _invite(
    session: Session, caller: Caller, application: Application, shows: Shows, *, send_email: bool
) -> dict[str, str]:
    linked = visible(caller, Assessment).where(Assessment.id == application.job.assessment_id)
    assessment = session.scalars(linked).one()
    check_active(assessment.status)
    person = {
        "email": application.email,
        "name": application.full_name,
        "role": application.job.title,
        "candidate_id": application.candidate_id,
        # Who applied in a language goes on in it, unless the assessment speaks one of its own.
        "language": None if assessment.language else application.job.language,
    }
    invitation, _ = inviting.meet(session, caller, assessment, person, shows, send_email=send_email)
    application.invitation_id = invitation.id
    return {"invitation_id": str(invitation.id)}


def reject(
    session: Session, caller: Caller, application: Application, shows: Shows, *, actor: str, reason: str
) -> None:
    """Reject, and see to it that the candidate is mailed when the job says so; again changes nothing."""
    move = _move("reject", application)
    if move is None:
        return
    application.reject_reason = reason
    make(session, application, move, "rejected", shows, actor, **({"reason": reason} if reason else {}))
    if application.rejection_mailed_at is None:  # a knockout may have been told of
        _turn_away(session, caller, application, shows)


def _turn_away(session: Session, caller: Caller, application: Application, shows: Shows) -> None:
    """See to it that the candidate is mailed when the job says so."""
    moment = now()
    application.rejection_mail_at = rules.rejection_mail_at(application.job.rejection_visibility, moment)
    if application.rejection_mail_at is not None and application.rejection_mail_at <= moment:
        _mail_rejection(session, application, organisations.get(session, caller).name, shows)


def hold(session: Session, application: Application, shows: Shows, *, actor: str) -> None:
    """Put on hold, remembering where from; again changes nothing."""
    move = _move("hold", application)
    if move is not None:
        make(session, application, move, "held", shows, actor)


def unhold(session: Session, application: Application, shows: Shows, *, actor: str) -> None:
    """Bring back to where it was held from."""
    move = _move("unhold", application)
    assert move is not None
    make(session, application, move, "unheld", shows, actor)


def withdraw(session: Session, application: Application, shows: Shows, *, actor: str) -> None:
    """Withdraw; the person may apply again."""
    move = _move("withdraw", application)
    assert move is not None
    application.withdrawn_at = now()
    make(session, application, move, "withdrawn", shows, actor)


def withdraw_unaware(session: Session, application: Application, *, actor: str) -> None:
    """Take note that who was rejected and has not heard of it withdraws, and never will: they may apply again."""
    application.withdrawn_at, application.rejection_mail_at = now(), None
    application.updated_at = now()
    applications.happened(session, application, "withdrawn", was=application.status, actor=actor)


def hire(session: Session, application: Application, shows: Shows, *, actor: str) -> None:
    """Hire."""
    move = _move("hire", application)
    assert move is not None
    make(session, application, move, "hired", shows, actor)


def hire_accepted(
    session: Session, application: Application, shows: Shows, *, actor: str, offer_id: str
) -> None:
    """Hire who accepted an offer, on hold or not; who was hired before stays so."""
    if rules.beneath(application.status, application.held_from) != "hired":
        move = _move("accept", application)
        assert move is not None
        make(session, application, move, "hired", shows, actor, offer_id=offer_id)


REJECTION_MAILS = Due(
    "rejection mails",
    Application,
    Application.rejection_mail_at,
    # Can be written once, unlike a list.
    or_(*(Application.status == one for one in sorted(rules.TURNED_AWAY))),
)


def mail_rejections(session: Session, rows: Sequence[Row], shows: Shows) -> int:
    """Mail those rejected candidates whose moment has come; return how many there were."""
    due = session.scalars(
        select(Application)
        .where(*REJECTION_MAILS.among(rows))
        .options(*beside(Application.job, locked=True))
        .order_by(Application.rejection_mail_at)
        .with_for_update(of=Application, skip_locked=True)
    ).all()
    for application in due:
        caller = organisations.caller_of(session, application)
        _mail_rejection(session, application, organisations.get(session, caller).name, shows)
    session.flush()
    return len(due)


def _mail_rejection(session: Session, application: Application, name: str, shows: Shows) -> None:
    outbox.add(session, application, "mail", **shows.rejection_mail(application, name))
    application.rejection_mail_at, application.rejection_mailed_at = None, now()
