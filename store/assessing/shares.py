"""Links to look at a candidate's report, for whoever has no access here."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Index, bindparam, delete, func, select
from sqlalchemy.orm import Mapped, Session, contains_eager, mapped_column

from rules.errors import NotFound
from store.accounts.keys import digest
from store.assessing.invitations import Invitation
from store.assessing.sessions import CandidateSession
from store.database import listing
from store.database.base import Base, Identified


class ReportShare(Base, Identified):
    """A link to look at a report; its token is kept as a hash. It goes when its candidate is erased."""

    __tablename__ = "report_shares"
    __table_args__ = (Index("ix_report_shares_session", "session_id", "id"),)

    session_id: Mapped[UUID] = mapped_column(ForeignKey("sessions.id", ondelete="CASCADE"))
    hash: Mapped[str] = mapped_column(unique=True)  # SHA-256, hexadecimal
    expires_at: Mapped[datetime]


# Those of a session are few: each was asked for by itself, and ends within ninety days.
LIST = listing.Listing(
    select(ReportShare)
    .join(CandidateSession, CandidateSession.id == ReportShare.session_id)
    .where(
        CandidateSession.invitation_id == bindparam("invitation_id"),
        ReportShare.expires_at > func.now(),
    ),
    {"-id": (ReportShare.id,)},
)


def make(session: Session, invitation: Invitation, token: str, expires_at: datetime) -> ReportShare:
    """Keep a link to the report of a completed invitation."""
    mine = select(CandidateSession.id).where(CandidateSession.invitation_id == invitation.id)
    id = session.scalars(mine).one()
    made = ReportShare(session_id=id, hash=digest(token), expires_at=expires_at)
    session.add(made)
    session.flush()
    return made


def remove(session: Session, invitation: Invitation, id: UUID) -> None:
    """Take back a link to the report of an invitation, or raise NotFound."""
    mine = select(CandidateSession.id).where(CandidateSession.invitation_id == invitation.id)
    gone = delete(ReportShare).where(ReportShare.id == id, ReportShare.session_id.in_(mine))
    if session.scalar(gone.returning(ReportShare.id)) is None:
        raise NotFound("There is no such link to this report.")


def find(session: Session, token: str) -> CandidateSession | None:
    """Load the session whose report a link shows, with its invitation; None where it is no link, or over."""
    found = (
        select(CandidateSession)
        .join(CandidateSession.invitation)
        .join(Invitation.assessment)
        .join(ReportShare, ReportShare.session_id == CandidateSession.id)
        .where(
            ReportShare.hash == digest(token),
            ReportShare.expires_at > func.clock_timestamp(),
            # The candidate may have been erased while the link was made.
            Invitation.email != "",
        )
        .options(contains_eager(CandidateSession.invitation).contains_eager(Invitation.assessment))
    )
    return session.scalars(found).first()
