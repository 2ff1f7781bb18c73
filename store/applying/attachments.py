"""Files of applications: what is known of them. Their content is kept by gateways.files under `key`."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from rules.caller import Caller
from rules.errors import NotFound
from store.database.base import Base, Owned, visible


class Attachment(Base, Owned):
    """One file."""

    __tablename__ = "attachments"
    __table_args__ = (Index("ix_attachments_application", "application_id", "id"),)

    application_id: Mapped[UUID] = mapped_column(ForeignKey("applications.id"))
    kind: Mapped[str]  # cv, cover_letter, other
    filename: Mapped[str]
    content_type: Mapped[str]  # by its content
    size_bytes: Mapped[int]
    key: Mapped[str] = mapped_column(unique=True)


def create(session: Session, caller: Caller, application_id: UUID, file: Mapping[str, Any]) -> Attachment:
    """Note a file that has been kept."""
    made = new(caller, application_id, file)
    session.add(made)
    return made


def new(caller: Caller, application_id: UUID, file: Mapping[str, Any]) -> Attachment:
    """Return the note of a file, which is still to be kept."""
    return Attachment(
        organisation_id=caller.organisation_id,
        livemode=caller.livemode,
        application_id=application_id,
        **file,
    )


def of(session: Session, application_id: UUID) -> list[Attachment]:
    """Load what is known of an application's files."""
    rows = select(Attachment).where(Attachment.application_id == application_id)
    return list(session.scalars(rows.order_by(Attachment.id)))


def cv(session: Session, application_id: UUID) -> Attachment | None:
    """Find the CV that counts: the newest one."""
    return next((file for file in reversed(of(session, application_id)) if file.kind == "cv"), None)


def get(session: Session, caller: Caller, application_id: UUID, id: UUID) -> Attachment:
    """Load one file of an application, or raise NotFound."""
    row = session.scalars(
        visible(caller, Attachment).where(Attachment.application_id == application_id, Attachment.id == id)
    ).first()
    if row is None:
        raise NotFound("The application has no such file.")
    return row
