"""Requests side by side with peers doing the same work on the same servers: `python -m bench.requests`."""

import json
import math
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import venv
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import select

import store
from app.instance.settings import Settings
from bench import figures
from bench.figures import Figure
from rules.caller import Caller
from store import events
from store.accounts import keys, limits, organisations
from store.accounts.organisations import Organisation
from store.assessing import assessments, invitations, inviting
from store.auditing import trail
from store.database import bell, listing
from store.database.prepared import Prepared

PEERS = Path(__file__).parent / "peers"
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
# Name: environment (and its requirements), and how it is started there.
SIDES = {
    "floor": ("fastapi", UVICORN.replace("{app}", "floor")),
    "fastapi": ("fastapi", UVICORN.replace("{app}", "fastapi_async")),
    "litestar": ("litestar", UVICORN.replace("{app}", "litestar_async")),
    "flask": ("flask", GUNICORN.replace("{app}", "flask_threads")),
    "django_rest": ("django", GUNICORN.replace("{app}", "drf")),
}
OURS = "hiring"
KINDS = {
    "get": f"{PREFIX}/assessments/bench/",
    "page_20": f"{PREFIX}/invites/?page_size=20",
    "page_100": f"{PREFIX}/invites/?page_size=100",
    "post": f"{PREFIX}/assessments/bench/invites/",
}
# How many times as fast we are to be: kind, peer, and at least.
RATIOS = [
    ("get", "fastapi_async", 1.2),
    ("get", "fastapi_orm", 2.5),
    ("get", "django_rest", 5.0),
    ("get", "floor", 0.6),
    ("post", "fastapi_async", 1.0),
    ("post", "fastapi_orm", 2.0),
]
LUA = """
local n, base = 0, "{base}"
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
request = function()
  n = n + 1
  return wrk.format(nil, nil, nil, '{{"email":"c' .. base .. '-' .. n .. '@example.com","name":"Ada Lovelace"}}')
end
"""


@dataclass
class Round:
    """What one round measured."""

    rate: float
    p50: float
    p99: float
    cpu: float  # microseconds per request


@dataclass
class Side:
    """One server."""

    port: int
    process: subprocess.Popen[bytes]
    rounds: dict[str, list[Round]] = field(default_factory=lambda: {kind: [] for kind in KINDS})

    def median(self, kind: str, name: str) -> float:
        return statistics.median(getattr(one, name) for one in self.rounds[kind])


def measure(quick: bool) -> list[Figure]:
    """Measure every side in alternating rounds, and say how we stand against each."""
    if not shutil.which("wrk"):
        raise SystemExit("This bench needs wrk: `apt-get install wrk`, `brew install wrk`.")
    rounds, seconds = (3, 1) if quick else (5, 3)
    interpreters = {name: environment(name) for name in {of for of, _ in SIDES.values()}}
    with (
        figures.place(plans=PLANS) as settings,
        tempfile.TemporaryDirectory() as folder,
        ExitStack() as stack,
    ):
        key = prepare()
        statements = Path(folder) / "statements.json"
        statements.write_text(json.dumps({"sql": SQL, "lua": limits._LUA}))
        sides = {OURS: start_ours(settings)} | {
            name: start_peer(settings, statements, interpreters[of], command)
            for name, (of, command) in SIDES.items()
        }
        for side in sides.values():
            stack.callback(figures.stop, side.process)
        compare(sides, key)
        for number in range(rounds):
            order = list(sides) if number % 2 else list(reversed(sides))
            for kind in KINDS:
                for name in order:
                    sides[name].rounds[kind].append(load(sides[name], kind, key, seconds, Path(folder)))
    return conclude(sides)


def text(prepared: Prepared) -> str:
    """Return a statement's text, what is fixed in it written out."""
    written = prepared.text
    for name, value in prepared.fixed.items():
        written = written.replace(f"%({name})s", str(value))
    return written


