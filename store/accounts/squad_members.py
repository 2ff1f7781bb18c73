"""Who belongs to a squad."""

from typing import Any
from uuid import UUID

from sqlalchemy import bindparam, delete, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from rules.caller import Caller
from rules.clock import now
from rules.errors import Invalid, NotFound
from store.accounts.members import IS_BOUND, SQUADS, Member
from store.accounts.squads import Squad, SquadMember
from store.database import listing
from store.database.engine import Means
from store.database.prepared import Prepared

_ROWS = (
    select(
        SquadMember.user_id, Member.name, Member.email, Member.role, SquadMember.joined_at, IS_BOUND, SQUADS
    )
    .join(Member, Member.user_id == SquadMember.user_id)
    .where(SquadMember.squad_id == bindparam("squad_id"))
)
LIST = listing.Listing(_ROWS, {"-user_id": (SquadMember.user_id,)})
_ONE = Prepared(_ROWS.where(SquadMember.user_id == bindparam("user_id")))


def read(means: Means, squad_id: UUID, user_id: UUID) -> Any:
    """Read one of a squad's members."""
    return _ONE.first(means, squad_id=squad_id, user_id=user_id)


def add(session: Session, caller: Caller, squad: Squad, user_id: UUID) -> bool:
    """Add a member of the organisation, or refuse who is none; say whether they were not there already."""
    mine = select(Member.id).where(
        Member.organisation_id == caller.organisation_id, Member.user_id == user_id
    )
    if session.scalar(mine.with_for_update(read=True, key_share=True)) is None:
        raise Invalid.at("/user_id", "There is no such member.")
    made = insert(SquadMember).values(squad_id=squad.id, user_id=user_id, joined_at=now())
    there = session.execute(made.on_conflict_do_nothing().returning(SquadMember.user_id)).first()
    return there is not None


def remove(session: Session, squad: Squad, user_id: UUID) -> None:
    """Take a member out, or raise NotFound."""
    gone = delete(SquadMember).where(SquadMember.squad_id == squad.id, SquadMember.user_id == user_id)
    if session.execute(gone.returning(SquadMember.user_id)).first() is None:
        raise NotFound("The squad has no such member.")
