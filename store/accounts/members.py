"""The people of an organisation, and those who are invited to join it."""

import hashlib
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, bindparam, case, delete, func, literal_column, select, text, update
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.orm import Mapped, Session, mapped_column

from rules import members as rules
from rules import roles, tokens
from rules.caller import Caller
from rules.clock import now
from rules.errors import DuplicateKey, Invalid, NotFound
from rules.plans import PLANS
from store.accounts import organisations
from store.accounts.organisations import Organisation
from store.accounts.squads import Squad, SquadMember
from store.database import listing
from store.database.base import ANYONE, Base, Identified
from store.database.engine import Means
from store.database.ids import new_id
from store.database.prepared import Prepared


class Member(Base, Identified):
    """One person's place in one organisation."""

    __tablename__ = "members"
    __table_args__ = (
        Index("uq_members_organisation_email", "organisation_id", text("lower(email)"), unique=True),
        Index("ix_members_owner", "organisation_id", "id"),
        Index("ix_members_email", text("lower(email)")),
        Index("uq_members_company", "organisation_id", "company_issuer", "company_subject", unique=True),
    )

    organisation_id: Mapped[UUID] = mapped_column(ForeignKey("organisations.id"))
    user_id: Mapped[UUID] = mapped_column(default=new_id, unique=True)
    email: Mapped[str]
    name: Mapped[str]
    role: Mapped[str]
    joined_at: Mapped[datetime] = mapped_column(default=now)
    # Who they are to their company's provider (`iss` and `sub`), since they signed in by it first.
    company_issuer: Mapped[str | None]
    company_subject: Mapped[str | None]


class MemberInvite(Base, Identified):
    """Somebody who was invited to join; the link's token is kept as a hash."""

    __tablename__ = "member_invites"
    __table_args__ = (
        Index("ix_member_invites_owner", "organisation_id", "id"),
        # Who joined may leave and be invited again.
        Index(
            "uq_member_invites_open",
            "organisation_id",
            text("lower(email)"),
            unique=True,
            postgresql_where=text("accepted_at IS NULL AND revoked_at IS NULL"),
        ),
    )

    organisation_id: Mapped[UUID] = mapped_column(ForeignKey("organisations.id"))
    email: Mapped[str]
    role: Mapped[str]
    hash: Mapped[str] = mapped_column(unique=True)  # SHA-256, hexadecimal
    invited_by: Mapped[UUID | None] = mapped_column(ForeignKey("members.user_id", ondelete="SET NULL"))
    expires_at: Mapped[datetime]
    accepted_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]  # taken back: kept so that the link can say so


# The squads of each member of a page, by name.
SQUADS = (
    select(
        func.coalesce(
            func.json_agg(
                aggregate_order_by(
                    func.json_build_object(
                        literal_column("'id'"), Squad.id,
                        literal_column("'name'"), Squad.name,
                        literal_column("'slug'"), Squad.slug,
                    ),
                    Squad.name,
                    Squad.id,
                )
            ),
            literal_column("'[]'::json"),
        )
    )
    .join(SquadMember, SquadMember.squad_id == Squad.id)
    .where(SquadMember.user_id == Member.user_id)
    .correlate(Member)
    .scalar_subquery()
    .label("squads")
)  # fmt: skip
IS_BOUND = Member.company_subject.is_not(None).label("is_bound_to_company")
_ROWS = select(
    Member.id, Member.user_id, Member.name, Member.email, Member.role, Member.joined_at, IS_BOUND, SQUADS
)
LIST = listing.Listing(_ROWS.where(Member.organisation_id == ANYONE.organisation_id), {"-id": (Member.id,)})

