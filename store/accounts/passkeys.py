"""Passkeys of members: what verifies them, and how often each was used."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, ForeignKey, Index, bindparam, delete, func, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from rules.caller import Person
from rules.errors import DuplicateKey, Invalid, NotFound
from rules.words import say
from store.accounts.members import Member
from store.database.base import Base, Identified
from store.database.engine import Means
from store.database.prepared import Prepared

MOST = 20  # of one person


class Passkey(Base, Identified):
    """A key pair that a device of somebody's holds; here is its public half."""

    __tablename__ = "passkeys"
    __table_args__ = (Index("ix_passkeys_member", "member_id", "id"),)

    member_id: Mapped[UUID] = mapped_column(ForeignKey("members.id", ondelete="CASCADE"))
    credential_id: Mapped[str] = mapped_column(unique=True)  # base64url
    public_key: Mapped[bytes]  # COSE
    sign_count: Mapped[int] = mapped_column(BigInteger)  # as the device said last: it never falls
    name: Mapped[str]
    last_used_at: Mapped[datetime | None]


_SHOWN = (Passkey.id, Passkey.name, Passkey.created_at, Passkey.last_used_at, Passkey.credential_id)
_SOME = Prepared(
    select(*_SHOWN).where(Passkey.member_id == bindparam("member_id")).order_by(Passkey.id.desc()).limit(MOST)
)


def of(means: Means, person: Person) -> list[Any]:
    """Read those of a person, the newest first."""
    return _SOME.all(means, member_id=person.id)


def add(
    session: Session, person: Person, *, credential_id: str, public_key: bytes, sign_count: int, name: str
) -> Passkey:
    """Add one; raise DuplicateKey for one that is there, Invalid where there are enough."""
    session.get_one(Member, person.id, with_for_update=True)  # one after the other
    mine = select(func.count()).where(Passkey.member_id == person.id)
    if (session.scalar(mine) or 0) >= MOST:
        raise Invalid.at("/name", say("There are %(count)s passkeys at most; remove one first.", count=MOST))
    if session.scalar(select(Passkey.id).where(Passkey.credential_id == credential_id)):
        raise DuplicateKey("This passkey is there already.")
    made = Passkey(
        member_id=person.id,
        credential_id=credential_id,
        public_key=public_key,
        sign_count=sign_count,
        name=name,
    )
    session.add(made)
    session.flush()
    return made


def remove(session: Session, person: Person, id: UUID) -> None:
    """Remove one of a person's, or raise NotFound."""
    mine = delete(Passkey).where(Passkey.member_id == person.id, Passkey.id == id)
    if session.execute(mine.returning(Passkey.id)).first() is None:
        raise NotFound("There is no such passkey.")


def find(session: Session, credential_id: str) -> Passkey | None:
    """Load the one that a device names; its count does not change until the commit."""
    found = select(Passkey).where(Passkey.credential_id == credential_id)
    return session.scalars(found.with_for_update()).first()
