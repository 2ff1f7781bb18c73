"""The open load tells what those waited who came while a service stood still; who asks after each answer does not."""

import asyncio
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from bench import offered
from bench.load import arrivals
from bench.loaders import SETTLED
from bench.offered import Went

RATE, SECONDS, SEED = 100, 5, 7
STALLS, STALL_SECONDS = 2, 0.5  # of these seconds
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
SLOW = 0.2  # seconds that nothing takes but what waits for a stall


class Stalling:
    """A server that answers at once, and stands still when it is told to; it notes from when until when."""

    def __init__(self) -> None:
        self.stalls: list[tuple[float, float]] = []
        self.answer = ANSWER
        self.begun = threading.Event()
        self.thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self.thread.start()
        assert self.begun.wait(10)

    async def _run(self) -> None:
        self.loop, self.over = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self.begun.set()
        await self.over.wait()
        server.close()

    def stall(self) -> None:
        """Stand still for a while; return when it is over."""
        over = threading.Event()

        def still() -> None:
            began = time.monotonic()
            time.sleep(STALL_SECONDS)
            self.stalls.append((began, time.monotonic()))
            over.set()

        self.loop.call_soon_threadsafe(still)
        over.wait()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(self.answer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


@pytest.fixture(scope="module")
def server() -> Iterator[Stalling]:
    made = Stalling()
    yield made
    made.loop.call_soon_threadsafe(made.over.set)
    made.thread.join()


def task(server: Stalling, **more: Any) -> dict[str, Any]:
    usual = {"make": "one", "path": "/", "port": server.port, "connections": 128, "seed": SEED}
    return usual | {"rate": RATE, "seconds": SECONDS} | more


def test_who_came_while_the_service_stood_still_waited_until_it_went_on(server: Stalling) -> None:
    with offered.started([task(server)]) as begin:
        server.stalls.clear()
        stalling = threading.Thread(target=stall_by_turns, args=[server])
        stalling.start()
        [told] = begin()
        stalling.join()
    went, start = Went(told, SECONDS), told["began"]
    assert went.faults == {}
    met = 0
    for due, took in zip(went.due, went.took, strict=True):
        for began, ended in server.stalls:
            if began <= start + due < ended:
                assert took >= ended - start - due
                met += took >= SLOW
    # At the rate of arrivals a stall of half a second meets fifty, of whom three fifths have that long to wait.
    assert met > STALLS * RATE * (STALL_SECONDS - SLOW) / 2
    assert met > 0.06 * went.count
    assert went.p(95) >= 1000 * SLOW


def stall_by_turns(server: Stalling) -> None:
    time.sleep(SETTLED)
    for _ in range(STALLS):
        time.sleep(1)
        server.stall()


def test_who_asks_again_after_each_answer_meets_each_stall_once(server: Stalling) -> None:
    server.stalls.clear()
    asked = asyncio.run(one_after_the_other(server))
    # Whoever waits for a stall's end is under way at that moment, when only one can be.
    met = sum(any(sent < ended <= came for _, ended in server.stalls) for sent, came in asked)
    assert len(server.stalls) == STALLS
    assert met <= STALLS
    assert met < len(asked) / 100  # so that its p99 knows nothing of them


async def one_after_the_other(server: Stalling) -> list[tuple[float, float]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    asked = []
    stalls = [asyncio.create_task(asyncio.to_thread(server.stall))]
    while len(asked) < 300 * STALLS or len(server.stalls) < STALLS:
        if stalls[-1].done() and len(stalls) < STALLS:
            stalls.append(asyncio.create_task(asyncio.to_thread(server.stall)))
        sent = time.monotonic()
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        await reader.readexactly(len(ANSWER))
        asked.append((sent, time.monotonic()))
    await asyncio.gather(*stalls)
    writer.close()
    return asked


def test_a_load_that_was_kept_from_sending_says_so_and_is_refused(server: Stalling) -> None:
    with offered.started([task(server)]) as begin:
        [load] = [one for one in children() if "bench.load" in Path(f"/proc/{one}/cmdline").read_text()]
        stood: list[float] = []

        def hold() -> None:
            time.sleep(SETTLED + 1)
            os.kill(load, signal.SIGSTOP)
            while state(load) != "T":
                time.sleep(0.001)
            stood.append(time.monotonic())
            time.sleep(STALL_SECONDS)
            stood.append(time.monotonic())
            os.kill(load, signal.SIGCONT)

        holding = threading.Thread(target=hold)
        holding.start()
        [told] = begin()
        holding.join()
    went, start = Went(told, SECONDS), told["began"]
    late = dict(zip(went.due, told["late"], strict=True))
    held = [due for due in went.due if stood[0] <= start + due < stood[1]]
    assert held
    assert all(late[due] >= stood[1] - start - due for due in held)
    assert not went.is_sound


def test_what_is_answered_otherwise_than_it_should_be_is_a_fault(server: Stalling) -> None:
    server.answer = ANSWER.replace(b"200 OK", b"503 Service Unavailable")
    try:
        [went] = offered.offer(task(server, seconds=1))
    finally:
        server.answer = ANSWER
    assert went.faults == {"GET: 503": went.count}


def test_a_burst_is_due_at_once(server: Stalling) -> None:
    [went] = offered.offer(task(server, seconds=2, burst=200, every=1))
    assert went.due == [0.5] * 200 + [1.5] * 200
    assert went.faults == {}


def test_arrivals_are_the_same_for_a_seed_and_as_many_as_the_rate_says() -> None:
    given = {"rate": 500, "seconds": 20}
    first, again = (list(arrivals(given, Random(SEED))) for _ in range(2))
    assert first == again == sorted(first)
    assert abs(len(first) - 10_000) < 4 * 100  # of a Poisson process, the root of its mean


def children() -> list[int]:
    return [
        int(one) for one in Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split()
    ]


def state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[0]
