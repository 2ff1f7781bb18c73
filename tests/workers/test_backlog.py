"""A hundred thousand deliveries that wait: what a worker holds of them is bounded, whatever is behind it."""

import dataclasses
import gc
import threading
from contextlib import ExitStack
from datetime import timedelta

import pytest
from sqlalchemy import text

import store
from app.instance import processes
from rules.clock import now
from rules.retries import Outcome
from store.delivering import sending
from store.delivering.sending import Attempt, Claimed
from store.operating import health
from tests import kept
from tests import receiver as receivers
from tests.hooks import caller, deliveries_of, happen, new_caller, new_endpoint, wait_until, wired
from tests.receiver import Answer
from workers.deliveries import Sender
from workers.shares import CONNECTIONS

__all__ = ["caller", "wired"]

BACKLOG = 100_000
ENDPOINTS = 20
SHARE = 64


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


def test_a_worker_holds_a_share_of_one_organisations_hundred_thousand(backlog):
    receiver, ids = backlog
    sender = Sender(share=SHARE, grace=0.1)
    sender.start()
    try:
        wait_until(lambda: sum(leased(ids).values()) == 2 * SHARE)
        for _ in range(20):  # however often it is told that there is more
            sender.ring()
        receiver.wait_for(SHARE)
        found = leased(ids)
        assert sum(found.values()) == 2 * SHARE
        assert max(found.values()) <= 2 * CONNECTIONS
        assert len(receiver.requests) == SHARE
        gc.collect()
        assert len(kept.every(Claimed)) <= 2 * SHARE + 1
    finally:
        sender.stop()
    assert leased(ids) == {}  # what was under way is left to others at once


def test_endpoints_that_hold_all_they_get_keep_no_other_organisation_waiting(backlog, wired):
    slow, _ = backlog
    soon = dataclasses.replace(wired, grace_seconds=0.1)
    with receivers.running() as receiver, processes.working(soon, ["deliveries"]):
        slow.wait_for(SHARE)
        other = new_caller()
        id, _ = new_endpoint(other, receiver.url)
        for _ in range(20):
            happen(other, "job.created")
        receiver.wait_for(20)
        wait_until(lambda: {one.status for one in deliveries_of(id)} == {"delivered"})
        assert len(slow.requests) == SHARE  # it had the worker's share, and all of it is held


def rows_of_deliveries(plan):
    """Count the deliveries that a plan looked at, each time that it did."""
    mine = plan.get("Relation Name") == "deliveries" and plan["Node Type"] != "ModifyTable"
    assert not (mine and plan["Node Type"].endswith("Seq Scan"))
    seen = plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0) if mine else 0
    return seen * plan["Actual Loops"] + sum(rows_of_deliveries(one) for one in plan.get("Plans", ()))


def asked(session, statement, **values):
    """Carry a statement out, and return what it did."""
    connection = session.connection().connection.driver_connection
    asked = "EXPLAIN (ANALYZE, FORMAT JSON) " + statement.of_threads.text
    [(plan,)] = connection.execute(asked, values | {"moment": now()}).fetchall()
    return plan[0]["Plan"]


def test_a_claim_looks_at_what_it_takes_and_not_at_the_backlog(backlog):
    _, ids = backlog
    rooms = dict.fromkeys(ids, 5)
    with store.transaction() as session:
        session.execute(text("ANALYZE deliveries, webhook_endpoints"))
        looking = asked(session, sending._DUE, full=[])
        taking = asked(
            session,
            sending._CLAIM,
            endpoints=list(rooms),
            rooms=list(rooms.values()),
            lease_until=now() + timedelta(minutes=1),
        )
        session.rollback()
    assert rows_of_deliveries(looking) == ENDPOINTS
    assert rows_of_deliveries(taking) <= 3 * sum(rooms.values())  # found, locked, changed


def test_a_result_is_written_down_without_a_look_at_what_waits(backlog, monkeypatch):
    _, ids = backlog
    plans = []

    class Explained:
        def __init__(self, statement):
            self.statement = statement

        def run(self, session, **values):
            plans.append(asked(session, self.statement, **values))

        def all(self, session, **values):
            self.run(session, **values)
            return []

    for name in ("_SETTLE", "_RELEASE"):
        monkeypatch.setattr(sending, name, Explained(getattr(sending, name)))
    with store.transaction() as session:
        # As it usually is when a backlog begins: the table was analysed while hardly anything waited.
        session.execute(text("UPDATE deliveries SET status = 'delivered'"))
        session.execute(text("ANALYZE deliveries, webhook_endpoints"))
        session.execute(
            text("UPDATE deliveries SET status = 'pending' WHERE endpoint_id = ANY (:ids)"), {"ids": ids}
        )
        claimed = sending.claim(session, {ids[0]: 2}, lease=timedelta(minutes=1))
        outcome = Outcome(200, 3, "ok")
        sending.settle(
            session,
            [Attempt(one.id, one.endpoint_id, 1, now(), outcome, one.lease_until) for one in claimed[:1]],
        )
        sending.release(session, claimed[1:])
        assert [rows_of_deliveries(one) for one in plans] == [1, 1]
        left = session.execute(
            text("SELECT status, lease_until FROM deliveries WHERE id = ANY (:ids) ORDER BY id"),
            {"ids": [one.id for one in claimed]},
        )
        assert left.all() == [("delivered", None), ("pending", None)]
        session.rollback()


def test_the_figures_of_a_long_queue_come_from_indexes(backlog):
    with store.transaction() as session:
        figures = health.figures(session)
        plan = "\n".join(session.scalars(text("EXPLAIN " + str(health._FIGURES))))
    assert figures.deliveries_pending == BACKLOG
    assert "Seq Scan on deliveries" not in plan
