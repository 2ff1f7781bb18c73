"""Deliveries on their way: claimed by senders, settled with what came of them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import bindparam, func, select, text, update
from sqlalchemy.orm import Session

from rules import retries
from rules.clock import iso, now
from rules.retries import Outcome
from store.database.engine import Change
from store.database.prepared import Prepared, rows
from store.delivering import probes, webhooks
from store.delivering.webhooks import Delivery, WebhookEndpoint

GONE = 410


@dataclass(frozen=True)
class Claimed:
    """A delivery that is ours to send until the lease is over."""

    id: UUID
    endpoint_id: UUID
    url: str
    payload: dict[str, Any]
    attempts: int  # made before this one
    secret: str
    previous_secret: str | None
    previous_secret_until: datetime | None

    def secrets(self) -> list[str]:
        """Return the secrets that sign at present."""
        return webhooks.living_secrets(self.secret, self.previous_secret, self.previous_secret_until)


# An endpoint's share is what it may have under way less what it has, so that one endpoint with a long queue,
# or one that does not answer, leaves room for all others. No more is locked than may be taken: others who claim
# at the same moment skip what is locked.
_CLAIM = Prepared(
    text("""
    WITH due AS (
        SELECT delivery.id
        FROM webhook_endpoints AS endpoint
        LEFT JOIN unnest(CAST(:busy AS uuid[]), CAST(:counts AS int[])) AS busy (id, count)
          ON busy.id = endpoint.id
        CROSS JOIN LATERAL (
            SELECT id, next_attempt_at
            FROM deliveries
            WHERE endpoint_id = endpoint.id AND status = 'pending' AND next_attempt_at <= :moment
              AND (lease_until IS NULL OR lease_until <= :moment)
            ORDER BY next_attempt_at
            LIMIT least(:limit, greatest(0, :share - coalesce(busy.count, 0)))
            FOR UPDATE SKIP LOCKED
        ) AS delivery
        WHERE endpoint.is_active AND endpoint.pending_delivery_count > 0
          AND (endpoint.failing_since IS NOT NULL) = :failing
        ORDER BY delivery.next_attempt_at
        LIMIT :limit
    )
    UPDATE deliveries AS delivery
    SET lease_until = :lease_until
    FROM due, webhook_endpoints AS endpoint
    WHERE delivery.id = due.id AND endpoint.id = delivery.endpoint_id
    RETURNING delivery.id, endpoint.id AS endpoint_id, endpoint.url, delivery.payload, delivery.attempts,
              endpoint.secret, endpoint.previous_secret, endpoint.previous_secret_until
    """)
)


def claim(
    means: Change, *, limit: int, share: int, busy: Mapping[UUID, int], failing: bool, lease: timedelta
) -> list[Claimed]:
    """Take deliveries that are due, of endpoints that are failing or of those that are not, fairly shared out."""
    if limit <= 0:
        return []
    moment = now()
    found = _CLAIM.all(
        means,
        moment=moment,
        lease_until=moment + lease,
        busy=list(busy),
        counts=list(busy.values()),
        share=share,
        limit=limit,
        failing=failing,
    )
    return sorted((Claimed(*row) for row in found), key=lambda one: one.id)


@dataclass(frozen=True)
class Attempt:
    """One attempt that was made."""

    delivery_id: UUID
    endpoint_id: UUID
    number: int  # from 1; that of the one before where none could be made
    moment: datetime
    outcome: Outcome


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
    .with_for_update(key_share=True)
)
# Whoever changes several endpoints locks them in one order, before anything else.
_SETTLE = Prepared(
    text("""
    WITH record AS (
        SELECT * FROM jsonb_to_recordset(CAST(:records AS jsonb)) AS record (
            id uuid, failing_since timestamptz, failure_count int, is_active boolean, disabled_reason text,
            last_triggered_at timestamptz
        )
    ), locked AS MATERIALIZED (
        SELECT id FROM webhook_endpoints WHERE id IN (SELECT id FROM record) ORDER BY id FOR NO KEY UPDATE
    ), settled AS (
        UPDATE deliveries AS delivery
        SET status = result.status, attempts = result.attempts, next_attempt_at = result.next_attempt_at,
            lease_until = NULL, delivered_at = result.delivered_at,
            response_status_code = result.response_status_code, response_time_ms = result.response_time_ms,
            response_body = result.response_body, last_error = result.last_error
        FROM jsonb_to_recordset(CAST(:results AS jsonb)) AS result (
            id uuid, status text, attempts int, next_attempt_at timestamptz, delivered_at timestamptz,
            response_status_code int, response_time_ms int, response_body text, last_error text
        )
        WHERE delivery.id = result.id AND delivery.status = 'pending'
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
    """)
)


def settle(means: Change, attempts: Sequence[Attempt]) -> list[tuple[UUID, str]]:
    """Write what came of many attempts; return the endpoints that this switched off, and why.

    It is one statement where all of them succeeded. A delivery that somebody else has settled meanwhile stays as it is.
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
            continue  # deleted meanwhile, and its deliveries with it
        verdict = retries.judge(
            attempt.outcome, attempts=attempt.number, failing_since=record.failing_since, now=now()
        )
        results[attempt.delivery_id] = _result(attempt, verdict)
        if record.add(attempt, verdict):
            disabled.append((attempt.endpoint_id, str(verdict.disabled_reason)))
            if attempt.outcome.status_code != GONE and record.failing_since:
                probes.ask(means, attempt.endpoint_id, record.failing_since, made=0)
    if results:
        _SETTLE.run(
            means,
            results=rows(list(results.values())),
            records=rows([asdict(one) for one in records.values()]),
        )
    return disabled


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
    }


def release(session: Session, ids: Sequence[UUID]) -> None:
    """Give up leases: somebody else may send these at once."""
    session.execute(
        update(Delivery).where(Delivery.id.in_(ids), Delivery.status == "pending").values(lease_until=None)
    )


def _plain(text: str) -> str:
    """Return what PostgreSQL keeps: no NUL, no half of a character."""
    return text.encode(errors="replace").decode().replace("\x00", "\ufffd")
