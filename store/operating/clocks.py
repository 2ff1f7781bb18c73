"""The clocks of test modes: how far each was moved, what is next there, and what its organisation's rows wait for."""

import hashlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import psycopg
from sqlalchemy import BigInteger, Boolean, DateTime, ForeignKey, text
from sqlalchemy.orm import Mapped, Session, mapped_column

from store import outbox
from store.database import waits
from store.database.base import Base
from store.database.engine import Change, Means, Reading, beside
from store.database.prepared import Prepared
from store.delivering import pending
from store.operating import moving

WAIT_SECONDS = 10  # for whoever is moving the same clock


class TestClock(Base):
    """How far an organisation's test mode has been moved."""

    __tablename__ = "test_clocks"

    organisation_id: Mapped[UUID] = mapped_column(ForeignKey("organisations.id"), primary_key=True)
    advanced_seconds: Mapped[int] = mapped_column(BigInteger)


_WAIT = "SET LOCAL lock_timeout = '{0}s'; SET LOCAL statement_timeout = '{0}s'"
# What is asked on it changes nothing, and is asked often: it is planned once.
_ALONE = "SET default_transaction_read_only = on; SET plan_cache_mode = force_generic_plan"


@contextmanager
def alone(organisation_id: UUID) -> Iterator[Reading]:
    """Move a clock alone for as long as the block, in as many transactions as it takes; raises WaitRanOut.

    The lock is that of a connection beside the pool, so that it ends with whoever dies; it is there to look with, too.
    """
    name = hashlib.sha256(b"test clock " + organisation_id.bytes).digest()
    with beside() as connection:
        try:
            with connection.transaction():
                connection.execute(_WAIT.format(WAIT_SECONDS))
                connection.execute("SELECT pg_advisory_lock(%s)", [int.from_bytes(name[:8], signed=True)])
            connection.execute(_ALONE)
        except psycopg.Error as fault:
            raise waits.understand(fault) from None
        connection.prepare_threshold = 0
        yield Reading(connection)


_ADVANCED = Prepared(
    text("SELECT advanced_seconds FROM test_clocks WHERE organisation_id = :organisation_id")
)
_ADVANCE = Prepared(
    text("""
    INSERT INTO test_clocks AS clock (organisation_id, advanced_seconds) VALUES (:organisation_id, :seconds)
    ON CONFLICT (organisation_id) DO UPDATE SET advanced_seconds = clock.advanced_seconds + excluded.advanced_seconds
    """)
)


def advanced(means: Means, organisation_id: UUID) -> int:
    """Return by how many seconds an organisation's clock was moved in all."""
    row = _ADVANCED.first(means, organisation_id=organisation_id)
    return row.advanced_seconds if row else 0


def move(session: Session, organisation_id: UUID, seconds: int) -> None:
    """Let so many seconds pass for an organisation's test rows."""
    moving.move(session, organisation_id, seconds)
    _ADVANCE.run(session, organisation_id=organisation_id, seconds=seconds)


class Waiting(NamedTuple):
    """What of an organisation's test mode is for others than the schedule to do."""

    told: bool  # events that are no deliveries yet
    asked: bool  # work of the outbox that is due
    sendable: bool  # deliveries that are due
    in_hand: bool  # somebody is at work on some of these
    next_at: datetime | None  # when the first piece of work, or delivery, becomes due that is not


