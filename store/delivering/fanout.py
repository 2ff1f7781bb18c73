"""From events to deliveries: one row for each event and each endpoint that subscribes to it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from rules import events as catalogue
from rules.clock import now
from store.database.aside import Row
from store.database.due import Due
from store.database.engine import Means
from store.database.ids import new_id
from store.database.prepared import Prepared
from store.events import Event

_FAN_OUT = Prepared(
    text("""
    WITH told AS (
        UPDATE events SET fanned_out_at = :moment WHERE id = ANY (CAST(:told AS uuid[]))
    ), made AS (
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
    SELECT id FROM made
    """)
)


# Chosen so when some of them failed; those that did are set aside under this name.
WAITING = Due("fan-out", Event, Event.created_at, Event.fanned_out_at.is_(None), order=Event.id)

# Who has events that wait is found by one look into their index for each; then each has as many as all others.
_WAITING = Prepared(
    text("""
    WITH RECURSIVE owners AS (
        (
            SELECT organisation_id, livemode FROM events WHERE fanned_out_at IS NULL
            ORDER BY organisation_id, livemode LIMIT 1
        )
        UNION ALL
        SELECT following.organisation_id, following.livemode
        FROM owners CROSS JOIN LATERAL (
            SELECT organisation_id, livemode FROM events
            WHERE fanned_out_at IS NULL AND (organisation_id, livemode) > (owners.organisation_id, owners.livemode)
            ORDER BY organisation_id, livemode LIMIT 1
        ) AS following
    ), share AS (
        SELECT greatest(1, :limit / greatest(1, count(*))) AS size FROM owners
    )
    SELECT event.id, event.created_at, event.organisation_id, event.livemode, event.sequence, event.type, event.data,
           share.size
    FROM share CROSS JOIN owners CROSS JOIN LATERAL (
        SELECT * FROM events
        WHERE fanned_out_at IS NULL AND organisation_id = owners.organisation_id AND livemode = owners.livemode
          AND id NOT IN (SELECT row_id FROM set_aside WHERE kind = :kind)
        ORDER BY sequence LIMIT share.size FOR UPDATE SKIP LOCKED
    ) AS event
    ORDER BY event.organisation_id, event.livemode, event.sequence
    """)
)

# What was set aside is tried again by itself: together with others it would fail them all once more.
_AGAIN = Prepared(
    text("""
    SELECT event.id, event.organisation_id, event.livemode
    FROM set_aside JOIN events AS event ON event.id = set_aside.row_id
    WHERE set_aside.kind = :kind AND set_aside.again_at <= :moment AND event.fanned_out_at IS NULL
    ORDER BY set_aside.again_at LIMIT 1
    """)
)

# Their counts change: they are taken in one order, like everybody does who takes several, and at once as what they are
# changed as (a weaker lock first, and workers who write down results end in deadlocks).
_ENDPOINTS = """
    WITH free AS MATERIALIZED (
        SELECT id, organisation_id, livemode, events, verified_at FROM webhook_endpoints
        WHERE organisation_id = ANY (CAST(:organisations AS uuid[])) AND verified_at IS NOT NULL
        ORDER BY id FOR NO KEY UPDATE {how}
    )
    SELECT free.id, free.livemode, free.events, free.verified_at, endpoint.organisation_id
    FROM webhook_endpoints AS endpoint LEFT JOIN free ON free.id = endpoint.id
    WHERE endpoint.organisation_id = ANY (CAST(:organisations AS uuid[])) AND endpoint.verified_at IS NOT NULL
    ORDER BY endpoint.id
"""
_WAITING_SHORTLY, _NOT_WAITING = (Prepared(text(_ENDPOINTS.format(how=how))) for how in ("", "SKIP LOCKED"))
LOCK_MS = 30  # for what workers write down, which is over in a moment; a request may take longer


@dataclass(frozen=True)
class FannedOut:
    """What one turn came to."""

    events: int
    deliveries: int
    more: bool  # of somebody more may wait
    left: bool  # somebody's was left, since an endpoint of theirs is locked


def fan_out(
    session: Session, *, limit: int, wait: bool = True, only: Sequence[Row] | None = None
) -> FannedOut:
    """Make the deliveries of events that have none yet, of each organisation and mode as many, about so many in all.

    An endpoint gets what happened since it was verified, in its mode, if it subscribes to it; one that is paused
    gets it too, and it waits. Where an endpoint is locked, its organisation's events wait, and nobody else's do;
    `wait` for what is locked, but not for long: raises WaitRanOut.
    """
    found = _waiting(session, limit, only)
    if not found:
        return FannedOut(0, 0, more=False, left=False)
    session.execute(text(f"SET LOCAL lock_timeout = {LOCK_MS}"))
    asked = _WAITING_SHORTLY if wait else _NOT_WAITING
    endpoints = asked.all(session, organisations=list({event.organisation_id for event in found}))
    locked = {one.organisation_id for one in endpoints if one.id is None}
    events = [event for event in found if event.organisation_id not in locked]
    pairs = [
        (new_id(), endpoint.id, event.id)
        for event in events
        for endpoint in endpoints
        if (endpoint.organisation_id, endpoint.livemode) == (event.organisation_id, event.livemode)
        and endpoint.verified_at <= event.created_at
        and catalogue.subscribes(endpoint.events, event.type)
    ]
    moment = now()
    made = _insert(session, pairs, events, moment)
    counts = Counter((event.organisation_id, event.livemode) for event in events)
    more = only is None and any(count >= found[0].size for count in counts.values())
    return FannedOut(len(events), len(made), more=more, left=bool(locked))


def again(means: Means) -> list[Row]:
    """Name the event that was set aside and is to be tried again, if there is one; who waits longest first."""
    return [Row(*row) for row in _AGAIN.all(means, kind=WAITING.kind, moment=now())]


def _waiting(session: Session, limit: int, only: Sequence[Row] | None) -> Sequence[Any]:
    if only is None:
        return _WAITING.all(session, limit=limit, kind=WAITING.kind)
    these = select(Event).where(*WAITING.among(only)).with_for_update(skip_locked=True)
    return session.scalars(these.order_by(Event.organisation_id, Event.livemode, Event.sequence)).all()


def _insert(
    session: Session, pairs: list[tuple[UUID, UUID, UUID]], events: Sequence[Any], moment: datetime
) -> list[Any]:
    wanted = {event_id for _, _, event_id in pairs}
    envelopes = {event.id: orjson.dumps(envelope(event)).decode() for event in events if event.id in wanted}
    return _FAN_OUT.all(
        session,
        moment=moment,
        told=[event.id for event in events],
        ids=[id for id, _, _ in pairs],
        endpoints=[endpoint_id for _, endpoint_id, _ in pairs],
        events=[event_id for _, _, event_id in pairs],
        envelope_ids=list(envelopes),
        envelopes=list(envelopes.values()),
    )


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
