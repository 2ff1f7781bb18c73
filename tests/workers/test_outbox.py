import itertools
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from types import SimpleNamespace
from uuid import UUID

import pytest
import redis
from sqlalchemy import select, text, update

import store
from app.instance import processes
from gateways import cores, load
from rules.clock import now
from store import outbox
from store.database import bell
from store.database.base import NOBODY
from store.database.ids import new_id
from tests.hooks import nothing_else_is_due, wait_until, wired
from workers import actors as threads
from workers import broker, jobs, leases
from workers import outbox as relays
from workers import turns as paces
from workers.actors import AHEAD, Actors
from workers.turns import Turns

__all__ = ["nothing_else_is_due", "wired"]

pytestmark = pytest.mark.usefixtures("nothing_else_is_due")

LEASE = timedelta(minutes=1)
FLOOD = 40_000


@dataclass(frozen=True)
class Party:
    organisation_id: UUID
    livemode: bool = True


def party(livemode=True):
    return Party(new_id(), livemode)


def take(**options):
    with store.at_once() as means:
        return outbox.take(means, "test", **{"lease": LEASE} | options)


def add(count=1, job="test", owner=None):
    with store.transaction() as session:
        outbox.add_all(session, owner, job, [{"number": number} for number in range(count)])


def find(id):
    with store.transaction() as session:
        return session.get(outbox.OutboxItem, id)


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
            f"EXPLAIN (ANALYZE, FORMAT JSON) {outbox._TAKE.text}", given
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


def test_waits_double_up_to_an_hour():
    waits = [jobs.wait(attempts).total_seconds() for attempts in range(1, 14)]
    assert waits[:4] == [5, 10, 20, 40]
    assert waits[-1] == 3600


class Away:
    """Bells that are not there."""

    def most(self):
        return {"test": 100}

    def waiting(self, kinds):
        return {"test": 0}

    def first(self, ids, most):
        return len(ids)

    def ring(self, kind):
        raise redis.ConnectionError


class Lost(Away):
    """Bells that are lost before anything is handed over."""

    def waiting(self, kinds):
        raise redis.ConnectionError


@pytest.mark.parametrize("bells", [Away(), Lost()])
def test_without_redis_work_stays_due(bells):
    add(3)
    relays.hand_over(bells)
    with store.transaction() as session:
        waiting = session.scalars(
            select(outbox.OutboxItem).where(
                outbox.OutboxItem.job == "test",
                outbox.OutboxItem.finished_at.is_(None),
                outbox.OutboxItem.attempts == 0,
                outbox.OutboxItem.due_at <= now() + timedelta(seconds=3),
            )
        ).all()
    assert len(waiting) == 3


@pytest.fixture
def kind(monkeypatch):
    """Make a kind of work of a test's own."""

    def make(name, run, **changes):
        fields = {"threads": 1, "longest": LEASE} | changes
        monkeypatch.setitem(jobs.JOBS, name, jobs.Job(run, **fields))

    return make


def test_no_more_is_handed_over_than_the_workers_can_begin(wired, kind):
    kind("test", print, threads=2)
    add(100)
    bells = broker.make(wired.redis_url)
    actors = Actors({"test": bells})
    for _ in range(3):
        relays.hand_over(actors)  # nobody has begun any
    assert bells.do_qsize("test") == 2 * AHEAD
    bells.flush("test")
    bells.close()


def test_a_piece_of_work_is_rung_for_once_as_long_as_its_message_waits(wired, kind):
    kind("test", print)
    bells = broker.make(wired.redis_url)
    actors = Actors({"test": bells})
    rung = []
    for count in (1, 0, 2, 0):
        add(count)
        relays.hand_over(actors)
        rung.append(bells.do_qsize("test"))
    assert rung == [1, 1, 3, 3]
    bells.flush("test")
    bells.close()


def test_a_piece_of_work_is_rung_for_once_while_a_worker_has_its_message_and_has_not_begun(wired, kind):
    kind("test", print)
    bells = broker.make(wired.redis_url)
    actors = Actors({"test": bells})
    add(3)
    relays.hand_over(actors)
    fetched = list(itertools.islice(bells.consume("test", prefetch=3, timeout=100), 3))
    relays.hand_over(actors)
    assert (len(fetched), broker.waiting(bells.client, ["test"])) == (3, {"test": 0})
    add(1)
    relays.hand_over(actors)
    assert broker.waiting(bells.client, ["test"]) == {"test": 1}
    bells.flush("test")
    bells.close()


def test_what_falls_due_before_what_was_rung_for_has_a_message_of_its_own(wired, kind):
    kind("test", print)
    bells = broker.make(wired.redis_url)
    actors = Actors({"test": bells})
    add(1)
    relays.hand_over(actors)
    with store.transaction() as session:  # it takes the message that waits, whoever that was sent for
        outbox.add_all(session, None, "test", [{}], delay=timedelta(minutes=-1))
    relays.hand_over(actors)
    assert bells.do_qsize("test") == 2
    bells.flush("test")
    bells.close()


