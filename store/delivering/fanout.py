"""From events to deliveries: one row for each event and each endpoint that subscribes to it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import select, text, update
from sqlalchemy.orm import Session

from rules import events as catalogue
from rules.clock import now
from store.database.aside import Row
from store.database.due import Due
from store.database.ids import new_id
from store.delivering.webhooks import WebhookEndpoint
from store.events import Event

_FAN_OUT = text("""
    WITH made AS (
        INSERT INTO deliveries (
            id, created_at, organisation_id, livemode, endpoint_id,
            event_id, event_type, payload, status, attempts, next_attempt_at
        )
        SELECT pair.id, :moment, event.organisation_id, event.livemode, pair.endpoint_id,
               event.id, event.type, envelope.payload::jsonb, 'pending', 0,
               CAST(:moment AS timestamptz) + pair.place * interval '1 microsecond'  -- sent in this order
        FROM unnest(CAST(:ids AS uuid[]), CAST(:endpoints AS uuid[]), CAST(:events AS uuid[]))
                 WITH ORDINALITY AS pair (id, endpoint_id, event_id, place)
        JOIN unnest(CAST(:envelope_ids AS uuid[]), CAST(:envelopes AS text[])) AS envelope (id, payload)
          ON envelope.id = pair.event_id
        JOIN events AS event ON event.id = pair.event_id
        ON CONFLICT (endpoint_id, event_id) DO NOTHING
        RETURNING id, endpoint_id
    ), counted AS (
        UPDATE webhook_endpoints AS endpoint
        SET pending_delivery_count = pending_delivery_count + fresh.count, updated_at = clock_timestamp()
        FROM (SELECT endpoint_id, count(*) AS count FROM made GROUP BY endpoint_id) AS fresh
        WHERE endpoint.id = fresh.endpoint_id
    )
    SELECT id FROM made ORDER BY id
""")


# Chosen so when some of them failed; those that did are set aside under this name.
WAITING = Due("fan-out", Event, Event.created_at, Event.fanned_out_at.is_(None), order=Event.id)


def fan_out(session: Session, *, limit: int, only: Sequence[Row] | None = None) -> tuple[int, list[UUID]]:
    """Make the deliveries of events that have none yet; return how many events, and the deliveries' ids.

    An endpoint gets what happened since it was verified, in its mode, if it subscribes to it; one that is paused
    gets it too, and it waits.
    """
    events = session.scalars(
        select(Event)
        .where(*(WAITING.free() if only is None else WAITING.among(only)))
        .order_by(Event.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    ).all()
    if not events:
        return 0, []
    # In one order, like everybody who takes several endpoints: their counts change below.
    endpoints = session.execute(
        select(
            WebhookEndpoint.id,
            WebhookEndpoint.organisation_id,
            WebhookEndpoint.livemode,
            WebhookEndpoint.events,
            WebhookEndpoint.verified_at,
        )
        .where(
            WebhookEndpoint.organisation_id.in_({event.organisation_id for event in events}),
            WebhookEndpoint.verified_at.is_not(None),
        )
        .order_by(WebhookEndpoint.id)
        .with_for_update(key_share=True)
    ).all()
    pairs = [
        (new_id(), endpoint.id, event.id)
        for event in sorted(events, key=lambda one: (one.organisation_id, one.livemode, one.sequence))
        for endpoint in endpoints
        if (endpoint.organisation_id, endpoint.livemode) == (event.organisation_id, event.livemode)
        and endpoint.verified_at <= event.created_at
        and catalogue.subscribes(endpoint.events, event.type)
    ]
    moment = now()
    made = _insert(session, pairs, events, moment) if pairs else []
    session.execute(
        update(Event).where(Event.id.in_([event.id for event in events])).values(fanned_out_at=moment)
    )
    return len(events), made


def _insert(
    session: Session, pairs: list[tuple[UUID, UUID, UUID]], events: Sequence[Event], moment: datetime
) -> list[UUID]:
    wanted = {event_id for _, _, event_id in pairs}
    envelopes = {event.id: orjson.dumps(envelope(event)).decode() for event in events if event.id in wanted}
    ids, endpoint_ids, event_ids = (list(column) for column in zip(*pairs, strict=True))
    arguments = {
        "moment": moment,
        "ids": ids,
        "endpoints": endpoint_ids,
        "events": event_ids,
        "envelope_ids": list(envelopes),
        "envelopes": list(envelopes.values()),
    }
    return list(session.scalars(_FAN_OUT, arguments))


def envelope(event: Any) -> dict[str, Any]:
    """Return an event as it is delivered and listed."""
    return catalogue.envelope(
        event.id,
        event.type,
        event.created_at,
        livemode=event.livemode,
        sequence=event.sequence,
        data=event.data,
    )
