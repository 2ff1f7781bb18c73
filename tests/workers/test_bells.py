"""Messages about work: what is rung for, what a lost one costs, and which process hears it."""

import itertools
import threading
import time
from datetime import timedelta

import pytest
import redis
from sqlalchemy import select

import store
from app.instance import processes
from rules.clock import now
from store import outbox
from tests.hooks import nothing_else_is_due, wait_until, wired
from tests.workers.pieces import add, kind, party
from workers import actors as threads
from workers import broker, jobs
from workers import outbox as relays
from workers.actors import AHEAD, Actors
from workers.turns import Turns

__all__ = ["kind", "nothing_else_is_due", "wired"]

pytestmark = pytest.mark.usefixtures("nothing_else_is_due")


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
