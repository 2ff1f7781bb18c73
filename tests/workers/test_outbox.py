import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import redis
from sqlalchemy import select

import store
from app.instance import processes
from rules.clock import now
from store import outbox
from tests.hooks import nothing_else_is_due, wait_until, wired
from workers import broker, jobs, leases
from workers import outbox as relays
from workers.actors import AHEAD, Actors

__all__ = ["nothing_else_is_due", "wired"]

pytestmark = pytest.mark.usefixtures("nothing_else_is_due")

LEASE = timedelta(minutes=1)


def hand_over(limit=1_000):
    with store.transaction() as session:
        return outbox.hand_over(session, {"test": limit}, lease=LEASE)


def add(count=1, job="test"):
    with store.transaction() as session:
        outbox.add_all(session, job, [{"number": number} for number in range(count)])


def test_what_is_handed_over_is_not_handed_over_again_until_its_lease_is_over():
    add()
    (handed,) = hand_over()
    assert hand_over() == []
    with store.transaction() as session:
        outbox.give_back(session, [handed], delay=timedelta(0))
    assert [one.id for one in hand_over()] == [handed.id]


def test_relays_at_once_hand_each_item_over_once():
    add(100)
    with ThreadPoolExecutor(8) as pool:
        handed = [one.id for batch in pool.map(lambda _: hand_over(limit=7), range(24)) for one in batch]
    assert len(handed) == len(set(handed)) == 100


def test_only_one_of_many_begins_a_piece_of_work():
    add()
    (handed,) = hand_over()

    def begin(_):
        with store.transaction() as session:
            return outbox.take(session, handed.id, handed.attempts, lease=LEASE)

    with ThreadPoolExecutor(8) as pool:
        assert len([one for one in pool.map(begin, range(16)) if one]) == 1


def test_work_under_way_keeps_its_lease_and_a_dead_process_loses_it(monkeypatch):
    monkeypatch.setattr(leases, "EVERY_SECONDS", 0.01)
    add()
    (handed,) = hand_over()
    with store.transaction() as session:
        begun = outbox.take(session, handed.id, handed.attempts, lease=leases.LEASE).due_at

    def due_at():
        with store.transaction() as session:
            return outbox.find(session, handed.id).due_at

    with leases.kept(handed.id, longest=timedelta(minutes=1)):
        wait_until(lambda: due_at() > begun)
    last = due_at()
    assert last - now() <= leases.LEASE  # nobody renews it any more: by then it is due again
    with leases.kept(handed.id, longest=timedelta(0)):  # it hangs
        pass
    assert due_at() == last


def test_waits_double_up_to_an_hour():
    waits = [jobs.wait(attempts).total_seconds() for attempts in range(1, 14)]
    assert waits[:4] == [5, 10, 20, 40]
    assert waits[-1] == 3600


def test_work_that_was_handed_over_again_is_begun_by_the_first_message_all_the_same():
    """However often it is handed over: a flood once stopped for good, since no message was ever in time."""
    add()
    first = hand_over_at_once()
    assert [one.id for one in hand_over_at_once()] == [first[0].id]
    with store.transaction() as session:
        assert outbox.take(session, first[0].id, first[0].attempts, lease=LEASE)
        assert outbox.take(session, first[0].id, first[0].attempts, lease=LEASE) is None


def hand_over_at_once():
    with store.transaction() as session:
        return outbox.hand_over(session, {"test": 1}, lease=timedelta(0))


class Away:
    """Bells that are not there."""

    def rooms(self):
        return {"test": 100}

    def hand(self, item):
        raise redis.ConnectionError


class Lost(Away):
    """Bells that are lost before anything is handed over."""

    def rooms(self):
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
        relays.hand_over(actors)
    assert bells.do_qsize("test") == 2 * AHEAD
    bells.flush("test")
    bells.close()


def test_what_redis_forgets_is_handed_over_again(wired, kind, monkeypatch):
    done = []
    kind("test", lambda id, arguments: done.append(arguments["number"]))
    monkeypatch.setattr("workers.outbox.HANDED_FOR", timedelta(0))
    add(5)
    bells = broker.make(wired.redis_url)
    relays.hand_over(Actors({"test": bells}))
    with redis.Redis.from_url(wired.redis_url) as client:
        client.flushdb()
    assert done == []
    with processes.working(wired):
        wait_until(lambda: sorted(done) == [0, 1, 2, 3, 4])
    bells.close()


def test_a_kind_that_hangs_and_floods_delays_no_other(wired, kind):
    go_on, done, begun = threading.Event(), [], []
    kind("hanging", lambda id, arguments: begun.append(go_on.wait(60)), threads=2)
    kind("other", lambda id, arguments: done.append(time.monotonic()))
    add(500, job="hanging")
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
