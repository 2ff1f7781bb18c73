"""Threads for requests: everybody's turn comes, and nothing is begun that nobody waits for."""

import asyncio
import heapq
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from app.http.threads import hop
from app.http.threads.hop import Hop, Late, Left
from app.http.threads.turns import Full, Turns
from gateways import cores
from gateways.load import HERE, LATELY, WANTED, Load
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


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The time of loads, which `ahead` moves."""
    known = SimpleNamespace(moment=100.0, monotonic=lambda: known.moment)
    known.ahead = lambda seconds: setattr(known, "moment", known.moment + seconds)
    monkeypatch.setattr("gateways.load.time", known)
    return known


def put(turns: Turns[str], party: str, count: int, *, take: int) -> None:
    """Have a party's things wait, and take some of what waits."""
    for number in range(count):
        turns.put(party, f"{party}{number}")
    for _ in range(take):
        assert turns.next() is not None


def test_more_parties_than_there_is_room_for_are_refused_and_nobody_else_notices() -> None:
    turns: Turns[str] = Turns(room=2, share=1)
    turns.put("a", "a1")
    turns.put("b", "b1")
    for party in "cd":
        with pytest.raises(Full):
            turns.put(party, "too much")
    assert taken(turns, 2) == ["a1", "b1"]
    turns.put("c", "c1")
    assert taken(turns, 1) == ["c1"]


def test_who_is_alone_has_more_until_somebody_else_comes() -> None:
    turns: Turns[str] = Turns(room=100, share=2, alone=4)
    turns.load.change("a", 1)  # something of it, elsewhere: it is known, and nobody else is
    for number in range(1, 8):
        turns.put("a", f"a{number}")
    assert [turns.take()[1] for _ in range(4)] == ["a1", "a2", "a3", "a4"]
    assert turns.next() is None  # it has all that one may have alone
    turns.put("b", "b1")
    assert turns.take() == ("b", "b1")
    for _ in range(2):
        turns.give_back("a")
        assert turns.next() is None  # two of it are left, which is its share now
    turns.give_back("a")
    assert turns.take()[1] == "a5"
    assert turns.next() is None


def test_what_waits_of_who_was_alone_stands_in_nobodys_way() -> None:
    turns: Turns[str] = Turns(room=100, share=2, alone=4)
    turns.load.change("a", 1)
    assert [turns.at_once("a") for _ in range(3)] == [True, True, True]
    turns.put("a", "a4")  # has its turn, but nobody has asked for it yet
    turns.load.change("b", 1)
    assert turns.next() is None
    assert turns.at_once("b")


def test_who_wants_more_than_its_share_and_had_most_crowds_the_others_out(clock: SimpleNamespace) -> None:
    turns: Turns[str] = Turns(room=100, share=2)
    put(turns, "a", 3, take=1)
    clock.ahead(1)
    assert not turns.crowds("a")  # it has not the whole of its share
    assert turns.next() is not None
    clock.ahead(1)
    assert not turns.crowds("a")  # nobody else is there
    put(turns, "b", 1, take=1)
    clock.ahead(1)
    assert turns.crowds("a")
    assert not turns.crowds("b")


def test_who_is_served_less_because_it_rests_is_still_the_one_that_crowds(clock: SimpleNamespace) -> None:
    """Else whoever is served more than it would be slowed down too, and never catch up with what it has waiting."""
    turns: Turns[str] = Turns(room=1_000, share=2)
    put(turns, "crowd", 20, take=2)
    clock.ahead(4)
    for _ in range(40):  # the crowd is given nothing meanwhile
        put(turns, "small", 1, take=1)
        clock.ahead(0.02)
        turns.give_back("small")
    put(turns, "small", 3, take=2)  # a burst
    assert turns.crowds("crowd")
    assert not turns.crowds("small")


def test_who_is_alone_again_rests_for_nobody(clock: SimpleNamespace) -> None:
    """It would want more for ever, for what it has waiting waits for its own rests."""
    turns: Turns[str] = Turns(room=100, share=2)
    put(turns, "steady", 3, take=2)
    put(turns, "gone", 1, take=1)
    clock.ahead(0.1)
    assert turns.crowds("steady")
    turns.give_back("gone")
    clock.ahead(HERE / 2)
    assert turns.crowds("steady")  # it may come back at any moment
    clock.ahead(HERE)
    assert not turns.crowds("steady")


SERVED, RESTED = (
    0.02,
    cores.LONGEST,
)  # seconds: for each, and after it where a full machine makes a party rest


def played(
    clock: SimpleNamespace, arrivals: Iterable[float], *, connections: int, seconds: float
) -> tuple[int, int]:
    """Let a party ask beside one that is there all the time; return how much of it waits at the end, and was served."""
    turns: Turns[str] = Turns(room=10_000, share=3)
    todo = [*((moment, "comes") for moment in arrivals), *[(0.0, "comes")] * connections]
    heapq.heapify(todo)
    waiting = served = 0
    began = clock.monotonic()
    while todo and todo[0][0] < seconds:
        moment, what = heapq.heappop(todo)
        clock.ahead(began + moment - clock.monotonic())
        for by in (1, -1):
            turns.load.change("small", by)
        if what == "comes":
            turns.put("party", "asked")
            waiting += 1
        elif what == "is served" and turns.crowds("party"):
            heapq.heappush(todo, (moment + RESTED, "has rested"))
        else:
            turns.give_back("party")
        if what == "is served":
            served += 1
            for _ in range(min(connections, 1)):  # who was answered asks again
                heapq.heappush(todo, (moment, "comes"))
        while turns.next():
            waiting -= 1
            heapq.heappush(todo, (moment + SERVED, "is served"))
    return waiting, served


