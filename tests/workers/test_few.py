"""A few at once, and the others in the order in which they came; nobody waits for longer than is said."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from threading import Event

import pytest
from dramatiq.middleware.time_limit import TimeLimitExceeded

import store
from app.instance.settings import Settings
from rules.clock import now
from store.database import aside
from store.database.aside import Row
from store.database.base import NOBODY
from store.database.ids import new_id
from store.outbox import Taken
from tests.hooks import wait_until, wired
from workers import actors, apart, few, schedule
from workers.again import Again
from workers.few import Few
from workers.jobs import JOBS

__all__ = ["wired"]


def test_one_more_than_a_few_waits_until_one_is_done_and_the_first_that_waits_is_next() -> None:
    few, begun, ends = Few(1, seconds=60), list[str](), {name: Event() for name in "abc"}

    def work(name: str) -> None:
        with few.at_once():
            begun.append(name)
            ends[name].wait(60)

    with ThreadPoolExecutor(3) as pool:
        pool.submit(work, "a")
        wait_until(lambda: begun == ["a"])
        pool.submit(work, "b")
        wait_until(lambda: len(few._waiting) == 1)
        pool.submit(work, "c")
        wait_until(lambda: len(few._waiting) == 2)
        assert begun == ["a"]
        ends["a"].set()
        wait_until(lambda: begun == ["a", "b"])
        ends["b"].set()
        wait_until(lambda: begun == ["a", "b", "c"])
        ends["c"].set()


def test_who_has_waited_for_long_goes_on_and_leaves_as_many_places_as_there_were() -> None:
    few = Few(1, seconds=0.01)
    with few.at_once(), few.at_once(), few.at_once():
        assert few._free == 0
    assert (few._free, len(few._waiting)) == (1, 0)


def test_who_is_ended_while_it_waits_takes_no_place_along(monkeypatch: pytest.MonkeyPatch) -> None:
    few = Few(1, seconds=60)

    def end(*_: object) -> None:
        raise TimeLimitExceeded

    with few.at_once():
        monkeypatch.setattr(Event, "wait", end)
        with pytest.raises(TimeLimitExceeded), few.at_once():
            pass
        monkeypatch.undo()
    assert (few._free, len(few._waiting)) == (1, 0)


@pytest.fixture
def few_are_at_work(wired: Settings, monkeypatch: pytest.MonkeyPatch) -> Few:
    made = Few(2, seconds=60)
    monkeypatch.setattr(few, "at_once", made.at_once)
    return made


KIND = replace(schedule.KINDS[0], do=lambda _, rows: len(rows))
ROW = Row(new_id())


def try_again() -> None:
    with store.transaction() as session:
        aside.keep_together(session, KIND.name, [ROW], ValueError(), seconds=0.0)
    assert Again([KIND]).turn() == 0.0


def fail() -> None:
    taken = Taken(new_id(), NOBODY, True, "mail", {}, attempts=1, due_at=now())
    actors.do(taken, JOBS["mail"])


WORK = {
    "a batch": KIND.batch,
    "what failed with others": lambda: apart.each("test", [ROW], lambda *_: None),
    "what is tried again": try_again,
    "a note on what failed": fail,
}


@pytest.mark.parametrize("work", WORK.values(), ids=list(WORK))
def test_it_waits_while_a_few_are_at_work(few_are_at_work: Few, work: Callable[[], object]) -> None:
    with ThreadPoolExecutor(1) as pool:
        with ExitStack() as others:
            for _ in range(2):
                others.enter_context(few_are_at_work.at_once())
            waits: Future[object] = pool.submit(work)
            wait_until(lambda: len(few_are_at_work._waiting) == 1)
            assert not waits.done()
        waits.result(60)


def test_whom_somebody_waits_for_waits_for_none(few_are_at_work: Few) -> None:
    with few_are_at_work.at_once(), few_are_at_work.at_once():
        KIND.batch(closer=True)
        assert apart.each("test", [ROW], lambda *_: None, hurry=True) == 1
        # A relay's, behind which everybody's events are.
        assert apart.once_more("test", [ROW], lambda *_: None) == 0.0
