"""How many interviews' rooms one web process holds, and what they cost it: `python -m bench.rooms`.

In each room two people over WebSockets, who say two things and type five in a second; when one has what the other sent
is measured from the moment at which it was due. Then, at half as many rooms, what requests beside them wait.
"""

import hashlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import func, select

import store
from app.instance.settings import Settings
from bench import figures
from bench.figures import Figure
from bench.loaders import percentile, search, started
from bench.sides import KINDS, PLANS, free_port, prepare
from bench.start import answers, memory
from rules.clock import now
from store.accounts import organisations
from store.accounts.organisations import Organisation
from store.database.ids import new_id
from store.interviewing import documents, stream
from store.interviewing.rooms import Interview, InterviewEvent, InterviewUpdate

LIMIT_MS, GOAL_MS = 250, 100
FIRST, MOST = 32, 2048  # rooms: the first try and the last
LOADERS = 2  # processes that the people are in
PER_ORGANISATION = 400  # rooms: it may have 1,000 channels in a process
RATE, CONNECTIONS = 50, 8  # requests a second beside the rooms


@dataclass
class Seen:
    """How a number of rooms went."""

    count: int
    p50: float  # milliseconds
    p99: float
    late: float  # p99 of how much later than due the load sent
    rate: float  # acts a second
    cpu: float  # share of a core
    room_kib: float  # memory of the web process for each room
    faults: list[str]
    beside: float = 0.0  # p99 of requests meanwhile

    @property
    def holds(self) -> bool:
        """Whether nothing was lost, and all of it was there in time."""
        return not self.faults and self.p99 <= LIMIT_MS

    def show(self) -> None:
        """Print it."""
        print(
            f"  {self.count:5} rooms: p50 {self.p50:7.1f} ms, p99 {self.p99:8.1f} ms, sent late by {self.late:6.1f} ms,"
            f" {self.rate:6.0f} acts/s, {100 * self.cpu:4.0f} % of a core, {self.room_kib:5.0f} KiB a room"
            f"{''.join(f'; {fault}' for fault in sorted(set(self.faults))[:3])}",
            flush=True,
        )


class Place:
    """Web processes, and rooms that nobody was in before."""

    def __init__(self, settings: Settings) -> None:
        with store.transaction() as session:
            if session.scalars(select(Organisation.id).limit(1)).first() is not None:
                raise SystemExit("This database is in use: a bench has one of its own.")
        self.settings, self.key = settings, prepare()

    @contextmanager
    def serve(self) -> Iterator[tuple[int, int]]:
        """Start a web process of a few requests' age; give its id and its port."""
        port = free_port()
        command = [sys.executable, "-P", "-m", "app.cli", "web", "--port", str(port)]
        unbounded = {"CANDIDATE_LIMIT": "1000000", "CLIENT_CONNECTIONS": "100000"}  # for one address has all
        process = figures.start(command, self.settings, PLANS=PLANS, LOG_LEVEL="WARNING", **unbounded)
        try:
            figures.wait_until(lambda: answers(port, KINDS["get"], self.key), seconds=60, what="The start")
            for _ in range(50):
                answers(port, KINDS["get"], self.key)
            yield process.pid, port
        finally:
            figures.stop(process)

    def rooms(self, count: int) -> list[dict[str, Any]]:
        """Make rooms that both sides have joined."""
        made = []
        with store.transaction() as session:
            for place in range(count):
                if place % PER_ORGANISATION == 0:
                    owner = organisations.create(session, name="Rooms", plan="enterprise").id
                made.append(Interview(**_room(owner)))
            session.add_all(made)
            session.flush()
            for one in made:
                begun = stream.Act(one.id, stream.UPDATE, "system", update=documents.begin({}))
                stream.add(session, one, begun)
            return [{"id": one.id, "tokens": [one.candidate_token, one.interviewer_token]} for one in made]

    def run(self, count: int, seconds: float, *, beside: bool = False) -> Seen:
        """Have people in so many rooms for a while, and somebody who asks for something beside them."""
        rooms = self.rooms(count)
        shares = [rooms[number::LOADERS] for number in range(LOADERS)]
        with self.serve() as (pid, port):  # anew, so that its memory is that of these rooms
            to_do = {"port": port, "seconds": seconds}
            asks = {"path": KINDS["get"], "key": self.key, "rate": RATE, "connections": CONNECTIONS}
            tasks = [to_do | {"rooms": [one["tokens"] for one in share]} for share in shares]
            empty = memory(pid)
            with started([*tasks, *([to_do | asks] if beside else [])]) as begin:
                cpu = figures.cpu_seconds(pid)
                told = begin()
                cpu = figures.cpu_seconds(pid) - cpu
                full = memory(pid)
        seen = told[: len(tasks)]
        faults = [fault for one in told for fault in one["faults"]]
        for share, one in zip(shares, seen, strict=True):
            faults += differences([room["id"] for room in share], one["documents"], one["messages"])
        took = [each for one in seen for each in one["took"]]
        return Seen(
            count,
            percentile(took, 50),
            percentile(took, 99),
            percentile([each for one in seen for each in one["late"]], 99),
            sum(one["sent"] for one in seen) / seconds,
            cpu / seconds,
            (full - empty) * 1024 / count if count else 0.0,
            faults,
            percentile(told[-1]["took"], 99) if beside else 0.0,
        )


