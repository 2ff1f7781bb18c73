"""Deliveries on their way: claimed by senders, settled with what came of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import bindparam, func, select, text

from rules import retries
from rules.clock import iso, now
from rules.retries import Outcome
from store.database.engine import Change
from store.database.prepared import Prepared, rows
from store.delivering import pending, probes, webhooks
from store.delivering.webhooks import WebhookEndpoint

GONE = 410


class Due(NamedTuple):
    """An endpoint that something is due for."""

    endpoint_id: UUID
    organisation_id: UUID
    failing: bool  # nothing got through since its last failure


class Claimed(NamedTuple):
    """A delivery that is ours to send until the lease is over."""

    id: UUID
    endpoint_id: UUID
    organisation_id: UUID
    failing: bool  # its endpoint, when it was claimed
    url: str
    payload: dict[str, Any]
    attempts: int  # made before this one
    secret: str
    previous_secret: str | None
    previous_secret_until: datetime | None
    lease_until: datetime

    def secrets(self) -> list[str]:
        """Return the secrets that sign at present."""
        return webhooks.living_secrets(self.secret, self.previous_secret, self.previous_secret_until)


# One look into the index for each endpoint, however much waits for it: what is passed by is what others hold of it.
_DUE = Prepared(
    text(f"""
    SELECT endpoint.id, endpoint.organisation_id, endpoint.failing_since IS NOT NULL AS failing
    FROM webhook_endpoints AS endpoint
    CROSS JOIN LATERAL (
        SELECT next_attempt_at
        FROM deliveries
        WHERE endpoint_id = endpoint.id AND status = 'pending' AND next_attempt_at <= :moment
          AND (lease_until IS NULL OR lease_until <= :moment)
        ORDER BY next_attempt_at
        LIMIT 1
    ) AS first
    WHERE endpoint.is_active AND {pending.MAY_BE}
      AND endpoint.id <> ALL (CAST(:full AS uuid[])) AND endpoint.organisation_id <> ALL (CAST(:full AS uuid[]))
    ORDER BY first.next_attempt_at
    """)  # noqa: S608 - a part of our own
)


def due(means: Change, *, full: Sequence[UUID]) -> list[Due]:
    """Return the endpoints that something is due for, who waits longest first, but for some and some organisations."""
    return [Due(*row) for row in _DUE.all(means, moment=now(), full=list(full))]


# No more is locked than is taken: others who claim at the same moment skip what is locked. An array, since PostgreSQL
# takes what a limit of unknown size leaves for a part of the table, and would read all of it.
_CLAIM = Prepared(
    text("""
    WITH due AS (
        SELECT delivery.id
        FROM unnest(CAST(:endpoints AS uuid[]), CAST(:rooms AS int[])) AS share (endpoint_id, room)
        CROSS JOIN LATERAL (
            SELECT id
            FROM deliveries
            WHERE endpoint_id = share.endpoint_id AND status = 'pending' AND next_attempt_at <= :moment
              AND (lease_until IS NULL OR lease_until <= :moment)
            ORDER BY next_attempt_at
            LIMIT share.room
            FOR UPDATE SKIP LOCKED
        ) AS delivery
    )
    UPDATE deliveries AS delivery
    SET lease_until = :lease_until
    FROM webhook_endpoints AS endpoint
    WHERE delivery.id = ANY (ARRAY(SELECT id FROM due)) AND endpoint.id = delivery.endpoint_id AND endpoint.is_active
    RETURNING delivery.id, endpoint.id AS endpoint_id, endpoint.organisation_id,
              endpoint.failing_since IS NOT NULL AS failing, endpoint.url, delivery.payload, delivery.attempts,
              endpoint.secret, endpoint.previous_secret, endpoint.previous_secret_until, delivery.lease_until
    """)
)


def claim(means: Change, rooms: Mapping[UUID, int], *, lease: timedelta) -> list[Claimed]:
    """Take what is due, of each endpoint as much as there is room for, in the order in which it was made."""
    if not rooms:
        return []
    moment = now()
    found = _CLAIM.all(
        means, endpoints=list(rooms), rooms=list(rooms.values()), moment=moment, lease_until=moment + lease
    )
    return sorted((Claimed(*row) for row in found), key=lambda one: one.id)


class Attempt(NamedTuple):
    """One attempt that was made."""

    delivery_id: UUID
    endpoint_id: UUID
    number: int  # from 1; that of the one before where none could be made
    moment: datetime
    outcome: Outcome
    lease_until: datetime  # as it was claimed


_RECORDS = Prepared(
    select(
        WebhookEndpoint.id,
        WebhookEndpoint.failing_since,
        WebhookEndpoint.failure_count,
        WebhookEndpoint.is_active,
        WebhookEndpoint.disabled_reason,
    )
    .where(WebhookEndpoint.id == func.any(bindparam("ids")))
    .order_by(WebhookEndpoint.id)
    .with_for_update(key_share=True, skip_locked=True)
)
# An endpoint that somebody else holds is passed by, and what its attempts came to is written later: nobody's results
# wait for somebody else's endpoint. What is pending is asked for in a CASE, which no index answers: there may be many
# thousands, of which PostgreSQL believes that they are few, and then it reads all of them for one result. And a plan
# that is kept from when there were few reads all rows there are.
_SETTLE = Prepared(
    text("""
    WITH record AS (
        SELECT * FROM jsonb_to_recordset(CAST(:records AS jsonb)) AS record (
            id uuid, failing_since timestamptz, failure_count int, is_active boolean, disabled_reason text,
            last_triggered_at timestamptz
        )
    ), locked AS MATERIALIZED (
        SELECT id FROM webhook_endpoints WHERE id IN (SELECT id FROM record) ORDER BY id
        FOR NO KEY UPDATE SKIP LOCKED
    ), settled AS (
        UPDATE deliveries AS delivery
        SET status = result.status, attempts = result.attempts, next_attempt_at = result.next_attempt_at,
            lease_until = NULL, delivered_at = result.delivered_at,
            response_status_code = result.response_status_code, response_time_ms = result.response_time_ms,
            response_body = result.response_body, last_error = result.last_error
        FROM jsonb_to_recordset(CAST(:results AS jsonb)) AS result (
            id uuid, status text, attempts int, next_attempt_at timestamptz, delivered_at timestamptz,
            response_status_code int, response_time_ms int, response_body text, last_error text,
            lease_until timestamptz
        )
        WHERE delivery.id = result.id
          AND CASE delivery.status
              WHEN 'pending' THEN delivery.lease_until = result.lease_until OR result.status = 'delivered' END
          AND delivery.endpoint_id IN (SELECT id FROM locked)
        RETURNING delivery.endpoint_id, delivery.status
    ), done AS (
        SELECT endpoint_id, count(*) AS count FROM settled WHERE status <> 'pending' GROUP BY endpoint_id
    )
    UPDATE webhook_endpoints AS endpoint
    SET updated_at = clock_timestamp(), failing_since = record.failing_since, failure_count = record.failure_count,
        is_active = coalesce(record.is_active, endpoint.is_active),
        disabled_reason = coalesce(record.disabled_reason, endpoint.disabled_reason),
        last_triggered_at = greatest(record.last_triggered_at, endpoint.last_triggered_at),
        pending_delivery_count = endpoint.pending_delivery_count - coalesce(done.count, 0)
    FROM record JOIN locked ON locked.id = record.id LEFT JOIN done ON done.endpoint_id = record.id
    WHERE endpoint.id = record.id
    RETURNING endpoint.id
    """),
    planned_by_values=True,
)
_KNOWN = Prepared(select(WebhookEndpoint.id).where(WebhookEndpoint.id == func.any(bindparam("ids"))))


@dataclass(frozen=True)
class Settled:
    """What came of writing results down."""

    disabled: list[tuple[UUID, str]]  # the endpoints that this switched off, and why
    held: list[Attempt]  # not written, since somebody else holds the endpoint


def settle(means: Change, attempts: Sequence[Attempt]) -> Settled:
    """Write what came of many attempts, but for endpoints that somebody else holds.

    It is one statement where all of them succeeded. A delivery that somebody else has settled meanwhile stays as it is,
    and so does one that somebody else has claimed, unless it succeeded.
    """
    records = {attempt.endpoint_id: _Record(attempt.endpoint_id) for attempt in attempts}
    if not all(attempt.outcome.succeeded for attempt in attempts):
        # All of them, in their order: whoever held some and waited for others could wait in a circle.
        records = {row.id: _Record(*row) for row in _RECORDS.all(means, ids=list(records))}
    results = {}
    disabled = []
    for attempt in sorted(attempts, key=lambda one: one.moment):
        record = records.get(attempt.endpoint_id)
        if record is None:
            continue  # held by somebody else; or deleted meanwhile, and its deliveries with it
        verdict = retries.judge(
            attempt.outcome, attempts=attempt.number, failing_since=record.failing_since, now=now()
        )
        results[attempt.delivery_id] = _result(attempt, verdict)
        if record.add(attempt, verdict):
            disabled.append((attempt.endpoint_id, str(verdict.disabled_reason)))
            if attempt.outcome.status_code != GONE and record.failing_since:
                probes.ask(means, attempt.endpoint_id, record.failing_since, made=0)
    written = set()
    if results:
        its = rows([vars(one) for one in records.values()])
        written = {row.id for row in _SETTLE.all(means, results=rows(list(results.values())), records=its)}
    left = {one.endpoint_id for one in attempts} - written
    held = {row.id for row in _KNOWN.all(means, ids=list(left))} if left else set()
    return Settled(disabled, [one for one in attempts if one.endpoint_id in held])


@dataclass
class _Record:
    """What an endpoint's attempts add up to; None where they leave as it is what success does not depend on."""

    id: UUID
    failing_since: datetime | None = None
    failure_count: int = 0
    is_active: bool | None = None
    disabled_reason: str | None = None
    last_triggered_at: datetime | None = None

    def add(self, attempt: Attempt, verdict: retries.Verdict) -> bool:
        """Add one attempt; say whether it switched the endpoint off."""
        if attempt.outcome.ours:
            return False
        self.last_triggered_at = attempt.moment
        if verdict.status == "delivered":
            self.failing_since, self.failure_count = None, 0
            return False
        self.failing_since = self.failing_since or attempt.moment
        self.failure_count += 1
        if verdict.disabled_reason is None or not self.is_active:
            return False
        self.is_active, self.disabled_reason = False, verdict.disabled_reason
        return True