def test_what_redis_forgets_is_rung_for_again(wired, kind):
    done = []
    kind("test", lambda id, arguments: done.append(arguments["number"]))
    add(5)
    bells = broker.make(wired.redis_url)
    relays.hand_over(Actors({"test": bells}))
    with redis.Redis.from_url(wired.redis_url) as client:
        client.flushdb()
    assert done == []
    with processes.working(wired):
        wait_until(lambda: sorted(done) == [0, 1, 2, 3, 4])
    bells.close()


@pytest.fixture
def one_was_not_rung_for(wired, kind):
    """Leave two pieces of work due, of which the older one's message was lost; return what is done."""
    done = []
    kind("test", lambda id, arguments: done.append(arguments["number"]))
    with store.transaction() as session:
        outbox.add_all(session, None, "test", [{"number": 0}], delay=timedelta(minutes=-1))
        outbox.add_all(session, None, "test", [{"number": 1}])
    return done


def test_a_message_that_is_lost_makes_nothing_late_that_comes_after_it(one_was_not_rung_for):
    threads.work(Turns("test", threads=2))  # the message of the second
    assert one_was_not_rung_for == [0, 1]


def test_a_message_does_piece_after_piece_for_a_while_alone(one_was_not_rung_for, monkeypatch):
    monkeypatch.setattr(threads, "ON_SECONDS", -1.0)  # which is over
    threads.work(Turns("test", threads=2))
    assert one_was_not_rung_for == [0]
    threads.work(Turns("test", threads=2))


def test_a_message_of_an_older_version_is_a_bell_too(wired, kind):
    done = []
    kind("test", lambda id, arguments: done.append(arguments["number"]))
    bells = broker.make(wired.redis_url)
    actor = Actors({"test": bells})._actors["test"]
    add()
    actor.fn("some id", 0)
    assert done == [0]
    bells.close()


def test_a_kind_that_hangs_and_floods_delays_no_other(wired, kind):
    go_on, done, begun = threading.Event(), [], []
    kind("hanging", lambda id, arguments: begun.append(go_on.wait(60)), threads=2)
    kind("other", lambda id, arguments: done.append(time.monotonic()))
    for _ in range(2):
        add(250, job="hanging", owner=party())
    with processes.working(wired):
        wait_until(lambda: taken("hanging") == 2)
        began = time.monotonic()
        add(job="other")
        wait_until(lambda: done)
        go_on.set()
    assert done[0] - began < 5


def taken(job):
    with store.transaction() as session:
        return len(
            session.scalars(
                select(outbox.OutboxItem).where(outbox.OutboxItem.job == job, outbox.OutboxItem.attempts == 1)
            ).all()
        )


def test_a_process_does_the_kinds_it_is_given(wired, kind):
    done = []
    for name in ("elsewhere", "other"):
        kind(name, lambda id, arguments: done.append(arguments["number"]))
    add(3, job="elsewhere")
    with processes.working(wired, ["other"]):
        add(1, job="other")
        wait_until(lambda: done)
    assert (done, taken("elsewhere")) == ([0], 0)


def test_work_that_takes_too_long_is_ended_and_tried_again(wired, kind):
    def spin(id, arguments):
        while True:
            time.sleep(0.01)

    kind("test", spin, longest=timedelta(seconds=0.5))
    add()
    with processes.working(wired, ["test"]):
        wait_until(lambda: failures() == ["TimeLimitExceeded: "])


def failures():
    with store.transaction() as session:
        return list(
            session.scalars(
                select(outbox.OutboxItem.last_error).where(
                    outbox.OutboxItem.job == "test", outbox.OutboxItem.last_error.is_not(None)
                )
            )
        )


@contextmanager
def led_and_followed(lead, follow, turn):
    """Run a relay that leads, and one beside it that follows, and would take its turns if it led."""
    led = threading.Event()

    def begin():
        led.set()
        return lead()

    leading, following = relays.Relay("test", begin), relays.Relay("test", turn, follow=follow)
    leading.start()
    assert led.wait(60)
    following.start()
    try:
        yield leading
    finally:
        bell.ring()  # for who waits
        leading.stop()
        following.stop()


def test_who_follows_looks_a_few_times_a_second_until_nobody_leads(wired):
    go_on, looked, taken = threading.Event(), [], []

    def stand_still():
        assert go_on.wait(60)
        return 0.05

    def noted(moments):
        moments.append(time.monotonic())
        return 0.0

    with led_and_followed(stand_still, partial(noted, looked), partial(noted, taken)) as leading:
        wait_until(lambda: len(looked) == 4)
        between = [later - sooner for sooner, later in itertools.pairwise(looked[:4])]
        assert min(between) >= relays.ASIDE_SECONDS
        assert taken == []
        go_on.set()
        leading.stop()
        wait_until(lambda: len(taken) >= 50)


def test_who_follows_hears_the_bell_too(wired):
    looked = []

    def look():
        looked.append(now())
        return 60.0

    with led_and_followed(lambda: 60.0, look, lambda: 60.0):
        wait_until(lambda: len(looked) == 1)
        bell.ring()
        wait_until(lambda: len(looked) == 2)


def test_whoever_listens_is_noticed_when_its_machine_is_gone(wired):
    with bell.listening() as listener:
        told = listener._connection.info.get_parameters()
        assert told["tcp_user_timeout"] == "10000"
        assert {"keepalives_idle", "keepalives_interval", "keepalives_count"} <= set(told)
