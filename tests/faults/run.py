"""The fault run: `python -m tests.faults.run` (about five minutes; `tox -e faults`).

People are invited, start and run out of time through two web processes, while everything that can fall is killed in
turn: each worker (the relay is in it), both at once, each schedule, each web process, PostgreSQL, and Redis, which is
gone for a while and comes back empty. At the end it counts what the service promised. Any promise that was not
kept ends the run with status 1.
"""

import argparse
import itertools
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import redis
from sqlalchemy import text

import store
from app.instance import children, embedded, places, wiring
from app.instance.settings import Settings
from store.accounts import keys, organisations
from store.operating import migrate
from tests import receiver as receivers
from tests.faults.processes import Fleet
from tests.faults.promises import Heard, Promises

API = "/api/v1/public"
PATIENCE = 420.0  # seconds for everything to settle after the last fault
REDIS_AWAY = 20.0
BETWEEN = 5.0  # seconds from one fault to the next


class Load:
    """What clients do: each call is repeated until it is answered, under one Idempotency-Key."""

    def __init__(self, bases: list[str], key: str, *, invited: int, started: int) -> None:
        self.bases, self.invited, self.started = itertools.cycle(bases), invited, started
        self.http = httpx.Client(headers={"Authorization": f"Bearer {key}"}, timeout=20, trust_env=False)
        self.tokens: list[str] = []
        self.repeated = Counter[str]()
        self.slug = ""
        self.stopping = threading.Event()

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Call until there is an answer that is not an outage."""
        headers = {"Idempotency-Key": f"{random.getrandbits(128):x}"} if method == "POST" else {}
        while not self.stopping.is_set():
            try:
                answer = self.http.request(method, next(self.bases) + path, json=body, headers=headers)
            except httpx.HTTPError:
                self.repeated["no answer"] += 1
            else:
                busy = answer.status_code == 409 and "IDEMPOTENCY_IN_PROGRESS" in answer.text
                if answer.status_code < 500 and not busy:
                    assert answer.is_success, f"{method} {path} answered {answer.status_code}: {answer.text}"
                    return answer.json()
                self.repeated[str(answer.status_code)] += 1
            time.sleep(0.2)
        raise InterruptedError

    def prepare(self, hooks: list[str]) -> list[str]:
        """Make the assessment and the endpoints; return the endpoints' secrets."""
        case = {
            "title": "One of two", "case_type": "mcq",
            "options": [{"id": "a", "text": "A", "is_correct": True}, {"id": "b", "text": "B"}],
        }  # fmt: skip
        made = self.call("POST", f"{API}/cases/create/", case)
        assessment = {
            "title": "Faults",
            "time_limit_minutes": 1,
            "cases": [{"case_id": made["id"], "source": "org"}],
        }
        self.slug = self.call("POST", f"{API}/assessments/create/", assessment)["slug"]
        self.call("PATCH", f"{API}/assessments/{self.slug}/update/", {"status": "active"})
        secrets = []
        for url in hooks:
            hook = self.call("POST", f"{API}/webhooks/create/", {"url": url, "events": ["*"]})
            self.call("POST", f"{API}/webhooks/{hook['id']}/test/")
            secrets.append(hook["secret_key"])
        return secrets

    def person(self, number: int) -> None:
        """Invite somebody; some start and let their time run out, of the others some never come."""
        body = {"email": f"person-{number}@example.com", "external_id": f"p-{number}"}
        token = self.call("POST", f"{API}/assessments/{self.slug}/invites/", body)["invite_token"]
        self.tokens.append(token)
        if number < self.started:
            self.call("POST", f"/api/v1/candidate/invites/{token}/start/")

    def run(self, *, seconds: float) -> None:
        """Do it all, evenly over a time."""
        began = time.monotonic()

        def one(number: int) -> None:
            due = began + seconds * number / self.invited
            time.sleep(max(0.0, due - time.monotonic()))
            self.person(number)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(one, range(self.invited)))


def faults(
    fleet: Fleet, servers: embedded.Servers, redis_url: str
) -> Iterator[tuple[str, Callable[[], None]]]:
    """Give everything that falls, in turn."""
    for name in ("work-1", "work-2", "schedule-1", "schedule-2", "web-1", "web-2"):
        yield f"kill -9 {name}", lambda name=name: fleet.kill(name)
    yield "kill -9 both workers (every relay)", lambda: fleet.kill("work-1", "work-2")
    yield "kill -9 both schedules", lambda: fleet.kill("schedule-1", "schedule-2")
    yield "restart PostgreSQL", lambda: restart_postgres(servers)
    yield f"stop Redis for {REDIS_AWAY:.0f} s and flush it", lambda: lose_redis(servers, redis_url)


