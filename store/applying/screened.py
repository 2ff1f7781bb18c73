"""Screening applications: what is taken out of the database for it, and what is kept of it."""

from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from rules import plans, screening
from rules.clock import now
from rules.refusal import Refusal
from rules.steps import Outcome, Task, status
from store import events, outbox
from store.accounts import limits, organisations
from store.applying import applications, attachments, moves
from store.applying.applications import Application
from store.applying.moves import Shows
from store.hiring import fields, requirements

BRIEFS = "briefs"  # what an organisation has of them in an hour: rules.plans.EXTRA_CAPS


def ask(session: Session, application: Application, action: str = "full") -> None:
    """Have an application screened after this transaction commits."""
    job = "brief" if action == "rerun_brief" else "screen"
    outbox.add(session, application, job, application_id=str(application.id), action=action)


def anew(session: Session, application: Application) -> None:
    """Have an application screened in full once more, for it has another CV; the application row must be locked."""
    application.screening.status = "pending"
    application.updated_at = now()
    ask(session, application)


def task(session: Session, application: Application, action: str, job_text: Any) -> Task:
    """Take out what screening an application needs; `job_text` makes plain text of the job's HTML."""
    cv = attachments.cv(session, application.id)
    asked = {one.key for one in fields.all_of(session, application.job) if one.is_active}
    caller = organisations.caller_of(session, application)
    return Task(
        application_id=application.id,
        action=action,
        cv=cv.key if cv else None,
        received=cv.created_at.date() if cv else None,
        profile=application.screening.profile,
        parse_error=application.screening.parse_error,
        answers=[one.as_rules_see_it() for one in applications.answers(session, application)],
        requirements=[
            one.as_rules_see_it()
            for one in requirements.all_of(session, application.job)
            if one.is_active
            and (one.field is None or one.field in asked)  # nobody can answer what is not asked
        ],
        job_title=application.job.title,
        job_text=job_text(application.job.description_html),
        brief=application.job.cv_analysis_enabled and plans.includes(caller.plan_name, "cv_analysis"),
        briefed_on=application.screening.brief_input if application.screening.ai_brief else None,
    )


def may_brief(application: Application) -> bool:
    """Count a brief against the hour of its organisation; False where that is used up."""
    key = f"limit:{application.organisation_id}:{BRIEFS}"
    return limits.take([limits.Limit(key, plans.EXTRA_CAPS[BRIEFS])])[1] is None


def find(session: Session, id: UUID, *, for_update: bool = False) -> Application | None:
    """Load an application for screening, whoever owns it; None when it is not there any more."""
    found = applications.whole(select(Application).where(Application.id == id), locked=for_update)
    return session.scalars(found.with_for_update(of=Application) if for_update else found).first()


def hold_month(session: Session, application: Application) -> None:
    """Take the month, where what is about to be kept may advance the application, before its row."""
    if application.job.screen_auto_advance_enabled:
        moves.hold_month(session, organisations.caller_of(session, application), application.id)


def keep(
    session: Session,
    application: Application,
    task: Task,
    outcome: Outcome,
    shows: Shows,
    *,
    tell: bool = True,
) -> None:
    """Keep what screening found, tell of it, and advance who reaches the job's threshold.

    The application row must be locked. What was found in a CV that is no more the newest is not kept: whoever sent the
    new one has asked for it to be read.
    """
    cv = attachments.cv(session, application.id)
    if (cv.key if cv else None) != task.cv:
        return
    found = application.screening
    found.change(outcome.changes)
    if outcome.scored:
        application.l3_score = outcome.l3_score
    found.status = status(
        parse_error=found.parse_error,
        model_version=found.model_version,
        brief=found.ai_brief,
        parsed_last=task.steps == ("parse",),
    )
    found.screened_at = application.updated_at = now()  # what was found is shown with the application
    if outcome.later is not None:
        found.status = "pending"
        ask(session, application, outcome.later)
    if outcome.brief_later:
        outbox.add(session, application, "brief", application_id=str(application.id), action="brief")
    session.flush()
    told: dict[str, Any] = {"screening": {}}
    if tell and task.steps != ("parse",):
        score = None if application.l3_score is None else str(application.l3_score)
        applications.happened(
            session, application, "screened", was=application.status, actor="system", l3_score=score
        )
        told = shows.event(application, "application.screened")
        events.record(session, "application.screened", application, told)
    if outcome.scored:
        _advance(session, application, shows)
        told["screening"]["auto_advanced"] = found.auto_advanced  # told before the advance, which it knows of


def _advance(session: Session, application: Application, shows: Shows) -> None:
    job, found = application.job, application.screening
    wanted = screening.advances(
        enabled=job.screen_auto_advance_enabled,
        l1_passed=found.l1_passed,
        l3_score=application.l3_score,
        minimum=job.screen_auto_advance_l3_min,
    )
    if not wanted or application.status != "submitted":
        return
    caller = organisations.caller_of(session, application)
    try:
        moves.advance(session, caller, application, shows, actor="system", send_email=True)
        found.auto_advanced = True
    except Refusal as refusal:  # nobody is there to hear of it: the history is
        applications.happened(
            session,
            application,
            "advance_refused",
            was=application.status,
            actor="system",
            code=refusal.code,
            message=str(refusal),
        )
