"""An hour of a steady mixed load on a whole instance, and whether what it takes stays as it is: `python -m bench.soak`.

Reads, writes and candidates' saves over a hundred organisations, one of them large, each with an endpoint for webhooks;
web, worker and schedule run. Memory, descriptors, dead rows and what waits are sampled every few seconds.
"""

import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import redis

import store
from app.instance.settings import Settings
from bench import depth_rows, figures, flat, mix, offered, samples, scale_rows
from bench.deliveries import Receiver, receiving
from bench.figures import Figure
from bench.loaders import percentile
from bench.offered import Went
from bench.sides import PLANS, free_port
from bench.start import answers
from rules.caller import Caller
from store.delivering import webhooks

MINUTES, QUICK_MINUTES = 60.0, 1.0
RATE, QUICK_RATE = 50, 40  # requests a second
EVERY, SAMPLES = 5.0, 120  # seconds between samples at most, and how many there are at least
WARM_RATE, WARM_SECONDS = (
    20,
    15,
)  # of requests that are not measured: what starts, and is asked first, takes longer
ORGANISATIONS, ROWS, QUICK_ROWS, WITH_ENDPOINT = 1_000, 100_000, 20_000, 100
SETTLED = 30.0  # minutes, less than which is all beginning
KEPT = 120  # values of each curve
TOOK = "Requests, ms"
FIRST = "/assessments/assessments-1/"
HOUR_MS = 3_600_000
OF_KINDS = {"reads": 0.7, "writes": 0.2}  # of the load, by the limits that count it
MOST_DEAD = 10  # % of a table's rows: half of what PostgreSQL leaves by itself


def main() -> None:
    """Read the command line."""
    parser = figures.parser(__doc__)
    parser.add_argument("--minutes", type=float, default=MINUTES, help="how long the load lasts")
    given = parser.parse_args()
    minutes = QUICK_MINUTES if given.quick else given.minutes
    figures.run(lambda: measure(minutes, quick=given.quick), given.json)


def measure(minutes: float, *, quick: bool) -> tuple[list[Figure], dict[str, Any]]:
    """Fill a database, let an instance work for so long, and look at what it took."""
    seconds = 60 * minutes
    rate, every = QUICK_RATE if quick else RATE, min(EVERY, seconds / SAMPLES)
    with figures.place(plans=PLANS) as settings, receiving() as receiver:
        filled = scale_rows.fill(ORGANISATIONS, QUICK_ROWS if quick else ROWS)
        listen(receiver)
        hour_before(settings, rate)
        with instance(settings) as (port, processes):
            usual = {"first": 0, "count": WITH_ENDPOINT}
            offered.offer(offered.mixed(filled, port, seed=1, rate=WARM_RATE, seconds=WARM_SECONDS, **usual))
            task = offered.mixed(filled, port, seed=2, rate=rate, seconds=seconds, **usual)
            before = receiver.count()
            with (
                offered.started([task]) as begin,
                samples.sampled(settings, processes, every) as taken,
                samples.used(processes) as spent,
            ):
                [told] = begin()
            went = Went(told, seconds)
            delivered = receiver.count() - before
    print(
        went,
        "" if went.is_sound else "(how long requests took is left out, for the load was late)",
        flush=True,
    )
    series = curves(taken)
    lines = {name: flat.fit(points) for name, points in series.items()}
    # What several processes share is in the RSS of each, so that it says nothing of their sum. Dead rows become more
    # until PostgreSQL clears them, again and again: how many there are at most is what can be said of them.
    judged = {name: line for name, line in lines.items() if name[0] not in (samples.RSS, samples.DEAD)}
    rising = [f"{said(panel)} of {name}" for (panel, name), line in judged.items() if line.rises]
    print(f"Rising: {', '.join(rising) or 'nothing'}.", flush=True)
    of_curves = f"soak: curves that rise in the later half, of {len(judged)}"
    made = [
        figures.plain("soak: minutes", minutes, ""),
        figures.plain("soak: requests", went.rate, "/s"),
        figures.plain("soak: webhooks delivered", delivered / seconds, "/s"),
        *(requests(went, seconds) if went.is_sound else ()),
        *(
            figures.plain(f"soak: CPU of {name}", 100 * one / seconds, "% of a core")
            for name, one in spent.items()
        ),
        figures.at_most(
            "soak: requests that were not answered as they should be", sum(went.faults.values()), "", 0
        ),
        figures.beside(of_curves, len(rising), "", ("<=", 0) if minutes >= SETTLED else None),
        figures.beside(
            "soak: dead rows in the later half, at most of any table",
            max(later(series, samples.DEAD)),
            "%",
            ("<=", MOST_DEAD) if minutes >= SETTLED else None,
        ),
        *(one for (panel, name), line in lines.items() for one in told_of(panel, name, line)),
    ]
    drawn = {name: thin(points) for name, points in series.items()} | {
        (TOOK, f"p{per_cent}"): by_minute(went, seconds, per_cent) for per_cent in (50, 99) if went.is_sound
    }
    panels: dict[str, dict[str, Any]] = {}
    for (panel, name), points in drawn.items():
        panels.setdefault(panel, {})[name] = points
    return made, {"minutes": minutes, "rate": rate, "rising": rising, "curves": panels}


