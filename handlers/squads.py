"""The teams of an organisation."""

from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from rules.caller import Caller
from rules.pages import Page
from schemas import squads as schemas
from store.accounts import organisations, squads
from store.database.engine import Reading

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
