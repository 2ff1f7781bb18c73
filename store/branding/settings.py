"""How an organisation looks and writes to candidates: its settings, its logo, its words in mails."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, LargeBinary, bindparam, delete, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, Session, mapped_column

from rules.caller import Caller
from rules.clock import now
from rules.retention import EVENTS_DAYS, RECORDINGS_DAYS
from store.accounts.organisations import Organisation
from store.database.base import ANYONE, Base, Updated
from store.database.engine import Means
from store.database.prepared import Prepared
from store.outbox import OutboxItem


class Settings(Base, Updated):
    """One organisation's settings; without a row everything is the service's own."""

    __tablename__ = "organisation_settings"
    __table_args__ = (
        # What falls due by these days is asked of those alone that have set any.
        Index(
            "ix_organisation_settings_candidates_days",
            "candidates_days",
            "organisation_id",
            postgresql_where=text("candidates_days IS NOT NULL"),
        ),
        Index(
            "ix_organisation_settings_recordings_days",
            "recordings_days",
            "organisation_id",
            postgresql_where=text("recordings_days IS NOT NULL"),
        ),
        Index(
            "ix_organisation_settings_events_days",
            "events_days",
            "organisation_id",
            postgresql_where=text(f"events_days < {EVENTS_DAYS}"),
        ),
    )

    organisation_id: Mapped[UUID] = mapped_column(ForeignKey("organisations.id"), primary_key=True)
    language: Mapped[str] = mapped_column(default="en", server_default="en")
    reply_to: Mapped[str | None]
    help_contact: Mapped[str] = mapped_column(default="", server_default="")
    colour: Mapped[str | None]
    welcome_html: Mapped[str] = mapped_column(default="", server_default="")
    closing_html: Mapped[str] = mapped_column(default="", server_default="")
    privacy_html: Mapped[str] = mapped_column(default="", server_default="")
    privacy_url: Mapped[str | None]
    receipt_mail: Mapped[bool] = mapped_column(default=False, server_default="false")
    consent_required: Mapped[bool] = mapped_column(default=False, server_default="false")
    source_tracking: Mapped[bool] = mapped_column(default=False, server_default="false")
    candidates_days: Mapped[int | None]  # None: for ever
    recordings_days: Mapped[int | None]  # None: as many as the service says
    events_days: Mapped[int] = mapped_column(default=EVENTS_DAYS, server_default=str(EVENTS_DAYS))


class Logo(Base):
    """One organisation's logo: so small that it is kept with the rows, and goes with their backup."""

    __tablename__ = "organisation_logos"

    organisation_id: Mapped[UUID] = mapped_column(ForeignKey("organisations.id"), primary_key=True)
    media_type: Mapped[str]
    etag: Mapped[str]
    content: Mapped[bytes] = mapped_column(LargeBinary)


class MailTemplate(Base):
    """What one organisation writes instead of the service's own words; empty is the service's."""

    __tablename__ = "mail_templates"

    organisation_id: Mapped[UUID] = mapped_column(ForeignKey("organisations.id"), primary_key=True)
    kind: Mapped[str] = mapped_column(primary_key=True)
    language: Mapped[str] = mapped_column(primary_key=True)
    subject: Mapped[str] = mapped_column(default="", server_default="")
    body_text: Mapped[str] = mapped_column(default="", server_default="")
    updated_at: Mapped[datetime] = mapped_column(default=now)


