"""Squads: the teams of an organisation, in both modes; a job, an assessment or a pipeline may belong to one."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, UniqueConstraint, Uuid, bindparam, func, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from rules.caller import Caller
from rules.clock import now
from rules.errors import Invalid, NotFound
from store.database import listing
from store.database.base import ANYONE, Base, Identified, free_slug
from store.database.engine import Means
from store.database.named import NIL
from store.database.pages import Column
from store.database.prepared import Prepared
from store.database.usage import USED


class Squad(Base, Identified):
    """A team of an organisation."""

    __tablename__ = "squads"
    __table_args__ = (
        UniqueConstraint("organisation_id", "slug"),
        Index("ix_squads_owner", "organisation_id", "id"),
    )

    organisation_id: Mapped[UUID] = mapped_column(ForeignKey("organisations.id"))
    name: Mapped[str]
    slug: Mapped[str]


class SquadMember(Base):
    """One person's place in one squad."""

    __tablename__ = "squad_members"
    __table_args__ = (Index("ix_squad_members_user", "user_id"),)

    squad_id: Mapped[UUID] = mapped_column(ForeignKey("squads.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("members.user_id", ondelete="CASCADE"), primary_key=True)
    joined_at: Mapped[datetime] = mapped_column(default=now)


# What is shown of the squad that something belongs to.
BESIDE: listing.Beside = (lambda page: Squad.id == page.c.team_id, (Squad.id, Squad.name, Squad.slug))

_MEMBERS = select(func.count()).where(SquadMember.squad_id == Squad.id).scalar_subquery()
_MINE = select(*Squad.__table__.columns, _MEMBERS.label("member_count")).where(
    Squad.organisation_id == ANYONE.organisation_id
)
_ONE = Prepared(_MINE.add_columns(USED).where(Squad.id == bindparam("id")))
_CALLED = Prepared(_MINE.with_only_columns(Squad.id).where(Squad.slug == bindparam("slug")))
LIST = listing.Listing(_MINE, {"-id": (Squad.id,)})


def read(means: Means, caller: Caller, id: UUID) -> Any:
    """Read one with the number of its members, or raise NotFound."""
    row = _ONE.first(means, caller, id=id)
    if row is None:
        raise NotFound("There is no such squad.")
    return row


def find_id(means: Means, caller: Caller, id: str) -> UUID:
    """Return the id where the organisation has this squad; the nil id, which nothing has, where not."""
    row = _ONE.first(means, caller, id=UUID(id))
    return row.id if row else NIL


def find_slug(means: Means, caller: Caller, slug: str) -> UUID:
    """Return the id of the squad with this slug; the nil id where there is none."""
    row = _CALLED.first(means, caller, slug=slug)
    return row.id if row else NIL


def owning(team_id: Column) -> listing.Filter:
    """Ask a list for what belongs to a squad, by its id; the word null for what belongs to none."""
    return listing.equals(team_id, read=UUID, instead={"null": team_id.is_(None)}, skewed=True)


def called(team_id: Column) -> listing.Filter:
    """Ask the same by the squad's slug."""
    return listing.Filter(
        team_id == bindparam("team_slug", type_=Uuid()),
        find=find_slug,
        instead={"null": team_id.is_(None)},
        skewed=True,
    )


def of(session: Session, caller: Caller) -> list[Squad]:
    """Load every squad, the first one first: for whoever runs the service."""
    mine = select(Squad).where(Squad.organisation_id == caller.organisation_id)
    return list(session.scalars(mine.order_by(Squad.id)))


def get(session: Session, caller: Caller, id: UUID, *, for_update: bool = False) -> Squad:
    """Load one, which stays until the commit, or raise NotFound."""
    mine = select(Squad).where(Squad.organisation_id == caller.organisation_id, Squad.id == id)
    row = session.scalars(
        mine.with_for_update() if for_update else mine.with_for_update(read=True, key_share=True)
    ).first()
    if row is None:
        raise NotFound("There is no such squad.")
    return row


def hold(session: Session, caller: Caller, *ids: UUID | None) -> None:
    """Keep squads that are there from being deleted until the commit: before any other lock (store.database.locks)."""
    wanted = sorted({id for id in ids if id is not None})
    if caller.squads is not None and not caller.squads.issuperset(wanted):
        raise _none()
    mine = select(Squad.id).where(Squad.organisation_id == caller.organisation_id, Squad.id.in_(wanted))
    if wanted:
        session.execute(mine.order_by(Squad.id).with_for_update(read=True, key_share=True))


def named(session: Session, caller: Caller, id: UUID | None) -> Squad | None:
    """Load the squad that a body names as `team_id`, None for none; refuse one that the organisation does not have.

    It stays until the commit.
    """
    if id is None:
        return None
    mine = select(Squad).where(Squad.organisation_id == caller.organisation_id, Squad.id == id)
    row = session.scalars(mine.with_for_update(read=True, key_share=True)).first()
    if row is None or (caller.squads is not None and id not in caller.squads):
        raise _none()
    return row


def _none() -> Invalid:
    """Refuse what is no squad, or none of whose rows the caller sees: they give nothing away to others."""
    return Invalid.at("/team_id", "There is no such squad.")


def create(session: Session, caller: Caller, name: str) -> Squad:
    """Make a squad without members; its slug comes from its name. The organisation row must be locked."""
    squad = Squad(
        organisation_id=caller.organisation_id,
        name=name,
        # `null` asks lists for what belongs to no squad.
        slug=free_slug(session, caller, Squad, name, otherwise="squad", reserved={"null"}),
    )
    session.add(squad)
    session.flush()
    return squad
