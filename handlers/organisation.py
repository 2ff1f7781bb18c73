"""The caller's own organisation."""

from typing import Any

from sqlalchemy.orm import Session

from gateways import briefs, mail
from rules import plans
from rules.caller import Caller
from schemas import organisation as schemas
from store.accounts import organisations
from store.database.engine import Reading
from store.delivering import webhooks

Body = dict[str, Any]


def get_organisation(session: Session, caller: Caller) -> Body:
    """Show the organisation with the month's invitations."""
    return _show(session, caller, organisations.get(session, caller))


def update_organisation(session: Session, caller: Caller, body: Body) -> Body:
    """Change its name, or whether members are mailed."""
    organisation = organisations.lock(session, caller)
    organisation.change(body)
    return _show(session, caller, organisation)


def list_integrations(reading: Reading, caller: Caller) -> Body:
    """Say what the organisation is connected with, as it is set up."""
    endpoints = webhooks.connection(reading, caller)
    return {
        "integrations": [
            schemas.integration(
                "webhooks", "signed_events", endpoints.is_active, endpoints.last_triggered_at
            ),
            schemas.integration("mail", mail.kind(livemode=caller.livemode), True),
            schemas.integration("assistant", "openai_compatible", briefs.is_configured()),
        ]
    }


def _show(session: Session, caller: Caller, organisation: organisations.Organisation) -> Body:
    squads = {"squads_enabled": plans.includes(organisation.plan, "squads")}
    return {**schemas.detail(organisation), **squads, **organisations.quota(session, caller)}
