"""What is to be sent again: made due in helpings, so that nobody waits for a long one, and no lock is held for long."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Session

from rules.clock import now
from store import outbox
from store.database.base import Owner
from store.database.prepared import Prepared

JOB = "replay"
HELPING = 1_000  # deliveries in one transaction
LOCKED_FOR = timedelta(seconds=1)  # until an endpoint that somebody holds is asked for again

# What was delivered since somebody asked is not meant. Times are those of the span, `after` is where a helping ended.
_SPAN = """
    endpoint_id = CAST(:endpoint_id AS uuid) AND id > CAST(:after AS uuid)
    AND created_at < CAST(:until AS timestamptz) AND created_at >= CAST(:since AS timestamptz)
    AND (CAST(:types AS text[]) IS NULL OR event_type = ANY (CAST(:types AS text[])))
    AND (status = 'failed' OR (
        status = 'delivered' AND NOT :only_failed AND delivered_at <= CAST(:asked_at AS timestamptz)
    ))
"""
_COUNT = Prepared(text(f"SELECT count(*) AS count FROM deliveries WHERE {_SPAN}"))  # noqa: S608 - no value in it

# A microsecond apart, so that they are sent in the order of what happened. A row that somebody holds is being deleted,
# or made due by hand.
_REPLAY = Prepared(
    text(f"""
    WITH chosen AS (
        SELECT id FROM deliveries WHERE {_SPAN} ORDER BY id LIMIT :limit FOR UPDATE SKIP LOCKED
    ), again AS (
        UPDATE deliveries AS delivery
        SET status = 'pending', attempts = 0, lease_until = NULL, delivered_at = NULL,
            next_attempt_at = CAST(:moment AS timestamptz) + placed.place * interval '1 microsecond'
        FROM (SELECT id, row_number() OVER (ORDER BY id) AS place FROM chosen) AS placed
        WHERE delivery.id = ANY (ARRAY(SELECT id FROM chosen)) AND delivery.id = placed.id
        RETURNING delivery.id
    ), counted AS (
        UPDATE webhook_endpoints
        SET pending_delivery_count = pending_delivery_count + (SELECT count(*) FROM again),
            updated_at = clock_timestamp()
        WHERE id = CAST(:endpoint_id AS uuid)
    )
    SELECT count(*) AS count, max(id::text) AS last FROM again
    """)  # noqa: S608 - the same
)
_BRING_FORWARD = Prepared(
    text("""
    WITH chosen AS (
        SELECT id FROM deliveries
        WHERE endpoint_id = CAST(:endpoint_id AS uuid) AND status = 'pending' AND next_attempt_at > :moment
        ORDER BY next_attempt_at LIMIT :limit FOR UPDATE SKIP LOCKED
    ), forward AS (
        UPDATE deliveries AS delivery
        SET next_attempt_at = CAST(:moment AS timestamptz) + placed.place * interval '1 microsecond'
        FROM (SELECT id, row_number() OVER (ORDER BY id) AS place FROM chosen) AS placed
        WHERE delivery.id = ANY (ARRAY(SELECT id FROM chosen)) AND delivery.id = placed.id
        RETURNING delivery.id
    )
    SELECT count(*) AS count, NULL AS last FROM forward
    """)
)
HELPINGS = {"replay": _REPLAY, "forward": _BRING_FORWARD}

_OWNER = "SELECT organisation_id, livemode FROM webhook_endpoints WHERE id = :id"
_FIND = Prepared(text(_OWNER))
_LOCK = Prepared(text(f"{_OWNER} FOR NO KEY UPDATE"))
_LOCK_IF_FREE = Prepared(text(f"{_OWNER} FOR NO KEY UPDATE SKIP LOCKED"))

FIRST = UUID(int=0)


def replay(
    session: Session,
    endpoint_id: UUID,
    *,
    since: datetime | None,
    until: datetime | None,
    types: Sequence[str] | None,
    only_failed: bool,
) -> int:
    """Make due again what was delivered to an endpoint, or failed, in a span of time; return how much it is."""
    moment = now()
    span: dict[str, Any] = {
        "endpoint_id": str(endpoint_id),
        "since": since.isoformat() if since else "-infinity",
        "until": (until or moment).isoformat(),
        "types": None if types is None else list(types),
        "only_failed": only_failed,
        "asked_at": moment.isoformat(),
        "after": str(FIRST),
    }
    count: int = _COUNT.first(session, **span).count
    if count and (owner := _LOCK.first(session, id=endpoint_id)):
        _help(session, owner, {"what": "replay", **span})
    return count


def bring_forward(session: Session, owner: Owner, endpoint_id: UUID) -> None:
    """Make due at once what waits for a locked endpoint."""
    _help(session, owner, {"what": "forward", "endpoint_id": str(endpoint_id)})


def go_on(session: Session, arguments: dict[str, Any]) -> None:
    """Make due the next helping; where somebody holds the endpoint, ask for it again."""
    id = UUID(arguments["endpoint_id"])
    if owner := _LOCK_IF_FREE.first(session, id=id):
        _help(session, owner, arguments)
    elif owner := _FIND.first(session, id=id):
        outbox.add(session, owner, JOB, delay=LOCKED_FOR, **arguments)


def _help(session: Session, owner: Owner, arguments: dict[str, Any]) -> None:
    """Make due one helping for a locked endpoint, and ask for the next."""
    statement = HELPINGS[arguments["what"]]
    done = statement.first(session, **arguments, moment=now(), limit=HELPING)
    if done.count >= HELPING:
        outbox.add(session, owner, JOB, **arguments | {"after": done.last})
    outbox.ring(session)
