"""A running service for the tests of an integration: fixtures of pytest, there wherever this distribution is installed.

`hiring` is an organisation of the test's own; `clock`, `simulate` and `inbox` are what its test mode can do. Nothing of
the service is imported: it runs beside the tests, as whoever they test would meet it.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Any

import httpx
import pytest

PUBLIC = "/api/v1/public"
OURS = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL")  # of the environment
Answer = dict[str, Any]


@dataclass(frozen=True)
class Server:
    """The service of a session: where it is, and who makes organisations there."""

    base_url: str
    asked: IO[str]
    answered: IO[str]

    def organisation(self, name: str) -> Answer:
        """Make an organisation with a key of each mode."""
        print(name, file=self.asked, flush=True)
        made: Answer = json.loads(self.answered.readline())
        return made


@dataclass(frozen=True)
class Hiring:
    """An organisation, its keys, and clients for its public API: of its test mode and of its live mode."""

    base_url: str
    organisation: str
    test_key: str
    live_key: str
    api: httpx.Client
    live: httpx.Client

    def ask(self, method: str, path: str, body: Any = None, **query: Any) -> Answer:
        """Ask an operation of test mode, and return what it answers; a refusal fails the test with its words."""
        answer = self.api.request(method, path, json=body, params=query)
        assert answer.is_success, f"{method} {path} answered {answer.status_code}: {answer.text}"
        found: Answer = answer.json() if answer.content else {}
        return found


@dataclass(frozen=True)
class Clock:
    """The time of test mode."""

    hiring: Hiring

    def advance(
        self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0
    ) -> list[Answer]:
        """Let time pass; return what happened meanwhile, in its order."""
        return self._move({"seconds": round(days * 86_400 + hours * 3_600 + minutes * 60 + seconds)})

    def to_next(self) -> list[Answer]:
        """Let time pass up to the next moment at which something happens."""
        return self._move({"to": "next_due"})

    def _move(self, body: Answer) -> list[Answer]:
        happened = []
        while body.get("seconds") or "to" in body:
            moved = self.hiring.ask("POST", "/test/clock/advance/", body)
            happened += moved["happened"]
            body = {"seconds": moved["remaining_seconds"]}
        return happened


@dataclass(frozen=True)
class Simulate:
    """People who are played."""

    hiring: Hiring

    def candidate(self, token: str, **how: Any) -> Answer:
        """Have an invitation taken: `outcome="pass"`, or `score=80`; `minutes`, `violations`, `answers`."""
        how = how if "score" in how else {"outcome": "pass"} | how
        return self.hiring.ask("POST", f"/test/invites/{token}/take/", how)

    def applications(self, job: str, count: int = 1, **how: Any) -> list[Answer]:
        """Have people apply for a job, by its slug or id: `quality="strong"`, `seed=7`."""
        made = self.hiring.ask("POST", f"/test/jobs/{job}/applications/", {"count": count} | how)
        return list(made["applications"])

    def offer(self, offer_id: str, reply: str = "accept", **how: Any) -> Answer:
        """Have an offer answered: "accept" or "decline", with a `reason`."""
        return self.hiring.ask("POST", f"/test/offers/{offer_id}/reply/", {"reply": reply} | how)

    def interview(self, room_id: str, **how: Any) -> Answer:
        """Hold an interview: `minutes`, `recommendation`."""
        return self.hiring.ask("POST", f"/test/interviews/{room_id}/play/", how)

    def event(self, type: str) -> Answer:
        """Send the documented example of an event."""
        return self.hiring.ask("POST", "/test/events/", {"type": type})

    def mails(self, to: str) -> list[Answer]:
        """Read the mails to somebody, the newest first, with their links."""
        return list(self.hiring.ask("GET", "/test/mails/", to=to)["mails"])


@dataclass
class Inbox:
    """An endpoint for all events of test mode, which leads to no machine."""

    hiring: Hiring
    answers: list[Answer] = field(default_factory=list)
    id: str = ""
    url: str = ""
    endpoint_id: str = ""
    secret: str = ""

    def __post_init__(self) -> None:
        made = self.hiring.ask("POST", "/test/inboxes/", {"answers": self.answers})
        endpoint = self.hiring.ask("POST", "/webhooks/create/", {"url": made["url"], "events": ["*"]})
        self.id, self.url = made["id"], made["url"]
        self.endpoint_id, self.secret = endpoint["id"], endpoint["secret_key"]
        self.hiring.ask("POST", f"/webhooks/{self.endpoint_id}/test/")

    def requests(self) -> list[Answer]:
        """Return what came, the newest hundred in their order: headers, body, whether the signature is sound."""
        return list(self.hiring.ask("GET", f"/test/inboxes/{self.id}/")["requests"])

    def events(self) -> list[Answer]:
        """Return the events that came, without the ping that an endpoint begins with."""
        read = [json.loads(one["body"]) for one in self.requests()]
        return [one for one in read if one["type"] != "webhook.test"]

    def wait_for(self, type: str, seconds: float = 10) -> Answer:
        """Return the first event of a type, as soon as it came."""
        deadline = time.monotonic() + seconds
        while True:
            events = self.events()
            for one in events:
                if one["type"] == type:
                    return one
            came = ", ".join(one["type"] for one in events) or "nothing"
            assert time.monotonic() < deadline, f"No {type} came within {seconds} s, but {came}."
            time.sleep(0.1)


@contextmanager
def serving() -> Iterator[Server]:
    """Run an instance of which nothing is kept; it ends with us, however we do."""
    # The program under test may have an `app` of its own: no folder of its is looked into.
    command = [os.environ.get("HIRING_COMMAND", "")]
    command = command if command[0] else [sys.executable, "-I", "-m", "app.cli"]
    piped: Any = {
        "stdin": subprocess.PIPE,
        "stdout": subprocess.PIPE,
        "text": True,
        # Nor are its settings ours.
        "env": {name: value for name, value in os.environ.items() if name in OURS},
    }
    up = [*command, "up", "--ephemeral", "--until-stdin-ends", "--json"]
    with (
        tempfile.TemporaryFile("w+") as said,
        subprocess.Popen(up, **piped, stderr=said) as running,
    ):
        assert running.stdout
        if not (line := running.stdout.readline()):
            said.seek(0)
            raise RuntimeError(f"The service did not start: {said.read()}")
        facts = json.loads(line)
        make = [*command, "orgs", "create-each", "--plan", "enterprise", "--data", facts["data"]]
        with subprocess.Popen(make, **piped, stderr=said) as making:
            assert making.stdin
            assert making.stdout
            yield Server(facts["base_url"], making.stdin, making.stdout)
        running.terminate()


@pytest.fixture(scope="session")
def hiring_server() -> Iterator[Server]:
    """One service for all tests of a session."""
    with serving() as server:
        yield server


@pytest.fixture
def hiring(hiring_server: Server, request: pytest.FixtureRequest) -> Iterator[Hiring]:
    """An organisation of this test alone."""
    made = hiring_server.organisation(request.node.name[:200])
    keys = {mode: made[f"{mode}_key"] for mode in ("test", "live")}
    clients = {
        mode: httpx.Client(
            base_url=hiring_server.base_url + PUBLIC,
            headers={"Authorization": f"Bearer {key}"},
            timeout=60,
            trust_env=False,
        )
        for mode, key in keys.items()
    }
    with clients["test"] as api, clients["live"] as live:
        yield Hiring(hiring_server.base_url, made["slug"], keys["test"], keys["live"], api, live)


@pytest.fixture
def clock(hiring: Hiring) -> Clock:
    """The time of the organisation's test mode."""
    return Clock(hiring)


@pytest.fixture
def simulate(hiring: Hiring) -> Simulate:
    """Those who act in the organisation's test mode."""
    return Simulate(hiring)


@pytest.fixture
def inbox(hiring: Hiring) -> Inbox:
    """What the organisation's test mode tells of."""
    return Inbox(hiring)
