"""The people of an organisation."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Index, select, text
from sqlalchemy.orm import Mapped, Session, mapped_column

from rules.clock import now
from store.accounts.organisations import Organisation
from store.database.base import Base, Identified
from store.database.ids import new_id


class Member(Base, Identified):
    """One person's place in one organisation."""

    __tablename__ = "members"
    __table_args__ = (
        Index("uq_members_organisation_email", "organisation_id", text("lower(email)"), unique=True),
    )

    organisation_id: Mapped[UUID] = mapped_column(ForeignKey("organisations.id"))
    user_id: Mapped[UUID] = mapped_column(default=new_id, unique=True)
    email: Mapped[str]
    name: Mapped[str]
    role: Mapped[str]
    joined_at: Mapped[datetime] = mapped_column(default=now)


ROLES = ("owner", "admin", "developer", "recruiter", "reviewer", "member")
NOTIFIED = ("owner", "admin", "recruiter")  # who is mailed about candidates


def add(session: Session, *, organisation: Organisation, email: str, name: str, role: str) -> Member:
    """Add a person to an organisation."""
    member = Member(organisation_id=organisation.id, email=email, name=name, role=role)
    session.add(member)
    session.flush()
    return member


def to_notify(session: Session, organisation: Organisation) -> list[Member]:
    """Load whom an organisation wants mailed about its candidates."""
    found = select(Member).where(Member.organisation_id == organisation.id, Member.role.in_(NOTIFIED))
    return list(session.scalars(found.order_by(Member.id)))
