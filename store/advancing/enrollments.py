"""Enrollments: one candidate's way through one pipeline, with its history and notes."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from store.advancing.pipelines import Pipeline
from store.database.base import Base, Identified, Owned, Updated


class Enrollment(Base, Owned, Updated):
    """One candidate in one pipeline, for ever: a finished one never moves again."""

    __tablename__ = "enrollments"
    __table_args__ = (
        UniqueConstraint("pipeline_id", "email_key"),
        Index("ix_enrollments_pipeline", "pipeline_id", "id", "updated_at"),
        Index("ix_enrollments_pipeline_status", "pipeline_id", "status", "id", "updated_at"),
        Index("ix_enrollments_pipeline_updated_at", "pipeline_id", "updated_at"),
        Index(
            "ix_enrollments_invitation", "invitation_id", postgresql_where=text("invitation_id IS NOT NULL")
        ),
        Index("ix_enrollments_retry", "retry_at", postgresql_where=text("retry_at IS NOT NULL")),
    )

    pipeline_id: Mapped[UUID] = mapped_column(ForeignKey("pipelines.id"))
    email: Mapped[str]
    email_key: Mapped[str]  # case-folded: what makes two addresses the same
    candidate_name: Mapped[str] = mapped_column(default="")
    send_email: Mapped[bool] = mapped_column(default=True)  # whether the invitations of its stages are mailed
    status: Mapped[str] = mapped_column(default="active")  # active, on_hold, passed, rejected
    current_stage: Mapped[int] = mapped_column(default=0)  # Stage.position
    rejected_at_stage: Mapped[int | None]
    reject_reason: Mapped[str] = mapped_column(default="")
    waiting_reason: Mapped[str | None]  # invite_quota, interview_quota, interviews_not_available
    retry_at: Mapped[datetime | None]  # when what it waits for is tried again
    missed: Mapped[str | None]  # the outcome (passed, failed) that came while it was on hold
    # of the current stage
    invitation_id: Mapped[UUID | None] = mapped_column(ForeignKey("invitations.id", ondelete="SET NULL"))
    enrolled_at: Mapped[datetime]
    completed_at: Mapped[datetime | None]

    pipeline: Mapped[Pipeline] = relationship(lazy="raise")


class EnrollmentEvent(Base, Identified):
    """One thing that happened to an enrollment."""

    __tablename__ = "enrollment_events"
    __table_args__ = (Index("ix_enrollment_events_order", "enrollment_id", "id"),)

    enrollment_id: Mapped[UUID] = mapped_column(ForeignKey("enrollments.id", ondelete="CASCADE"))
    kind: Mapped[str]
    from_stage: Mapped[int | None]
    to_stage: Mapped[int | None]
    actor: Mapped[str]
    reason: Mapped[str] = mapped_column(default="")


class EnrollmentNote(Base, Owned):
    """What somebody wrote about an enrollment."""

    __tablename__ = "enrollment_notes"
    __table_args__ = (Index("ix_enrollment_notes_order", "enrollment_id", "id"),)

    enrollment_id: Mapped[UUID] = mapped_column(ForeignKey("enrollments.id", ondelete="CASCADE"))
    body: Mapped[str]
    author: Mapped[str]
