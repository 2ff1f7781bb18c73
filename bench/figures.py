"""What all benches share: figures against targets, how they are written, a place to measure in."""

import argparse
import json
import operator
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from psycopg import sql
from sqlalchemy import make_url

from app.instance import children, embedded, places, wiring
from app.instance.embedded import Servers
from app.instance.settings import ROOT, Settings
from bench import machine
from store.operating import migrate

CACHE = ROOT / ".cache"
# Servers that are measured have the first core for themselves; load, PostgreSQL and Redis share the last one.
CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
_running: dict[str, Servers] = {}  # of the place that there is
SERVER, LOAD = {CORES[0]} if CORES else set(), {CORES[-1]} if CORES else set()

# Of the machine's time, from which on what others use disturbs a measure, and how often it is tried then.
DISTURBED, TRIES = 0.05, 3
T = TypeVar("T")


@dataclass(frozen=True)
class Figure:
    """One figure; `target` is None where a figure only informs, `spread` the least and the most of its rounds."""

    name: str
    value: float
    unit: str
    target: str | None = None
    met: bool | None = None
    spread: tuple[float, float] | None = None


Value = float | Sequence[float]  # a value, or that of each round, whose median counts
ROUNDS = 5  # that many short measures are put together into
Target = tuple[str, float]  # "<=" or ">=", and how much
MET: dict[str, Callable[[float, float], bool]] = {"<=": operator.le, ">=": operator.ge}


def beside(name: str, value: Value, unit: str, target: Target | None) -> Figure:
    """Make a figure, with a target or without."""
    rounds = [value] if isinstance(value, int | float) else list(value)
    reached = statistics.median(rounds)
    spread = (round(min(rounds), 3), round(max(rounds), 3)) if len(rounds) > 1 else None
    if target is None:
        return Figure(name, round(reached, 3), unit, spread=spread)
    sign, limit = target
    return Figure(name, round(reached, 3), unit, f"{sign} {limit:g}", MET[sign](reached, limit), spread)


def at_most(name: str, value: Value, unit: str, limit: float) -> Figure:
    return beside(name, value, unit, ("<=", limit))


def at_least(name: str, value: Value, unit: str, limit: float) -> Figure:
    return beside(name, value, unit, (">=", limit))


def plain(name: str, value: Value, unit: str) -> Figure:
    return beside(name, value, unit, None)


