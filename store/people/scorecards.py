"""How people judged a person."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, Numeric, bindparam, select, text
from sqlalchemy.orm import Mapped, Session, mapped_column

from store.database import listing
from store.database.base import ANYONE, Base, Owned, Updated, visible
from store.people.candidates import Candidate


class Scorecard(Base, Owned, Updated):
    """One judgement."""

    __tablename__ = "scorecards"
    __table_args__ = (
        Index("ix_scorecards_order", "candidate_id", "id", "updated_at"),
        Index("ix_scorecards_updated_at", "candidate_id", "updated_at"),
        Index(
            "uq_scorecards_interview",
            "interview_id",
            "author_name",
            unique=True,
            postgresql_where=text("interview_id IS NOT NULL"),
        ),
    )

    candidate_id: Mapped[UUID] = mapped_column(ForeignKey("candidates.id"))
    author_id: Mapped[UUID | None]  # none for a key, and for who is in a room by its link
    author_name: Mapped[str] = mapped_column(default="")  # what who is in a room is called there
    interview_id: Mapped[UUID | None] = mapped_column(ForeignKey("interviews.id"))
    application_id: Mapped[UUID | None] = mapped_column(ForeignKey("applications.id"))
    assessment_id: Mapped[UUID | None] = mapped_column(ForeignKey("assessments.id"))
    criteria: Mapped[list[Any]] = mapped_column(default=list)
    total: Mapped[Decimal] = mapped_column(Numeric(8, 2))


LIST = listing.Listing(
    visible(ANYONE, Scorecard).where(Scorecard.candidate_id == bindparam("candidate_id")),
    {"-id": (Scorecard.id,)},
    {"updated_after": listing.updated_after(Scorecard)},
)


def all_of(session: Session, candidate: Candidate) -> Sequence[Scorecard]:
    """Load all of a person, the oldest first."""
    mine = select(Scorecard).where(Scorecard.candidate_id == candidate.id)
    return session.scalars(mine.order_by(Scorecard.id)).all()


def create(session: Session, candidate: Candidate, judged: Mapping[str, Any]) -> Scorecard:
    """Keep a judgement of a profile that is written on."""
    owner = {"organisation_id": candidate.organisation_id, "livemode": candidate.livemode}
    made = Scorecard(candidate_id=candidate.id, **owner, **judged)
    session.add(made)
    session.flush()
    return made


def of_interview(session: Session, interview_id: UUID, author_name: str) -> Scorecard | None:
    """Load what one interviewer has judged in a locked room."""
    mine = (Scorecard.interview_id == interview_id, Scorecard.author_name == author_name)
    return session.scalars(select(Scorecard).where(*mine)).first()
