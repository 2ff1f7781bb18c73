"""What somebody wrote about a person."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import ForeignKey, Index, bindparam, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from store.database import listing
from store.database.base import ANYONE, Base, Owned, visible
from store.people.candidates import Candidate


class CandidateNote(Base, Owned):
    """One note."""

    __tablename__ = "candidate_notes"
    __table_args__ = (Index("ix_candidate_notes_order", "candidate_id", "id"),)

    candidate_id: Mapped[UUID] = mapped_column(ForeignKey("candidates.id"))
    body: Mapped[str]
    author: Mapped[str]  # public_api, member, candidate
    author_id: Mapped[UUID | None]  # of a member


LIST = listing.Listing(
    visible(ANYONE, CandidateNote).where(CandidateNote.candidate_id == bindparam("candidate_id")),
    {"-id": (CandidateNote.id,)},
)


def all_of(session: Session, candidate: Candidate) -> Sequence[CandidateNote]:
    """Load all of a person, the oldest first."""
    mine = select(CandidateNote).where(CandidateNote.candidate_id == candidate.id)
    return session.scalars(mine.order_by(CandidateNote.id)).all()


def create(
    session: Session, candidate: Candidate, body: str, author: str, author_id: UUID | None = None
) -> CandidateNote:
    """Write a note on a profile that is written on."""
    owner = {"organisation_id": candidate.organisation_id, "livemode": candidate.livemode}
    by = {"author": author, "author_id": author_id}
    made = CandidateNote(candidate_id=candidate.id, body=body, **by, **owner)
    session.add(made)
    session.flush()
    return made