def in_rounds(
    found: Sequence[float], what: Callable[[Sequence[float]], float] = statistics.median
) -> list[float]:
    """Put short measures that follow each other together into rounds; return the median of each, or what is wanted."""
    edges = [len(found) * number // ROUNDS for number in range(ROUNDS + 1)]
    return [what(found[first:last]) for first, last in pairwise(edges) if first < last]


def ratios(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    """Return one as a multiple of the other, round by round."""
    return [one / other for one, other in zip(ours, theirs, strict=True)]


def main(measure: Callable[[bool], list[Figure]], description: str | None) -> None:
    """Run one bench from the command line."""
    given = parser(description).parse_args()
    run(lambda: (measure(given.quick), {}), given.json)


def parser(description: str | None) -> argparse.ArgumentParser:
    """Make what reads the command line of any bench."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    made.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    return made


def run(measure: Callable[[], tuple[list[Figure], dict[str, Any]]], file: Path | None) -> None:
    """Measure, print the figures, and write them to a file with whatever else is to be kept."""
    began = usage()
    figures, more = measure()
    busy = round(100 * others(began), 1)
    show(figures)
    print(f"Others used {busy:g} % of the machine's time meanwhile.", flush=True)
    if file:
        whole = {
            "measured": f"{datetime.now(UTC):%Y-%m-%d}",
            "machine": machine.described(),
            "others": busy,
            "figures": [asdict(one) for one in figures],
        }
        file.write_text(json.dumps(whole | more, indent=1) + "\n")


def show(figures: list[Figure]) -> None:
    """Print figures as a table."""
    width = max(len(one.name) for one in figures)
    for one in figures:
        verdict = {True: "met", False: "MISSED", None: ""}[one.met]
        spread = "{:,.10g} to {:,.10g}".format(*one.spread) if one.spread else ""
        reached = f"{one.value:>12,.10g} {one.unit:10} {spread:>24}"
        print(f"{one.name:{width}} {reached} {one.target or '':>10} {verdict}")
    sys.stdout.flush()


@contextmanager
def place(**changes: object) -> Iterator[Settings]:
    """Give a database and a Redis that nobody else uses, and that go when this ends.

    DATABASE_URL names the server alone: what is measured is a database of its own there. Without it there is a server
    of its own. Everything started from here on runs on the load's core; `on_server_core` moves what is measured.
    """
    with ExitStack() as stack:
        pin(0, LOAD)
        server = os.environ.get("DATABASE_URL")
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hiring-bench-")))
        folder.chmod(0o711)  # so that what the servers keep is within, and goes with it
        ours = ("redis",) if server else ("postgres", "redis")
        where = places.settle(folder)
        servers = stack.enter_context(embedded.own(where, ours, kind="command"))
        given = embedded.published(where)
        if server:
            given |= {"postgres": stack.enter_context(fenced(server))}
        migrate.upgrade(str(given["postgres"]))
        machine.note_server(str(given["postgres"]))
        settings = Settings(
            database_url=str(given["postgres"]),
            redis_url=str(given["redis"]),
            base_url="http://127.0.0.1",
            mail_dir=Path(tempfile.gettempdir()),
            secret_key="bench",
            webhook_allow_private=True,
            log_level="WARNING",
            **changes,  # type: ignore[arg-type]  # names of settings, whose types differ
        )
        wiring.configure(settings)
        _running["servers"] = servers
        yield settings


def restart_database() -> float | None:
    """Start PostgreSQL anew, with none of its files in the system's memory; return the seconds that the start took.

    Return None, and do nothing, where the server is not of our own.
    """
    servers = _running["servers"]
    if "postgres" not in servers.processes:
        return None
    children.stop(servers.processes["postgres"], servers.recipes["postgres"].stop, patience=120)
    for path in (one for one in (servers.where.state / "postgres").rglob("*") if one.is_file()):
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    began = time.monotonic()
    servers.start("postgres")
    return time.monotonic() - began


@contextmanager
def fenced(server: str) -> Iterator[str]:
    """Make a database of this process's own on a server, give its address, and drop it."""
    name = f"hiring_bench_{os.getpid()}"
    address = make_url(server)
    with psycopg.connect(
        address.set(drivername="postgresql").render_as_string(hide_password=False), autocommit=True
    ) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield address.set(database=name).render_as_string(hide_password=False)
        finally:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def pin(pid: int, cores: set[int]) -> None:
    """Keep a process, and what it starts, on some cores; where the system cannot, leave it."""
    if len(CORES) > 1:
        os.sched_setaffinity(pid, cores)


def start(
    command: list[str], settings: Settings, *, cwd: Path = ROOT, **environ: str
) -> subprocess.Popen[bytes]:
    """Start a server on the server's core, its output away."""
    given = {
        "PYTHONPATH": str(ROOT),
        "DATABASE_URL": settings.database_url,
        "REDIS_URL": settings.redis_url,
        "BASE_URL": settings.base_url,
        "SECRET_KEY": settings.secret_key,
        "MAIL_DIR": str(settings.mail_dir),
        "FILES_DIR": str(settings.files_dir),
        "WEBHOOK_ALLOW_PRIVATE": "1",
    }
    CACHE.mkdir(exist_ok=True)
    log = (CACHE / "bench.log").open("ab")
    process = subprocess.Popen(
        command, cwd=cwd, env=os.environ | given | environ, stdout=log, stderr=log, start_new_session=True
    )
    pin(process.pid, SERVER)
    return process


def stop(process: subprocess.Popen[bytes]) -> None:
    """Stop a process of ours and wait for it."""
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process and its children, of those too that have ended."""
    total = 0.0
    for one in family(pid):
        try:
            parts = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(map(int, parts[11:15])) / os.sysconf("SC_CLK_TCK")
    return total


def usage() -> tuple[float, float, float]:
    """Return what the machine did nothing in, all of its time, and what this process and all it started used."""
    idle, whole = machine.ticks()
    return idle, whole, cpu_seconds(os.getpid()) * os.sysconf("SC_CLK_TCK")


def others(since: tuple[float, float, float]) -> float:
    """Return which share of the machine's time others have used."""
    idle, whole, ours = (after - before for before, after in zip(since, usage(), strict=True))
    return max(0.0, whole - idle - ours) / max(1.0, whole)


def calm(measure: Callable[[], T], disturbed: Callable[[T], float]) -> T:
    """Measure; again where others used too much of the machine meanwhile. Return what they disturbed least."""
    tried: list[T] = []
    while len(tried) < TRIES and not (tried and disturbed(tried[-1]) <= DISTURBED):
        tried.append(measure())
    return min(tried, key=disturbed)


def family(pid: int) -> list[int]:
    """Return a process and all below it."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    try:
        below = [int(one) for one in children.read_text().split()]
    except OSError:
        below = []
    return [pid, *(found for child in below for found in family(child))]


def wait_until(ready: Callable[[], bool], *, seconds: float, what: str) -> float:
    """Wait for something; return how long it took."""
    began = time.monotonic()
    while not ready():
        if time.monotonic() - began > seconds:
            raise SystemExit(f"{what} took more than {seconds:g} s; see {CACHE / 'bench.log'}.")
        time.sleep(0.005)
    return time.monotonic() - began
