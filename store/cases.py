"""Cases: the platform's catalogue and each organisation's own."""

from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, Numeric, text
from sqlalchemy.orm import Mapped, mapped_column

from store.base import Base, Identified, Updated


class Case(Base, Identified, Updated):
    """One task; a row without an organisation belongs to the platform's catalogue."""

    __tablename__ = "cases"
    __table_args__ = (
        CheckConstraint("(organisation_id IS NULL) = (case_number IS NOT NULL)", name="platform_or_org"),
        Index(
            "ix_cases_owner", "organisation_id", "livemode", "id", postgresql_where=text("deleted_at IS NULL")
        ),
    )

    organisation_id: Mapped[UUID | None] = mapped_column(ForeignKey("organisations.id"))
    livemode: Mapped[bool | None]
    case_number: Mapped[int | None] = mapped_column(unique=True)
    track: Mapped[str | None]
    title: Mapped[str]
    case_type: Mapped[str]
    difficulty: Mapped[str]
    description: Mapped[str] = mapped_column(default="")
    question: Mapped[str] = mapped_column(default="")  # Markdown
    points: Mapped[int] = mapped_column(default=10)
    time_limit_minutes: Mapped[int | None]
    options: Mapped[list[Any]] = mapped_column(default=list)
    allow_multiple: Mapped[bool] = mapped_column(default=False)
    accepted_answers: Mapped[list[str]] = mapped_column(default=list)
    answer_number: Mapped[Decimal | None] = mapped_column(Numeric)
    tolerance: Mapped[Decimal | None] = mapped_column(Numeric)
    language: Mapped[str | None]
    starter_code: Mapped[str] = mapped_column(default="")
    test_cases: Mapped[list[Any]] = mapped_column(default=list)
    rubric: Mapped[str] = mapped_column(default="")
    tags: Mapped[list[str]] = mapped_column(default=list)
    deleted_at: Mapped[datetime | None]

    @property
    def source(self) -> str:
        """Whose case it is: platform or org."""
        return "platform" if self.organisation_id is None else "org"
