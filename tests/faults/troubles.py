"""What one party can do to the others: each a block within which it does it, read from one table.

The crowd is an organisation of its own; servers are everybody's.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import text

import store
from app.instance.embedded import Servers
from rules.clock import now
from store.database.ids import new_id
from store.delivering import fanout
from store.outbox import OutboxItem
from tests import receiver as receivers
from tests.api import tenant
from tests.faults.arrivals import Arrivals
from tests.faults.processes import Fleet
from tests.receiver import Answer
from tests.workers import falling_due
from workers import schedule
from workers.jobs import JOBS

API = "/api/v1/public"
REDIS_SECONDS, POSTGRES_SECONDS, MAIL_SECONDS = 30.0, 10.0, 30.0
ITEMS = 40_000
ENDLESS, ECHO = "while True:\n    pass\n", "print(input())\n"
PROGRAMS = 20
PATIENCE = 60.0  # until all of them are graded
GRADED_AFTER = 5.0  # seconds after Redis goes on, until the first of them is graded
GRADED = """
    SELECT item.finished_at FROM invitations JOIN sessions ON sessions.invitation_id = invitations.id
    JOIN outbox AS item ON item.job = 'grade' AND item.arguments ->> 'session_id' = sessions.id::text
    WHERE invitations.token = ANY (:tokens)
"""


@dataclass
class World:
    """The deployment, and the organisation that makes trouble."""

    fleet: Fleet
    servers: Servers
    arrivals: Arrivals
    key: str
    back: float = 0.0  # when what stood still went on
    # What the operator should know of a trouble beside its figures, and what of it should not have been.
    said: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    @property
    def http(self) -> httpx.Client:
        """A client of the crowd's."""
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx.Client(base_url=self.fleet.bases[0], headers=headers, timeout=60, trust_env=False)


def assessment(http: httpx.Client, **content: Any) -> str:
    """Make an active assessment of the crowd's."""
    made = http.post(f"{API}/assessments/create/", json={"title": "Crowd", **content}).raise_for_status()
    slug = str(made.json()["slug"])
    http.patch(f"{API}/assessments/{slug}/update/", json={"status": "active"}).raise_for_status()
    return slug


def invite(http: httpx.Client, slug: str, count: int) -> list[str]:
    """Invite so many at once; return their tokens."""
    people = [{"email": f"c-{time.monotonic_ns()}-{number}@example.com"} for number in range(count)]
    made = http.post(
        f"{API}/assessments/{slug}/invites/bulk/", json={"candidates": people}
    ).raise_for_status()
    return [one["invite_token"] for one in made.json()["invited"]]


def endpoint(http: httpx.Client, url: str) -> str:
    """Register and verify an endpoint for everything."""
    made = http.post(f"{API}/webhooks/create/", json={"url": url, "events": ["*"]}).raise_for_status().json()
    http.post(f"{API}/webhooks/{made['id']}/test/").raise_for_status()
    return str(made["id"])


@contextmanager
def threads(count: int, do: Callable[[], object]) -> Iterator[None]:
    """Do it again and again in so many threads as long as the block; answers and faults are nobody's matter."""
    ending = threading.Event()

    def loop() -> None:
        while not ending.is_set():
            with suppress(httpx.HTTPError):
                do()
            ending.wait(0.05)

    started = [threading.Thread(target=loop, daemon=True) for _ in range(count)]
    for one in started:
        one.start()
    try:
        yield
    finally:
        ending.set()


@contextmanager
def frozen(world: World, pids: list[int], seconds: float) -> Iterator[None]:
    """Stop processes without ending them; they go on after a time, or at the end of the block."""

    def go_on() -> None:
        world.back = time.monotonic()
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    timer = threading.Timer(seconds, go_on)
    timer.start()
    try:
        yield
    finally:
        timer.join()


@contextmanager
def redis_frozen(world: World) -> Iterator[None]:
    """Redis stands still, and candidates submit programs meanwhile: all are graded, the first of them soon after."""
    with world.http as http, candidates(world) as candidate:
        sittings = sit(http, candidate, PROGRAMS, ECHO)
        with frozen(world, [world.servers.processes["redis"].pid], REDIS_SECONDS):
            for sitting in sittings:
                candidate.post(f"{sitting.base}submit/").raise_for_status()
            yield
    graded: list[float] = []
    latest = time.monotonic() + PATIENCE
    while len(graded) < PROGRAMS and time.monotonic() < latest:
        back = now() - timedelta(seconds=time.monotonic() - world.back)
        with store.transaction() as session:
            ends = session.scalars(text(GRADED), {"tokens": [one.token for one in sittings]}).all()
        graded = sorted((one - back).total_seconds() for one in ends if one)
        time.sleep(0.2)
    words = f"of {PROGRAMS} programs {len(graded)} were graded"
    if graded:
        words += f", from {graded[0]:.1f} to {graded[-1]:.1f} s after Redis went on"
    world.said.append(words)
    if len(graded) < PROGRAMS or graded[0] > GRADED_AFTER:
        world.broken.append(f"Redis frozen: {words}")


