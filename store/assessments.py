"""Assessments and the cases attached to them."""

from decimal import Decimal
from uuid import UUID

from sqlalchemy import ForeignKey, Index, Numeric, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from store.base import Base, Identified, Owned, Updated
from store.cases import Case


class Assessment(Base, Owned, Updated):
    """A timed set of cases that candidates are invited to."""

    __tablename__ = "assessments"
    __table_args__ = (
        UniqueConstraint("organisation_id", "livemode", "slug"),
        Index("ix_assessments_owner", "organisation_id", "livemode", "id"),
        Index("ix_assessments_status", "organisation_id", "livemode", "status", "id"),
    )

    slug: Mapped[str]
    title: Mapped[str]
    description: Mapped[str] = mapped_column(default="")
    status: Mapped[str] = mapped_column(default="draft")
    team_id: Mapped[UUID | None]
    time_limit_minutes: Mapped[int | None]
    passing_score: Mapped[int] = mapped_column(default=70)
    enforce_fullscreen: Mapped[bool] = mapped_column(default=False)
    copy_paste_disabled: Mapped[bool] = mapped_column(default=False)
    session_recording_enabled: Mapped[bool] = mapped_column(default=False)
    screen_recording_enabled: Mapped[bool] = mapped_column(default=False)
    webcam_recording_enabled: Mapped[bool] = mapped_column(default=False)
    notify_on_completion: Mapped[bool] = mapped_column(default=False)
    violation_review_threshold: Mapped[int | None]
    pool_mode: Mapped[bool] = mapped_column(
        default=False
    )  # each candidate gets `assignment_size` of the cases
    assignment_size: Mapped[int | None]
    shuffle_strategy: Mapped[str] = mapped_column(default="random")
    # Counters, kept with the rows they count, so that a list never counts.
    case_count: Mapped[int] = mapped_column(default=0)
    invitation_count: Mapped[int] = mapped_column(default=0)
    cases_locked: Mapped[bool] = mapped_column(default=False)  # a candidate has started


class AssessmentCase(Base, Identified):
    """One case's place in one assessment."""

    __tablename__ = "assessment_cases"
    __table_args__ = (
        UniqueConstraint("assessment_id", "case_id"),
        Index("ix_assessment_cases_order", "assessment_id", "order", "id"),
    )

    assessment_id: Mapped[UUID] = mapped_column(ForeignKey("assessments.id", ondelete="CASCADE"))
    case_id: Mapped[UUID] = mapped_column(ForeignKey("cases.id"))
    order: Mapped[int]
    weight: Mapped[Decimal] = mapped_column(Numeric(8, 2), default=Decimal(1))
    time_limit_minutes: Mapped[int | None]

    case: Mapped[Case] = relationship(lazy="raise")
