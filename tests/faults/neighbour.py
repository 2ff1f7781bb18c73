"""An organisation that goes about its work, and how long each thing takes it.

Everything is due at its own moment, whether what came before it has been answered or not, and is timed from that
moment: a service that stands still for a second is seen by everybody who came in that second.
"""

import asyncio
import itertools
import threading
import time
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.faults.arrivals import Arrivals
from tests.faults.processes import Fleet

API = "/api/v1/public"
POOLS = 64
KINDS = ("GET", "POST", "delivery", "mail")


@dataclass
class Timed:
    """What one measure saw: seconds by kind with the moment of each, and how requests were answered."""

    seconds: dict[str, list[tuple[float, float]]] = field(default_factory=dict)  # (due, how long)
    answers: Counter[str] = field(default_factory=Counter)
    missing: dict[str, int] = field(default_factory=dict)  # asked for, and not there in time

    def all(self, kind: str, since: float = 0.0) -> list[float]:
        """Return the seconds of what became due since a moment, in order of size."""
        return sorted(took for due, took in self.seconds[kind] if due >= since)


class Neighbour:
    """Reads an assessment and invites to it by turns; hears of each invitation by webhook and sees its mail arrive."""

    def __init__(self, fleet: Fleet, key: str, arrivals: Arrivals) -> None:
        self.bases, self.key = itertools.cycle(fleet.bases), key
        self.numbers = itertools.count(1)
        self.arrived: dict[str, dict[int, float]] = {"delivery": {}, "mail": {}}
        self.changed = threading.Condition()
        self.http = httpx.Client(
            base_url=fleet.bases[0] + API, headers=self.headers, timeout=60, trust_env=False
        )
        made = self.http.post("/assessments/create/", json={"title": "Neighbour"})
        self.slug = made.raise_for_status().json()["slug"]
        self.http.patch(f"/assessments/{self.slug}/update/", json={"status": "active"}).raise_for_status()
        endpoint = self.http.post("/webhooks/create/", json={"url": arrivals.hook, "events": ["*"]}).json()
        self.http.post(f"/webhooks/{endpoint['id']}/test/").raise_for_status()
        arrivals.heard = self._arrived

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}

    def work(self, samples: int, *, a_second: float, patience: float) -> Timed:
        """Do so many reads and as many invitations, evenly; wait for what they bring about."""
        timed = Timed(seconds={kind: [] for kind in KINDS})
        due = asyncio.run(self._requests(timed, samples, a_second))
        for kind, arrived in self.arrived.items():
            with self.changed:
                self.changed.wait_for(lambda arrived=arrived: due.keys() <= arrived.keys(), timeout=patience)
                there = due.keys() & arrived.keys()
                timed.seconds[kind] = [(due[one], arrived[one] - due[one]) for one in there]
                timed.missing[kind] = len(due) - len(there)
        return timed

    async def _requests(self, timed: Timed, samples: int, a_second: float) -> dict[int, float]:
        """Send everything when it is due; return the moments of the invitations that were made."""
        made: dict[int, float] = {}
        async with AsyncExitStack() as stack:
            # A pool looks at all of its connections for each request: many small ones, or the client is what is slow.
            made_pools = [
                httpx.AsyncClient(headers=self.headers, timeout=60, trust_env=False, verify=False)
                for _ in range(POOLS)
            ]
            pools = itertools.cycle([await stack.enter_async_context(one) for one in made_pools])

            async def call(kind: str, due: float, path: str, body: Any = None) -> bool:
                try:
                    answer = await next(pools).request(kind, next(self.bases) + API + path, json=body)
                    word = str(answer.status_code)
                except httpx.HTTPError as fault:
                    word = type(fault).__name__
                timed.seconds[kind].append((due, time.monotonic() - due))
                timed.answers[f"{kind} {word}"] += 1
                return word == "201"

            async def one(due: float) -> None:
                await asyncio.sleep(due - time.monotonic())
                await call("GET", due, f"/assessments/{self.slug}/")

            async def invite(due: float) -> None:
                await asyncio.sleep(due - time.monotonic())
                number = next(self.numbers)
                body = {"email": f"n-{number}@example.com", "send_email": True}
                if await call("POST", due, f"/assessments/{self.slug}/invites/", body):
                    made[number] = due

            began = time.monotonic() + 0.1
            turns = [began + turn / a_second for turn in range(samples)]
            await asyncio.gather(*map(one, turns), *(invite(turn + 0.5 / a_second) for turn in turns))
        return made

    def _arrived(self, kind: str, number: int, moment: float) -> None:
        with self.changed:
            self.arrived[kind].setdefault(number, moment)
            self.changed.notify_all()