def test_who_asks_evenly_is_served_as_fast_as_it_asks_whatever_it_once_had_waiting(
    clock: SimpleNamespace,
) -> None:
    """Three places that rest after each request serve twelve a second, fewer than it asks for."""
    evenly = [number / 15 for number in range(15 * 60)]
    waiting, served = played(clock, [0.0] * 20 + evenly, connections=0, seconds=59)
    assert waiting <= 3
    assert served >= 15 * 58


def test_who_asks_as_fast_as_it_is_answered_rests(clock: SimpleNamespace) -> None:
    _, served = played(clock, [], connections=25, seconds=60)
    assert served < 60 * 3 / RESTED


def test_who_asks_for_more_than_there_is_rests(clock: SimpleNamespace) -> None:
    _, served = played(clock, [number / 500 for number in range(500 * 18)], connections=0, seconds=17)
    assert served < 1.5 * 17 * 3 / RESTED


def test_two_that_have_as_much_crowd_others_out_together(clock: SimpleNamespace) -> None:
    turns: Turns[str] = Turns(room=100, share=2)
    put(turns, "a", 3, take=2)
    put(turns, "b", 3, take=2)
    clock.ahead(1)
    assert [turns.crowds(one) for one in "ab"] == [True, True]


def test_who_crowds_in_one_lane_does_so_in_all(clock: SimpleNamespace) -> None:
    load = Load()
    reads: Turns[str] = Turns(room=100, share=2, load=load)
    changes: Turns[str] = Turns(room=100, share=2, load=load)
    put(reads, "a", 3, take=2)
    put(changes, "a", 1, take=1)
    put(changes, "b", 3, take=2)
    clock.ahead(1)
    assert reads.crowds("a")
    assert changes.crowds("a")
    assert not changes.crowds("b")
    turns = [reads.next(), reads.give_back("a"), reads.give_back("a")]
    assert turns == [None, None, None]
    clock.ahead(2 * WANTED)
    assert not changes.crowds("a")  # it wants no more


@pytest.mark.parametrize("seconds", [LATELY / 2, LATELY, 2 * LATELY, 10 * LATELY])
def test_who_comes_again_after_a_while_has_what_it_takes_then(clock: SimpleNamespace, seconds: float) -> None:
    load = Load()
    for _ in range(2):
        load.change("a", 1)
        load.change("a", -1)
        clock.ahead(seconds)
    load.change("a", 1)
    load.change("b", 3)
    clock.ahead(10 * LATELY)
    load.change("c", 1)  # counting begins anew
    clock.ahead(HERE + 1)
    assert load.crowds("b", wants=True)  # a is there still
    load.change("b", -3)
    clock.ahead(2 * LATELY)
    load.change("c", -1)
    clock.ahead(2 * LATELY)
    load.change("a", -1)
    clock.ahead(2 * LATELY)
    load.change("d", 1)
    assert load.is_alone()


def test_what_was_long_ago_counts_no_more(clock: SimpleNamespace) -> None:
    load = Load()
    load.change("b", 40)
    clock.ahead(1)
    load.change("b", -39)
    load.change("a", 2)
    crowds = []
    for _ in range(2):
        clock.ahead(LATELY)
        crowds.append(load.crowds("a", wants=True))
    assert crowds == [False, True]
    clock.ahead(3 * LATELY)
    assert load.crowds("a", wants=True)  # nothing is known of that long


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
    assert all(0 <= seconds <= cores.LONGEST for seconds in slept)


@pytest.mark.skipif(
    not Path("/proc/thread-self/schedstat").exists(), reason="Only Linux says what a thread waited."
)
def test_what_a_thread_waited_for_its_core_is_known() -> None:
    usual = os.sched_getaffinity(0)
    waits = cores.Waits()
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as other:
        try:
            os.sched_setaffinity(other.pid, {min(usual)})
            os.sched_setaffinity(0, {min(usual)})  # this thread
            began = time.thread_time()
            while time.thread_time() < began + 0.2:
                pass
            assert 0.05 < waits.since() < 30
            assert waits.since() < 0.05
        finally:
            os.sched_setaffinity(0, usual)
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


def test_a_lane_serves_on_after_more_parties_came_than_it_has_room_for() -> None:
    async def played() -> str:
        begun, going_on, lane = threading.Event(), threading.Event(), Hop(1, "full", share=1, room=2)

        def wait() -> bool:
            begun.set()
            return going_on.wait(10)

        waiting = [lane.submit(wait, party="a")]
        await asyncio.to_thread(begun.wait, 10)
        waiting += [lane.submit(str, party=party) for party in "bc"]
        with pytest.raises(Unavailable):
            lane.submit(str, party="d")
        going_on.set()
        await asyncio.gather(*waiting)
        return await asyncio.wait_for(lane.submit(str, "still here", party="e"), 10)

    assert asyncio.run(played()) == "still here"


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
