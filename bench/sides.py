"""Whom requests are measured of: the product and its peers, started alike, each giving the same answers."""

import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import venv
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy import text as sql

import store
from app.instance.settings import Settings
from bench import figures
from rules.caller import Caller
from schemas import emails
from store import events
from store.accounts import keys, limits, organisations
from store.accounts.organisations import Organisation
from store.assessing import assessments, at_once, invitations, inviting
from store.database import bell, engine, listing
from store.database.prepared import Prepared

PEERS = Path(__file__).parent / "peers"
STATEMENTS = "statements.json"  # what peers ask the database and Redis
PREFIX = "/api/v1/public"
CONNECTIONS, INVITED = 16, 2_000
PLANS = json.dumps({"enterprise": {"reads": 2**31 - 1, "writes": 2**31 - 1}})
UVICORN = (
    "-m uvicorn {app}:app --port {port} --loop uvloop --http httptools --no-access-log --log-level warning"
    " --no-proxy-headers --no-server-header"
)
GUNICORN = (
    "-m gunicorn {app}:app -b 127.0.0.1:{port} -w 1 --threads 8 --keep-alive 75 --log-level error"
    " --no-control-socket"
)


class Peer(NamedTuple):
    """Where a peer lives, how it is started there, and with how many invitations at once it is tried."""

    environment: str  # and its requirements
    command: str
    at_once: tuple[int, ...]


# Of what has an event loop as many as ask, of the others as many as they have threads.
LOOP, THREADS = (2, 4, 8, CONNECTIONS), (2, 4, 8)
SIDES = {
    "floor": Peer("fastapi", UVICORN.replace("{app}", "floor"), LOOP),
    "fastapi": Peer("fastapi", UVICORN.replace("{app}", "fastapi_async"), LOOP),
    "litestar": Peer("litestar", UVICORN.replace("{app}", "litestar_async"), LOOP),
    "flask": Peer("flask", GUNICORN.replace("{app}", "flask_threads"), THREADS),
    "django_rest": Peer("django", GUNICORN.replace("{app}", "drf"), THREADS),
}
OURS = "hiring"
KINDS = {
    "get": f"{PREFIX}/assessments/bench/",
    "page_20": f"{PREFIX}/invites/?page_size=20",
    "page_100": f"{PREFIX}/invites/?page_size=100",
    "post": f"{PREFIX}/assessments/bench/invites/",
}


@dataclass
class Round:
    """What one round measured."""

    rate: float
    p50: float
    p99: float
    cpu: float  # microseconds per request
    others: float  # which share of the machine's time others used meanwhile


@dataclass
class Side:
    """One server."""

    port: int
    process: subprocess.Popen[bytes]
    at_once: int | None = None  # invitations that a peer carries out
    rounds: dict[str, list[Round]] = field(default_factory=lambda: {kind: [] for kind in KINDS})

    def all(self, kind: str, name: str) -> list[float]:
        """Return one measure of each round."""
        return [getattr(one, name) for one in self.rounds[kind]]


def text(prepared: Prepared) -> str:
    """Return a statement's text, what is fixed in it written out."""
    written, _, fixed, _ = prepared.of_threads
    for name, value in fixed.items():
        written = written.replace(f"%({name})s", str(value))
    return written


SQL = {
    "key": "SELECT api_keys.* FROM api_keys WHERE hash = %(hash)s",
    "assessment": text(assessments._READER.prepared),
    "invitations": text(invitations.LIST.prepare(listing.Form("-id"))),
    "look": text(at_once._look(of_squads=False)),
    "invite": text(at_once._alone(livemode=True, of_squads=False)),
    "bell": text(bell._NOTIFY),
}
# What a peer does as the product does it, whatever that is by now.
GIVEN = {
    "sql": SQL,
    "lua": limits._LUA,
    "settings": engine.SETTINGS,
    "usual_email": emails._USUAL.pattern,
    "short_email": emails._SHORT,
    "bell_rests": bell.QUIET_SECONDS,
}