def postgres_frozen(world: World) -> AbstractContextManager[None]:
    first = world.servers.processes["postgres"].pid
    children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
    return frozen(world, [first, *map(int, children)], POSTGRES_SECONDS)


@contextmanager
def silent_receiver(world: World) -> Iterator[None]:
    """An endpoint that takes requests and never answers: 300 deliveries for it, and eight test pings at a time."""
    held = threading.Event()
    with receivers.running() as receiver, world.http as http:
        id = endpoint(http, receiver.url)
        receiver.answer(lambda _: Answer(200 if held.wait(120) else 500))
        invite(http, assessment(http), 300)
        try:
            with threads(8, lambda: http.post(f"{API}/webhooks/{id}/test/")):
                yield
        finally:
            held.set()
            http.delete(f"{API}/webhooks/{id}/")


@contextmanager
def slow_receivers(world: World) -> Iterator[None]:
    """Twenty endpoints that answer after two seconds, with five hundred events for each."""

    def late(_: object) -> Answer:
        time.sleep(2)
        return Answer()

    with receivers.running() as receiver, world.http as http:
        ids = [endpoint(http, f"{receiver.url}/{number}") for number in range(20)]
        receiver.answer(late)
        invite(http, assessment(http), 500)
        try:
            yield
        finally:
            for id in ids:
                http.delete(f"{API}/webhooks/{id}/")


@contextmanager
def silent_mail_server(world: World) -> Iterator[None]:
    """The mail server takes connections and says nothing for a while."""

    def speak() -> None:
        world.back = time.monotonic()
        world.arrivals.speak()

    world.arrivals.silence()
    timer = threading.Timer(MAIL_SECONDS, speak)
    timer.start()
    try:
        yield
    finally:
        timer.join()


@contextmanager
def flood(world: World) -> Iterator[None]:
    """Forty thousand mails of the crowd's to send."""
    copies = text("""
        INSERT INTO outbox SELECT (jsonb_populate_record(one, jsonb_build_object(
            'id', gen_random_uuid(), 'due_at', now(), 'finished_at', NULL, 'attempts', 0))).*
        FROM outbox one, generate_series(1, :items)
        WHERE one.id = (SELECT id FROM outbox WHERE job = 'mail' AND arguments ->> 'to' = :to)
    """)
    to = f"flood-{time.monotonic_ns()}@example.com"
    with world.http as http:
        slug = assessment(http)
        http.post(
            f"{API}/assessments/{slug}/invites/", json={"email": to, "send_email": True}
        ).raise_for_status()
    with store.transaction() as session:
        session.execute(copies, {"to": to, "items": ITEMS})
    mine = "FROM outbox WHERE arguments ->> 'to' = :to AND finished_at IS"
    try:
        yield
    finally:
        with store.transaction() as session:
            done = session.execute(text(f"SELECT count(*) {mine} NOT NULL"), {"to": to}).scalar_one()
            session.execute(text(f"DELETE {mine} NULL"), {"to": to})
            world.said.append(f"of {ITEMS} of the crowd's mails {done} were sent meanwhile")


@dataclass(frozen=True)
class Sitting:
    """A candidate who has started, and whose answer to the one case is kept."""

    token: str
    answer: str  # where it is

    @property
    def base(self) -> str:
        return f"/api/v1/candidate/invites/{self.token}/"


def candidates(world: World) -> httpx.Client:
    """Return a client of people without a key."""
    return httpx.Client(base_url=world.fleet.bases[1], timeout=60, trust_env=False)


def sit(http: httpx.Client, candidate: httpx.Client, count: int, program: str) -> list[Sitting]:
    """Let so many of the crowd's candidates start, and answer with a program."""
    case = {
        "title": "Program", "case_type": "coding", "language": "python",
        "test_cases": [{"input": "1\n", "expected_output": "1\n"}],
    }  # fmt: skip
    made = http.post(f"{API}/cases/create/", json=case).raise_for_status().json()
    slug = assessment(http, cases=[{"case_id": made["id"], "source": "org"}])
    sittings = []
    for token in invite(http, slug, count):
        base = Sitting(token, "").base
        session = candidate.post(f"{base}start/").raise_for_status().json()
        answer = f"{base}answers/{session['cases'][0]['assessment_case_id']}/"
        candidate.put(answer, json={"answer": program}).raise_for_status()
        sittings.append(Sitting(token, answer))
    return sittings


