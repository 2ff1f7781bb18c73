"""Deliveries per second of one worker to endpoints that answer after 10 ms: `python -m bench.deliveries`.

Uses DATABASE_URL and REDIS_URL (an empty database), or embedded servers in a folder of their own.
"""

import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from sqlalchemy import text

import store
from app import embedded, wiring
from app.settings import ROOT, Settings
from rules.caller import Caller
from store import events, migrate, organisations, webhooks

EVENTS = 5_000
DATA = {
    "session_id": "0190b6f1-7d3c-7a1e-9a51-0a6c1f6f0a01",
    "assessment_title": "Backend engineer",
    "candidate_email": "zoe@example.com",
    "candidate_name": "Zoë Ōta",
    "started_at": "2026-03-01T12:00:00.000Z",
}


def measure(settings: Settings, endpoints: int) -> float:
    """Commit events for some endpoints, start a worker, and return what it delivers in a second."""
    total = EVENTS // endpoints * endpoints
    command = [sys.executable, "-m", "bench.receiver"]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as receiver:
        assert receiver.stdin
        assert receiver.stdout
        prepare(int(receiver.stdout.readline()), endpoints)

        def count() -> int:
            print(file=receiver.stdin, flush=True)
            return int(receiver.stdout.readline())

        worker = start(settings)
        try:
            while not (first := count()):
                time.sleep(0.005)
            began = time.monotonic()
            while (last := count()) < total:
                time.sleep(0.01)
            took = time.monotonic() - began
        finally:
            worker.terminate()
            worker.wait()
            receiver.stdin.close()
    with store.transaction() as session:
        waiting = session.execute(text("SELECT count(*) FROM deliveries WHERE status = 'pending'"))
        assert waiting.scalar_one() == 0
    return (last - first) / took


def prepare(port: int, endpoints: int) -> None:
    """Register endpoints, then let things happen."""
    with store.transaction() as session:
        owner = organisations.create(session, name="Bench", plan="growth")
        caller = Caller(owner.id, livemode=True, plan_name="growth")
        for number in range(endpoints):
            url = f"http://127.0.0.1:{port}/{number}"
            endpoint, _ = webhooks.create(session, caller, url=url, events=["*"], name="", description="")
            webhooks.verify(session, endpoint)
    with store.transaction() as session:
        for _ in range(EVENTS // endpoints):
            events.record(session, "assessment.started", caller, DATA)


def start(settings: Settings) -> subprocess.Popen[bytes]:
    """Start one worker."""
    environ = {
        "PYTHONPATH": str(ROOT),
        "DATABASE_URL": settings.database_url,
        "REDIS_URL": settings.redis_url,
        "BASE_URL": settings.base_url,
        "SECRET_KEY": settings.secret_key,
        "WEBHOOK_ALLOW_PRIVATE": "1",
        "LOG_LEVEL": settings.log_level,
    }
    command = "from app import processes, settings; processes.work(settings.read())"
    return subprocess.Popen([sys.executable, "-c", command], cwd=ROOT, env=os.environ | environ)


def main() -> None:
    """Measure with one endpoint and with twenty."""
    with ExitStack() as stack:
        given = {"postgres": os.environ.get("DATABASE_URL"), "redis": os.environ.get("REDIS_URL")}
        missing = tuple(name for name, url in given.items() if not url)
        if missing:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            given |= stack.enter_context(embedded.use(folder, missing, durable=True))
        migrate.upgrade(str(given["postgres"]))
        settings = Settings(
            database_url=str(given["postgres"]),
            redis_url=str(given["redis"]),
            base_url="http://localhost",
            mail_dir=Path(tempfile.gettempdir()),
            secret_key="bench",
            webhook_allow_private=True,
            log_level="WARNING",
        )
        wiring.configure(settings)
        for endpoints in (1, 20):
            print(f"{endpoints:>3} endpoints: {measure(settings, endpoints):,.0f} deliveries/s")


if __name__ == "__main__":
    main()