def environment(name: str) -> Path:
    """Make a peer's environment where it is missing, or where its requirements changed; return its Python."""
    folder, wanted = figures.CACHE / "peers" / name, (PEERS / f"{name}.txt").read_text()
    python, note = folder / "bin" / "python", folder / "installed.txt"
    if not note.exists() or note.read_text() != wanted:
        print(f"Installing {name} for comparison …", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", PEERS / f"{name}.txt"], check=True)
        note.write_text(wanted)
    return python


def prepare() -> str:
    """Make one organisation with an assessment and invitations; return its key."""
    with store.transaction() as session:
        owner = organisations.create(session, name="Bench", plan="enterprise")
        _, key = keys.create(session, organisation=owner, name="bench", livemode=True)
        caller = Caller(owner.id, livemode=True, plan_name="enterprise")
        one = assessments.create(session, caller, {"title": "Bench", "description": "Word. " * 40})
        one.status = "active"
        session.flush()
        assert isinstance(owner, Organisation)
        candidates = [
            {
                "email": f"candidate-{number}@example.com",
                "name": "Ada Lovelace",
                "role": "Engineer",
                "external_id": f"reference-{number}",
                "expires_at": one.created_at.replace(year=one.created_at.year + 1, day=1),
                "extra_time_percent": 0,
                "tags": ["spring", "remote"],
            }
            for number in range(INVITED)
        ]
        inviting.create_all(session, caller, one, candidates)
    return key


def start(settings: Settings, folder: Path) -> dict[str, Side]:
    """Start the product and every peer."""
    (folder / STATEMENTS).write_text(json.dumps(GIVEN))
    return {OURS: start_ours(settings)} | {
        name: start_peer(settings, folder, peer, peer.at_once[-1]) for name, peer in SIDES.items()
    }


def start_ours(settings: Settings) -> Side:
    port = free_port()
    command = [sys.executable, "-P", "-m", "app.cli", "web", "--port", str(port)]
    # No side writes a line for each request.
    return Side(port, figures.start(command, settings, PLANS=PLANS, LOG_LEVEL="WARNING"))


def start_peer(settings: Settings, folder: Path, peer: Peer, at_once: int) -> Side:
    port = free_port()
    words = peer.command.format(port=port).split()
    given = {"BENCH_STATEMENTS": str(folder / STATEMENTS), "BENCH_INVITES_AT_ONCE": str(at_once)}
    command = [str(environment(peer.environment)), *words]
    process = figures.start(command, settings, cwd=PEERS, PYTHONPATH=str(PEERS), **given)
    return Side(port, process, at_once)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


# How many invitations have a profile of their own and a row of the audit log: whoever answers, writes both.
_NOTED = """
    SELECT count(DISTINCT invitations.id) FROM invitations JOIN candidates ON candidates.id = invitations.candidate_id
    JOIN audit_waiting ON resource_id = CAST(invitations.id AS text) AND action = 'create_invitation'
"""


def compare(sides: dict[str, Side], key: str) -> None:
    """See that every side gives the same answers and the same headers."""
    for kind in ("get", "page_20", "page_100"):
        answers = {name: ask(side, KINDS[kind], key) for name, side in sides.items()}
        for name, (body, headers) in answers.items():
            if (body, headers) != answers[OURS]:
                raise SystemExit(f"{name} answers {kind} differently: {body} {headers}, not {answers[OURS]}")
    with bell.listening() as relay:
        for name, side in sides.items():
            invite = {"email": f"First.{name}@example.com", "name": "Ada"}
            body, headers = ask(side, KINDS["post"], key, invite)
            if not relay.wait(10):
                raise SystemExit(f"{name} does not ring for the relay.")
            again, _ = ask(side, KINDS["post"], key, invite | {"email": invite["email"].lower()})
            if body["invite_token"] != again["invite_token"] or "x-ratelimit-remaining" not in headers:
                raise SystemExit(f"{name} does not invite as it should: {body}, {again}, {headers}")
    with store.transaction() as session:
        told = {one.data["email"] for one in session.scalars(select(events.Event))}
    if missing := {f"First.{name}@example.com" for name in sides} - told:
        raise SystemExit(f"There is no event for {missing}.")
    with store.transaction() as session:
        noted = session.execute(sql(_NOTED)).scalar_one()
    if noted != len(sides):
        raise SystemExit(f"{noted} of {len(sides)} sides wrote a profile and a row of the audit log.")


def ask(side: Side, path: str, key: str, body: object = None) -> tuple[dict[str, object], set[str]]:
    """Send one request, as soon as the server answers at all; return its body and its headers' names."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{side.port}{path}",
        None if body is None else json.dumps(body).encode(),
        {"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    )
    deadline = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                headers = {name.lower() for name in answer.headers}
                return json.load(answer), headers & {
                    "x-request-id",
                    "x-ratelimit-limit",
                    "x-ratelimit-remaining",
                    "x-ratelimit-reset",
                }
        except urllib.error.HTTPError as fault:
            raise SystemExit(f"{path}: {fault.code} {fault.read().decode()[:500]}") from fault
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
