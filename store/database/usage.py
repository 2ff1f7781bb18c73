"""What an organisation has used of its month: every answer's `meta` tells of it."""

from datetime import date
from uuid import UUID

from sqlalchemy import ForeignKey, bindparam, func, select
from sqlalchemy.orm import Mapped, mapped_column

from store.database.base import ANYONE, Base


class InviteUsage(Base):
    """Live invitations of one organisation in one calendar month (UTC)."""

    __tablename__ = "invite_usage"

    organisation_id: Mapped[UUID] = mapped_column(ForeignKey("organisations.id"), primary_key=True)
    month: Mapped[date] = mapped_column(primary_key=True)
    used: Mapped[int]


class InterviewUsage(Base):
    """Live interviews of one organisation in one calendar month (UTC)."""

    __tablename__ = "interview_usage"

    organisation_id: Mapped[UUID] = mapped_column(ForeignKey("organisations.id"), primary_key=True)
    month: Mapped[date] = mapped_column(primary_key=True)
    used: Mapped[int]


_OF_THE_MONTH = select(InviteUsage.used).where(
    InviteUsage.organisation_id == ANYONE.organisation_id, InviteUsage.month == bindparam("month")
)
# A column for statements that answer a read, whose `meta` then needs no statement of its own.
USED = func.coalesce(_OF_THE_MONTH.scalar_subquery(), 0).label("invites_used")