_ACCEPTED = MemberInvite.accepted_at.is_not(None)
_STANDS = MemberInvite.revoked_at.is_(None)
_OPEN = ~_ACCEPTED & _STANDS & (MemberInvite.expires_at > func.now())
_STATUS = case(
    (_ACCEPTED, literal_column("'accepted'")),
    (_OPEN, literal_column("'pending'")),
    else_=literal_column("'expired'"),
)
INVITES = listing.Listing(
    select(
        MemberInvite.id,
        MemberInvite.email,
        MemberInvite.role,
        MemberInvite.invited_by,
        MemberInvite.created_at,
        MemberInvite.expires_at,
        _STATUS.label("status"),
    ).where(MemberInvite.organisation_id == ANYONE.organisation_id, _STANDS),
    {"-id": (MemberInvite.id,)},
    {
        "status": listing.Filter(
            instead={
                "pending": _OPEN,
                "accepted": _ACCEPTED,
                "expired": ~_ACCEPTED & (MemberInvite.expires_at <= func.now()),
                "all": None,
            }
        )
    },
)


def seats_used(session: Session, organisation_id: UUID) -> int:
    """Count members and open invites."""
    members = select(func.count()).where(Member.organisation_id == organisation_id)
    invites = select(func.count()).where(MemberInvite.organisation_id == organisation_id, _OPEN)
    return session.scalar(select(members.scalar_subquery() + invites.scalar_subquery())) or 0


def add(session: Session, *, organisation: Organisation, email: str, name: str, role: str) -> Member:
    """Add a person, in the seat of their invite if they have one; raise LimitReached, DuplicateKey."""
    plan = _lock(session, organisation)
    session.execute(_invited(update(MemberInvite), organisation, email).values(accepted_at=now()))
    _check(session, organisation, plan, email)
    member = Member(organisation_id=organisation.id, email=email, name=name, role=role)
    session.add(member)
    session.flush()
    return member


def invite(
    session: Session, *, organisation: Organisation, email: str, role: str, invited_by: UUID | None = None
) -> tuple[MemberInvite, str]:
    """Invite somebody; the second value is the token of their link. Raise LimitReached, DuplicateKey.

    An invite that expired makes room for the new one.
    """
    plan = _lock(session, organisation)
    session.execute(
        _invited(delete(MemberInvite), organisation, email).where(MemberInvite.expires_at <= func.now())
    )
    if session.scalar(_invited(select(MemberInvite.id), organisation, email)):
        raise DuplicateKey("This address is invited already.")
    _check(session, organisation, plan, email)
    token = tokens.new_token()
    made = MemberInvite(
        organisation_id=organisation.id,
        email=email,
        role=role,
        hash=_hash(token),
        invited_by=invited_by,
        expires_at=now() + rules.INVITED_FOR,
    )
    session.add(made)
    session.flush()
    return made, token


def invited(session: Session, token: str) -> tuple[MemberInvite, str, str | None] | None:
    """Find the invite that a link opens, whose it is by name, and who invited by name; None where there is none."""
    found = (
        select(MemberInvite, Organisation.name, Member.name)
        .join(Organisation, Organisation.id == MemberInvite.organisation_id)
        .outerjoin(Member, Member.user_id == MemberInvite.invited_by)
        .where(MemberInvite.hash == _hash(token))
    )
    row = session.execute(found.execution_options(populate_existing=True)).one_or_none()
    return None if row is None else (row[0], row[1], row[2])


def accept(session: Session, token: str, name: str) -> Member:
    """Make whom a link invites a member, in the seat of their invite.

    Raises NotFound, Invalid where the invite does not stand any more, and LimitReached where the plan has shrunk.
    """
    organisation = session.get_one(Organisation, _found(session, token)[0].organisation_id)
    plan = _lock(session, organisation)
    one = _found(session, token)[0]  # as it stands now that nobody else can take it
    status = rules.invite_status(one, now())
    if status != "pending":
        raise Invalid("The invite can no longer be accepted.", status=status)
    one.accepted_at = now()
    session.flush()
    _check(session, organisation, plan, one.email)
    member = Member(organisation_id=organisation.id, email=one.email, name=name, role=one.role)
    session.add(member)
    session.flush()
    return member


