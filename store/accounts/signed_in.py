"""Sessions of members: kept as a hash, looked up for each request, ended at once."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, bindparam, delete, exists, func, select, update
from sqlalchemy.orm import Mapped, Session, mapped_column

from rules import tokens
from rules.caller import Person
from rules.clock import now
from rules.errors import NotFound
from store.accounts.keys import digest
from store.accounts.members import SQUADS, Member
from store.accounts.organisations import Organisation
from store.accounts.passkeys import Passkey
from store.accounts.squads import SquadMember
from store.accounts.uses import noting
from store.database.base import Base, Identified
from store.database.due import Due
from store.database.engine import Means
from store.database.prepared import Prepared

MOST_SHOWN = 100  # sessions of one person
LONGEST_AGENT = 300  # characters of what a browser says of itself
_idle, _longest = timedelta(hours=12), timedelta(days=14)


class MemberSession(Base, Identified):
    """Somebody's being signed in, by one browser."""

    __tablename__ = "member_sessions"
    __table_args__ = (
        Index("ix_member_sessions_member", "member_id", "id"),
        Index("ix_member_sessions_expires_at", "expires_at"),
    )

    # Who is no member any more is signed out with it.
    member_id: Mapped[UUID] = mapped_column(ForeignKey("members.id", ondelete="CASCADE"))
    hash: Mapped[str] = mapped_column(unique=True)  # SHA-256 of the cookie, hexadecimal
    address: Mapped[str]
    agent: Mapped[str]
    seen_at: Mapped[datetime] = mapped_column(default=now)
    proven_at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime]  # whatever is done with it


def configure(*, idle_hours: int, longest_days: int) -> None:
    """Set after how long without a request a session ends, and after how long in any case."""
    global _idle, _longest
    _idle, _longest = timedelta(hours=idle_hours), timedelta(days=longest_days)


def begin(session: Session, member_id: UUID, *, address: str, agent: str) -> tuple[MemberSession, str]:
    """Begin a session; the second value is its token, which nobody had before."""
    token = tokens.new_token()
    made = MemberSession(
        member_id=member_id,
        hash=digest(token),
        address=address,
        agent=agent[:LONGEST_AGENT],
        expires_at=now() + _longest,
    )
    session.add(made)
    session.flush()
    return made, token


_STANDS = (MemberSession.expires_at > bindparam("moment"), MemberSession.seen_at > bindparam("idle_since"))
_SQUADS = select(func.array_agg(SquadMember.squad_id)).where(SquadMember.user_id == Member.user_id)
_FIND = Prepared(
    select(
        MemberSession.id,
        MemberSession.seen_at,
        MemberSession.proven_at,
        Member.id.label("member_id"),
        Member.user_id,
        Member.role,
        Member.organisation_id,
        Organisation.plan,
        _SQUADS.correlate(Member).scalar_subquery().label("squads"),
    )
    .join(Member, Member.id == MemberSession.member_id)
    .join(Organisation, Organisation.id == Member.organisation_id)
    .where(MemberSession.hash == bindparam("hash"), *_STANDS)
)


def find(means: Means, token: str) -> Any | None:
    """Read the session of a cookie with its member, their squads (None: none) and their organisation's `plan`."""
    moment = now()
    return _FIND.first(means, hash=digest(token), moment=moment, idle_since=moment - _idle)


_MINE = select(
    MemberSession.id,
    MemberSession.created_at,
    MemberSession.seen_at,
    MemberSession.expires_at,
    MemberSession.address,
    MemberSession.agent,
).where(MemberSession.member_id == bindparam("member_id"), *_STANDS)
_SOME = Prepared(_MINE.order_by(MemberSession.id.desc()).limit(MOST_SHOWN))
_ME = Prepared(
    select(
        Member.user_id,
        Member.name,
        Member.email,
        Member.role,
        SQUADS,
        exists().where(Passkey.member_id == Member.id).label("has_passkey"),
        *(
            column.label(f"organisation.{column.key}")
            for column in (Organisation.id, Organisation.name, Organisation.slug, Organisation.plan)
        ),
        MemberSession.expires_at.label("session.expires_at"),
    )
    .join(Member, Member.id == MemberSession.member_id)
    .join(Organisation, Organisation.id == Member.organisation_id)
    .where(MemberSession.id == bindparam("id"))
)


def of(means: Means, person: Person) -> list[Any]:
    """Read the sessions that a person has open, the newest first."""
    moment = now()
    return _SOME.all(means, member_id=person.id, moment=moment, idle_since=moment - _idle)


def me(means: Means, session_id: UUID) -> Any:
    """Read whose session it is, with their squads and their organisation; None where it has just ended."""
    return _ME.first(means, id=session_id)


touch = noting("member_sessions", at="seen_at", address="address")


def prove(session: Session, id: UUID) -> datetime:
    """Note that the person has shown who they are, and return when."""
    moment = now()
    session.execute(update(MemberSession).where(MemberSession.id == id).values(proven_at=moment))
    return moment


def end(session: Session, person: Person, id: UUID) -> None:
    """End one of a person's sessions, or raise NotFound."""
    mine = delete(MemberSession).where(MemberSession.member_id == person.id, MemberSession.id == id)
    if session.execute(mine.returning(MemberSession.id)).first() is None:
        raise NotFound("There is no such session.")


def close(session: Session, id: UUID) -> None:
    """End the session that asks, if nobody has ended it meanwhile."""
    session.execute(delete(MemberSession).where(MemberSession.id == id))


def end_others(session: Session, person: Person) -> int:
    """End every session of a person but the one that asks; return how many there were."""
    others = delete(MemberSession).where(
        MemberSession.member_id == person.id, MemberSession.id != person.session_id
    )
    return len(session.execute(others.returning(MemberSession.id)).all())


DUE = Due("sessions of members", MemberSession, MemberSession.expires_at)