def listen(receiver: Receiver) -> None:
    """Give some organisations an endpoint that takes all that happens."""
    with store.transaction() as session:
        for number in range(WITH_ENDPOINT):
            owner = depth_rows.made_id("organisations", number)
            caller = Caller(owner, livemode=True, plan_name="enterprise")
            url = f"http://127.0.0.1:{receiver.port}/{number}"
            endpoint, _ = webhooks.create(session, caller, url=url, events=["*"], name="", description="")
            webhooks.verify(session, endpoint)


def hour_before(settings: Settings, rate: float) -> None:
    """Count as much against the limits as if the load had lasted for an hour: they keep that long what they count."""
    begun = 1000 * time.time() - HOUR_MS
    with redis.Redis.from_url(settings.redis_url) as client:
        for number in range(WITH_ENDPOINT):
            for kind, share in OF_KINDS.items():
                every = 1000 * WITH_ENDPOINT / (rate * share)
                moments = [round(begun + place * every) for place in range(round(HOUR_MS / every))]
                key = f"limit:{depth_rows.made_id('organisations', number)}:{kind}"
                client.rpush(key, *moments)
                client.pexpire(key, HOUR_MS)


@contextmanager
def instance(settings: Settings) -> Iterator[tuple[int, dict[str, int]]]:
    """Run web, worker and schedule; give the port and the processes, those of the servers too."""
    port = free_port()
    words = {"web": ["web", "--port", str(port)], "work": ["work"], "schedule": ["schedule"]}
    with ExitStack() as stack:
        found = samples.servers(settings)
        for name, each in words.items():
            command = [sys.executable, "-P", "-m", "app.cli", *each]
            process = figures.start(command, settings, PLANS=PLANS, LOG_LEVEL="WARNING", **mix.PROXIED)
            figures.pin(process.pid, set(figures.CORES))  # as the system likes: it is no race
            stack.callback(figures.stop, process)
            found[name] = process.pid
        path, key = f"{mix.PREFIX}{FIRST}", mix.key(1)
        figures.wait_until(lambda: answers(port, path, key), seconds=60, what="The start")
        yield port, found


def curves(taken: list[tuple[float, Any]]) -> dict[tuple[str, str], list[tuple[float, float]]]:
    """Return the points of each series, in seconds from the first sample."""
    first = taken[0][0]
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for moment, panels in taken:
        for panel, values in panels.items():
            for name, value in values.items():
                found.setdefault((panel, name), []).append((moment - first, float(value)))
    return found


def later(series: dict[tuple[str, str], list[tuple[float, float]]], panel: str) -> Iterator[float]:
    """Yield what a panel's curves have in the later half."""
    for (one, _), points in series.items():
        middle = points[-1][0] / 2
        yield from (value for moment, value in points if one == panel and moment >= middle)


def requests(went: Went, seconds: float) -> Iterator[Figure]:
    """Tell how long requests took, and whether it was longer at the end."""
    for per_cent in (50, 99, 99.9):
        yield figures.plain(f"soak: p{per_cent:g} of a request", went.p(per_cent), "ms")
    early, late = (
        percentile(went.between(*part), 99) for part in ((0, seconds / 4), (seconds * 3 / 4, seconds))
    )
    yield figures.plain("soak: p99 in the last quarter as a multiple of the first", late / early, "x")
    yield figures.plain("soak: the load sent later than due, p99", went.late, "ms")


def told_of(panel: str, name: str, line: flat.Line) -> Iterator[Figure]:
    """Yield what there is of something in the later half, and how much an hour adds with its confidence as spread."""
    unit = panel.partition(", ")[2]
    of = f"soak: {said(panel)}: {name}"
    confidence = (round(line.low, 3), round(line.high, 3))
    yield figures.plain(of, line.mean, unit)
    yield Figure(f"{of}, an hour adds", round(line.slope, 3), unit, spread=confidence)


def said(panel: str) -> str:
    """Return a panel's heading within a sentence, without its unit."""
    return panel[0].lower() + panel[1:].partition(", ")[0]


def thin(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return few points for many: the mean of each part of the time."""
    size = max(1, len(points) // KEPT)
    parts = [points[at : at + size] for at in range(0, len(points), size)]
    return [
        (round(statistics.fmean(moments), 1), round(statistics.fmean(values), 3))
        for moments, values in (zip(*part, strict=True) for part in parts)
    ]


def by_minute(went: Went, seconds: float, per_cent: float) -> list[tuple[float, float]]:
    """Return a percentile of what was due in each minute, or in each of sixty parts of a shorter time."""
    step = max(1.0, seconds / 60)
    edges = [number * step for number in range(round(seconds / step))]
    return [
        (round(edge + step / 2, 1), round(percentile(went.between(edge, edge + step), per_cent), 3))
        for edge in edges
    ]


if __name__ == "__main__":
    main()
