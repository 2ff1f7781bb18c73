"""Endpoints that were switched off and may be back."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from rules import retries
from store import outbox
from store.database.engine import Change
from store.database.prepared import Prepared
from store.delivering.webhooks import WebhookEndpoint

JOB = "probe"
_OWNER = Prepared(
    select(WebhookEndpoint.organisation_id, WebhookEndpoint.livemode).where(
        WebhookEndpoint.id == bindparam("id")
    )
)


def ask(session: Change, endpoint_id: UUID, failing_since: datetime, *, made: int) -> None:
    """Ask for the next probe after so many; the moment names the failure, so that a newer one has its own probes."""
    delay = retries.probe_after(made)
    if delay is not None:
        owner, since = _OWNER.first(session, id=endpoint_id), failing_since.isoformat()
        outbox.add(
            session, owner, JOB, delay=delay, endpoint_id=str(endpoint_id), failing_since=since, made=made
        )


def find(
    session: Session, id: UUID, failing_since: datetime, *, lock: bool = False
) -> WebhookEndpoint | None:
    """Load an endpoint that is still switched off by that failure; None when there is nothing to find out."""
    statement = select(WebhookEndpoint).where(
        WebhookEndpoint.id == id,
        WebhookEndpoint.failing_since == failing_since,
        WebhookEndpoint.disabled_reason.is_not(None),
        WebhookEndpoint.is_verified,
        ~WebhookEndpoint.is_active,
    )
    return session.scalar(statement.with_for_update() if lock else statement)
