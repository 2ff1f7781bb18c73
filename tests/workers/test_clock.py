"""The clock and the actors of what becomes due."""

import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import func, select

from app.instance import processes
from app.instance.settings import Settings
from rules.clock import now
from store.database.aside import Row
from store.database.ids import new_id
from tests.hooks import wait_until, wired
from workers import schedule
from workers.clock import AHEAD, _queue
from workers.schedule import Kind

__all__ = ["wired"]


def made(name: str, do: Callable[[], int], next_due: Callable[[], datetime | None] = now) -> Kind:
    """Make a kind of a test's own, something of which is always due."""
    due: Any = SimpleNamespace(
        kind=name, next=lambda session: next_due(), choose=lambda session, limit: [Row(new_id())],
        soonest=lambda: select(func.now()),
    )  # fmt: skip
    return Kind(due, lambda session, rows: do())


@contextmanager
def running(
    settings: Settings, kinds: Sequence[Kind], look: Callable[[], datetime | None] | None = None
) -> Iterator[None]:
    """Run a clock; `look` says instead of the database when something of the only kind is due."""
    stopping = threading.Event()
    with processes.scheduled(settings, stopping, kinds) as clock:
        if look:
            clock._next = lambda: [look()]  # type: ignore[method-assign]
        thread = threading.Thread(target=clock.run)
        thread.start()
        try:
            yield
        finally:
            stopping.set()
            thread.join()


def test_a_kind_that_hangs_delays_no_other(wired: Settings) -> None:
    go_on, begun, done = threading.Event(), threading.Event(), Counter[str]()

    def hang() -> int:
        begun.set()
        go_on.wait(60)
        return 0

    def work() -> int:
        done["good"] += begun.is_set()
        return 0

    with running(wired, [made("hanging", hang), made("good", work)]):
        wait_until(lambda: done["good"] >= 2)
        assert not go_on.is_set()
        go_on.set()


def test_a_kind_that_fails_stops_no_other(wired: Settings) -> None:
    done = Counter[str]()

    def fail() -> int:
        done["bad"] += 1
        raise ValueError

    def work() -> int:
        done["good"] += bool(done["bad"])
        return 0

    with running(wired, [made("bad", fail), made("good", work)]):
        wait_until(lambda: done["good"] >= 1 and done["bad"] >= 2)


@pytest.mark.parametrize("url", ["redis://127.0.0.1:1/0", "silent"])
def test_where_the_bell_cannot_be_rung_the_clock_does_it_itself(wired: Settings, url: str) -> None:
    done = Counter[str]()

    def work(name: str) -> int:
        done[name] += threading.current_thread().name == "clock"
        return 0

    kinds = [made(name, lambda name=name: work(name)) for name in ("one", "other")]  # type: ignore[misc]
    with silent() as address:
        settings = replace(wired, redis_url=address if url == "silent" else url, grace_seconds=0.5)
        stopping = threading.Event()
        with processes.scheduled(settings, stopping, kinds) as clock:
            thread = threading.Thread(target=clock.run, name="clock")
            thread.start()
            wait_until(lambda: min(done["one"], done["other"]) >= 1)
            stopping.set()
            thread.join()


@contextmanager
def silent() -> Iterator[str]:
    """A Redis that takes connections and says nothing, as one that is frozen."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"redis://127.0.0.1:{server.getsockname()[1]}/0"


def test_what_is_due_later_is_looked_for_at_its_moment_and_not_before(wired: Settings) -> None:
    due, looks, done = now() + timedelta(milliseconds=700), [], []

    def look() -> datetime | None:
        looks.append(now())
        return None if done else due

    def work() -> int:
        done.append(now())
        return 1

    with running(wired, [made("soon", work, look)], look):
        wait_until(lambda: bool(done))
    assert done[0] >= due
    assert len([moment for moment in looks if moment < due]) <= 2  # it did not poll until then


def test_messages_of_a_kind_that_hangs_do_not_pile_up(wired: Settings) -> None:
    go_on, looks = threading.Event(), []

    def look() -> datetime:
        looks.append(1)
        return now()

    kind = made("piling", lambda: go_on.wait(60) * 0, look)
    with running(wired, [kind], look):
        wait_until(lambda: len(looks) > 8)
        bell = processes._broker(wired)
        waiting = bell.client.llen(f"hiring:bell:{_queue(kind)}")
        bell.close()
        go_on.set()
    assert waiting <= AHEAD


def test_every_kind_has_a_queue_of_its_own() -> None:
    assert len({_queue(kind) for kind in schedule.KINDS}) == len(schedule.KINDS)