def _result(attempt: Attempt, verdict: retries.Verdict) -> dict[str, Any]:
    outcome = attempt.outcome
    return {
        "id": attempt.delivery_id,
        "status": verdict.status,
        "attempts": attempt.number,
        "next_attempt_at": verdict.next_attempt_at,
        "delivered_at": iso(attempt.moment) if verdict.status == "delivered" else None,
        "response_status_code": outcome.status_code,
        "response_time_ms": outcome.response_time_ms,
        "response_body": _plain(outcome.body) if outcome.status_code is not None else None,
        "last_error": verdict.error and _plain(verdict.error),
        "lease_until": attempt.lease_until,
    }


_RELEASE = Prepared(
    text("""
    UPDATE deliveries AS delivery
    SET lease_until = NULL
    FROM unnest(CAST(:ids AS uuid[]), CAST(:leases AS timestamptz[])) AS held (id, lease_until)
    WHERE delivery.id = held.id
      AND CASE delivery.status WHEN 'pending' THEN delivery.lease_until = held.lease_until END
    """)
)


def release(means: Change, claimed: Sequence[Claimed]) -> None:
    """Give up leases that are still ours: somebody else may send these at once."""
    _RELEASE.run(means, ids=[one.id for one in claimed], leases=[one.lease_until for one in claimed])


def _plain(text: str) -> str:
    """Return what PostgreSQL keeps: no NUL, no half of a character."""
    return text.encode(errors="replace").decode().replace("\x00", "\ufffd")
