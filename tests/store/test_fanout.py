"""Events become deliveries in turns, and past what is locked."""

import itertools
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, text

import store
from gateways.webhooks import encode
from rules.clock import now
from rules.retries import Outcome
from store.database import aside
from store.delivering import fanout, pending, sending, webhooks
from store.delivering.pending import DeliveryTally
from tests.hooks import (
    Sender,
    caller,
    deliveries_of,
    endpoint_of,
    happen,
    new_caller,
    new_endpoint,
    wired,
)
from workers import outbox as relays
from workers.events import Events

__all__ = ["caller", "wired"]

MANY = 300
LEASE = timedelta(minutes=1)


def turn(**options: Any) -> fanout.FannedOut:
    with store.transaction() as session:
        return fanout.fan_out(session, limit=100, **options)


@pytest.fixture(autouse=True)
def nothing_waits(wired: Any) -> None:
    """Fan out what other tests have left."""
    while turn().events:
        pass


@contextmanager
def locked(endpoint_id: Any, how: str) -> Any:
    """Hold an endpoint in a transaction of somebody else's."""
    with store.transaction() as session:
        session.execute(
            text(f"SELECT id FROM webhook_endpoints WHERE id = :id FOR {how}"), {"id": endpoint_id}
        )
        yield session


def attempt(one: sending.Claimed) -> sending.Attempt:
    """Say that a delivery got through at once."""
    return sending.Attempt(one.id, one.endpoint_id, 1, now(), Outcome(200, 1), one.lease_until)


def relay() -> tuple[float, bool]:
    """Take a relay's turn; return how long it rests, and whether it rang."""
    sender = Sender()
    rests = Events(sender).turn()
    return rests, sender.rung


def test_what_there_is_room_for_is_claimed_as_it_is_made_and_the_rest_is_rung_for(caller: Any) -> None:
    id, secret = new_endpoint(caller)
    happen(caller, "job.created", "job.closed", "job.published", zebra=1, a=[1.5, None, {"y": 1, "x": 2}])
    sender = Sender(room=2)
    Events(sender).turn()
    made = deliveries_of(id)
    assert [one.id for one in sender.taken] == [one.id for one in made[:2]]
    assert [one.lease_until for one in made] == [sender.taken[0].lease_until] * 2 + [None]
    assert sender.rung
    assert [encode(one.payload) for one in sender.taken] == [encode(one.payload) for one in made[:2]]
    assert {one.organisation_id for one in sender.taken} == {caller.organisation_id}
    assert [one.secrets() for one in sender.taken] == [[secret]] * 2


def test_nobody_is_rung_for_where_all_was_claimed(caller: Any) -> None:
    id, _ = new_endpoint(caller)
    happen(caller, "job.created")
    sender = Sender(room=2)
    Events(sender).turn()
    assert [one.id for one in sender.taken] == [one.id for one in deliveries_of(id)]
    assert not sender.rung


def test_what_waits_for_an_endpoint_is_not_passed_by_what_is_new(caller: Any) -> None:
    id, _ = new_endpoint(caller)
    happen(caller, "job.created")
    relay()
    happen(caller, "job.closed")
    sender = Sender(room=2)
    Events(sender).turn()
    assert sender.taken == []
    assert sender.rung
    assert len(deliveries_of(id)) == 2


def test_a_paused_endpoint_is_not_claimed_for(caller: Any) -> None:
    id, _ = new_endpoint(caller)
    with store.transaction() as session:
        webhooks.change(session, webhooks.get(session, caller, id, lock=True), {"is_active": False})
    happen(caller, "job.created")
    sender = Sender(room=2)
    Events(sender).turn()
    assert sender.taken == []
    assert [one.lease_until for one in deliveries_of(id)] == [None]


def test_an_endpoint_that_a_request_holds_holds_up_its_own_organisation_alone(caller: Any) -> None:
    other = new_caller()
    mine, _ = new_endpoint(caller)
    theirs, _ = new_endpoint(other)
    happen(caller, "job.created", "job.closed")
    happen(other, "job.created")
    with locked(mine, "UPDATE"):
        rests, rang = relay()
        assert (len(deliveries_of(theirs)), rang) == (1, True)
        assert deliveries_of(mine) == []
        assert 0 < rests < relays.POLL_SECONDS  # and looks again soon
    relay()
    assert [one.event_type for one in deliveries_of(mine)] == ["job.created", "job.closed"]