def measure(quick: bool) -> list[Figure]:
    """Look for the number of rooms, see whether it holds for long, and ask for something beside half of them."""
    probe, long = (6, 10) if quick else (15, 60)
    with figures.place(plans=PLANS) as settings:
        place = Place(settings)
        found = search(
            lambda count: place.run(count, probe),
            lambda count: place.run(count, long),
            first=FIRST,
            most=MOST,
        )
        half = place.run(max(1, found.count // 2), long, beside=True)
        half.show()
        alone = place.run(0, long, beside=True)
    return [
        figures.plain("rooms: of two people, in one web process", found.count, "rooms"),
        figures.at_most("rooms: from one to the other, p99 at that number", found.p99, "ms", LIMIT_MS),
        figures.plain("rooms: from one to the other, median at that number", found.p50, "ms"),
        figures.plain("rooms: CPU of the web process at that number", 100 * found.cpu, "% of a core"),
        figures.plain("rooms: memory of the web process for each", found.room_kib, "KiB"),
        figures.at_most("rooms: from one to the other, p99 at half of it", half.p99, "ms", GOAL_MS),
        figures.plain("rooms: p99 of a request without rooms", alone.beside, "ms"),
        figures.at_most(
            "rooms: p99 of a request beside half of them", half.beside, "ms", max(2 * alone.beside, 50)
        ),
        figures.at_most(
            "rooms: faults at these numbers", len(found.faults + half.faults + alone.faults), "", 0
        ),
    ]


def differences(ids: list[UUID], texts: list[str], messages: list[int]) -> list[str]:
    """Say what is kept otherwise than the people have it."""
    faults = []
    with store.transaction() as session:
        said = dict(
            session.execute(
                select(InterviewEvent.interview_id, func.count())
                .where(InterviewEvent.interview_id.in_(ids), InterviewEvent.kind == "message")
                .group_by(InterviewEvent.interview_id)
            ).all()
        )  # type: ignore[arg-type]  # pairs
        for id, text, count in zip(ids, texts, messages, strict=True):
            kept = select(InterviewUpdate.update).where(InterviewUpdate.interview_id == id)
            found = documents.read(list(session.scalars(kept)), [documents.SCRATCH])
            if hashlib.sha256(found.texts[documents.SCRATCH].encode()).hexdigest() != text:
                faults.append("another document is kept")
            if said.get(id, 0) != count:
                faults.append("other messages are kept")
    return faults


def _room(owner: UUID) -> dict[str, Any]:
    moment = now()
    return {
        "id": new_id(),
        "organisation_id": owner,
        "livemode": True,
        "title": "Interview",
        "interview_type": "technical",
        "interviewer_mode": "human_only",
        "human_can_join": True,
        "voice_mode": False,
        "active_language": "python",
        "time_limit_minutes": 60,
        "status": "active",
        "started_at": moment,
        "candidate_joined_at": moment,
        "interviewer_joined_at": moment,
        "due_at": moment + timedelta(minutes=60),
    }


if __name__ == "__main__":
    figures.main(measure, __doc__)
