"""What screening found in applications: one row each."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from store.database.base import Base


class Screening(Base):
    """The knockouts, what was read in the CV, the score's evidence, the brief. The score is the application's."""

    __tablename__ = "screenings"
    __table_args__ = (
        Index("ix_screenings_knocked_out", "application_id", postgresql_where=text("l1_passed IS NOT TRUE")),
    )

    application_id: Mapped[UUID] = mapped_column(ForeignKey("applications.id"), primary_key=True)
    status: Mapped[str] = mapped_column(default="pending")  # pending, parsed, scored, briefed, failed
    l1_passed: Mapped[bool | None]
    knockout: Mapped[dict[str, Any] | None]  # the rule that was not met
    profile: Mapped[dict[str, Any] | None]  # what was read in the CV
    parse_error: Mapped[str] = mapped_column(default="")
    l3_breakdown: Mapped[dict[str, Any]] = mapped_column(default=dict)
    evidence: Mapped[list[Any]] = mapped_column(default=list)
    model_version: Mapped[str] = mapped_column(default="")
    ai_brief: Mapped[str] = mapped_column(default="")
    ai_red_flags: Mapped[list[str]] = mapped_column(default=list)
    ai_rationale: Mapped[str] = mapped_column(default="")
    brief_input: Mapped[str | None]  # what the brief was written on: its SHA-256
    brief_error: Mapped[str] = mapped_column(default="")
    auto_advanced: Mapped[bool] = mapped_column(default=False)
    screened_at: Mapped[datetime | None]