def test_an_endpoint_that_a_worker_holds_holds_up_nobody(caller: Any) -> None:
    id, _ = new_endpoint(caller)
    happen(caller, "job.created", "job.closed")
    with locked(id, "NO KEY UPDATE"):
        rests, _ = relay()
        assert [one.event_type for one in deliveries_of(id)] == ["job.created", "job.closed"]
        assert endpoint_of(id).pending_delivery_count == 2
        assert rests == relays.POLL_SECONDS


def test_what_is_pending_is_counted_once_whoever_counts_and_adds_up_meanwhile(caller: Any) -> None:
    id, _ = new_endpoint(caller)

    def number() -> tuple[int, int, int]:
        """Return what is shown, what the endpoint's own row counts, and how many rows count beside it."""
        with store.transaction() as session:
            tallies = list(session.scalars(select(DeliveryTally).where(DeliveryTally.endpoint_id == id)))
        found = endpoint_of(id)
        return found.pending_delivery_count, found.counted, len(tallies)

    def add_up() -> None:
        with store.transaction() as session:
            pending.fold(session, session.scalars(select(DeliveryTally)).all())

    happen(caller, "job.created")
    turn()
    assert number() == (1, 0, 1)
    happen(caller, "job.closed")
    turn()
    assert number() == (2, 0, 1), "one row counts as long as nobody else has it in hand"
    with store.transaction() as session:
        session.scalars(select(DeliveryTally).where(DeliveryTally.endpoint_id == id).with_for_update()).all()
        happen(caller, "job.closed")
        turn()
        assert number() == (3, 0, 2)
    with store.transaction() as session:
        claimed = sending.claim(session, {id: 1}, lease=LEASE)
        sending.settle(session, [attempt(claimed[0])])
    assert number() == (2, -1, 2)
    with locked(id, "NO KEY UPDATE"):
        add_up()
        assert number() == (2, -1, 2), "whoever writes down results is not waited for"
    add_up()
    assert number() == (2, 2, 0)
    with store.transaction() as session:
        assert [one.endpoint_id for one in sending.due(session, full=[]) if one.endpoint_id == id] == [id]


def test_one_organisations_many_events_are_not_before_anothers_one(caller: Any) -> None:
    other = new_caller()
    mine, _ = new_endpoint(caller)
    theirs, _ = new_endpoint(other)
    happen(caller, *["job.created"] * MANY)
    happen(other, "job.created")
    first = turn()
    assert len(deliveries_of(theirs)) == 1
    assert (len(deliveries_of(mine)), first.events, first.more) == (50, 51, True)
    assert turn().events == 100  # all of a turn for whoever is left
    while turn().more:
        pass
    sequences = [one.payload["sequence"] for one in deliveries_of(mine)]
    assert sequences == sorted(sequences) == list(range(1, MANY + 1))


def test_a_turn_looks_at_what_it_takes_and_not_at_all_that_waits(caller: Any) -> None:
    for _ in range(3):
        happen(new_caller(), *["job.created"] * 5_000)
    with store.transaction() as session:  # most are done, as they always are
        session.execute(text("UPDATE events SET fanned_out_at = now() WHERE sequence <= 4500"))

    def seen(plan: dict[str, Any]) -> float:
        mine = plan.get("Relation Name") == "events"
        assert not (mine and plan["Node Type"].endswith("Seq Scan"))
        rows = plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0) if mine else 0
        return float(rows * plan["Actual Loops"] + sum(seen(one) for one in plan.get("Plans", ())))

    with store.transaction() as session:
        session.execute(text("ANALYZE events"))
        driver: Any = session.connection().connection.driver_connection
        asked = "EXPLAIN (ANALYZE, FORMAT JSON) " + fanout._WAITING.of_threads.text
        given = {"limit": 30, "kind": "fan-out", "without": [], "modes": []}
        [(plan,)] = driver.execute(asked, given).fetchall()
        of_one = driver.execute(
            "SELECT organisation_id FROM events WHERE fanned_out_at IS NULL LIMIT 1"
        ).fetchone()
        given |= {"without": list(of_one), "modes": [True]}
        [(less,)] = driver.execute(asked, given).fetchall()
        session.rollback()
    assert seen(plan[0]["Plan"]) <= 40  # ten of each, and one look for each
    assert seen(less[0]["Plan"]) <= 30  # nothing of whoever is left out
    with store.transaction() as session:  # nobody after this has to wait for them
        session.execute(text("UPDATE events SET fanned_out_at = now() WHERE fanned_out_at IS NULL"))


