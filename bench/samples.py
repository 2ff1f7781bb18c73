"""What an instance's processes take, and what waits and is left behind in its tables, at one moment."""

import os
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import redis
from psycopg.rows import dict_row

from app.instance.settings import Settings
from bench.figures import cpu_seconds, family

PSS, RSS, OPEN, DEAD, WAITING = (
    "Memory (PSS), MiB",
    "Memory (RSS), MiB",
    "Open descriptors",
    "Dead rows, % of all",
    "Waiting",
)
# Tables whose rows are changed while they are used; the others are told of together.
WATCHED = ("events", "deliveries", "outbox", "session_cases", "invitations")
_DEAD = """
SELECT relname AS table, n_dead_tup AS dead, n_live_tup AS live FROM pg_stat_user_tables
"""
_WAITING = """
SELECT (SELECT count(*) FROM events WHERE fanned_out_at IS NULL) AS events,
       (SELECT count(*) FROM deliveries WHERE status = 'pending') AS deliveries,
       (SELECT count(*) FROM outbox WHERE finished_at IS NULL) AS outbox,
       (SELECT count(*) FROM audit_waiting) AS audit
"""
_LOCKS = """
SELECT coalesce(wait_event_type, 'CPU') AS kind, coalesce(wait_event, 'running') AS what FROM pg_stat_activity
WHERE datname = current_database() AND state = 'active' AND backend_type = 'client backend' AND pid <> pg_backend_pid()
"""


def servers(settings: Settings) -> dict[str, int]:
    """Return the processes of PostgreSQL and Redis, as far as they run on this machine."""
    with psycopg.connect(settings.database_url) as connection:
        postmaster = _parent(connection.info.backend_pid)
    with redis.Redis.from_url(settings.redis_url) as client:
        found = {"PostgreSQL": postmaster, "Redis": int(client.info("server")["process_id"])}
    words = {"PostgreSQL": "postgres", "Redis": "redis"}
    return {name: pid for name, pid in found.items() if pid and words[name] in _read(pid, "comm")}


def take(connection: psycopg.Connection[Any], processes: Mapping[str, int]) -> dict[str, dict[str, float]]:
    """Return what there is now, as panels of series."""
    panels: dict[str, dict[str, float]] = {PSS: {}, RSS: {}, OPEN: {}, DEAD: {}, WAITING: {}}
    for name, pid in processes.items():
        every = family(pid)
        panels[PSS][name] = sum(pss(one) for one in every)
        panels[RSS][name] = sum(rss(one) for one in every)
        panels[OPEN][name] = sum(descriptors(one) for one in every)
    with connection.cursor(row_factory=dict_row) as cursor:
        dead, live = Counter[str](), Counter[str]()
        for row in cursor.execute(_DEAD).fetchall():
            table = row["table"] if row["table"] in WATCHED else "all others"
            dead[table] += row["dead"]
            live[table] += row["live"]
        panels[DEAD] = {
            one: 100 * dead[one] / max(1, dead[one] + live[one]) for one in (*WATCHED, "all others")
        }
        panels[WAITING] = dict(cursor.execute(_WAITING).fetchone() or {})
    return panels


def pss(pid: int) -> float:
    """Return the memory of a process in MiB, what it shares with others divided by those who share it."""
    found = [line.split()[1] for line in _read(pid, "smaps_rollup").splitlines() if line.startswith("Pss:")]
    return int(found[0]) / 1024 if found else 0.0


def rss(pid: int) -> float:
    """Return the resident memory of a process in MiB, all that it shares in it."""
    found = _read(pid, "statm").split()
    return int(found[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20 if found else 0.0


def descriptors(pid: int) -> int:
    """Return how many files and connections a process has open."""
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208 - names alone
    except OSError:
        return 0


def _read(pid: int, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text()
    except OSError:  # it has ended, or is somebody else's
        return ""


def _parent(pid: int) -> int:
    fields = _read(pid, "stat").rpartition(") ")[2].split()
    return int(fields[1]) if fields else 0


@contextmanager
def sampled(
    settings: Settings, processes: Mapping[str, int], every: float
) -> Iterator[list[tuple[float, Any]]]:
    """Take samples (moment, panels) again and again as long as the block."""
    found: list[tuple[float, Any]] = []
    over = threading.Event()

    def watch() -> None:
        with psycopg.connect(settings.database_url, autocommit=True) as connection:
            due = time.monotonic()
            while not over.wait(max(0.0, due - time.monotonic())):
                due += every
                found.append((time.monotonic(), take(connection, processes)))

    with _beside(watch, over):
        yield found


@contextmanager
def waits(settings: Settings, every: float = 0.05) -> Iterator[Counter[str]]:
    """Count what statements under way wait for, each so many seconds as long as the block; `CPU` waits for nothing."""
    found: Counter[str] = Counter()
    over = threading.Event()

    def watch() -> None:
        with psycopg.connect(settings.database_url, autocommit=True) as connection:
            while not over.wait(every):
                found.update(f"{kind}: {what}" for kind, what in connection.execute(_LOCKS).fetchall())

    with _beside(watch, over):
        yield found


@contextmanager
def _beside(watch: Any, over: threading.Event) -> Iterator[None]:
    faults: list[Exception] = []

    def watched() -> None:
        try:
            watch()
        except Exception as fault:
            faults.append(fault)

    thread = threading.Thread(target=watched)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    if faults:
        raise faults[0]


@contextmanager
def used(processes: Mapping[str, int]) -> Iterator[dict[str, float]]:
    """Give the seconds of a core that each of some processes used in the block, once it has ended."""
    found: dict[str, float] = {}
    before = {name: cpu_seconds(pid) for name, pid in processes.items()}
    yield found
    found.update({name: cpu_seconds(pid) - before[name] for name, pid in processes.items()})