# An organisation without a row has one of defaults.
_SHOWN = [
    column for column in Settings.__table__.columns if column.key not in ("organisation_id", "updated_at")
]
_READ = Prepared(
    select(
        Organisation.slug,
        Organisation.name,
        Settings.organisation_id.label("own"),
        *_SHOWN,
        Logo.etag.label("logo"),
    )
    .outerjoin(Settings, Settings.organisation_id == Organisation.id)
    .outerjoin(Logo, Logo.organisation_id == Organisation.id)
    .where(Organisation.id == ANYONE.organisation_id)
)
_LOGO = Prepared(
    select(Logo.media_type, Logo.etag, Logo.content)
    .join(Organisation, Organisation.id == Logo.organisation_id)
    .where(Organisation.slug == bindparam("slug"))
)
_TEMPLATES = Prepared(
    select(MailTemplate.kind, MailTemplate.language, MailTemplate.subject, MailTemplate.body_text).where(
        MailTemplate.organisation_id == ANYONE.organisation_id
    )
)
_OF_MAIL = Prepared(
    select(
        Settings.language,
        MailTemplate.language.label("written_in"),
        Settings.reply_to,
        Settings.help_contact,
        Settings.colour,
        MailTemplate.subject,
        MailTemplate.body_text,
    )
    .select_from(OutboxItem)
    .outerjoin(Settings, Settings.organisation_id == OutboxItem.organisation_id)
    .outerjoin(
        MailTemplate,
        (MailTemplate.organisation_id == OutboxItem.organisation_id)
        & (MailTemplate.kind == bindparam("kind")),
    )
    .where(OutboxItem.id == bindparam("id"))
)
_DEFAULTS: dict[str, Any] = {
    column.key: column.default.arg if column.default is not None else None for column in _SHOWN
}


def read(means: Means, caller: Caller) -> Any:
    """Read the settings with the organisation's `slug`, `name` and the etag of its `logo`."""
    return of(means, caller.organisation_id)


def of(means: Means, organisation_id: UUID) -> Any:
    """Read the same of an organisation whose page somebody sees."""
    row = _READ.first(means, organisation_id=organisation_id)
    return row if row.own else row._replace(**_DEFAULTS)


def recordings_days(row: Any) -> int:
    """Return for how many days an organisation keeps recordings."""
    return int(row.recordings_days or RECORDINGS_DAYS)


def change(session: Session, caller: Caller, values: Mapping[str, Any]) -> None:
    """Change what is named."""
    made = insert(Settings).values(organisation_id=caller.organisation_id, updated_at=now(), **values)
    session.execute(
        made.on_conflict_do_update(
            index_elements=[Settings.organisation_id], set_={**values, "updated_at": now()}
        )
    )


def logo(means: Means, slug: str) -> Any:
    """Read the logo of the organisation with a slug; None where there is none."""
    return _LOGO.first(means, slug=slug)


def put_logo(session: Session, caller: Caller, content: bytes, media_type: str) -> None:
    """Keep a logo instead of the one before."""
    values = {
        "content": content,
        "media_type": media_type,
        "etag": hashlib.sha256(content).hexdigest()[:32],
    }
    made = insert(Logo).values(organisation_id=caller.organisation_id, **values)
    session.execute(made.on_conflict_do_update(index_elements=[Logo.organisation_id], set_=values))


def delete_logo(session: Session, caller: Caller) -> None:
    """Let the logo go, if there is one."""
    session.execute(delete(Logo).where(Logo.organisation_id == caller.organisation_id))


def templates(means: Means, caller: Caller) -> dict[tuple[str, str], Any]:
    """Read the organisation's own mail templates by kind and language."""
    return {(row.kind, row.language): row for row in _TEMPLATES.all(means, caller)}


def change_template(
    session: Session, caller: Caller, kind: str, language: str, texts: Mapping[str, str]
) -> None:
    """Change the texts that are named."""
    values = {**texts, "updated_at": now()}
    made = insert(MailTemplate).values(
        organisation_id=caller.organisation_id, kind=kind, language=language, **values
    )
    keys = [MailTemplate.organisation_id, MailTemplate.kind, MailTemplate.language]
    session.execute(made.on_conflict_do_update(index_elements=keys, set_=values))


def of_mail(means: Means, id: UUID, kind: str) -> Sequence[Any]:
    """Read what a mail that waits in the outbox is to be written with: a row for each language of its template."""
    return _OF_MAIL.all(means, id=id, kind=kind)
