"""Events are numbered when they commit: without gaps, in the order of the commits, apart for each owner."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import psycopg
import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

import store
from rules.caller import Caller
from store import events, outbox
from store.database import bell
from store.database.engine import Writing, at_once
from store.events import Event
from store.outbox import OutboxItem
from store.transactions import EXCHANGE_BYTES
from tests.api import Tenant, tenant

pytestmark = pytest.mark.usefixtures("app")


@pytest.fixture
def caller(tenant: Tenant) -> Caller:
    return Caller(tenant.organisation.id, livemode=True, plan_name="growth")


def record(caller: Caller, *names: int) -> None:
    with store.transaction() as session:
        for name in names:
            events.record(session, "job.created", caller, {"name": name})


def fail(_: object) -> None:
    raise ZeroDivisionError


def written(caller: Caller) -> list[tuple[int, int]]:
    with store.transaction() as session:
        rows = session.execute(
            select(Event.sequence, Event.data)
            .where(Event.organisation_id == caller.organisation_id, Event.livemode == caller.livemode)
            .order_by(Event.sequence)
        )
        return [(sequence, data["name"]) for sequence, data in rows]


def test_twenty_threads_leave_no_gap_and_no_number_twice(caller: Caller) -> None:
    with ThreadPoolExecutor(20) as pool:
        list(
            pool.map(lambda number: record(caller, *range(number * 10, number * 10 + number % 4)), range(60))
        )
    found = written(caller)
    assert [sequence for sequence, _ in found] == list(range(1, len(found) + 1))
    assert len(found) == sum(number % 4 for number in range(60))
    # What one transaction recorded stands together and in its order.
    for (_, one), (_, following) in pairwise(found):
        assert following == one + 1 or following % 10 == 0


def test_a_reader_of_the_feed_misses_nothing_of_fifty_writers(caller: Caller) -> None:
    names, read = range(200), list[tuple[int, int]]()
    asked: dict[str, Any] = {"type": None, "since": None, "cursor": None, "page_size": 7}
    with ThreadPoolExecutor(50) as pool:
        writing = [pool.submit(record, caller, name) for name in names]
        while len(read) < len(names):
            is_over = all(one.done() for one in writing)
            with store.reading() as reading:
                page = events.LIST.page(reading, caller, after=read[-1][0] if read else 0, **asked)
            read += [(one.sequence, one.data["name"]) for one in page.results]
            # What is read is never followed by something that comes before it.
            assert [sequence for sequence, _ in read] == list(range(1, len(read) + 1))
            assert page.results or not is_over, "events are missing"
    assert sorted(name for _, name in read) == list(names)
    assert read == written(caller)


def test_a_reader_of_the_feed_misses_nothing_of_fifty_who_invite(tenant: Tenant) -> None:
    slug, count, read = tenant.live.assessment()["slug"], 200, list[dict[str, Any]]()
    first = len(tenant.live.get("/events/").json()["results"])  # what making the assessment told
    with ThreadPoolExecutor(50) as pool:
        inviting = [pool.submit(tenant.live.invitation, slug) for _ in range(count)]
        while len(read) < count:
            is_over = all(one.done() for one in inviting)
            asked = {"after": first + len(read), "page_size": 7}
            page = tenant.live.get("/events/", params=asked).json()["results"]
            read += page
            assert [one["sequence"] for one in read] == list(range(first + 1, first + len(read) + 1))
            assert page or not is_over, "events are missing"
    made = [one.result()["invite_token"] for one in inviting]
    assert sorted(one["data"]["invite_token"] for one in read) == sorted(made)


def test_what_is_rolled_back_leaves_no_gap(caller: Caller) -> None:
    record(caller, 1)
    with pytest.raises(ZeroDivisionError), store.transaction() as session:
        fail(events.record(session, "job.created", caller, {"name": 2}))
    record(caller, 3)
    assert written(caller) == [(1, 1), (2, 3)]


def test_numbers_follow_the_commits_and_not_the_records(caller: Caller) -> None:
    recorded, committed = threading.Event(), threading.Event()

    def early() -> None:
        with store.transaction() as session:
            events.record(session, "job.created", caller, {"name": 1})
            recorded.set()
            assert committed.wait(10)

    thread = threading.Thread(target=early)
    thread.start()
    assert recorded.wait(10)
    record(caller, 2)  # waits for nobody
    committed.set()
    thread.join()
    assert written(caller) == [(1, 2), (2, 1)]


def test_organisations_and_modes_count_apart(http: TestClient, caller: Caller) -> None:
    other = Caller(tenant(http).organisation.id, livemode=True, plan_name="growth")
    trial = Caller(caller.organisation_id, livemode=False, plan_name="growth")
    with store.transaction() as session:
        for one in (caller, other, trial, caller):
            events.record(session, "job.created", one, {"name": 0})
    assert [len(written(one)) for one in (caller, other, trial)] == [2, 1, 1]
    assert written(caller) == [(1, 0), (2, 0)]


def test_owners_taken_in_any_order_never_wait_in_a_circle(http: TestClient) -> None:
    owners = [
        Caller(tenant(http).organisation.id, livemode=mode, plan_name="growth") for mode in (True, False) * 2
    ]

    def both(number: int) -> None:
        with store.transaction() as session:
            for one in owners if number % 2 else reversed(owners):
                events.record(session, "job.created", one, {"name": number})

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(both, range(48)))
    for one in owners:
        assert [sequence for sequence, _ in written(one)] == list(range(1, 49))


@pytest.mark.parametrize("size", [1, EXCHANGE_BYTES], ids=["in one exchange", "one by one"])
def test_a_last_statement_that_fails_leaves_nothing_behind_and_nobody_waiting(
    caller: Caller, size: int
) -> None:
    def ask() -> None:
        with store.transaction() as session:
            outbox.add(session, caller, "nothing", text="x" * size)
            events.record(session, "job.created", caller, {"name": "\0"})  # what no jsonb holds

    for _ in range(3):
        with pytest.raises(psycopg.DataError):
            ask()
    record(caller, 1)
    assert written(caller) == [(1, 1)]
    with store.transaction() as session:
        assert not session.scalars(select(OutboxItem).where(OutboxItem.job == "nothing")).all()


def test_work_of_a_transaction_that_failed_is_not_asked_for(caller: Caller) -> None:
    with pytest.raises(ZeroDivisionError), store.transaction() as session:
        fail(outbox.add(session, None, "mail", name=str(caller.organisation_id)))
    with store.transaction() as session:
        mine = outbox.OutboxItem.arguments["name"].astext == str(caller.organisation_id)
        assert session.scalars(select(outbox.OutboxItem).where(mine)).all() == []


def test_commits_wait_for_no_bell_and_many_are_rung_for_together(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    ringing, go_on = threading.Event(), threading.Event()

    @contextmanager
    def held() -> Iterator[Writing]:
        ringing.set()
        assert go_on.wait(30)
        with at_once() as means:
            yield means

    monkeypatch.setattr(bell, "at_once", held)
    monkeypatch.setattr(bell, "_by_loop", None)  # as in a worker, where no loop has rung
    with bell.listening() as heard:
        while heard.wait(0.2):  # what others have rung for
            pass
        record(caller, 0)
        assert ringing.wait(30)
        for number in range(20):
            record(caller, number)
        assert not heard.wait(0.2)
        go_on.set()
        assert heard.wait(30)
        rings = 1
        while heard.wait(0.5):
            rings += 1
    assert rings <= 2  # for the first, and for all that came meanwhile
