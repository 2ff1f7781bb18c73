"""Templates of interviews: what a room is made of, but for its candidate and its time."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Index, text
from sqlalchemy.orm import Mapped, Session

from rules.caller import Caller
from rules.errors import NotFound
from store.database import listing
from store.database.base import ANYONE, Base, Owned, Updated, visible

HERE = text("deleted_at IS NULL")


class InterviewTemplate(Base, Owned, Updated):
    """What rooms are prepared from; one that is deleted is kept for the stages of pipelines that name it."""

    __tablename__ = "interview_templates"
    __table_args__ = (
        Index("ix_interview_templates_test", "organisation_id", postgresql_where=text("NOT livemode")),
        Index(
            "ix_interview_templates_owner",
            "organisation_id",
            "livemode",
            "id",
            "updated_at",
            postgresql_where=HERE,
        ),
        Index(
            "ix_interview_templates_owner_updated_at",
            "organisation_id",
            "livemode",
            "updated_at",
            postgresql_where=HERE,
        ),
    )

    title: Mapped[str]
    settings: Mapped[dict[str, Any]]  # rules.interviews.OF_TEMPLATES: what was said; the rest is as usual
    deleted_at: Mapped[datetime | None]


LIST = listing.Listing(
    visible(ANYONE, InterviewTemplate).where(InterviewTemplate.deleted_at.is_(None)),
    {"-id": (InterviewTemplate.id,)},
    {"updated_after": listing.updated_after(InterviewTemplate)},
)


def get(session: Session, caller: Caller, id: UUID, *, for_update: bool = False) -> InterviewTemplate:
    """Load one, or raise NotFound."""
    found = visible(caller, InterviewTemplate).where(
        InterviewTemplate.id == id, InterviewTemplate.deleted_at.is_(None)
    )
    row = session.scalars(found.with_for_update() if for_update else found).first()
    if row is None:
        raise NotFound("There is no such interview template.")
    return row


def of_stage(session: Session, id: UUID | None) -> InterviewTemplate | None:
    """Load the one that a pipeline's stage names, also where it was deleted since."""
    return None if id is None else session.get(InterviewTemplate, id)


def known(session: Session, caller: Caller, ids: Collection[UUID]) -> set[UUID]:
    """Return which of these there are."""
    if not ids:
        return set()
    mine = visible(caller, InterviewTemplate).with_only_columns(InterviewTemplate.id)
    return set(
        session.scalars(mine.where(InterviewTemplate.id.in_(ids), InterviewTemplate.deleted_at.is_(None)))
    )


def create(session: Session, caller: Caller, title: str, settings: Mapping[str, Any]) -> InterviewTemplate:
    """Make one."""
    made = InterviewTemplate(
        organisation_id=caller.organisation_id, livemode=caller.livemode, title=title, settings=dict(settings)
    )
    session.add(made)
    session.flush()
    return made
