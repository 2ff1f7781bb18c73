"""What is sent again is made due helping by helping."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select, text, update

import store
from rules.clock import now
from store.delivering import again, webhooks
from store.delivering.webhooks import Delivery
from store.outbox import OutboxItem
from tests.hooks import caller, deliveries_of, endpoint_of, new_endpoint, wired
from workers import replays

__all__ = ["caller", "wired"]

MANY = 25


@pytest.fixture(autouse=True)
def helpings_of_ten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(again, "HELPING", 10)


@pytest.fixture
def endpoint(caller: Any) -> UUID:
    """An endpoint to which many deliveries were made; each third of them failed for good."""
    id, _ = new_endpoint(caller)
    with store.transaction() as session:
        session.execute(
            text("""
                INSERT INTO deliveries (id, created_at, organisation_id, livemode, endpoint_id, event_id, event_type,
                                        payload, status, attempts, delivered_at)
                SELECT gen_random_uuid(), now() - interval '1 hour', :owner, true, :id, gen_random_uuid(),
                       'job.created', '{}', CASE number % 3 WHEN 0 THEN 'failed' ELSE 'delivered' END, 3,
                       CASE number % 3 WHEN 0 THEN NULL ELSE now() - interval '1 hour' END
                FROM generate_series(1, :count) AS number
            """),
            {"owner": caller.organisation_id, "id": id, "count": MANY},
        )
    return id


def replay(id: UUID, **options: Any) -> int:
    given = {"since": None, "until": None, "types": None, "only_failed": False} | options
    with store.transaction() as session:
        return again.replay(session, id, **given)


def pending(id: UUID) -> int:
    return sum(one.status == "pending" for one in deliveries_of(id))


def asked(id: UUID) -> list[dict[str, Any]]:
    """Take the further helpings that were asked for."""
    with store.transaction() as session:
        mine = (OutboxItem.job == again.JOB, OutboxItem.arguments["endpoint_id"].astext == str(id))
        found = session.scalars(select(OutboxItem).where(*mine, OutboxItem.finished_at.is_(None))).all()
        for one in found:
            one.finished_at = now()
        return [one.arguments for one in found]


def test_a_replay_is_counted_whole_and_made_due_in_helpings(endpoint: UUID) -> None:
    assert replay(endpoint) == MANY
    due = [pending(endpoint)]
    while further := asked(endpoint):
        [arguments] = further
        replays.replay(UUID(int=0), arguments)
        due.append(pending(endpoint))
    assert due == [10, 20, MANY]
    assert endpoint_of(endpoint).pending_delivery_count == MANY
    assert {one.attempts for one in deliveries_of(endpoint)} == {0}
    order = [one.id for one in sorted(deliveries_of(endpoint), key=lambda one: one.next_attempt_at or now())]
    assert order == sorted(order)


def test_only_what_failed_is_counted_and_made_due_where_that_is_asked_for(endpoint: UUID) -> None:
    assert replay(endpoint, only_failed=True) == MANY // 3
    assert pending(endpoint) == MANY // 3
    assert asked(endpoint) == []
    assert replay(endpoint, until=now() - timedelta(hours=2)) == 0


def test_what_is_delivered_after_a_replay_was_asked_for_is_not_part_of_it(endpoint: UUID) -> None:
    replay(endpoint)
    [arguments] = asked(endpoint)
    with store.transaction() as session:
        session.execute(
            update(Delivery)
            .where(Delivery.endpoint_id == endpoint)
            .values(status="delivered", delivered_at=now())
        )
    replays.replay(UUID(int=0), arguments)
    assert pending(endpoint) == 0
    assert asked(endpoint) == []


def test_a_helping_that_is_done_twice_counts_once(endpoint: UUID) -> None:
    replay(endpoint)
    [arguments] = asked(endpoint)
    for _ in range(2):
        replays.replay(UUID(int=0), arguments)
    for further in asked(endpoint):
        replays.replay(UUID(int=0), further)
    assert pending(endpoint) == endpoint_of(endpoint).pending_delivery_count == MANY


def test_an_endpoint_that_somebody_holds_is_not_waited_for(endpoint: UUID) -> None:
    replay(endpoint)
    [arguments] = asked(endpoint)
    with store.transaction() as other:
        other.execute(text("SELECT id FROM webhook_endpoints WHERE id = :id FOR UPDATE"), {"id": endpoint})
        replays.replay(UUID(int=0), arguments)
    assert pending(endpoint) == 10
    assert asked(endpoint) == [arguments]


def test_an_endpoint_that_is_gone_needs_no_helping(caller: Any, endpoint: UUID) -> None:
    replay(endpoint)
    [arguments] = asked(endpoint)
    with store.transaction() as session:
        webhooks.remove(session, webhooks.get(session, caller, endpoint, lock=True))
    replays.replay(UUID(int=0), arguments)
    assert asked(endpoint) == []


def test_what_waits_for_an_endpoint_that_is_switched_on_is_made_due_in_helpings(
    caller: Any, endpoint: UUID
) -> None:
    tomorrow = now() + timedelta(days=1)
    with store.transaction() as session:
        session.execute(
            update(Delivery)
            .where(Delivery.endpoint_id == endpoint)
            .values(status="pending", next_attempt_at=tomorrow)
        )
        webhooks.verify(session, webhooks.get(session, caller, endpoint, lock=True))

    def due() -> int:
        return sum((one.next_attempt_at or tomorrow) < tomorrow for one in deliveries_of(endpoint))

    found = [due()]
    while further := asked(endpoint):
        replays.replay(UUID(int=0), further[0])
        found.append(due())
    assert found == [10, 20, MANY]
    assert {one.attempts for one in deliveries_of(endpoint)} == {3}
