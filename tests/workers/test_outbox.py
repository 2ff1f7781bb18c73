"""Whose work is begun next, and for how long it is whose who began it."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta
from types import SimpleNamespace

import pytest
from sqlalchemy import text, update

import store
from app.instance import processes
from gateways import cores, load
from rules.clock import now
from store import outbox
from store.database.base import NOBODY
from tests.hooks import nothing_else_is_due, wait_until, wired
from tests.workers.pieces import Party, add, find, kind, party, take
from workers import leases
from workers import turns as paces
from workers.turns import Turns

__all__ = ["kind", "nothing_else_is_due", "wired"]

pytestmark = pytest.mark.usefixtures("nothing_else_is_due")

FLOOD = 40_000


def test_only_one_of_many_begins_each_piece_of_work():
    for owner in (None, party(), party(livemode=False)):
        add(40, owner=owner)
    with ThreadPoolExecutor(8) as pool:
        taken = [one.id for one in pool.map(lambda _: take(), range(120)) if one]
    while one := take():  # whose party somebody else was looking at
        taken.append(one.id)
    assert len(taken) == len(set(taken)) == 120


def test_work_under_way_keeps_its_lease_and_a_dead_process_loses_it(monkeypatch):
    monkeypatch.setattr(leases, "EVERY_SECONDS", 0.01)
    add()
    taken = take(lease=leases.LEASE)
    begun = find(taken.id).due_at
    with leases.kept(taken, longest=timedelta(minutes=1)):
        wait_until(lambda: find(taken.id).due_at > begun)
    last = find(taken.id).due_at
    assert last - now() <= leases.LEASE  # nobody renews it any more: by then it is due again
    with leases.kept(taken, longest=timedelta(0)):  # it hangs
        pass
    assert find(taken.id).due_at == last


def test_whoever_has_lost_the_lease_has_no_say_any_more():
    add()
    first = take(lease=timedelta(0))
    second = take()
    assert (second.id, second.attempts) == (first.id, first.attempts + 1)
    with store.transaction() as session:
        outbox.put_off(session, first, delay=timedelta(0), error="late")
        outbox.renew(session, first, lease=timedelta(0))
        outbox.give_up(session, first, error="late")
    left = find(first.id)
    assert (left.finished_at, left.last_error) == (None, None)
    assert left.due_at > now()
    with store.transaction() as session:
        outbox.finish(session, first)  # it was done all the same
    assert find(first.id).finished_at


# --- Turns


def test_organisations_and_modes_take_turns():
    parties = [party(), party(livemode=False), party()]
    for one in parties:
        add(3, owner=one)
    turns = Turns("test", threads=100)
    order = []
    for _ in range(9):
        with turns.next() as taken:
            order.append(Party(taken.organisation_id, taken.livemode))
    assert order == sorted(parties, key=lambda one: one.organisation_id) * 3


@pytest.fixture
def clock(monkeypatch):
    known = SimpleNamespace(moment=1_000.0, monotonic=lambda: known.moment)
    for module in (paces, load):
        monkeypatch.setattr(module, "time", known)
    return known


@pytest.fixture
def rest(monkeypatch):
    """For how long whoever is to leave the cores to others rests: on an idle machine not at all."""
    known = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr(cores, "rest", lambda waited: known.seconds)
    return known


def begin(turns, most=1_000):
    """Do what has its turn; return how much of whom."""
    begun = Counter()
    for _ in range(most):
        with turns.next() as taken:
            if taken is None:
                break
            begun[taken.organisation_id] += 1
    return begun


def test_a_flood_is_held_to_its_pace_and_what_gathered_in_some_seconds_goes_out_at_once(clock, rest):
    owner, other = party(), party()
    add(400, owner=owner)
    turns, begun = Turns("test", threads=1_000, a_second=25), []
    for seconds in (0, 0, 2, 60):
        clock.moment += seconds
        begun.append(begin(turns).total())
    at_once = pytest.approx(125, abs=1)
    assert begun == [at_once, 0, pytest.approx(50, abs=1), at_once]
    add(1, owner=other)
    with turns.next() as taken:
        assert taken.organisation_id == other.organisation_id


def test_on_a_full_machine_whoever_is_far_ahead_of_its_pace_goes_on_at_that(clock, rest):
    rest.seconds = 0.25
    add(400, owner=party())
    turns, begun = Turns("test", threads=4, a_second=25), []  # three of them for one
    for _ in range(3):
        begun.append(begin(turns).total())
        clock.moment += 0.25
    at_its_pace = pytest.approx(25 * 0.25, abs=1)
    assert begun == [pytest.approx(25 + 3, abs=1), at_its_pace, at_its_pace]


def test_on_a_full_machine_whoever_has_most_and_wants_more_rests_and_nobody_else(clock, rest):
    flood, other = party(), party()
    add(100, owner=flood)  # more than it may have under way, of four threads three
    with store.transaction() as session:
        mine = update(outbox.OutboxItem).where(outbox.OutboxItem.organisation_id == flood.organisation_id)
        session.execute(mine.values(due_at=now() - timedelta(minutes=1)))
    turns = Turns("test", threads=4)
    with ExitStack() as stack:  # as long as work takes
        for _ in range(2):
            stack.enter_context(turns.next())
        clock.moment += 1
    rest.seconds = 0.25
    assert begin(turns, 4)[flood.organisation_id] == 4  # it is alone
    add(3, owner=other)
    with turns.next():
        clock.moment += 0.01
    assert begin(turns) == {flood.organisation_id: 3, other.organisation_id: 2}
    clock.moment += 0.25
    assert begin(turns)[flood.organisation_id] == 3


def test_while_somebody_waits_for_the_turn_of_others_somebody_looks():
    flood, other = party(), party()
    add(2, owner=flood)
    turns = Turns("test", threads=2)

    def wait(seconds):
        with turns.next(patience=seconds) as taken:
            return taken

    with turns.next() as held, ThreadPoolExecutor(2) as pool:
        assert held.organisation_id == flood.organisation_id  # and that is its share
        short = pool.submit(wait, 1.0)
        wait_until(lambda: turns._looking)
        long = pool.submit(wait, 60.0)
        wait_until(lambda: len(turns._changed._waiters) == 2)
        assert short.result() is None
        add(1, owner=other)  # no bell tells of it
        assert long.result(timeout=30).organisation_id == other.organisation_id


def test_a_flood_of_one_organisation_stands_before_nobody():
    flood, other = sorted([party(), party()], key=lambda one: one.organisation_id)
    add(FLOOD, owner=flood)
    add(1, owner=other)
    turns, order = Turns("test", threads=4), []
    for _ in range(3):
        with turns.next() as taken:
            order.append(taken.organisation_id)
    assert order == [flood.organisation_id, other.organisation_id, flood.organisation_id]


def test_whose_turn_it_is_is_found_without_reading_a_flood():
    add(FLOOD, owner=party())
    with store.transaction() as session:
        session.execute(text("ANALYZE outbox"))
    with store.writing() as means:
        given = {
            "job": "test",
            "owner": NOBODY,
            "mode": False,
            "busy": [],
            "moment": now(),
            "until": now(),
        }
        ((plan,),) = means.connection.execute(
            f"EXPLAIN (ANALYZE, FORMAT JSON) {outbox._TAKE.of_threads.text}", given
        ).fetchall()
    assert max(rows_read(plan[0]["Plan"])) < 200  # a few of each party that other tests have left


def rows_read(node):
    removed = node.get("Rows Removed by Filter", 0)
    yield (node["Actual Rows"] + removed) * node["Actual Loops"]
    for below in node.get("Plans", ()):
        yield from rows_read(below)


def test_one_organisation_never_has_every_thread(wired, kind):
    slow, other = party(), party()
    go_on, done, begun = threading.Event(), [], []

    def run(id, arguments):
        if arguments["number"] == 0:
            done.append(id)
        else:
            begun.append(id)
            go_on.wait(60)

    kind("test", run, threads=3)
    with store.transaction() as session:
        outbox.add_all(session, slow, "test", [{"number": 1}] * 50)
    with processes.working(wired, ["test"]):
        wait_until(lambda: len(begun) == 2)
        add(1, owner=other)
        wait_until(lambda: done)
        assert len(begun) == 2
        go_on.set()
        wait_until(lambda: len(begun) == 50)
