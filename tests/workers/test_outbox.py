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
from workers.actors import Actors
from workers.outbox import Relay

__all__ = ["nothing_else_is_due", "wired"]

pytestmark = pytest.mark.usefixtures("nothing_else_is_due")

LEASE = timedelta(minutes=1)


def hand_over(limit=1_000):
    with store.transaction() as session:
        return outbox.hand_over(session, lease=LEASE, limit=limit)


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
            return outbox.take(session, handed.id, handed.due_at, lease=LEASE)

    with ThreadPoolExecutor(8) as pool:
        assert len([one for one in pool.map(begin, range(16)) if one]) == 1


def test_work_under_way_keeps_its_lease_and_a_dead_process_loses_it(monkeypatch):
    monkeypatch.setattr(leases, "EVERY_SECONDS", 0.01)
    add()
    (handed,) = hand_over()
    with store.transaction() as session:
        begun = outbox.take(session, handed.id, handed.due_at, lease=leases.LEASE).due_at

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


class Away:
    """Bells that are not there."""

    def hand(self, item):
        raise redis.ConnectionError

    def deliver(self, ids):
        raise redis.ConnectionError


def test_without_redis_work_stays_due():
    add(3)
    Relay(Away()).turn()
    with store.transaction() as session:
        waiting = session.scalars(
            select(outbox.OutboxItem).where(
                outbox.OutboxItem.job == "test",
                outbox.OutboxItem.finished_at.is_(None),
                outbox.OutboxItem.attempts == 0,
            )
        ).all()
        soon = [one for one in waiting if one.due_at <= now() + timedelta(seconds=3)]
    assert len(soon) == 3


def test_what_redis_forgets_is_handed_over_again(wired, monkeypatch):
    done = []
    monkeypatch.setitem(
        jobs.JOBS, "test", jobs.Job(lambda id, arguments: done.append(arguments["number"]), LEASE)
    )
    monkeypatch.setattr("workers.outbox.HANDED_FOR", timedelta(0))
    add(5)
    bells = broker.make(wired.redis_url)
    Relay(Actors(bells)).turn()
    with redis.Redis.from_url(wired.redis_url) as client:
        client.flushdb()
    assert done == []
    with processes.working(wired):
        wait_until(lambda: sorted(done) == [0, 1, 2, 3, 4])
    bells.close()