def remove(session: Session, *, organisation: Organisation, email: str) -> str:
    """Take a member out, or an invite back, and say which it was; raise NotFound."""
    _lock(session, organisation)
    gone = delete(Member).where(
        Member.organisation_id == organisation.id, func.lower(Member.email) == func.lower(email)
    )
    if session.execute(gone.returning(Member.id)).first():
        return "member"
    taken_back = _invited(update(MemberInvite), organisation, email).values(revoked_at=now())
    if session.execute(taken_back.returning(MemberInvite.id)).first():
        return "invite"
    raise NotFound("There is no member and no open invite of this address.")


def get(session: Session, caller: Caller, user_id: UUID) -> tuple[Member, int]:
    """Load one, and how many owners there are; neither changes until the commit. Raises NotFound."""
    organisations.lock(session, caller)
    mine = select(Member).where(Member.organisation_id == caller.organisation_id)
    found = session.scalars(mine.where(Member.user_id == user_id)).first()
    if found is None:
        raise NotFound("There is no such member.")
    owners = mine.where(Member.role == "owner").with_only_columns(func.count())
    return found, session.scalar(owners) or 0


_READ = Prepared(_ROWS.where(Member.user_id == bindparam("user_id")))


def read(means: Means, user_id: UUID) -> Any:
    """Read one with their squads."""
    return _READ.first(means, user_id=user_id)


def take_back(session: Session, caller: Caller, invite_id: UUID) -> None:
    """Take an open invite back, or raise NotFound."""
    open_one = update(MemberInvite).where(
        MemberInvite.organisation_id == caller.organisation_id, MemberInvite.id == invite_id
    )
    gone = open_one.where(~_ACCEPTED, _STANDS).values(revoked_at=now()).returning(MemberInvite.id)
    if session.execute(gone).first() is None:
        raise NotFound("There is no such open invite.")


def to_notify(session: Session, organisation: Organisation) -> list[Member]:
    """Load whom an organisation wants mailed about its candidates."""
    found = select(Member).where(Member.organisation_id == organisation.id, Member.role.in_(rules.NOTIFIED))
    return list(session.scalars(found.order_by(Member.id)))


def who_make_keys(session: Session, organisation_id: UUID) -> list[Member]:
    """Load those of an organisation who may make keys, whom their ends concern."""
    makers = [name for name in roles.ROLES if "keys:manage" in roles.scopes(name)]
    found = select(Member).where(Member.organisation_id == organisation_id, Member.role.in_(makers))
    return list(session.scalars(found.order_by(Member.id)))


def of(session: Session, organisation: Organisation) -> list[Member]:
    """Load every member, the first one first: for whoever runs the service."""
    found = select(Member).where(Member.organisation_id == organisation.id)
    return list(session.scalars(found.order_by(Member.id)))


def _found(session: Session, token: str) -> tuple[MemberInvite, str, str | None]:
    if (found := invited(session, token)) is None:
        raise NotFound
    return found


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _lock(session: Session, organisation: Organisation) -> str:
    """Take the organisation row, so that seats are given out one at a time; return the plan's name."""
    mine = select(Organisation.plan).where(Organisation.id == organisation.id)
    return session.scalars(mine.with_for_update(key_share=True)).one()


def _check(session: Session, organisation: Organisation, plan: str, email: str) -> None:
    there = select(Member.id).where(
        Member.organisation_id == organisation.id, func.lower(Member.email) == func.lower(email)
    )
    if session.scalar(there):
        raise DuplicateKey("This address is a member already.")
    rules.check_seat(PLANS[plan], seats_used(session, organisation.id))


def _invited(statement: Any, organisation: Organisation, email: str) -> Any:
    """Narrow a statement to the invite of an address that waits for it."""
    return statement.where(
        MemberInvite.organisation_id == organisation.id,
        func.lower(MemberInvite.email) == func.lower(email),
        ~_ACCEPTED,
        _STANDS,
    )
