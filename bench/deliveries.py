"""Deliveries to endpoints that answer after 10 ms: rates of one worker and of two, and how soon the first attempt is,
by itself and beside an organisation whose endpoints are slow.

`python -m bench.deliveries`.
"""

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from sqlalchemy import text

import store
from app.instance.settings import ROOT, Settings
from bench import figures
from bench.figures import Figure
from bench.sides import PEERS, environment
from rules.caller import Caller
from store import events
from store.accounts import organisations
from store.delivering import webhooks

EVENTS, QUICK_EVENTS = 20_000, 4_000
STEADY, STEADY_SECONDS = 100, 20  # events a second, one commit each
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

    def _read(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline()

    def count(self) -> int:
        print(file=self.process.stdin, flush=True)
        return int(self._read())


@contextmanager
def receiving(seconds: float = 0.010) -> Iterator[Receiver]:
    command = [sys.executable, "-m", "bench.receiver", str(seconds)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Receiver(process)
        assert process.stdin
        process.stdin.close()


def measure(quick: bool) -> list[Figure]:
    """Measure rates in alternating rounds, then the wait at a steady pace."""
    count = QUICK_EVENTS if quick else EVENTS
    python = environment("litestar")  # it has httpx
    found: dict[str, list[float]] = {"bare": [], "one": [], "two": [], "idle one": [], "idle two": []}
    with figures.place() as settings:
        for _ in range(2 if quick else 3):
            with receiving() as receiver:
                command = [python, PEERS / "posts.py", f"http://127.0.0.1:{receiver.port}/", str(count // 2)]
                bare = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
                figures.pin(bare.pid, figures.SERVER)
                found["bare"].append(float(bare.communicate()[0]))
            for workers in ("one", "two"):
                delivered, idle = rate(settings, count, workers=1 if workers == "one" else 2)
                found[workers].append(delivered)
                found[f"idle {workers}"].append(idle)
        seconds = 5 if quick else STEADY_SECONDS
        waits = steady(settings, seconds)
        with slow_receiver():
            beside = steady(settings, seconds)
    bare, one, two, idle_one, idle_two = (statistics.median(each) for each in found.values())
    cuts, slow = (statistics.quantiles(each, n=100) for each in (waits, beside))
    return [
        figures.plain("deliveries: bare httpx loop", bare, "/s"),
        figures.plain("deliveries: one worker", one, "/s"),
        figures.plain("deliveries: two workers", two, "/s"),
        figures.plain("deliveries: of the machine's time with two workers nothing used", idle_two * 100, "%"),
        figures.plain(
            "deliveries: what two could be of one if they left nothing idle", 1 / (1 - idle_one), "x"
        ),
        figures.at_least("deliveries: one worker as a multiple of the bare loop", one / bare, "x", 0.7),
        figures.at_least("deliveries: two workers as a multiple of one", two / one, "x", 1.6),
        figures.at_most("deliveries: commit to first attempt, p50", cuts[49], "ms", 50),
        figures.at_most("deliveries: commit to first attempt, p99", cuts[98], "ms", 300),
        figures.at_most("deliveries: p50 beside 20 slow endpoints of somebody else", slow[49], "ms", 100),
        figures.at_most("deliveries: p99 beside 20 slow endpoints of somebody else", slow[98], "ms", 1_000),
    ]


def rate(
    settings: Settings, count: int, *, workers: int, endpoints: int = 20, organisations: int = 10
) -> tuple[float, float]:
    """Start workers, commit events for the endpoints that some organisations have in all.

    Return what is delivered in a second, and the idle share.
    """
    total = count // endpoints * endpoints
    with receiving() as receiver, ExitStack() as stack:
        callers = [owner(receiver.port, endpoints // organisations) for _ in range(organisations)]
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
        began, (idle, whole) = time.monotonic(), figures.ticks()
        while (last := receiver.count()) < total:
            time.sleep(0.01)
        took, (idle_after, whole_after) = time.monotonic() - began, figures.ticks()
    return (last - first) / took, (idle_after - idle) / max(1, whole_after - whole)


def listening() -> int:
    """Count the workers that are ready: each listens for work last of all."""
    with store.transaction() as session:
        query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %'"
        return int(session.execute(text(query)).scalar_one())


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


def steady(settings: Settings, seconds: int) -> list[float]:
    """Commit events one by one at a steady pace; return how long each waited for its first attempt, in ms."""
    with receiving() as receiver:
        caller = owner(receiver.port, 1)
        process = figures.start([sys.executable, "-c", WORK], settings)
        try:
            commit(caller)
            figures.wait_until(lambda: receiver.count() > 0, seconds=300, what="The first delivery")
            began, total = time.monotonic(), STEADY * seconds
            for number in range(total):
                time.sleep(max(0.0, began + number / STEADY - time.monotonic()))
                commit(caller)
            figures.wait_until(lambda: receiver.count() > total, seconds=60, what="The last delivery")
            time.sleep(1)  # outcomes are written in batches
        finally:
            figures.stop(process)
    with store.transaction() as session:
        # An outcome is noted with the moment at which it came and with how long the attempt took.
        rows = session.execute(
            text("""
            SELECT extract(epoch FROM delivered_at - created_at) * 1000 - response_time_ms + wait FROM (
                SELECT d.delivered_at, d.response_time_ms, e.created_at, 0 AS wait
                FROM deliveries d JOIN events e ON e.id = d.event_id
                WHERE d.organisation_id = :owner AND d.delivered_at IS NOT NULL ORDER BY e.sequence OFFSET 1
            ) AS one
            """),
            {"owner": caller.organisation_id},
        )
        return [max(0.0, float(wait)) for (wait,) in rows]


def commit(caller: Caller) -> None:
    with store.transaction() as session:
        events.record(session, "assessment.started", caller, DATA)


if __name__ == "__main__":
    figures.main(measure, __doc__)
