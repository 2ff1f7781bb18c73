"""Deliveries as their owner sees them: listed, retried, replayed."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import bindparam, text
from sqlalchemy.orm import Session

from rules.caller import Caller
from rules.clock import now
from rules.errors import NotFound
from store import outbox
from store.database import listing
from store.database.base import ANYONE, visible
from store.delivering.webhooks import Delivery, WebhookEndpoint

LIST = listing.Listing(
    visible(ANYONE, Delivery).where(Delivery.endpoint_id == bindparam("endpoint_id")),
    {"-id": (Delivery.id,)},
    {
        "status": listing.equals(Delivery.status),
        "event_type": listing.equals(Delivery.event_type),
        "since": listing.Filter(Delivery.created_at >= bindparam("since")),
        "until": listing.Filter(Delivery.created_at < bindparam("until")),
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
        endpoint.pending_delivery_count += 1
    delivery.status, delivery.next_attempt_at = "pending", now()
    session.flush()
    outbox.ring(session)


_REPLAY = text("""
    WITH again AS (
        UPDATE deliveries AS delivery
        SET status = 'pending', attempts = 0, lease_until = NULL, delivered_at = NULL,
            next_attempt_at = CAST(:moment AS timestamptz) + before.place * interval '1 microsecond'
        FROM (
            SELECT id, row_number() OVER (ORDER BY id) AS place
            FROM deliveries
            WHERE endpoint_id = :endpoint AND created_at < :until
              AND (CAST(:since AS timestamptz) IS NULL OR created_at >= CAST(:since AS timestamptz))
              AND (CAST(:types AS text[]) IS NULL OR event_type = ANY (CAST(:types AS text[])))
              AND (status = 'failed' OR (status = 'delivered' AND NOT :only_failed))
        ) AS before
        WHERE delivery.id = before.id
        RETURNING delivery.id
    )
    SELECT count(*) FROM again
""")


def replay(
    session: Session,
    endpoint: WebhookEndpoint,
    *,
    since: datetime | None,
    until: datetime | None,
    types: Sequence[str] | None,
    only_failed: bool,
) -> int:
    """Make due again what was delivered to a locked endpoint, or failed, in a span of time; return how much."""
    count: int = session.execute(
        _REPLAY,
        {
            "moment": now(),
            "endpoint": endpoint.id,
            "since": since,
            "until": until or now(),
            "types": None if types is None else list(types),
            "only_failed": only_failed,
        },
    ).scalar_one()
    endpoint.pending_delivery_count += count
    session.flush()
    outbox.ring(session)
    return count
