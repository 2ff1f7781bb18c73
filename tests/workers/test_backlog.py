"""A hundred thousand deliveries that wait: what a worker holds of them is bounded, whatever is behind it."""

import gc
import threading
from contextlib import ExitStack

import pytest
from sqlalchemy import text

import store
from store.delivering.sending import Claimed
from store.operating import health
from tests import receiver as receivers
from tests.hooks import caller, new_endpoint, wait_until, wired
from tests.receiver import Answer
from workers import deliveries
from workers.deliveries import Sender

__all__ = ["caller", "wired"]

BACKLOG = 100_000
ENDPOINTS = 20


@pytest.fixture
def backlog(caller):
    """Deliveries to endpoints that hold every request until the test lets go."""
    held = threading.Event()
    with store.transaction() as session:  # what other tests have left is not to be claimed
        session.execute(text("UPDATE webhook_endpoints SET is_active = false"))
    with ExitStack() as stack:
        one = stack.enter_context(receivers.running())
        one.answer(lambda request: Answer(200 if held.wait(60) else 500))
        ids = [new_endpoint(caller, f"{one.url}/{number}")[0] for number in range(ENDPOINTS)]
        with store.transaction() as session:
            session.execute(
                text("""
                    INSERT INTO deliveries (id, created_at, organisation_id, livemode, endpoint_id, event_id,
                                            event_type, payload, status, attempts, next_attempt_at)
                    SELECT gen_random_uuid(), now(), :owner, true, (CAST(:ids AS uuid[]))[1 + number % :endpoints],
                           gen_random_uuid(), 'job.created',
                           jsonb_build_object('id', 'evt_' || number, 'type', 'job.created', 'timestamp', '2026-01-01',
                               'api_version', '1.1.0', 'livemode', true, 'sequence', number, 'data', '{}'::jsonb),
                           'pending', 0, now()
                    FROM generate_series(1, :count) AS number
                """),
                {"owner": caller.organisation_id, "ids": ids, "endpoints": ENDPOINTS, "count": BACKLOG},
            )
            session.execute(
                text("UPDATE webhook_endpoints SET pending_delivery_count = :count WHERE id = ANY (:ids)"),
                {"count": BACKLOG // ENDPOINTS, "ids": ids},
            )
        yield one, ids
        held.set()
        with store.transaction() as session:
            session.execute(text("DELETE FROM webhook_endpoints WHERE id = ANY (:ids)"), {"ids": ids})


def leased(ids):
    with store.transaction() as session:
        return dict(
            session.execute(
                text("SELECT endpoint_id, count(*) FROM deliveries WHERE endpoint_id = ANY (:ids)"
                     " AND lease_until IS NOT NULL GROUP BY endpoint_id"), {"ids": ids},
            ).all()
        )  # fmt: skip


def test_a_worker_holds_a_few_hundred_of_a_hundred_thousand(backlog, monkeypatch):
    receiver, ids = backlog
    monkeypatch.setattr(deliveries, "PATIENCE_SECONDS", 0.1)
    sender = Sender()
    sender.start()
    try:
        wait_until(lambda: sum(leased(ids).values()) == deliveries.SLOTS)
        for _ in range(20):  # however often it is told that there is more
            sender.ring()
        wait_until(lambda: len(receiver.requests) >= deliveries.SLOTS / 2)
        found = leased(ids)
        assert sum(found.values()) == deliveries.SLOTS
        assert max(found.values()) <= deliveries.SHARE
        gc.collect()
        assert sum(isinstance(one, Claimed) for one in gc.get_objects()) <= deliveries.SLOTS + 1
    finally:
        sender.stop()
    assert leased(ids) == {}  # what was under way is left to others at once


def test_the_figures_of_a_long_queue_come_from_indexes(backlog):
    with store.transaction() as session:
        figures = health.figures(session)
        plan = "\n".join(session.scalars(text("EXPLAIN " + str(health._FIGURES))))
    assert figures.deliveries_pending == BACKLOG
    assert "Seq Scan on deliveries" not in plan
