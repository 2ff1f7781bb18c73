"""The teams of an organisation."""

from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from rules.caller import Caller
from rules.errors import SquadInUse
from rules.pages import Page
from schemas import squads as schemas
from schemas import team as team_schemas
from store.accounts import organisations, squad_members, squads
from store.database.engine import Reading
from store.hiring import owned

Body = dict[str, Any]


def list_squads(reading: Reading, caller: Caller, **query: Any) -> Page:
    """List squads, newest first."""
    return squads.LIST.page(reading, caller, **query).map(schemas.detail)


def get_squad(reading: Reading, caller: Caller, team_id: UUID) -> Body:
    """Show one squad."""
    return schemas.detail(squads.read(reading, caller, team_id))


def create_squad(session: Session, caller: Caller, body: Body) -> Body:
    """Make a squad without members."""
    organisations.lock(session, caller)
    squad = squads.create(session, caller, body["name"])
    return schemas.detail(squads.read(session, caller, squad.id))


def update_squad(session: Session, caller: Caller, team_id: UUID, body: Body) -> Body:
    """Rename; the slug stays."""
    squads.get(session, caller, team_id, for_update=True).change(body)
    return schemas.detail(squads.read(session, caller, team_id))


def delete_squad(session: Session, caller: Caller, team_id: UUID) -> Body:
    """Delete a squad that owns no open job; what it owned belongs to none."""
    squad = squads.get(session, caller, team_id, for_update=True)
    organisations.lock(session, caller)  # no job opens meanwhile
    if owned.has_open_job(session, squad):
        raise SquadInUse
    owned.release(session, squad)
    session.delete(squad)
    return {"deleted": str(team_id)}


def list_squad_members(reading: Reading, caller: Caller, team_id: UUID, **query: Any) -> Page:
    """List a squad's members, newest first."""
    squad_id = squads.read(reading, caller, team_id).id
    return squad_members.LIST.page(reading, caller, squad_id=squad_id, **query).map(team_schemas.member)


def add_squad_member(session: Session, caller: Caller, team_id: UUID, body: Body) -> tuple[Body, int]:
    """Add a member of the organisation; twice is once."""
    squad = squads.get(session, caller, team_id)
    is_new = squad_members.add(session, caller, squad, body["user_id"])
    shown = team_schemas.member(squad_members.read(session, team_id, body["user_id"]))
    return shown, 201 if is_new else 200


def remove_squad_member(session: Session, caller: Caller, team_id: UUID, user_id: UUID) -> Body:
    """Take a member out."""
    squad_members.remove(session, squads.get(session, caller, team_id), user_id)
    return {"removed": str(user_id)}
