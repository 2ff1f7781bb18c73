"""What a browser has begun and comes back with once: a sign-in by a company or a passkey, and a new passkey."""

from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import ForeignKey, Index, delete
from sqlalchemy.orm import Mapped, Session, mapped_column

from rules import tokens
from rules.clock import now
from store.accounts.keys import digest
from store.database.base import Base, Identified
from store.database.due import Due

GOOD_FOR = timedelta(minutes=10)


class SignInStart(Base, Identified):
    """What one browser has begun; the secret that it keeps is kept here as a hash."""

    __tablename__ = "sign_in_starts"
    __table_args__ = (Index("ix_sign_in_starts_expires_at", "expires_at"),)

    kind: Mapped[str]
    # Who adds a passkey; null where it is not known yet who it is.
    member_id: Mapped[UUID | None] = mapped_column(ForeignKey("members.id", ondelete="CASCADE"), index=True)
    hash: Mapped[str] = mapped_column(unique=True)  # SHA-256, hexadecimal
    expires_at: Mapped[datetime]


def begin(session: Session, kind: str, member_id: UUID | None = None, *, leads_to: str = "") -> str:
    """Note that something has begun and return its secret, which the browser keeps, with where it leads in the end."""
    secret = tokens.new_token_to(leads_to)
    session.add(SignInStart(kind=kind, member_id=member_id, hash=digest(secret), expires_at=now() + GOOD_FOR))
    return secret


def use(session: Session, kind: str, secret: str, member_id: UUID | None = None) -> bool:
    """Use up what was begun; False where nothing was, not by them, too long ago, or it was used before."""
    mine = delete(SignInStart).where(SignInStart.hash == digest(secret), SignInStart.kind == kind)
    mine = mine.where(SignInStart.expires_at > now(), SignInStart.member_id.is_not_distinct_from(member_id))
    return session.execute(mine.returning(SignInStart.id)).first() is not None


DUE = Due("sign-ins that were begun", SignInStart, SignInStart.expires_at)
