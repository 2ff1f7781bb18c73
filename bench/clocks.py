"""What others notice of two organisations that move the clocks of their test modes: `python -m bench.clocks`.

A steady pace of GET and of POST with a live key, by itself and beside two that let a month pass again and again, in
turn; and the year that a test plays, on one core.
"""

import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from threading import Event
from typing import Any

import httpx
from starlette.testclient import TestClient

import store
from app.http.application import create_app
from app.instance.settings import Settings
from bench import figures
from bench.figures import Figure
from bench.loaders import percentile, started
from bench.sides import KINDS, PLANS, PREFIX, free_port, prepare
from bench.start import answers
from store.accounts import keys, organisations
from tests.workers.test_a_year import test_a_year_passes_and_every_event_is_foretold as play

RATE, CONNECTIONS = 25, 8  # requests a second of each kind
SECONDS, QUICK_SECONDS, ROUNDS = 12, 8, 5
INVITED, MONTH = 20, 30 * 86_400
KINDS_ASKED = {"GET": KINDS["get"], "POST": KINDS["post"]}


def measure(quick: bool) -> list[Figure]:
    """Play a year; then ask in alternating rounds, with clocks that stand still and with two that are moved."""
    late: dict[tuple[str, bool], list[float]] = {}  # p99 of each round
    days = 0.0
    with figures.place(plans=PLANS) as settings:
        began = time.monotonic()
        with TestClient(create_app(settings), base_url=settings.base_url) as http:
            play(http)
        year = time.monotonic() - began
        key = prepare()
        with serving(settings, key) as port:
            for number in range(1 if quick else ROUNDS):
                for beside in (False, True) if number % 2 else (True, False):
                    with moving(port) if beside else ExitStack() as moved:
                        found = asked(port, key, QUICK_SECONDS if quick else SECONDS, f"{number}{beside:d}")
                    days += moved() if beside else 0
                    for kind, seconds in found.items():
                        late.setdefault((kind, beside), []).append(percentile(seconds, 99))
    made = [figures.at_most("clocks: a year of a test mode, on one core", year, "s", 60)]
    for kind in KINDS_ASKED:
        alone = figures.plain(f"clocks: p99 of a live {kind} while none is moved", late[kind, False], "ms")
        name, limit = f"clocks: p99 of a live {kind} beside two that are moved", max(2 * alone.value, 50)
        made += [alone, figures.at_most(name, late[kind, True], "ms", limit)]
    return [*made, figures.plain("clocks: days that passed meanwhile, of both", days, "")]


@contextmanager
def serving(settings: Settings, key: str) -> Iterator[int]:
    """Run a web process, a worker and a schedule, as an instance does."""
    port = free_port()
    with ExitStack() as stack:
        for words in (["web", "--port", str(port)], ["work"], ["schedule"]):
            command = [sys.executable, "-P", "-m", "app.cli", *words]
            process = figures.start(command, settings, PLANS=PLANS, LOG_LEVEL="WARNING")
            stack.callback(figures.stop, process)
        figures.wait_until(lambda: answers(port, KINDS["get"], key), seconds=60, what="The start")
        yield port


def asked(port: int, key: str, seconds: float, mark: str) -> dict[str, list[float]]:
    """Ask for one thing and make another at a steady pace; return how long each took."""
    usual = {"port": port, "seconds": seconds, "key": key, "rate": RATE, "connections": CONNECTIONS}
    tasks = [usual | {"path": path} for path in KINDS_ASKED.values()]
    tasks[1] |= {"body": f'{{"email": "c{mark}-{{number}}@example.com"}}'}
    with started(tasks) as begin:
        told = begin()
    if faults := {fault for one in told for fault in one["faults"]}:
        raise SystemExit(f"Live requests failed: {faults}")
    return {kind: one["took"] for kind, one in zip(KINDS_ASKED, told, strict=True)}


@contextmanager
def moving(port: int) -> Iterator[Any]:
    """Have two organisations let time pass; what is given says how many days, once that has ended."""
    over = Event()
    with store.transaction() as session:
        owners = [organisations.create(session, name="Tester", plan="enterprise") for _ in range(2)]
        testers = [keys.create(session, organisation=one, name="test", livemode=False)[1] for one in owners]
    with ThreadPoolExecutor(2) as pool:
        passing = [pool.submit(let_pass, port, key, over) for key in testers]
        try:
            yield lambda: sum(one.result() for one in passing)
        finally:
            over.set()


def let_pass(port: int, key: str, over: Event) -> float:
    """Invite some people and let a month pass, until it is over; return how many days it were."""
    url, seconds = f"http://127.0.0.1:{port}{PREFIX}", 0
    headers = {"Authorization": f"Bearer {key}"}
    with httpx.Client(base_url=url, headers=headers, timeout=60, trust_env=False) as api:

        def ask(path: str, body: Any = None) -> Any:
            return api.post(path, json=body).raise_for_status().json()

        inbox = ask("/test/inboxes/", {"answers": [{"status": 200}, {"status": 500}]})
        hook = ask("/webhooks/create/", {"url": inbox["url"], "events": ["*"]})
        ask(f"/webhooks/{hook['id']}/test/")
        slug = ask("/assessments/create/", {"title": "Clocks"})["slug"]
        api.patch(f"/assessments/{slug}/update/", json={"status": "active"}).raise_for_status()
        while not over.is_set():
            for number in range(INVITED):
                person = {"email": f"m{seconds}-{number}@example.com", "expires_days": 1 + number}
                ask(f"/assessments/{slug}/invites/", person)
            left = MONTH
            while left and not over.is_set():
                moved = ask("/test/clock/advance/", {"seconds": left})
                left, seconds = moved["remaining_seconds"], seconds + moved["advanced_seconds"]
    return seconds / 86_400


if __name__ == "__main__":
    figures.main(measure, __doc__)
