"""Deliveries as their owner sees them: listed, retried."""

from uuid import UUID

from sqlalchemy import DateTime, bindparam
from sqlalchemy.orm import Session

from rules.caller import Caller
from rules.clock import now
from rules.errors import NotFound
from store import outbox
from store.database import listing
from store.database.base import ANYONE, visible
from store.database.ids import CLOSE, first_id
from store.delivering.webhooks import Delivery, WebhookEndpoint

_SINCE, _UNTIL = (bindparam(name, type_=DateTime(timezone=True)) for name in ("since", "until"))
LIST = listing.Listing(
    visible(ANYONE, Delivery).where(Delivery.endpoint_id == bindparam("endpoint_id")),
    {"-id": (Delivery.id,)},
    {
        "status": listing.equals(Delivery.status, skewed=True),
        "event_type": listing.equals(Delivery.event_type, skewed=True),
        # The ids say where to begin, the moments what is meant.
        "since": listing.Filter((Delivery.id >= first_id(_SINCE - CLOSE)) & (Delivery.created_at >= _SINCE)),
        "until": listing.Filter((Delivery.id < first_id(_UNTIL + CLOSE)) & (Delivery.created_at < _UNTIL)),
    },
)


def get(session: Session, caller: Caller, endpoint: WebhookEndpoint, id: UUID) -> Delivery:
    """Load and lock one delivery of an endpoint, or refuse: unknown here."""
    found = session.scalars(
        visible(caller, Delivery)
        .where(Delivery.endpoint_id == endpoint.id, Delivery.id == id)
        .with_for_update()
    ).one_or_none()
    if found is None:
        raise NotFound
    return found


def retry(session: Session, endpoint: WebhookEndpoint, delivery: Delivery) -> None:
    """Make one delivery of a locked endpoint due now."""
    if delivery.status == "failed":
        endpoint.counted += 1
    delivery.status, delivery.next_attempt_at = "pending", now()
    session.flush()
    outbox.ring(session)
