"""Threads for requests: everybody's turn comes, and nothing is begun that nobody waits for."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from app.http.threads import hop
from app.http.threads.hop import Hop, Late, Left
from app.http.threads.turns import LATELY, Full, Turns
from rules.errors import Unavailable


def taken(turns: Turns[str], count: int) -> list[str]:
    found = []
    for _ in range(count):
        party, thing = turns.take()
        found.append(thing)
        turns.give_back(party)
    return found


def test_one_of_each_party_after_the_other() -> None:
    turns: Turns[str] = Turns(room=100, share=4)
    for party, thing in (("a", "a1"), ("a", "a2"), ("a", "a3"), ("b", "b1"), ("c", "c1"), ("b", "b2")):
        turns.put(party, thing)
    assert taken(turns, 6) == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_a_party_that_has_its_share_waits_until_some_is_given_back() -> None:
    turns: Turns[str] = Turns(room=100, share=2)
    for thing in ("a1", "a2", "a3", "a4"):
        turns.put("a", thing)
    assert [turns.take()[1], turns.take()[1]] == ["a1", "a2"]
    turns.put("b", "b1")
    assert turns.take()[1] == "b1"
    turns.put("a", "a5")
    turns.give_back("a")
    assert turns.take()[1] == "a3"
    turns.give_back("a")
    turns.give_back("a")
    assert taken(turns, 2) == ["a4", "a5"]


def test_what_waits_knows_how_much_comes_before_it() -> None:
    turns: Turns[int] = Turns(room=90, share=1)
    for party, thing in (("a", 1), ("a", 2), ("a", 3), ("b", 4), ("c", 5), ("c", 6)):
        turns.put(party, thing)
    expected = {}
    for thing in range(1, 7):
        expected[thing] = turns.ahead(lambda one, thing=thing: one == thing)
    taken = []
    for _ in range(6):
        party, thing = turns.take()
        taken.append(thing)
        turns.give_back(party)
    assert expected == {thing: taken.index(thing) for thing in range(1, 7)}
    assert turns.ahead(lambda one: one == 1) is None


def test_whoever_fills_the_room_is_refused_and_the_others_are_not() -> None:
    turns: Turns[int] = Turns(room=10, share=1)
    for number in range(10):
        turns.put("a", number)
    with pytest.raises(Full):
        turns.put("a", 10)
    turns.put("b", 0)
    with pytest.raises(Full):
        turns.put("a", 10)


def test_who_wants_more_than_its_share_and_took_more_than_others_lately_crowds_them_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moment = 100.0
    monkeypatch.setattr("app.http.threads.turns.time", SimpleNamespace(monotonic=lambda: moment))
    turns: Turns[str] = Turns(room=100, share=2)
    for thing in ("a1", "a2", "a3"):
        turns.put("a", thing)
    turns.take()
    assert not turns.crowds("a")  # not the whole of it
    turns.take()
    assert not turns.crowds("a")  # nobody else is there
    turns.put("b", "b1")
    turns.take()
    assert turns.crowds("a")
    assert not turns.crowds("b")
    moment += 2 * LATELY
    turns.give_back("a")
    turns.take()
    assert not turns.crowds("a")  # it wants no more
    turns.put("a", "a4")
    assert not turns.crowds("a")  # the other one is gone


def test_many_at_once_of_who_took_little_lately_crowd_nobody_out() -> None:
    turns: Turns[str] = Turns(room=100, share=2)
    for number in range(10):
        turns.put("a", f"a{number}")
        turns.take()
        turns.give_back("a")
    for number in range(3):
        turns.put("b", f"b{number}")
    turns.take()
    turns.take()
    assert not turns.crowds("b")


@pytest.mark.parametrize(("share", "rests"), [(1, True), (2, False)])
def test_who_crowds_others_out_rests_where_they_have_threads_left(
    share: int, *, rests: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr("app.http.threads.hop.time", SimpleNamespace(sleep=slept.append))
    monkeypatch.setattr("app.http.threads.turns.Turns.crowds", lambda _, party: party == "crowd")

    async def run() -> None:
        threads = Hop(2, "test", share=share)
        for party in ("crowd", "other", "crowd", "crowd"):  # the last may rest still
            await threads.submit(int, party=party)

    asyncio.run(run())
    assert len(slept) in ((2, 3) if rests else (0,))
    assert all(0 <= seconds <= hop.LONGEST_REST for seconds in slept)


@pytest.mark.skipif(
    not Path("/proc/thread-self/schedstat").exists(), reason="Only Linux says what a thread waited."
)
def test_what_a_thread_waited_for_its_core_is_known() -> None:
    cores = os.sched_getaffinity(0)
    waits = hop.Waits()
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as other:
        try:
            os.sched_setaffinity(other.pid, {min(cores)})
            os.sched_setaffinity(0, {min(cores)})  # this thread
            began = time.thread_time()
            while time.thread_time() < began + 0.2:
                pass
            assert 0.05 < waits.since() < 30
            assert waits.since() < 0.05
        finally:
            os.sched_setaffinity(0, cores)
            other.kill()


@pytest.mark.parametrize(("end", "raised"), [
    (lambda future: hop.give_up(future, Left), Left), (lambda _: None, Late),
])  # fmt: skip
def test_what_nobody_waits_for_is_not_begun(end: Callable[[Any], None], raised: type[Exception]) -> None:
    begun: list[str] = []

    async def run() -> None:
        threads, first, going_on = Hop(1, "test"), threading.Event(), threading.Event()

        def hold() -> None:
            first.set()
            going_on.wait(10)

        held = threads.submit(hold)
        await asyncio.to_thread(first.wait, 10)
        waiting = threads.submit(begun.append, "late", within=0.05)
        end(waiting)
        with pytest.raises(raised):
            await waiting
        going_on.set()
        await held
        await threads.submit(begun.append, "in time", within=10)

    asyncio.run(run())
    assert begun == ["in time"]


def test_what_takes_too_long_is_answered_and_its_thread_serves_on() -> None:
    async def run() -> None:
        threads, going_on = Hop(1, "test"), threading.Event()
        with pytest.raises(Late):
            await threads.submit(going_on.wait, 10, within=0.05)
        going_on.set()
        assert await threads.submit(lambda: "served") == "served"

    asyncio.run(run())


def test_too_much_of_one_party_is_refused() -> None:
    async def run() -> None:
        threads, going_on = Hop(2, "test", share=1), threading.Event()
        asked = [threads.submit(going_on.wait, 10, party="a") for _ in range(hop.LONGEST_QUEUE)]
        first = asyncio.gather(*asked, return_exceptions=True)
        await asyncio.sleep(0)  # one of them may have been begun, which makes room for one
        with suppress(Unavailable):
            asked.append(threads.submit(going_on.wait, 10, party="a"))
        with pytest.raises(Unavailable):
            threads.submit(going_on.wait, 10, party="a")
        assert await threads.submit(lambda: "served", party="b") == "served"
        going_on.set()
        await first

    asyncio.run(run())
