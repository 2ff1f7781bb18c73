"""One-time codes and links that members sign in with: kept as hashes, good once and for a while."""

import hmac
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import ForeignKey, Index, func, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from rules import tokens
from rules.clock import now
from store.accounts.keys import digest
from store.accounts.members import Member
from store.accounts.organisations import Organisation
from store.database.base import Base, Identified
from store.database.due import Due

GOOD_FOR = timedelta(minutes=15)
MOST_TRIES = 5  # wrong codes, after which one is worth nothing
MOST_OPEN = 5  # of one member at a time: mails that nobody asked for do not pile up


class SignInCode(Base, Identified):
    """A code and a link, either of which signs one member in, once."""

    __tablename__ = "sign_in_codes"
    __table_args__ = (
        Index("ix_sign_in_codes_member", "member_id", "id"),
        Index("ix_sign_in_codes_expires_at", "expires_at"),
    )

    member_id: Mapped[UUID] = mapped_column(ForeignKey("members.id", ondelete="CASCADE"))
    link_hash: Mapped[str] = mapped_column(unique=True)  # SHA-256, hexadecimal
    code_hash: Mapped[str]  # of the row's id and the code
    tries: Mapped[int] = mapped_column(default=0)
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


def members_at(session: Session, email: str) -> list[tuple[Member, str]]:
    """Load who has an address, with the name of the organisation: one person may belong to several."""
    found = (
        select(Member, Organisation.name)
        .join(Organisation, Organisation.id == Member.organisation_id)
        .where(func.lower(Member.email) == email.strip().lower())
        .order_by(Member.id)
    )
    return [(member, name) for member, name in session.execute(found)]


def by_company(
    session: Session, organisation_slug: str, issuer: str, subject: str, email: str | None
) -> tuple[Member | None, bool]:
    """Load whom a company's provider names, and bind them to it the first time, which goes by their address.

    False with a member who is bound to somebody else there already.
    """
    of_it = select(Member).join(Organisation, Organisation.id == Member.organisation_id)
    of_it = of_it.where(Organisation.slug == organisation_slug)
    bound = of_it.where(Member.company_issuer == issuer, Member.company_subject == subject)
    if member := session.scalars(bound).first():
        return member, True
    # One after the other: the same person may be bound to one member, and a member to one person.
    mine = select(Organisation.id).where(Organisation.slug == organisation_slug)
    session.execute(mine.with_for_update(key_share=True))
    if member := session.scalars(bound).first():
        return member, True
    member = session.scalars(of_it.where(func.lower(Member.email) == (email or "").strip().lower())).first()
    if member and member.company_issuer == issuer:
        return member, False
    if member:  # for the first time, or with another provider than before
        member.company_issuer, member.company_subject = issuer, subject
    return member, True


def make(session: Session, member: Member) -> tuple[SignInCode, str, str] | None:
    """Make a code and a link for a member; None while they have enough that are good."""
    if len(_open(session, member.id)) >= MOST_OPEN:
        return None
    code, token = tokens.new_code(), tokens.new_token()
    made = SignInCode(member_id=member.id, link_hash=digest(token), code_hash="", expires_at=now() + GOOD_FOR)
    session.add(made)
    session.flush()
    made.code_hash = digest(f"{made.id}:{code}")
    return made, code, token


def by_link(session: Session, token: str) -> Member | None:
    """Use a link up; whose it was, None where it does not work (any more)."""
    found = session.scalars(
        select(SignInCode).where(SignInCode.link_hash == digest(token)).with_for_update()
    ).first()
    # Wrong codes do not spoil a link: whoever knows an address could keep its member out.
    is_good = found and found.used_at is None and found.expires_at > now()
    return _use(session, found) if found and is_good else None


def by_code(session: Session, email: str, code: str) -> Member | None:
    """Use a code up; whose it was, None where it does not work (any more). A wrong one is counted."""
    for member, _ in members_at(session, email):
        for one in _open(session, member.id):
            if hmac.compare_digest(one.code_hash, digest(f"{one.id}:{code}")):
                return _use(session, one)
            one.tries += 1
    return None


def _open(session: Session, member_id: UUID) -> list[SignInCode]:
    found = select(SignInCode).where(
        SignInCode.member_id == member_id, SignInCode.used_at.is_(None), SignInCode.expires_at > now()
    )
    tried = found.where(SignInCode.tries < MOST_TRIES).order_by(SignInCode.id)
    return list(session.scalars(tried.with_for_update()))


def _use(session: Session, one: SignInCode) -> Member:
    one.used_at = now()
    return session.get_one(Member, one.member_id)


DUE = Due("codes to sign in with", SignInCode, SignInCode.expires_at, after=timedelta(days=1))
