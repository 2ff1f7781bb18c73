"""What the service promises, counted at the end of a fault run."""

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import suppress

import standardwebhooks
from sqlalchemy import text

import store
from store.delivering import pending
from tests.receiver import Answer, Received, Receiver

# How often each event happens to somebody who starts, and to somebody who does not.
STARTED = {
    "invitation.created": 1, "assessment.started": 1, "assessment.completed": 1, "candidate.failed": 1,
}  # fmt: skip
LATE = {"invitation.created": 1, "invitation.expired": 1}


class Heard:
    """What one endpoint gets, verified on arrival; one event in `refuse_every` is refused the first time."""

    def __init__(self, receiver: Receiver, secret: str) -> None:
        self.secret, self.refuse_every = secret, 0
        self.bodies: dict[str, set[bytes]] = defaultdict(set)
        self.requests = self.genuine = self.refused = 0
        self._lock = threading.Lock()
        receiver.answer(self._take)

    def _take(self, request: Received) -> Answer:
        with self._lock:
            first = request.id not in self.bodies
            self.requests += 1
            self.bodies[request.id].add(request.body)
            with suppress(standardwebhooks.WebhookVerificationError):
                self.genuine += bool(request.verify(self.secret))
            if first and self.refuse_every and int(request.id[-2:], 16) % self.refuse_every == 0:
                self.refused += 1
                return Answer(503)
        return Answer()


class Promises:
    """What must have happened to these people, and have arrived at these endpoints."""

    def __init__(self, tokens: list[str], *, started: int, heard: list["Heard"]) -> None:
        self.people, self.started, self.heard = len(tokens), started, heard
        self.expected = started * sum(STARTED.values()) + (self.people - started) * sum(LATE.values())

    def wait(self, seconds: float) -> bool:
        """Wait until every event has happened and nothing waits to be delivered."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            happened, waiting = self._counts()
            if happened >= self.expected and waiting == 0:
                return True
            time.sleep(1)
        return False

    def _counts(self) -> tuple[int, int]:
        with store.transaction() as session:
            happened = session.execute(text("SELECT count(*) FROM events")).scalar_one()
            waiting = session.execute(
                text(
                    "SELECT (SELECT count(*) FROM deliveries WHERE status <> 'delivered')"
                    " + (SELECT count(*) FROM events WHERE fanned_out_at IS NULL)"
                )
            ).scalar_one()
        return int(happened), int(waiting)

    def report(self) -> int:
        """Print each promise with its counts; return 1 if one was not kept."""
        with store.transaction() as session:
            events = session.execute(
                text("SELECT id, sequence, type, data FROM events ORDER BY sequence")
            ).all()
            deliveries = dict(
                session.execute(text("SELECT status, count(*) FROM deliveries GROUP BY status"))
                .tuples()
                .all()
            )
            counted = session.execute(
                text(f"SELECT sum({pending.NUMBER}) FROM webhook_endpoints AS endpoint")
            ).scalar_one()
            jobs = session.execute(text("SELECT count(*) FROM outbox WHERE finished_at IS NULL")).scalar_one()
        by_person: dict[str, Counter[str]] = defaultdict(Counter)
        for event in events:
            by_person[event.data["invite_token"]][event.type] += 1
        kinds = Counter(event.type for event in events)
        odd = [token for token, found in by_person.items() if found not in (Counter(STARTED), Counter(LATE))]
        ids = {f"evt_{event.id.hex}" for event in events}
        kept = [
            self._say(
                "events", f"{len(events)} of {self.expected}: {dict(kinds)}",
                lambda: len(events) == self.expected,
            ),
            self._say(
                "sequence", f"1 to {events[-1].sequence}, without a gap",
                lambda: [event.sequence for event in events] == list(range(1, len(events) + 1)),
            ),
            self._say("people", f"{len(by_person)} of {self.people}", lambda: len(by_person) == self.people),
            self._say("transitions", f"{len(odd)} people with one missing or made twice", lambda: not odd),
            self._say(
                "deliveries", f"{deliveries}",
                lambda: deliveries == {"delivered": len(events) * len(self.heard)},
            ),
            self._say("counters", f"{counted} pending by the endpoints' own count", lambda: counted == 0),
            self._say("work", f"{jobs} pieces left in the outbox", lambda: jobs == 0),
        ]  # fmt: skip
        for number, heard in enumerate(self.heard, start=1):
            kept += self._endpoint(f"endpoint {number}", heard, ids)
        return 0 if all(kept) else 1

    def _endpoint(self, name: str, heard: "Heard", ids: set[str]) -> list[bool]:
        again = heard.requests - len(heard.bodies)
        return [
            self._say(f"{name} got", f"{len(heard.bodies)} of {len(ids)} events", lambda: set(heard.bodies) == ids),
            self._say(
                f"{name} again", f"{again} requests, each under its first webhook-id with the same body"
                f" ({heard.refused} of them asked for)",
                lambda: all(len(found) == 1 for found in heard.bodies.values()),
            ),
            self._say(
                f"{name} signed", f"{heard.genuine} of {heard.requests} requests verified on arrival",
                lambda: heard.genuine == heard.requests,
            ),
        ]  # fmt: skip

    @staticmethod
    def _say(name: str, words: str, holds: Callable[[], bool]) -> bool:
        held = holds()
        print(f"  {'kept  ' if held else 'BROKEN'}  {name:18} {words}")
        return held
