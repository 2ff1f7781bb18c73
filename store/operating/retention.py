"""What is kept for a while and then deleted: events, their deliveries, and work that is done."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, select, text
from sqlalchemy.orm import Session

from rules.clock import now
from store.delivering.webhooks import Delivery
from store.events import Event
from store.outbox import OutboxItem

KEPT = timedelta(days=30)


def next_due(session: Session, model: Any, *conditions: Any) -> datetime | None:
    """Return when the oldest row is old enough; ids are in the order of time."""
    oldest: datetime | None = session.scalar(
        select(model.created_at).where(*conditions).order_by(model.id).limit(1)
    )
    return None if oldest is None else oldest + KEPT


def events_due(session: Session) -> datetime | None:
    """Return when the oldest event goes."""
    return next_due(session, Event, Event.fanned_out_at.is_not(None))


def deliveries_due(session: Session) -> datetime | None:
    """Return when the oldest delivery goes."""
    return next_due(session, Delivery)


def outbox_due(session: Session) -> datetime | None:
    """Return when the oldest finished work goes."""
    return next_due(session, OutboxItem, OutboxItem.finished_at.is_not(None))


def delete_events(session: Session, limit: int) -> int:
    """Delete old events; return how many."""
    return _delete(session, Event, limit, Event.fanned_out_at.is_not(None))


def delete_outbox(session: Session, limit: int) -> int:
    """Delete finished work; return how much."""
    return _delete(session, OutboxItem, limit, OutboxItem.finished_at.is_not(None))


_DELIVERIES = text("""
    WITH old AS (
        SELECT id FROM deliveries WHERE created_at < :before ORDER BY id LIMIT :limit FOR UPDATE SKIP LOCKED
    ), gone AS (
        DELETE FROM deliveries USING old WHERE deliveries.id = old.id
        RETURNING deliveries.endpoint_id, deliveries.status
    ), counted AS (
        UPDATE webhook_endpoints AS endpoint
        SET pending_delivery_count = pending_delivery_count - waiting.count, updated_at = clock_timestamp()
        FROM (SELECT endpoint_id, count(*) AS count FROM gone WHERE status = 'pending' GROUP BY endpoint_id)
             AS waiting
        WHERE endpoint.id = waiting.endpoint_id
    )
    SELECT count(*) FROM gone
""")


def delete_deliveries(session: Session, limit: int) -> int:
    """Delete old deliveries, those that still wait for a paused endpoint too; return how many."""
    found: int = session.execute(_DELIVERIES, {"before": now() - KEPT, "limit": limit}).scalar_one()
    return found


def _delete(session: Session, model: Any, limit: int, *conditions: Any) -> int:
    old = (
        select(model.id)
        .where(model.created_at < now() - KEPT, *conditions)
        .order_by(model.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    rows = session.execute(delete(model).where(model.id.in_(old.scalar_subquery())).returning(model.id))
    return len(rows.all())
