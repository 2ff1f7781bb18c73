"""Deliveries to endpoints that answer after 10 ms: rates of one worker and of two, and how soon the first attempt is,
by itself and beside an organisation whose endpoints are slow.

`python -m bench.deliveries`.
"""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from sqlalchemy import select, text

import store
from app.instance.settings import ROOT, Settings
from bench import figures, machine
from bench.figures import Figure
from bench.sides import PEERS, environment
from rules.caller import Caller
from rules.events import public_id as webhook_id
from store import events
from store.accounts import organisations
from store.delivering import webhooks
from workers import shares

EVENTS, QUICK_EVENTS = 20_000, 4_000
RIVALS = (64, 320)  # connections of aiohttp, and of a worker of ours that has endpoints for as many
STEADY, STEADY_SECONDS = 100, 5  # events a second, one commit each
SLOW_SECONDS, SLOW_ENDPOINTS, SLOW_EVENTS = 2.0, 20, 400
WORK = "from app.instance import processes, settings; processes.work(settings.read())"
DATA = {
    "session_id": "0190b6f1-7d3c-7a1e-9a51-0a6c1f6f0a01",
    "assessment_title": "Backend engineer",
    "candidate_email": "zoe@example.com",
    "candidate_name": "Zoë Ōta",
    "started_at": "2026-03-01T12:00:00.000Z",
}


class Receiver:
    """A receiver process that counts."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.port = int(self._read())
        self.most = 0  # connections at once

    def _read(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline()

    def count(self) -> int:
        print(file=self.process.stdin, flush=True)
        count, self.most = json.loads(self._read())
        return int(count)

    def arrivals(self) -> dict[str, float]:
        """Return when each webhook-id's first byte came, in Unix seconds."""
        print("arrivals", file=self.process.stdin, flush=True)
        return dict(json.loads(self._read()))


