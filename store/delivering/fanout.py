"""From events to deliveries: one row for each event and each endpoint that subscribes to it."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from rules import events as catalogue
from rules.clock import now
from store.database.aside import Row
from store.database.base import Party
from store.database.due import Due
from store.database.engine import Change, Means
from store.database.ids import new_id
from store.database.prepared import Prepared, rows
from store.delivering import pending, sending
from store.delivering.sending import Claimed
from store.events import Event

_FAN_OUT = Prepared(
    text(f"""
    WITH told AS (
        UPDATE events SET fanned_out_at = :moment WHERE id = ANY (CAST(:told AS uuid[]))
    ), made AS (
        INSERT INTO deliveries (
            id, created_at, organisation_id, livemode, endpoint_id,
            event_id, event_type, payload, status, attempts, next_attempt_at, lease_until
        )
        SELECT pair.id, :moment, event.organisation_id, event.livemode, pair.endpoint_id,
               event.id, event.type, envelope.payload, 'pending', 0,
               CAST(:moment AS timestamptz) + pair.place * interval '1 microsecond',  -- sent in this order
               CASE WHEN pair.taken THEN CAST(:lease_until AS timestamptz) END
        FROM jsonb_to_recordset(CAST(:pairs AS jsonb)) AS pair (
            id uuid, endpoint_id uuid, event_id uuid, place int, taken boolean
        )
        JOIN jsonb_to_recordset(CAST(:envelopes AS jsonb)) AS envelope (id uuid, payload jsonb)
          ON envelope.id = pair.event_id
        JOIN events AS event ON event.id = pair.event_id
        ON CONFLICT (endpoint_id, event_id) DO NOTHING
        RETURNING id, endpoint_id, organisation_id, livemode, lease_until
    ), {pending.COUNT}
    SELECT count(*) AS count, array_agg(id) FILTER (WHERE lease_until IS NOT NULL) AS claimed FROM made
    """)  # noqa: S608 - a part of our own
)


# Chosen so when some of them failed; those that did are set aside under this name.
WAITING = Due("fan-out", Event, Event.created_at, Event.fanned_out_at.is_(None), order=Event.id)

# Locks are waited for in ms: what workers write down is over in a moment, a request may take longer. And nobody waits
# for the disk: the events are on it, and what of a fan-out is lost with the database is made again.
_HURRY = "SELECT set_config('lock_timeout', '30', true) AS locks, set_config('synchronous_commit', 'off', true) AS disk"
_HURRIED = Prepared(text(_HURRY))

# Who has events that wait is found by one look into their index for each; then each has as many as all others.
_WAITING = Prepared(
    text(f"""
    WITH RECURSIVE hurried AS MATERIALIZED ({_HURRY}), owners AS (
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
    FROM hurried CROSS JOIN share CROSS JOIN owners CROSS JOIN LATERAL (
        SELECT * FROM events
        WHERE fanned_out_at IS NULL AND organisation_id = owners.organisation_id AND livemode = owners.livemode
          AND id NOT IN (SELECT row_id FROM set_aside WHERE kind = :kind)
        ORDER BY sequence LIMIT share.size FOR UPDATE SKIP LOCKED
    ) AS event
    WHERE (owners.organisation_id, owners.livemode) NOT IN (
        SELECT * FROM unnest(CAST(:without AS uuid[]), CAST(:modes AS boolean[]))
    )
    ORDER BY event.organisation_id, event.livemode, event.sequence
    """)  # noqa: S608 - no value in it
)

_FIRST = Prepared(
    text("""
    SELECT id FROM events
    WHERE fanned_out_at IS NULL AND id NOT IN (
        SELECT row_id FROM set_aside WHERE kind = :kind AND (again_at IS NULL OR again_at > :moment)
    )
    ORDER BY organisation_id, livemode, sequence LIMIT 1
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

# No request changes or deletes them meanwhile. Whoever writes down results is not waited for, and waits for nothing.
_ENDPOINTS = """
    WITH free AS MATERIALIZED (
        SELECT id, organisation_id, livemode, events, verified_at, is_active, failing_since IS NOT NULL AS failing,
               {may_wait} AS may_wait, url, secret, previous_secret, previous_secret_until
        FROM webhook_endpoints AS endpoint
        WHERE organisation_id = ANY (CAST(:organisations AS uuid[])) AND verified_at IS NOT NULL
        ORDER BY id FOR KEY SHARE OF endpoint {how}
    )
    SELECT free.id, free.livemode, free.events, free.verified_at, free.failing, free.url, free.secret,
           free.previous_secret, free.previous_secret_until, endpoint.organisation_id,
           -- What waits comes first; then whoever claims finds both.
           free.is_active AND NOT (free.may_wait AND EXISTS (
               SELECT FROM deliveries
               WHERE endpoint_id = free.id AND status = 'pending' AND next_attempt_at <= :moment
                 AND (lease_until IS NULL OR lease_until <= :moment)
           )) AS at_once
    FROM webhook_endpoints AS endpoint LEFT JOIN free ON free.id = endpoint.id
    WHERE endpoint.organisation_id = ANY (CAST(:organisations AS uuid[])) AND endpoint.verified_at IS NOT NULL
    ORDER BY endpoint.id
"""
_WAITING_SHORTLY, _NOT_WAITING = (
    Prepared(text(_ENDPOINTS.format(how=how, may_wait=pending.MAY_BE))) for how in ("", "SKIP LOCKED")
)
Rooms = Callable[[Sequence[sending.Due]], Mapping[UUID, int]]


@dataclass(frozen=True)
class FannedOut:
    """What one turn came to."""

    events: int
    deliveries: int
    more: bool  # of somebody more may wait
    left: bool  # somebody's was left, since an endpoint of theirs is locked
    claimed: list[Claimed] = field(default_factory=list)


def fan_out(
    means: Change,
    *,
    limit: int,
    wait: bool = True,
    only: Sequence[Row] | None = None,
    without: Sequence[Party] = (),
    rooms: Rooms = lambda _due: {},
    lease: timedelta = timedelta(0),
) -> FannedOut:
    """Make the deliveries of events that have none yet, of each organisation and mode as many, about so many in all.

    An endpoint gets what happened since it was verified, in its mode, if it subscribes to it; one that is paused
    gets it too, and it waits. Where an endpoint is locked, its organisation's events wait, and nobody else's do;
    `wait` for what is locked, but not for long: raises WaitRanOut. `only` these events, or those of everybody `without`
    some. What there are `rooms` for is claimed as it is made, of endpoints that nothing else waits for.
    """
    found = _waiting(means, limit, only, without)
    if not found:
        return FannedOut(0, 0, more=False, left=False)
    moment = now()
    asked = _WAITING_SHORTLY if wait else _NOT_WAITING
    owners = list({event.organisation_id for event in found})
    endpoints = asked.all(means, organisations=owners, moment=moment)
    locked = {one.organisation_id for one in endpoints if one.id is None}
    events = [event for event in found if event.organisation_id not in locked]
    theirs = defaultdict(list)
    for endpoint in endpoints:
        theirs[endpoint.organisation_id, endpoint.livemode].append(endpoint)
    pairs = [
        (endpoint, event)
        for event in events
        for endpoint in theirs.get((event.organisation_id, event.livemode), ())
        if endpoint.verified_at <= event.created_at and catalogue.subscribes(endpoint.events, event.type)
    ]
    wanted = {endpoint.id: endpoint for endpoint, _ in pairs if endpoint.at_once}
    room = Counter(rooms([sending.Due(one.id, one.organisation_id, one.failing) for one in wanted.values()]))
    made, claimed = _insert(means, pairs, events, room, moment, moment + lease)
    counts = Counter((event.organisation_id, event.livemode) for event in events)
    more = only is None and any(count >= found[0].size for count in counts.values())
    return FannedOut(len(events), made, more=more, left=bool(locked), claimed=claimed)


def again(means: Means) -> list[Row]:
    """Name the event that was set aside and is to be tried again, if there is one; who waits longest first."""
    return [Row(*row) for row in _AGAIN.all(means, kind=WAITING.kind, moment=now())]


def first(means: Means) -> UUID | None:
    """Name the event that waits before all others, if one does: to be made deliveries, or to be tried again."""
    found = _FIRST.first(means, kind=WAITING.kind, moment=now())
    return found.id if found else None


def waiting(session: Session, limit: int, *, without: Sequence[Party]) -> list[Row]:
    """Name the events that a turn would begin with."""
    found = _waiting(session, limit, None, without)
    return [Row(one.id, one.organisation_id, one.livemode) for one in found]


def waiting_of(session: Session, party: Party, limit: int) -> list[Row]:
    """Name the first of an organisation's events in one mode that wait and are not set aside."""
    found = select(Event.id, Event.organisation_id, Event.livemode).where(
        Event.organisation_id == party[0], Event.livemode == party[1], *WAITING.free()
    )
    return [Row(*row) for row in session.execute(found.order_by(Event.sequence).limit(limit))]


def _waiting(
    means: Change, limit: int, only: Sequence[Row] | None, without: Sequence[Party] = ()
) -> Sequence[Any]:
    if only is None:
        owners, modes = [one for one, _ in without], [mode for _, mode in without]
        return _WAITING.all(means, limit=limit, kind=WAITING.kind, without=owners, modes=modes)
    assert isinstance(means, Session)
    _HURRIED.all(means)
    these = select(Event).where(*WAITING.among(only)).with_for_update(skip_locked=True)
    return means.scalars(these.order_by(Event.organisation_id, Event.livemode, Event.sequence)).all()


def _insert(
    means: Change,
    pairs: list[tuple[Any, Any]],
    events: Sequence[Any],
    room: Counter[UUID],
    moment: datetime,
    lease_until: datetime,
) -> tuple[int, list[Claimed]]:
    """Write the deliveries; return how many were made, and those of them that there was room for."""
    payloads = {id: envelope(event) for id, event in {event.id: event for _, event in pairs}.items()}
    values, taken = [], []
    for place, (endpoint, event) in enumerate(pairs):
        id, is_taken = new_id(), room[endpoint.id] > 0
        values.append(
            {"id": id, "endpoint_id": endpoint.id, "event_id": event.id, "place": place, "taken": is_taken}
        )
        if is_taken:
            room[endpoint.id] -= 1
            taken.append((id, endpoint, payloads[event.id]))
    made = _FAN_OUT.first(
        means,
        moment=moment,
        lease_until=lease_until,
        told=[event.id for event in events],
        pairs=rows(values),
        envelopes=rows([{"id": id, "payload": payload} for id, payload in payloads.items()]),
    )
    ids = set(made.claimed or ())
    return made.count, [_claimed(*each, lease_until) for each in taken if each[0] in ids]


def _claimed(id: UUID, endpoint: Any, payload: dict[str, Any], lease_until: datetime) -> Claimed:
    return Claimed(
        id,
        endpoint.id,
        endpoint.organisation_id,
        endpoint.failing,
        endpoint.url,
        payload,
        0,
        endpoint.secret,
        endpoint.previous_secret,
        endpoint.previous_secret_until,
        lease_until,
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
