"""Threads for requests: everybody's turn comes, and nothing is begun that nobody waits for."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from app.http.threads import hop
from app.http.threads.hop import Hop, Late, Left
from app.http.threads.turns import Full, Turns
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
