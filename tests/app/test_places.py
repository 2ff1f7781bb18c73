"""Requests that take no thread: everybody's turn comes on the loop, and nothing is begun that nobody waits for."""

import asyncio
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest

from app.http.threads import hop
from app.http.threads.deadline import Deadline
from app.http.threads.hop import Late, Left
from app.http.threads.places import Places, Served
from gateways import cores
from rules.errors import Unavailable
from store.database import greenlets


@pytest.fixture(autouse=True)
def no_wait_for_a_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody rests because this machine is busy."""
    monkeypatch.setattr("gateways.cores.Waits", lambda: SimpleNamespace(since=lambda: 0.0))


class Work:
    """Requests that take a place, note that they have it, and hold it until they are told to end."""

    def __init__(self, count: int, *, share: int, room: int = 100) -> None:
        self.places = Places(count, share=share, room=room)
        self.begun: list[str] = []
        self.ends: dict[str, asyncio.Event] = {}
        self.requests: dict[str, Any] = {}

    def ask(self, name: str) -> "asyncio.Task[None]":
        """Begin a request of the party that its first letter names."""
        self.ends[name] = asyncio.Event()
        self.requests[name] = SimpleNamespace(party=name[0], waits_for=None)
        return asyncio.create_task(greenlets.run(self._hold, name))

    def _hold(self, name: str) -> None:
        request = self.requests[name]
        self.places.take(request)
        try:
            self.begun.append(name)
            greenlets.wait_for(self.ends[name].wait())
        finally:
            self.places.give_back(request.party)

    async def end(self, name: str) -> None:
        self.ends[name].set()
        await settled()


async def settled() -> None:
    for _ in range(10):  # turns of the loop, in which everything that can go on does
        await asyncio.sleep(0)


def test_one_of_each_party_after_the_other_and_none_has_more_than_its_share() -> None:
    async def played() -> list[list[str]]:
        work, seen = Work(3, share=2), []
        tasks = [work.ask(name) for name in ("a1", "a2", "a3", "a4", "b1", "b2", "c1")]
        await settled()
        seen.append(list(work.begun))
        for name in ("a1", "b1", "a2", "b2", "c1", "a3", "a4"):
            before = len(work.begun)
            await work.end(name)
            seen.append(work.begun[before:])
        await asyncio.gather(*tasks)
        return seen

    # The third place is another party's, whatever the first one wants.
    assert asyncio.run(played()) == [["a1", "a2", "b1"], ["b2"], ["c1"], ["a3"], ["a4"], [], [], []]


def test_who_left_while_it_waited_is_never_begun() -> None:
    async def played() -> tuple[list[str], Any]:
        work = Work(1, share=1)
        first, second, third = (work.ask(name) for name in ("a1", "b1", "c1"))
        await settled()
        hop.give_up(work.requests["b1"].waits_for, Left)
        await work.end("a1")
        await work.end("c1")
        await asyncio.gather(first, third)
        return work.begun, (await asyncio.gather(second, return_exceptions=True))[0]

    begun, fault = asyncio.run(played())
    assert begun == ["a1", "c1"]
    assert isinstance(fault, Left)


def test_a_party_with_too_much_that_waits_is_told_so() -> None:
    async def played() -> Any:
        work = Work(1, share=1, room=2)
        tasks = [work.ask(name) for name in ("a1", "a2", "a3", "a4")]
        await settled()
        for name in ("a1", "a2", "a3"):
            await work.end(name)
        return (await asyncio.gather(*tasks, return_exceptions=True))[3]

    assert isinstance(asyncio.run(played()), Unavailable)


def test_whoever_is_cancelled_as_its_place_comes_gives_it_to_the_next() -> None:
    async def played() -> list[str]:
        work = Work(1, share=1)
        first, second, third = (work.ask(name) for name in ("a1", "b1", "c1"))
        await settled()
        work.ends["a1"].set()
        while not work.requests["b1"].waits_for.done():
            await asyncio.sleep(0)
        second.cancel()
        await settled()
        await work.end("c1")
        await asyncio.gather(first, third)
        return work.begun

    assert "c1" in asyncio.run(played())


def test_a_deadline_ends_what_is_awaited_and_not_what_comes_after() -> None:
    async def late() -> str:
        with pytest.raises(Late), Deadline(0.01):
            await asyncio.Event().wait()
        with Deadline(10):
            await asyncio.sleep(0)
        return "went on"

    assert asyncio.run(late()) == "went on"


def test_a_deadline_that_was_swallowed_is_forgotten_and_the_next_one_is_told() -> None:
    async def late() -> int:
        task = asyncio.current_task()
        assert task is not None
        # As asyncio.wait_for does when both come at once.
        with Deadline(0.01), suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        with pytest.raises(Late), Deadline(0.01):
            await asyncio.Event().wait()
        return task.cancelling()

    assert asyncio.run(late()) == 0


def test_who_cancels_before_a_deadline_is_not_told_that_it_passed() -> None:
    async def cancelled() -> None:
        with Deadline(10):
            await asyncio.Event().wait()

    async def played() -> bool:
        task = asyncio.create_task(cancelled())
        await settled()
        task.cancel()
        return isinstance((await asyncio.gather(task, return_exceptions=True))[0], asyncio.CancelledError)

    assert asyncio.run(played())


def test_who_crowds_others_out_rests_between_its_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.http.threads.turns.Turns.crowds", lambda _, party: party == "a")
    monkeypatch.setattr("gateways.cores.Waits", lambda: SimpleNamespace(since=lambda: 0.1 / cores.TIMES))

    async def played() -> list[list[str]]:
        work, seen = Work(2, share=1), []
        tasks = [work.ask(name) for name in ("a1", "a2", "b1", "b2")]
        await settled()
        await work.end("a1")
        await work.end("b1")
        seen.append(list(work.begun))  # the other party's next is begun at once
        while "a2" not in work.begun:
            await asyncio.sleep(0.01)
        seen.append(work.begun[3:])
        for name in ("a2", "b2"):
            await work.end(name)
        await asyncio.gather(*tasks)
        return seen

    assert asyncio.run(asyncio.wait_for(played(), 30)) == [["a1", "b1", "b2"], ["a2"]]


def test_a_rest_is_what_the_loop_waited_for_each_request_wherever_it_was_served(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("app.http.threads.turns.Turns.crowds", lambda _, party: party == "a")
    monkeypatch.setattr("gateways.cores.Waits", lambda: SimpleNamespace(since=lambda: 1.0))
    rests: list[float] = []
    monkeypatch.setattr("gateways.cores.rest", lambda waited: rests.append(waited) or 0.0)

    async def played() -> None:
        served = Served()
        changes, reads = (Places(2, share=1, room=1, served=served) for _ in range(2))
        for party in ["b"] * 99 + ["a"]:
            places = changes if party == "a" else reads
            places.take(SimpleNamespace(party=party))  # type: ignore[arg-type]  # all that is asked of a request
            places.give_back(party)

    asyncio.run(played())
    assert rests == [1 / 100]