# Who renews a lease does so in time; what has less left of it was left, or put off.
_FRESH = outbox.LEASE.total_seconds() - outbox.RENEWED_SECONDS - 2
# What stands before others in the statement that looks what there is to do (workers.advancing).
WAITING = (
    text(f"""
    WITH work AS MATERIALIZED (
        SELECT due_at, attempts > 0 AND due_at BETWEEN CAST(:moment AS timestamptz) + interval '{_FRESH} seconds'
                   AND CAST(:moment AS timestamptz) + interval '{outbox.LEASE.total_seconds()} seconds' AS is_held
        FROM outbox WHERE {moving.TESTS} AND finished_at IS NULL AND job <> ALL (:without)
    ), sending AS MATERIALIZED (
        SELECT first.next_attempt_at, coalesce(first.lease_until > :moment, false) AS is_held
        FROM webhook_endpoints AS endpoint CROSS JOIN LATERAL (
            SELECT next_attempt_at, lease_until FROM deliveries
            WHERE endpoint_id = endpoint.id AND status = 'pending' ORDER BY next_attempt_at LIMIT 1000
        ) AS first
        WHERE {moving.TESTS} AND is_active AND {pending.MAY_BE}
    )
    SELECT EXISTS (SELECT FROM events WHERE {moving.TESTS} AND fanned_out_at IS NULL) AS told,
           EXISTS (SELECT FROM work WHERE NOT is_held AND due_at <= :moment) AS asked,
           EXISTS (SELECT FROM sending WHERE NOT is_held AND next_attempt_at <= :moment) AS sendable,
           EXISTS (SELECT FROM work WHERE is_held) OR EXISTS (SELECT FROM sending WHERE is_held) AS in_hand,
           least((SELECT min(due_at) FROM work WHERE NOT is_held AND due_at > :moment),
                 (SELECT min(next_attempt_at) FROM sending WHERE NOT is_held AND next_attempt_at > :moment)) AS next_at
    """)  # noqa: S608 - of our own words
    .columns(told=Boolean, asked=Boolean, sendable=Boolean, in_hand=Boolean, next_at=DateTime(timezone=True))
    .subquery("waiting")
)


_ENDPOINTS = Prepared(
    text(f"""
    SELECT endpoint.id FROM webhook_endpoints AS endpoint
    WHERE {moving.TESTS} AND is_active AND {pending.MAY_BE} ORDER BY id
    """)  # noqa: S608 - the same
)


def endpoints(means: Change, organisation_id: UUID) -> list[UUID]:
    """Return the endpoints of an organisation's test mode that something waits for."""
    return [row.id for row in _ENDPOINTS.all(means, organisation_id=organisation_id)]


class Happened(NamedTuple):
    """One thing that the service did by itself: when, what, and with which row."""

    at: datetime
    kind: str
    id: str | None


_TOLD = Prepared(
    text("""
    SELECT id, occurred_at, action, resource_id FROM (
        SELECT id, occurred_at, action, resource_id FROM audit_waiting
        WHERE organisation_id = :organisation_id AND livemode IS NOT TRUE AND NOT livemode AND channel = 'system'
          AND id > :after
        UNION ALL
        SELECT id, occurred_at, action, resource_id FROM audit_rows
        WHERE organisation_id = :organisation_id AND livemode IS NOT TRUE AND NOT livemode AND channel = 'system'
          AND id > :after
    ) AS told ORDER BY id
    """)
)
_SWITCHED = Prepared(
    text(f"SELECT id, is_active FROM webhook_endpoints WHERE {moving.TESTS} ORDER BY id")  # noqa: S608 - the same
)


def told(means: Means, organisation_id: UUID, after: UUID) -> list[Any]:
    """Return what the audit log says that the service did by itself since an id, in its order."""
    return _TOLD.all(means, organisation_id=organisation_id, after=after)


def switched(means: Means, organisation_id: UUID) -> dict[UUID, bool]:
    """Say of each endpoint of an organisation's test mode whether it is switched on."""
    return {row.id: row.is_active for row in _SWITCHED.all(means, organisation_id=organisation_id)}


_TRIED = Prepared(
    text(f"""
    SELECT delivery.id, delivery.attempts, true AS is_pending
    FROM webhook_endpoints AS endpoint CROSS JOIN LATERAL (
        SELECT id, attempts FROM deliveries
        WHERE endpoint_id = endpoint.id AND status = 'pending' AND attempts > 0
        ORDER BY next_attempt_at LIMIT 1000
    ) AS delivery
    WHERE {moving.TESTS} AND {pending.MAY_BE}
    UNION ALL
    SELECT id, attempts, false FROM deliveries WHERE id = ANY (CAST(:known AS uuid[])) AND status <> 'pending'
    ORDER BY id
    """)  # noqa: S608 - the same
)


def tried(means: Means, organisation_id: UUID, known: Collection[UUID] = ()) -> list[Any]:
    """Say how often each delivery was tried that is to be tried again, and those that are known and done by now."""
    return _TRIED.all(means, organisation_id=organisation_id, known=list(known))