def test_a_turn_may_be_without_some_in_one_mode(caller: Any) -> None:
    other = new_caller()
    for one in (caller, other):
        happen(one, "job.created")
    with store.transaction() as session:
        without = [(other.organisation_id, True), (caller.organisation_id, False)]
        found = fanout.waiting(session, 10, without=without)
        assert [one.party() for one in found] == [(caller.organisation_id, True)]
        (only,) = fanout.waiting_of(session, (other.organisation_id, True), 10)
        assert fanout.waiting_of(session, (other.organisation_id, False), 10) == []
        aside.keep(session, "fan-out", [only], ValueError(), again=True)
        assert fanout.waiting_of(session, (other.organisation_id, True), 10) == []
        session.rollback()


def test_who_follows_takes_a_turn_only_where_nobody_else_does(caller: Any) -> None:
    id, _ = new_endpoint(caller)
    sender = Sender()
    events = Events(sender)
    assert events.follow() == relays.POLL_SECONDS
    assert sender.rung
    happen(caller, "job.created")
    assert events.follow() == 0  # it looks again soon
    Events(Sender()).turn()  # of who leads
    happen(caller, "job.closed")
    assert events.follow() == 0
    assert len(deliveries_of(id)) == 1
    events.follow()  # who leads stands still
    assert len(deliveries_of(id)) == 2


def test_who_follows_tries_again_what_was_set_aside_where_nobody_else_does(caller: Any) -> None:
    id, _ = new_endpoint(caller)
    happen(caller, "job.created")
    with store.transaction() as session:
        (waiting,) = fanout.waiting(session, 10, without=())
        aside.keep(session, "fan-out", [waiting], ValueError(), again=True)
    events = Events(Sender())
    assert [events.follow(), events.follow()] == [relays.POLL_SECONDS] * 2  # its time has not come
    with store.transaction() as session:
        session.execute(text("UPDATE set_aside SET again_at = now()"))
    assert events.follow() == 0
    events.follow()
    assert len(deliveries_of(id)) == 1


@pytest.mark.parametrize(("endpoints", "sizes"), [(1, [50, 250, 10]), (10, [50, 50, 50, 50, 50, 50, 10])])
def test_a_turn_takes_as_many_events_as_become_some_hundred_deliveries(
    endpoints: int, sizes: list[int], caller: Any
) -> None:
    id, *_ = [new_endpoint(caller, f"https://example.com/{number}")[0] for number in range(endpoints)]
    happen(caller, *["job.created"] * sum(sizes))
    events, made = Events(Sender()), [0]
    for _ in sizes:
        events.turn()
        made.append(len(deliveries_of(id)))
    assert [after - before for before, after in itertools.pairwise(made)] == sizes


def test_results_are_written_beside_deliveries_that_are_being_made_but_for_an_endpoint_that_is_held(
    caller: Any,
) -> None:
    ids = [new_endpoint(caller, f"https://example.com/{number}")[0] for number in range(20)]
    happen(caller, "job.created")
    assert turn().deliveries == len(ids)
    with store.transaction() as session:
        claimed = sending.claim(session, dict.fromkeys(ids, 1), lease=LEASE)
    happen(caller, "job.closed")
    with store.transaction() as making:
        assert fanout.fan_out(making, limit=100).deliveries == len(ids)
        with locked(min(ids), "NO KEY UPDATE"), store.transaction() as writing:
            settled = sending.settle(writing, list(map(attempt, claimed)))
        assert [one.endpoint_id for one in settled.held] == [min(ids)]
        with store.transaction() as writing:
            assert sending.settle(writing, settled.held).held == []
    assert [one.status for id in ids for one in deliveries_of(id)] == ["delivered", "pending"] * len(ids)
    assert {endpoint_of(id).pending_delivery_count for id in ids} == {1}