SQL = {
    "key": "SELECT api_keys.* FROM api_keys WHERE hash = %(hash)s",
    "assessment": text(assessments._READER.prepared),
    "invitations": text(invitations.LIST.prepare(listing.Form("-id"))),
    "existing": text(inviting._EXISTING),
    "invite": text(inviting._TAKE_AND_CREATE),
    "audit": text(trail._WRITE),
    "event": text(events._WRITE),
    "bell": text(bell._NOTIFY),
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


def start_ours(settings: Settings) -> Side:
    port = free_port()
    command = [sys.executable, "-P", "-m", "app.cli", "web", "--port", str(port)]
    # No side writes a line for each request.
    return Side(port, figures.start(command, settings, PLANS=PLANS, LOG_LEVEL="WARNING"))


def start_peer(settings: Settings, statements: Path, python: Path, command: str) -> Side:
    port = free_port()
    words = command.format(port=port).split()
    process = figures.start(
        [str(python), *words], settings, cwd=PEERS, PYTHONPATH=str(PEERS), BENCH_STATEMENTS=str(statements)
    )
    return Side(port, process)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def compare(sides: dict[str, Side], key: str) -> None:
    """See that every side gives the same answers and the same headers."""
    for kind in ("get", "page_20", "page_100"):
        answers = {name: ask(side, KINDS[kind], key) for name, side in sides.items()}
        for name, (body, headers) in answers.items():
            if (body, headers) != answers[OURS]:
                raise SystemExit(f"{name} answers {kind} differently: {body} {headers}, not {answers[OURS]}")
    for name, side in sides.items():
        body, headers = ask(side, KINDS["post"], key, {"email": f"First.{name}@example.com", "name": "Ada"})
        again, _ = ask(side, KINDS["post"], key, {"email": f"first.{name}@example.com", "name": "Ada"})
        if body["invite_token"] != again["invite_token"] or "x-ratelimit-remaining" not in headers:
            raise SystemExit(f"{name} does not invite as it should: {body}, {again}, {headers}")
    with store.transaction() as session:
        told = {one.data["email"] for one in session.scalars(select(events.Event))}
    if missing := {f"First.{name}@example.com" for name in sides} - told:
        raise SystemExit(f"There is no event for {missing}.")


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


def load(side: Side, kind: str, key: str, seconds: float, folder: Path) -> Round:
    """Load one side with one kind of request."""
    command = [
        "wrk",
        "-t1",
        f"-c{CONNECTIONS}",
        f"-d{seconds:g}s",
        "--latency",
        "-H",
        f"Authorization: Bearer {key}",
    ]
    if kind == "post":
        script = folder / "post.lua"
        script.write_text(LUA.format(base=time.monotonic_ns()))
        command += ["-s", str(script)]
    before = figures.cpu_seconds(side.process.pid)
    said = subprocess.run(
        [*command, f"http://127.0.0.1:{side.port}{KINDS[kind]}"], capture_output=True, text=True, check=True
    ).stdout
    used = figures.cpu_seconds(side.process.pid) - before
    if wrong := re.search(r"Non-2xx or 3xx responses: \d+|Socket errors:.*", said):
        # gunicorn now and then closes a connection that it was asked to keep; a wrong answer is another matter.
        print(f"{kind}: {wrong.group()}", file=sys.stderr)
        if "Non-2xx" in wrong.group():
            raise SystemExit(1)
    count = int(found(r"(\d+) requests in", said))
    rate = float(found(r"Requests/sec:\s+(\S+)", said))
    return Round(
        rate,
        milliseconds(found(r"\n\s+50%\s+(\S+)", said)),
        milliseconds(found(r"\n\s+99%\s+(\S+)", said)),
        used / count * 1e6,
    )


def found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    assert match, text
    return match.group(1)


def milliseconds(text: str) -> float:
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s)", text).groups()  # type: ignore[union-attr]
    return float(number) * {"us": 0.001, "ms": 1, "s": 1000}[unit]


def conclude(sides: dict[str, Side]) -> list[Figure]:
    """Turn rounds into figures: ratios are medians over rounds, each against its neighbour in the same round."""
    ours = sides[OURS]
    made = [
        figures.at_least(
            f"{kind}: requests/s as a multiple of {peer}", ratio(ours, sides[peer], kind), "x", least
        )
        for kind, peer, least in RATIOS
    ]
    made += [
        figures.plain(f"{kind}: requests/s as a multiple of {peer}", ratio(ours, sides[peer], kind), "x")
        for kind in KINDS
        for peer in SIDES
        if (kind, peer) not in {(one, other) for one, other, _ in RATIOS}
    ]
    for kind in ("get", "post"):
        tail = statistics.median(one.p99 / one.p50 for one in ours.rounds[kind])
        made.append(figures.at_most(f"{kind}: p99 as a multiple of p50", tail, "x", 4))
    twenty, hundred = (ours.median(kind, "cpu") / 1000 for kind in ("page_20", "page_100"))
    made.append(figures.at_most("page of 100: CPU as a multiple of a page of 20", hundred / twenty, "x", 4))
    made.append(figures.at_most("page of 100: CPU", hundred, "ms", 10))
    for kind in KINDS:
        for name, side in sides.items():
            made += [
                figures.plain(f"{kind}: {name} requests", side.median(kind, "rate"), "/s"),
                figures.plain(f"{kind}: {name} p50", side.median(kind, "p50"), "ms"),
                figures.plain(f"{kind}: {name} p99", side.median(kind, "p99"), "ms"),
                figures.plain(f"{kind}: {name} CPU", side.median(kind, "cpu"), "us"),
            ]
    return made


def ratio(ours: Side, theirs: Side, kind: str) -> float:
    pairs: Sequence[tuple[Round, Round]] = list(zip(ours.rounds[kind], theirs.rounds[kind], strict=True))
    return math.exp(statistics.median(math.log(one.rate / other.rate) for one, other in pairs))


if __name__ == "__main__":
    figures.main(measure, __doc__)
