"""An open load: each request is sent at the moment at which it is due, whatever became of those before.

A program of its own, told by a line of JSON what to do; it prints `ready`, is told the moment (of the monotonic clock)
at which to begin, prints what it saw as JSON, and stays until its input ends. Arrivals are a Poisson process, as those
of people are who know nothing of each other. How long a request took counts from the moment at which it was due: a
service that stands still is seen by all who came meanwhile (who sends the next one after an answer sees it once). It
also says how late it was itself.

Of what Debian packages, wrk, hey and ab send the next request after an answer; h2load has a rate (--rps), but counts
from when a request was sent, and sends one body with one header to all addresses. wrk2, vegeta and k6 are not there.
"""

import asyncio
import contextlib
import itertools
import json
import os
import resource
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, cast

import httptools
import uvloop

from bench.mix import MAKERS, Call

PATIENCE_SECONDS = 30.0  # for the last answers, after the last request was due
AT_ONCE = 16  # requests that are overdue and sent before answers are looked at
NONE = 0  # the status of what was not answered


class Seen:
    """What became of each request, in columns, and how the connections are."""

    def __init__(self) -> None:
        self.kinds: list[str] = []
        self.due: list[float] = []  # seconds from the beginning
        self.late: list[float] = []  # how much later than due the load came to it
        self.took: list[float] = []  # from when it was due until its answer was whole
        self.faults: dict[str, int] = {}

    def begin(self, call: Call, due: float, late: float) -> int:
        self.kinds.append(call.kind)
        self.due.append(due)
        self.late.append(late)
        self.took.append(-1.0)
        return len(self.took) - 1

    def fault(self, what: str) -> None:
        self.faults[what] = self.faults.get(what, 0) + 1


class Pool:
    """Kept connections, one request at a time on each; what finds none free waits in line, and its time goes on."""

    def __init__(self, seen: Seen, begin: float) -> None:
        self.seen, self.begin = seen, begin
        self.free: deque[Connection] = deque()  # used by turns, so that none rests until the server ends it
        self.line: deque[tuple[Call, int]] = deque()
        self.under_way = 0
        self.idle = asyncio.Event()

    def send(self, call: Call, number: int) -> None:
        self.under_way += 1
        self.idle.clear()
        if self.free:
            self.free.popleft().send(call, number)
        else:
            self.line.append((call, number))

    def done(self, connection: "Connection", call: Call, number: int, status: int) -> None:
        self.seen.took[number] = time.monotonic() - self.begin - self.seen.due[number]
        if status != call.status:
            self.seen.fault(f"{call.kind}: {status or 'the connection was lost'}")
        if not connection.is_lost:
            if self.line:
                connection.send(*self.line.popleft())
            else:
                self.free.append(connection)
        self.under_way -= 1
        if not self.under_way:
            self.idle.set()


class Connection(asyncio.Protocol):
    """One connection; httptools reads what comes."""

    def __init__(self, pool: Pool, again: Callable[[], Any]) -> None:
        self.pool, self.again = pool, again
        self.parser = httptools.HttpResponseParser(self)
        self.call: tuple[Call, int] | None = None
        self.is_lost, self.is_kept = False, True
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        if self.pool.line:
            self.send(*self.pool.line.popleft())
        else:
            self.pool.free.append(self)

    def send(self, call: Call, number: int) -> None:
        self.call = call, number
        self.transport.write(call.request)

    def data_received(self, data: bytes) -> None:
        self.parser.feed_data(data)

    def on_message_complete(self) -> None:
        status = self.parser.get_status_code()
        if status < 200:  # the answer is still to come
            return
        if not self.parser.should_keep_alive():
            self.is_lost = True
            self.transport.close()
        self._answered(status)

    def connection_lost(self, fault: Exception | None) -> None:
        self.is_lost = True
        if self in self.pool.free:
            self.pool.free.remove(self)
        if self.call:
            self._answered(NONE)
        self.again()

    def _answered(self, status: int) -> None:
        if self.call:
            (call, number), self.call = self.call, None
            self.pool.done(self, call, number, status)


def arrivals(given: Mapping[str, Any], chance: Random) -> Iterator[float]:
    """Yield the moments at which requests are due, in seconds from the beginning.

    With `burst` they come all at once, so many each `every` seconds.
    """
    if "burst" in given:
        for moment in range(0, int(given["seconds"]), given["every"]):
            yield from itertools.repeat(moment + 0.5, given["burst"])
        return
    due = chance.expovariate(given["rate"])
    while due < given["seconds"]:
        yield due
        due += chance.expovariate(given["rate"])


async def run(given: Mapping[str, Any], wait: Callable[[], Any]) -> dict[str, Any]:
    """Send all that is to be sent, wait for the answers, and say how it went."""
    loop = asyncio.get_running_loop()
    seen = Seen()
    pool = Pool(seen, 0.0)
    closing: set[asyncio.Task[Any]] = set()
    is_over = False

    async def connect() -> None:
        await loop.create_connection(lambda: Connection(pool, again), "127.0.0.1", given["port"])

    def again() -> None:
        if not is_over:
            task = loop.create_task(connect())
            closing.add(task)
            task.add_done_callback(closing.discard)

    for _ in range(given["connections"]):
        await connect()
    cpu = time.process_time()
    calls = MAKERS[given["make"]](given, Random(given["seed"]))
    pool.begin = begin = await wait()
    for number, due in enumerate(arrivals(given, Random(given["seed"] + 1))):
        call = next(calls)
        if number % AT_ONCE == 0:
            await asyncio.sleep(0)
        while (left := begin + due - time.monotonic()) > 0:
            await asyncio.sleep(left)
        pool.send(call, seen.begin(call, due, late=-left))
    if pool.under_way:
        try:
            await asyncio.wait_for(pool.idle.wait(), PATIENCE_SECONDS)
        except TimeoutError:
            seen.faults["no answer"] = pool.under_way
    is_over = True
    cpu = time.process_time() - cpu
    ended = time.monotonic() - begin
    seen.took = [ended - due if took < 0 else took for took, due in zip(seen.took, seen.due, strict=True)]
    return {
        "began": begin,
        "kinds": seen.kinds,
        "due": [round(one, 6) for one in seen.due],
        "late": [round(one, 6) for one in seen.late],
        "took": [round(one, 6) for one in seen.took],
        "faults": seen.faults,
        "cpu": cpu,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,  # MiB at most
    }


async def main() -> None:
    """Do what the first line says, before all others where that is allowed: a load that waits measures itself."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, -10)
    given = json.loads(sys.stdin.readline())
    loop = asyncio.get_running_loop()

    async def wait() -> float:
        print("ready", flush=True)
        return float(await loop.run_in_executor(None, sys.stdin.readline))

    print(json.dumps(await run(given, wait)), flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    uvloop.run(main())