@contextmanager
def receiving(seconds: float = 0.010) -> Iterator[Receiver]:
    command = [sys.executable, "-m", "bench.receiver", str(seconds)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Receiver(process)
        assert process.stdin
        process.stdin.close()


@dataclass
class Rounds:
    """What rounds measured of one worker, or of more."""

    rates: list[float] = field(default_factory=list)
    idle: list[float] = field(default_factory=list)
    connections: list[float] = field(default_factory=list)


def measure(quick: bool) -> list[Figure]:
    """Measure rates in alternating rounds, then the wait at a steady pace."""
    count = QUICK_EVENTS if quick else EVENTS
    posts: dict[int, list[float]] = {connections: [] for connections in RIVALS}
    ours = {connections: Rounds() for connections in RIVALS}
    both = Rounds()
    python = environment("aiohttp")
    with figures.place() as settings:
        for number in range(2 if quick else 5):
            turns: list[Callable[[], None]] = [
                *(partial(rival, python, connections, count, posts[connections]) for connections in RIVALS),
                *(
                    partial(rate, settings, count, ours[many], endpoints=many // shares.CONNECTIONS)
                    for many in RIVALS
                ),
                partial(rate, settings, count, both, endpoints=max(RIVALS) // shares.CONNECTIONS, workers=2),
            ]
            for turn in turns if number % 2 else reversed(turns):
                turn()
        rounds = 2 if quick else 5
        waits = [percentiles(steady(settings)) for _ in range(rounds)]
        with slow_receiver():
            slow = [percentiles(steady(settings)) for _ in range(rounds)]
    (p50, p99), (slow_p50, slow_p99) = zip(*waits, strict=True), zip(*slow, strict=True)
    one = ours[max(RIVALS)]
    twice = figures.ratios(both.rates, one.rates)
    rooms = [1 / (1 - idle) for idle in one.idle]
    return [
        *(figures.plain(f"deliveries: aiohttp, {many} connections", posts[many], "/s") for many in RIVALS),
        *(
            figures.plain(f"deliveries: one worker, {many} connections", ours[many].rates, "/s")
            for many in RIVALS
        ),
        *(
            figures.plain(f"deliveries: of {many} connections one worker had", ours[many].connections, "")
            for many in RIVALS
        ),
        figures.plain("deliveries: two workers", both.rates, "/s"),
        figures.plain("deliveries: of the machine's time with two workers unused", percent(both.idle), "%"),
        figures.plain("deliveries: what two could be of one if they left nothing idle", rooms, "x"),
        *(
            figures.at_least(
                f"deliveries: one worker as a multiple of aiohttp, {many} connections",
                figures.ratios(ours[many].rates, posts[many]),
                "x",
                1.0,
            )
            for many in RIVALS
        ),
        figures.at_least("deliveries: two workers as a multiple of one", twice, "x", 1.6),
        figures.at_most("deliveries: commit to first attempt, p50", p50, "ms", 15),
        figures.at_most("deliveries: commit to first attempt, p99", p99, "ms", 300),
        figures.at_most("deliveries: p50 beside 20 slow endpoints of somebody else", slow_p50, "ms", 100),
        figures.at_most("deliveries: p99 beside 20 slow endpoints of somebody else", slow_p99, "ms", 1_000),
    ]


def percent(shares: list[float]) -> list[float]:
    return [100 * one for one in shares]


def rival(python: Path, connections: int, count: int, found: list[float]) -> None:
    """Have aiohttp post as much on the core that our worker has."""
    with receiving() as receiver:
        url = f"http://127.0.0.1:{receiver.port}/"
        command = [python, PEERS / "posts.py", url, str(count), str(connections)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        figures.pin(process.pid, figures.SERVER)
        found.append(float(process.communicate()[0]))


def rate(
    settings: Settings,
    count: int,
    found: Rounds,
    *,
    endpoints: int,
    workers: int = 1,
) -> None:
    """Start workers, commit events for so many endpoints, two of each organisation, and note how they do."""
    total = count // endpoints * endpoints
    with receiving() as receiver, ExitStack() as stack:
        callers = [owner(receiver.port, 2) for _ in range(endpoints // 2)]
        for number in range(workers):
            process = figures.start([sys.executable, "-c", WORK], settings)
            if number:  # the second has the other core, which it shares with the load
                figures.pin(process.pid, figures.LOAD)
            stack.callback(figures.stop, process)
        figures.wait_until(lambda: listening() == workers, seconds=60, what="The workers' start")
        with store.transaction() as session:
            for caller in callers:
                for _ in range(count // endpoints):
                    events.record(session, "assessment.started", caller, DATA)
        while not (first := receiver.count()):
            time.sleep(0.005)
        began, (idle, whole) = time.monotonic(), machine.ticks()
        while (last := receiver.count()) < total:
            time.sleep(0.01)
        took, (idle_after, whole_after) = time.monotonic() - began, machine.ticks()
    found.rates.append((last - first) / took)
    found.idle.append((idle_after - idle) / max(1, whole_after - whole))
    found.connections.append(receiver.most)


_LISTENING = """
    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
    AND (query LIKE 'LISTEN %' OR query LIKE '%hashtext(''bell'')%')
"""


def listening() -> int:
    """Count the workers that are ready: each listens for work last of all, and then asks who does it alone."""
    with store.transaction() as session:
        return int(session.execute(text(_LISTENING)).scalar_one())


def owner(port: int, endpoints: int) -> Caller:
    """Make an organisation with verified endpoints."""
    with store.transaction() as session:
        made = organisations.create(session, name="Bench", plan="growth")
        caller = Caller(made.id, livemode=True, plan_name="growth")
        for number in range(endpoints):
            url = f"http://127.0.0.1:{port}/{number}"
            endpoint, _ = webhooks.create(session, caller, url=url, events=["*"], name="", description="")
            webhooks.verify(session, endpoint)
    return caller


@contextmanager
def slow_receiver() -> Iterator[None]:
    """Leave an organisation with thousands of deliveries that are due, to endpoints that take their time."""
    with receiving(SLOW_SECONDS) as receiver:
        caller = owner(receiver.port, SLOW_ENDPOINTS)
        with store.transaction() as session:
            for _ in range(SLOW_EVENTS):
                events.record(session, "assessment.started", caller, DATA)
        yield


def percentiles(waits: list[float]) -> tuple[float, float]:
    """Return the 50th and the 99th."""
    cuts = statistics.quantiles(waits, n=100)
    return cuts[49], cuts[98]


def steady(settings: Settings) -> list[float]:
    """Commit events one by one at a steady pace; return how long each waited for its first attempt, in ms.

    That is from the moment at which the commit had returned until the POST's first byte was at the receiver, which has
    this machine's clock.
    """
    with receiving() as receiver:
        caller = owner(receiver.port, 1)
        process = figures.start([sys.executable, "-c", WORK], settings)
        committed: list[float] = []
        try:
            commit(caller)
            figures.wait_until(lambda: receiver.count() > 0, seconds=300, what="The first delivery")
            began, total = time.monotonic(), STEADY * STEADY_SECONDS
            for number in range(total):
                time.sleep(max(0.0, began + number / STEADY - time.monotonic()))
                commit(caller)
                committed.append(time.time())
            figures.wait_until(lambda: receiver.count() > total, seconds=60, what="The last delivery")
            arrivals = receiver.arrivals()
        finally:
            figures.stop(process)
    with store.transaction() as session:
        ids = session.scalars(
            select(events.Event.id)
            .where(events.Event.organisation_id == caller.organisation_id)
            .order_by(events.Event.sequence)
        ).all()[1:]
    return [
        max(0.0, 1000 * (arrivals[webhook_id(id)] - moment))
        for id, moment in zip(ids, committed, strict=True)
    ]


def commit(caller: Caller) -> None:
    with store.transaction() as session:
        events.record(session, "assessment.started", caller, DATA)


if __name__ == "__main__":
    figures.main(measure, __doc__)
