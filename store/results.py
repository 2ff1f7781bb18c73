"""Results: sessions as their organisation sees them."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session, contains_eager, joinedload
from sqlalchemy.orm.attributes import set_committed_value

from rules import grading
from rules.clock import now
from rules.errors import NotFound
from rules.pages import Page
from store import events, pages
from store.assessments import Assessment
from store.invitations import Invitation
from store.sessions import CandidateSession, SessionCase, Violation

Whole = tuple[CandidateSession, list[SessionCase], list[Violation]]


def page(
    session: Session,
    assessment: Assessment,
    *,
    status: str | None,
    passed: bool | None,
    updated_after: datetime | None,
    cursor: str | None,
    page_size: int,
) -> Page:
    """Load one page of an assessment's sessions, the latest start first."""
    rows = (
        select(CandidateSession)
        .join(CandidateSession.invitation)
        .options(contains_eager(CandidateSession.invitation))
        .where(CandidateSession.assessment_id == assessment.id)
    )
    if status is not None:
        over = CandidateSession.completed_at.is_not(None)
        rows = rows.where(over if status == "completed" else ~over)
    if passed is not None:
        rows = rows.where(CandidateSession.passed.is_(passed))
    if updated_after is not None:
        rows = rows.where(CandidateSession.updated_at > updated_after)
    return pages.page(session, rows, CandidateSession.id, cursor=cursor, page_size=page_size)


def get(session: Session, invitation: Invitation, *, for_update: bool = False) -> Whole:
    """Load an invitation's session with its cases and violations, or raise NotFound."""
    found = select(CandidateSession).where(CandidateSession.invitation_id == invitation.id)
    sitting = session.scalars(found.with_for_update() if for_update else found).first()
    if sitting is None:
        raise NotFound("There is no session of this invitation.")
    set_committed_value(sitting, "invitation", invitation)
    violations = session.scalars(
        select(Violation).where(Violation.session_id == sitting.id).order_by(Violation.id)
    ).all()
    return sitting, cases(session, sitting), list(violations)


def cases(session: Session, sitting: CandidateSession) -> list[SessionCase]:
    """Load a session's cases in their order."""
    found = select(SessionCase).where(SessionCase.session_id == sitting.id).order_by(SessionCase.case_order)
    return list(session.scalars(found))


def ungraded(session: Session, session_id: UUID, *, for_update: bool = False) -> Whole | None:
    """Load a completed session that has no grades yet; None where there is nothing to grade."""
    found = (
        select(CandidateSession)
        .where(
            CandidateSession.id == session_id,
            CandidateSession.completed_at.is_not(None),
            CandidateSession.graded_at.is_(None),
        )
        .options(joinedload(CandidateSession.invitation).joinedload(Invitation.assessment))
    )
    sitting = session.scalars(found.with_for_update(of=CandidateSession) if for_update else found).first()
    return None if sitting is None else (sitting, cases(session, sitting), [])


def settle(
    session: Session,
    sitting: CandidateSession,
    asked: Sequence[SessionCase],
    show: Callable[[Any], dict[str, Any]],
) -> None:
    """Add up a session; the first time that nothing waits for review, its outcome is final and told."""
    result = grading.total(asked, sitting.passing_score)
    sitting.score, sitting.max_score = result.score, result.max_score
    sitting.score_percentage, sitting.passed = result.score_percentage, result.passed
    sitting.graded_at = sitting.graded_at or now()
    if result.passed is not None and sitting.settled_at is None:
        sitting.settled_at = now()
        events.record(
            session, "candidate.passed" if result.passed else "candidate.failed", sitting, show(sitting)
        )
    session.flush()
