"""API keys: kept as a hash, shown once."""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, bindparam, select, text
from sqlalchemy.orm import Mapped, Session, mapped_column

from rules import keys as rules
from rules import tokens
from rules.caller import Caller
from rules.clock import now
from rules.errors import NotFound
from store.accounts.organisations import Organisation
from store.accounts.uses import noting
from store.database.aside import Row
from store.database.base import ANYONE, Base, Identified
from store.database.due import Due
from store.database.engine import Means
from store.database.listing import Listing
from store.database.prepared import Prepared


class ApiKey(Base, Identified):
    """One key of one organisation in one mode."""

    __tablename__ = "api_keys"
    __table_args__ = (
        Index("ix_api_keys_owner", "organisation_id", "id"),
        Index(
            "ix_api_keys_expiry_mail_at",
            "expiry_mail_at",
            postgresql_where=text("expiry_mail_at IS NOT NULL"),
        ),
    )

    organisation_id: Mapped[UUID] = mapped_column(ForeignKey("organisations.id"), index=True)
    name: Mapped[str]
    livemode: Mapped[bool]
    prefix: Mapped[str]  # enough of the key to recognise it by
    hash: Mapped[str] = mapped_column(unique=True)  # SHA-256, hexadecimal
    scopes: Mapped[list[str]]
    cidrs: Mapped[list[str]]
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
    last_used_from: Mapped[str | None]  # the address, noted as often as the moment
    expiry_mail_at: Mapped[datetime | None]  # when its people are mailed next that it ends

    def expire(self, at: datetime | None) -> None:
        """Let it end at a moment, or never; its people are mailed before."""
        self.expires_at, self.expiry_mail_at = at, rules.next_mail(at, now())


def digest(key: str) -> str:
    """Return what is stored of a key."""
    return hashlib.sha256(key.encode()).hexdigest()


def create(
    session: Session,
    *,
    organisation: Organisation,
    name: str,
    livemode: bool,
    scopes: Sequence[str] = (),
    cidrs: Sequence[str] = (),
    expires_at: datetime | None = None,
) -> tuple[ApiKey, str]:
    """Make a key; the second value is the key itself, which cannot be had again."""
    key = tokens.new_key(livemode=livemode)
    row = ApiKey(
        organisation_id=organisation.id,
        name=name,
        livemode=livemode,
        prefix=key[:14],
        hash=digest(key),
        scopes=list(scopes),
        cidrs=list(cidrs),
    )
    row.expire(expires_at)
    session.add(row)
    session.flush()
    return row, key


_FIND = Prepared(
    select(*ApiKey.__table__.columns, Organisation.plan)
    .join(Organisation, Organisation.id == ApiKey.organisation_id)
    .where(ApiKey.hash == bindparam("hash"))
)


def find(means: Means, key: str) -> Any | None:
    """Read a key's columns and its organisation's `plan` by the hash of what the caller sent."""
    return _FIND.first(means, hash=digest(key))


_READ = Prepared(
    select(
        ApiKey.id,
        ApiKey.name,
        ApiKey.livemode,
        ApiKey.scopes,
        ApiKey.expires_at,
        ApiKey.cidrs,
        *(
            column.label(f"organisation.{column.key}")
            for column in (Organisation.id, Organisation.slug, Organisation.plan)
        ),
    )
    .join(Organisation, Organisation.id == ApiKey.organisation_id)
    .where(ApiKey.organisation_id == ANYONE.organisation_id, ApiKey.id == bindparam("id"))
)


def read(means: Means, caller: Caller) -> Any:
    """Read the caller's key with its organisation."""
    return _READ.first(means, caller, id=caller.key_id)


touch = noting("api_keys", at="last_used_at", address="last_used_from")

_HIDDEN = ("hash", "organisation_id", "expiry_mail_at")
_SHOWN = [one for one in ApiKey.__table__.columns if one.name not in _HIDDEN]
LIST = Listing(select(*_SHOWN).where(ApiKey.organisation_id == ANYONE.organisation_id), {"-id": (ApiKey.id,)})


def get(session: Session, caller: Caller, id: UUID) -> ApiKey:
    """Load one of the caller's organisation, which nobody changes until the commit; raise NotFound."""
    mine = select(ApiKey).where(ApiKey.organisation_id == caller.organisation_id, ApiKey.id == id)
    row = session.scalars(mine.with_for_update()).first()
    if row is None:
        raise NotFound("There is no such key.")
    return row


def listing(session: Session, organisation: Organisation) -> Sequence[ApiKey]:
    """Return an organisation's keys, oldest first."""
    return session.scalars(
        select(ApiKey).where(ApiKey.organisation_id == organisation.id).order_by(ApiKey.id)
    ).all()


def revoke(session: Session, id: UUID) -> ApiKey | None:
    """Revoke a key; it fails within one second in every process."""
    key = session.get(ApiKey, id)
    if key and key.revoked_at is None:
        key.revoked_at, key.expiry_mail_at = now(), None
    return key


DUE = Due("keys that end", ApiKey, ApiKey.expiry_mail_at)


def ending(session: Session, rows: Sequence[Row]) -> list[tuple[ApiKey, str]]:
    """Load those of rows whose people are still to be mailed, with their organisation's name, and note when next."""
    due = session.scalars(select(ApiKey).where(*DUE.among(rows)).with_for_update()).all()
    for key in due:
        key.expiry_mail_at = rules.next_mail(key.expires_at, now())
    owners = Organisation.id.in_({key.organisation_id for key in due})
    names = dict(session.execute(select(Organisation.id, Organisation.name).where(owners)).all())
    return [(key, names[key.organisation_id]) for key in due]
