"""What is kept for a while and then deleted: events, their deliveries, work that is done, notes of what failed."""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, delete, text
from sqlalchemy.orm import Session

from rules.retention import EVENTS_DAYS, KEPT
from store.branding.settings import Settings
from store.database.aside import Row, SetAside
from store.database.due import Due, DueByOwner
from store.delivering.webhooks import Delivery
from store.events import Event
from store.outbox import OutboxItem


def _kept(kind: str, model: Any, *conditions: ColumnElement[bool]) -> Due:
    # Ids are in the order of time, and have an index.
    return Due(kind, model, model.created_at, *conditions, after=KEPT, order=model.id)


EVENTS = _kept("events", Event, Event.fanned_out_at.is_not(None))
# Of organisations that keep them for a shorter time.
EVENTS_SOONER = DueByOwner(
    "events kept shorter",
    Event,
    Event.created_at,
    Event.fanned_out_at.is_not(None),
    days=Settings.events_days,
    are_set=Settings.events_days < EVENTS_DAYS,
    most=KEPT,
)
DELIVERIES = _kept("deliveries", Delivery)
OUTBOX = _kept("outbox", OutboxItem, OutboxItem.finished_at.is_not(None))
SET_ASIDE = _kept("set aside", SetAside)


def deletion(due: Due) -> Callable[[Session, Sequence[Row]], int]:
    """Return what deletes rows that are due and says how many."""

    def delete_rows(session: Session, rows: Sequence[Row]) -> int:
        done = session.execute(delete(due.model).where(*due.among(rows)))
        return int(done.rowcount)  # type: ignore[attr-defined]  # a change has it

    return delete_rows


_DELIVERIES = """
    WITH gone AS (
        DELETE FROM deliveries WHERE {these} RETURNING endpoint_id, status
    ), counted AS (
        UPDATE webhook_endpoints AS endpoint
        SET pending_delivery_count = pending_delivery_count - waiting.count, updated_at = clock_timestamp()
        FROM (SELECT endpoint_id, count(*) AS count FROM gone WHERE status = 'pending' GROUP BY endpoint_id)
             AS waiting
        WHERE endpoint.id = waiting.endpoint_id
    )
    SELECT count(*) FROM gone
"""
_THESE = text(_DELIVERIES.format(these="id = ANY (:ids)"))
_OF_EVENTS = text(
    _DELIVERIES.format(
        these="""
        endpoint_id IN (SELECT id FROM webhook_endpoints WHERE organisation_id = ANY (:owners))
        AND event_id = ANY (:ids)
        """
    )
)


def delete_deliveries(session: Session, rows: Sequence[Row]) -> int:
    """Delete old deliveries, those that still wait for a paused endpoint too; return how many."""
    found: int = session.execute(_THESE, {"ids": [row.id for row in rows]}).scalar_one()
    return found


def events_deletion(due: Due) -> Callable[[Session, Sequence[Row]], int]:
    """Return what deletes events that are due with their deliveries, which never outlive them, and says how many."""

    def delete_events(session: Session, rows: Sequence[Row]) -> int:
        gone = session.scalars(delete(Event).where(*due.among(rows)).returning(Event.id)).all()
        session.execute(_OF_EVENTS, {"ids": gone, "owners": list({row.organisation_id for row in rows})})
        return len(gone)

    return delete_events
