"""Squads: the teams of an organisation, in both modes; a job, an assessment or a pipeline may belong to one."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from rules.clock import now
from store.database.base import Base, Identified


class Squad(Base, Identified):
    """A team of an organisation."""

    __tablename__ = "squads"
    __table_args__ = (
        UniqueConstraint("organisation_id", "slug"),
        Index("ix_squads_owner", "organisation_id", "id"),
    )

    organisation_id: Mapped[UUID] = mapped_column(ForeignKey("organisations.id"))
    name: Mapped[str]
    slug: Mapped[str]


class SquadMember(Base):
    """One person's place in one squad."""

    __tablename__ = "squad_members"
    __table_args__ = (Index("ix_squad_members_user", "user_id"),)

    squad_id: Mapped[UUID] = mapped_column(ForeignKey("squads.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("members.user_id", ondelete="CASCADE"), primary_key=True)
    joined_at: Mapped[datetime] = mapped_column(default=now)
