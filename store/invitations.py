"""Invitations: one per assessment and email."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from store.assessments import Assessment
from store.base import Base, Owned, Updated
from store.ids import new_token


class Invitation(Base, Owned, Updated):
    """One candidate's way into one assessment; the token is the credential."""

    __tablename__ = "invitations"
    __table_args__ = (
        UniqueConstraint("assessment_id", "email_key"),
        Index(
            "uq_invitations_external_id",
            "assessment_id",
            "external_id",
            unique=True,
            postgresql_where=text("external_id IS NOT NULL"),
        ),
        Index("ix_invitations_owner", "organisation_id", "livemode", "id"),
        Index("ix_invitations_owner_status", "organisation_id", "livemode", "status", "id"),
        Index("ix_invitations_owner_email", "organisation_id", "livemode", "email_key", "id"),
        Index("ix_invitations_owner_external_id", "organisation_id", "livemode", "external_id", "id"),
        Index("ix_invitations_assessment", "assessment_id", "id"),
        Index("ix_invitations_assessment_status", "assessment_id", "status", "id"),
        Index("ix_invitations_tags", "tags", postgresql_using="gin"),
        Index("ix_invitations_expiry", "expires_at", postgresql_where=text("status = 'pending'")),
    )

    assessment_id: Mapped[UUID] = mapped_column(ForeignKey("assessments.id"))
    token: Mapped[str] = mapped_column(unique=True, default=new_token)
    email: Mapped[str]
    email_key: Mapped[str]  # case-folded: what makes two addresses the same
    name: Mapped[str] = mapped_column(default="")
    role: Mapped[str] = mapped_column(default="")
    status: Mapped[str] = mapped_column(default="pending")  # pending, started, completed, expired
    external_id: Mapped[str | None]
    tags: Mapped[list[str]] = mapped_column(default=list)
    extra_time_percent: Mapped[int] = mapped_column(default=0)
    expires_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    completed_at: Mapped[datetime | None]
    reminded_at: Mapped[datetime | None]
    enrollment_id: Mapped[UUID | None]

    assessment: Mapped[Assessment] = relationship(lazy="raise")