def restart_postgres(servers: embedded.Servers) -> None:
    """Stop it in the middle of everything (immediate mode, as after a power cut) and start it."""
    children.stop(servers.processes["postgres"], signal.SIGQUIT, patience=30)
    servers.start("postgres")


def lose_redis(servers: embedded.Servers, redis_url: str) -> None:
    """Stop it, leave it away, start it with nothing in it."""
    children.stop(servers.processes["redis"], signal.SIGKILL, patience=10)
    time.sleep(REDIS_AWAY)
    servers.start("redis")
    with redis.Redis.from_url(redis_url) as client:
        client.flushall()


def main() -> int:
    """Run, count, say what was kept."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--invited", type=int, default=1_700)
    options.add_argument("--started", type=int, default=900)
    options.add_argument("--seconds", type=float, default=150)
    given = options.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hiring-faults-")))
        folder.chmod(0o711)
        servers = stack.enter_context(
            embedded.own(
                places.settle(folder / "data"), ("postgres", "redis"), kind="command", wait_for_users=False
            )
        )
        facts = embedded.published(servers.where)
        settings = Settings(
            database_url=facts["postgres"], redis_url=facts["redis"], base_url="http://localhost",
            mail_dir=folder, secret_key="faults", webhook_allow_private=True, log_level="WARNING",
        )  # fmt: skip
        migrate.upgrade(settings.database_url)
        wiring.configure(settings, pool_size=2)
        with store.transaction() as session:
            owner = organisations.create(session, name="Faults", plan="enterprise")
            _, key = keys.create(session, organisation=owner, name="faults", livemode=True)
        fleet = stack.enter_context(Fleet(settings, folder / "data" / "logs"))
        steady = stack.enter_context(receivers.running())
        flaky = stack.enter_context(receivers.running())
        load = Load(fleet.bases, key, invited=given.invited, started=given.started)
        secrets = load.prepare([steady.url, flaky.url])
        heard = [Heard(endpoint, secret) for endpoint, secret in zip((steady, flaky), secrets, strict=True)]
        heard[1].refuse_every = 5
        return play(load, fleet, servers, settings, heard, seconds=given.seconds)


def play(
    load: Load, fleet: Fleet, servers: embedded.Servers, settings: Settings,
    heard: list[Heard], *, seconds: float,
) -> int:  # fmt: skip
    """Let it happen, break things meanwhile, and look at what is left."""
    began = time.monotonic()
    loading = threading.Thread(target=load.run, kwargs={"seconds": seconds})
    loading.start()
    done = Counter[str]()
    expiring = threading.Event()
    while loading.is_alive() or not done["stop Redis for 20 s and flush it"]:
        for name, break_it in faults(fleet, servers, settings.redis_url):
            time.sleep(BETWEEN)
            say(began, name)
            break_it()
            done[name] += 1
            if not expiring.is_set() and len(load.tokens) >= load.invited * 0.6:
                expiring.set()
            if expiring.is_set():
                expire(load)
            if not loading.is_alive() and done["stop Redis for 20 s and flush it"]:
                break
    loading.join()
    expire(load)
    say(began, f"all done; letting it settle ({len(load.tokens)} people)")
    promises = Promises(load.tokens, started=load.started, heard=heard)
    settled = promises.wait(PATIENCE)
    say(began, "settled" if settled else "it did not settle in time")
    for name, count in done.items():
        print(f"  {count} × {name}")
    print(
        f"  calls repeated by clients: {dict(load.repeated)}; processes started again: {fleet.started_again}"
    )
    return promises.report()


def expire(load: Load) -> None:
    """Let those who have not come be late: their invitations end now, 7 days early."""
    for _ in range(100):
        try:
            with store.transaction() as session:
                session.execute(
                    text("UPDATE invitations SET expires_at = now() - interval '1 second' WHERE status = 'pending'"
                         " AND external_id = ANY (:late)"),
                    {"late": [f"p-{number}" for number in range(load.started, load.invited)]},
                )  # fmt: skip
            return
        except Exception as fault:  # the database is away just now
            print(f"  (expiry put off: {type(fault).__name__})")
            time.sleep(0.5)


def say(began: float, words: str) -> None:
    """Print with the seconds since the beginning."""
    print(f"{time.monotonic() - began:6.1f} s  {words}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
