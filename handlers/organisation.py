"""The caller's own organisation."""

from typing import Any

from sqlalchemy.orm import Session

from rules import plans
from rules.caller import Caller
from schemas import organisation as schemas
from store.accounts import organisations

Body = dict[str, Any]


def get_organisation(session: Session, caller: Caller) -> Body:
    """Show the organisation with the month's invitations."""
    return _show(session, caller, organisations.get(session, caller))


def update_organisation(session: Session, caller: Caller, body: Body) -> Body:
    """Change its name, or whether members are mailed."""
    organisation = organisations.lock(session, caller)
    organisation.change(body)
    return _show(session, caller, organisation)


def _show(session: Session, caller: Caller, organisation: organisations.Organisation) -> Body:
    squads = {"squads_enabled": plans.includes(organisation.plan, "squads")}
    return {**schemas.detail(organisation), **squads, **organisations.quota(session, caller)}
