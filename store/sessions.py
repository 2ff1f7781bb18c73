"""Candidate sessions: what was asked, what was answered, what it scored."""

from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, Numeric, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from store.base import Base, Identified, Owned, Updated
from store.invitations import Invitation


class CandidateSession(Base, Owned, Updated):
    """One sitting of one invitation; made when the candidate starts."""

    __tablename__ = "sessions"
    __table_args__ = (
        Index("ix_sessions_assessment", "assessment_id", "id"),
        Index("ix_sessions_deadline", "deadline_at", postgresql_where=text("completed_at IS NULL")),
    )

    invitation_id: Mapped[UUID] = mapped_column(ForeignKey("invitations.id"), unique=True)
    assessment_id: Mapped[UUID] = mapped_column(ForeignKey("assessments.id"))
    started_at: Mapped[datetime]
    deadline_at: Mapped[datetime | None]
    completed_at: Mapped[datetime | None]
    passing_score: Mapped[int]  # as it stood at the start
    violation_counts: Mapped[dict[str, Any]] = mapped_column(default=dict)  # violation_type -> number
    integrity_review_status: Mapped[
        str | None
    ]  # needs_review once violations reach the assessment's threshold
    graded_at: Mapped[datetime | None]  # every case has its grade or waits for review
    settled_at: Mapped[datetime | None]  # nothing is pending_review; candidate.passed or .failed was emitted
    score: Mapped[Decimal | None] = mapped_column(Numeric(12, 2))
    max_score: Mapped[Decimal | None] = mapped_column(Numeric(12, 2))
    score_percentage: Mapped[Decimal | None] = mapped_column(Numeric(5, 2))
    passed: Mapped[bool | None]
    time_spent_seconds: Mapped[int | None]

    invitation: Mapped[Invitation] = relationship(lazy="raise")


class SessionCase(Base, Identified, Updated):
    """One case of one session: a snapshot of its content, the answer, the grade."""

    __tablename__ = "session_cases"
    __table_args__ = (UniqueConstraint("session_id", "case_order"),)

    session_id: Mapped[UUID] = mapped_column(ForeignKey("sessions.id", ondelete="CASCADE"))
    assessment_case_id: Mapped[UUID]  # the place it was taken from; a snapshot outlives it
    case_order: Mapped[int]
    weight: Mapped[Decimal] = mapped_column(Numeric(8, 2))
    content: Mapped[dict[str, Any]]  # the case as it stood at the start, correct answers included
    answer: Mapped[list[Any] | None]  # [value]: an array of one, so that "not answered" differs from null
    saved_at: Mapped[datetime | None]
    time_spent_seconds: Mapped[int] = mapped_column(default=0)
    status: Mapped[str | None]  # correct, partial, incorrect, skipped, pending_review
    score: Mapped[Decimal | None] = mapped_column(Numeric(12, 2))
    max_score: Mapped[Decimal] = mapped_column(Numeric(12, 2))
    comment: Mapped[str | None]


class Violation(Base, Identified):
    """One integrity signal of one session."""

    __tablename__ = "violations"
    __table_args__ = (Index("ix_violations_session", "session_id", "id"),)

    session_id: Mapped[UUID] = mapped_column(ForeignKey("sessions.id", ondelete="CASCADE"))
    violation_type: Mapped[str]
    case_order: Mapped[int | None]
    occurred_at: Mapped[datetime]
