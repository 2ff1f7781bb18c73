"""Integrity signals of a session: the first of them kept and told of, all of them counted."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Index, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from rules import sessions as rules
from store import events
from store.assessing.sessions import CandidateSession, Sitting
from store.database.base import Base, Identified


class Violation(Base, Identified):
    """One integrity signal of one session."""

    __tablename__ = "violations"
    __table_args__ = (Index("ix_violations_session", "session_id", "id"),)

    session_id: Mapped[UUID] = mapped_column(ForeignKey("sessions.id", ondelete="CASCADE"))
    violation_type: Mapped[str]
    case_order: Mapped[int | None]
    occurred_at: Mapped[datetime]


def report(
    session: Session, sitting: Sitting, violation_type: str, case_order: int | None, show: events.Shape
) -> Violation:
    """Count an integrity signal, keep it and tell of it, up to a thousand; enough of them ask for a human look."""
    candidate_session = sitting.session
    assert candidate_session is not None
    violation = Violation(
        session_id=candidate_session.id,
        violation_type=violation_type,
        case_order=case_order,
        occurred_at=sitting.moment,
    )
    kept = rules.keeps_violation(candidate_session.violation_counts)
    counts = rules.count_violation(candidate_session.violation_counts, violation_type)
    candidate_session.violation_counts = counts
    threshold = sitting.invitation.assessment.violation_review_threshold
    candidate_session.integrity_review_status = (
        rules.review_status(counts, threshold) or candidate_session.integrity_review_status
    )
    if kept:
        session.add(violation)
        events.record(session, "candidate.violation", candidate_session, show(violation))
    return violation


def of(session: Session, candidate_session: CandidateSession) -> Sequence[Violation]:
    """List what is kept of a session, in its order."""
    kept = select(Violation).where(Violation.session_id == candidate_session.id)
    return session.scalars(kept.order_by(Violation.id).limit(rules.MOST_VIOLATIONS)).all()
