"""The cases of a session, as its candidate meets and answers them."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

import rules.sessions
from store.assessing.sessions import CandidateSession, SessionCase, Sitting


def cases(session: Session, candidate_session: CandidateSession) -> list[SessionCase]:
    """List a session's cases in the candidate's order."""
    of_session = select(SessionCase).where(SessionCase.session_id == candidate_session.id)
    return list(session.scalars(of_session.order_by(SessionCase.case_order)))


def count_cases(session: Session, candidate_session: CandidateSession) -> int:
    """Count a session's cases."""
    of_session = SessionCase.session_id == candidate_session.id
    return session.scalar(select(func.count()).select_from(SessionCase).where(of_session)) or 0


def case(session: Session, candidate_session: CandidateSession, place: UUID) -> SessionCase | None:
    """Find one case of a session by the place it was taken from."""
    return session.scalar(
        select(SessionCase).where(
            SessionCase.session_id == candidate_session.id, SessionCase.assessment_case_id == place
        )
    )


def save(session: Session, sitting: Sitting, row: SessionCase, answer: Any) -> datetime:
    """Keep an answer (None clears it); the time since the candidate's last save was spent on this case."""
    candidate_session = sitting.session
    assert candidate_session is not None
    last = session.scalar(
        select(func.max(SessionCase.saved_at)).where(SessionCase.session_id == candidate_session.id)
    )
    row.time_spent_seconds += rules.sessions.seconds_between(
        candidate_session.started_at, last, sitting.moment
    )
    row.answer = None if answer is None else [answer]
    row.saved_at = sitting.moment
    return sitting.moment