@contextmanager
def endless_programs(world: World) -> Iterator[None]:
    """Six candidates who run a program without an end again and again, and six whose answer it is."""
    with world.http as http, candidates(world) as candidate, ExitStack() as stack:
        sittings = sit(http, candidate, 12, ENDLESS)
        for sitting in sittings[6:]:
            candidate.post(f"{sitting.base}submit/").raise_for_status()
        for sitting in sittings[:6]:
            run = partial(candidate.post, f"{sitting.answer}run/", json={"answer": ENDLESS})
            stack.enter_context(threads(1, run))
        yield


@contextmanager
def unscheduled(world: World) -> Iterator[None]:
    """Let nothing that falls due be seen to before the block ends."""
    pids = [process.pid for name, process in world.fleet.processes.items() if name.startswith("schedule")]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


@contextmanager
def stubborn_rows(world: World, *, rows: int, jobs: int) -> Iterator[None]:
    """So many rows of each kind that falls due that nobody may change, pieces of each job that lack all, and events.

    Where it is one, two that are fine fall due beside it.
    """
    base = world.fleet.bases[0]
    with httpx.Client(base_url=base, timeout=60, trust_env=False) as http, ExitStack() as stack:
        owner = tenant(http, "enterprise")
        slug = owner.live.assessment()["slug"]
        with unscheduled(world):
            with store.transaction() as session:
                session.execute(text("DELETE FROM set_aside"))  # what another trouble left
            due = {
                kind: [id for _ in range(0, rows, falling_due.COUNT) for id in falling_due.make(kind, owner)]
                for kind in schedule.KINDS
            }
            for kind, ids in due.items():
                stack.enter_context(falling_due.stubborn(kind, *ids[:rows]))
            new = f"OLD.organisation_id = '{owner.organisation.id}' AND OLD.id > '{new_id()}'"
            stack.enter_context(falling_due.refusing("fan_out", "events", new))
            with store.transaction() as session:
                session.add_all(
                    OutboxItem(
                        organisation_id=owner.organisation.id,
                        job=name,
                        arguments={},
                        attempts=job.attempts - 1,
                    )
                    for name, job in JOBS.items()
                    for _ in range(jobs)
                )
        for _ in range(jobs):
            owner.live.invitation(slug, send_email=True)
        yield
        with store.transaction() as session:
            found = set(session.scalars(text("SELECT DISTINCT kind FROM set_aside")))
        missing = {fanout.WAITING.kind, *(kind.name for kind in schedule.KINDS), *JOBS} - found
        if missing:  # what did not fail is no trouble
            world.broken.append(f"rows that fail: nothing was set aside of {', '.join(sorted(missing))}")


@contextmanager
def crowd(world: World) -> Iterator[None]:
    """Fifty connections that ask as fast as they are answered, from a program that gives way to the servers."""
    with world.http as http:
        slug = assessment(http)
    command = [sys.executable, "-m", "tests.faults.crowd", world.key, slug, *world.fleet.bases]
    with subprocess.Popen(["nice", "-n", "19", *command], stdout=subprocess.PIPE, text=True) as asking:
        assert asking.stdout
        asking.stdout.readline()  # they all ask
        try:
            yield
        finally:
            asking.send_signal(signal.SIGINT)
            try:
                world.said.append(asking.communicate(timeout=30)[0].strip())
            finally:
                asking.kill()  # or the block would wait for one that goes on


TROUBLES: dict[str, Callable[[World], AbstractContextManager[None]]] = {
    "Redis frozen for 30 s": redis_frozen,
    "PostgreSQL frozen for 10 s": postgres_frozen,
    "a receiver that is silent": silent_receiver,
    "twenty receivers that are slow": slow_receivers,
    "a mail server that is silent for 30 s": silent_mail_server,
    "40,000 mails to send": flood,
    "six endless programs": endless_programs,
    "a bad row of every kind": partial(stubborn_rows, rows=1, jobs=1),
    "an organisation at 50 connections": crowd,
    "fifteen bad rows of every kind": partial(stubborn_rows, rows=15, jobs=20),
}
