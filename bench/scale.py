"""A mixed load over 1, 10 and 10,000 organisations, one of them as large as all others: `python -m bench.scale`.

How much one web process takes of a load that is open (bench/load.py), and what requests wait at half of that and at
four fifths; what small organisations notice of a burst of the large one; what a second process costs; careers pages at
a steady rate; and the first requests after a start of PostgreSQL and web with nothing in memory.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bench import figures, loaders, scale_rows
from bench.figures import Figure
from bench.offered import Went
from bench.scale_place import Place, Round, Web
from bench.sides import PLANS

ORGANISATIONS, ROWS = 10_000, 1_000_000
QUICK_ORGANISATIONS, QUICK_ROWS = 1_000, 50_000
FIRST, MOST = 16, 16_384  # requests a second: the first try and the last
LIMIT_MS = 500  # p99 that a rate is answered with
SHARES = (50, 80)  # per cent of the saturation rate
SMALL_SHARE, CAREERS_RATE, COLD_SHARE = 0.3, 60, 0.2
TWO = 1.1  # a request's CPU at two processes, of that at one
PERCENTILES = (50, 99, 99.9)


@dataclass(frozen=True)
class Lengths:
    """How long things are tried, in seconds, and how often."""

    probe: int
    long: int
    rounds: int
    burst_every: int
    close: float  # how near a rate is found
    tries: int  # of a rate, one of which has to hold


LENGTHS, QUICK = Lengths(10, 30, 3, 10, 1.08, 2), Lengths(4, 6, 1, 3, 1.5, 2)


@dataclass
class Step:
    """A rate that was tried."""

    count: int  # requests a second
    went: Went

    @property
    def holds(self) -> bool:
        """Whether all was answered as fast as it came: otherwise the line grows, and the wait in it."""
        return self.went.p(99) <= LIMIT_MS and self.went.is_sound and not self.went.faults

    def show(self) -> None:
        """Print it."""
        print(f"  {self.went}{'' if self.holds else ' - too much'}", flush=True)


def measure(quick: bool) -> list[Figure]:
    """Fill the database once, and measure one thing after the other."""
    count, rows = (QUICK_ORGANISATIONS, QUICK_ROWS) if quick else (ORGANISATIONS, ROWS)
    lengths = QUICK if quick else LENGTHS
    with figures.place(plans=PLANS) as settings:
        place = Place(settings, scale_rows.fill(count, rows))
        made, saturated = [], 0
        for among in (1, 10, count):
            print(f"{among:,} organisations", flush=True)
            found, saturated = mixed(place, among, lengths)
            made += found
        for what, part in PARTS.items():
            print(what, flush=True)
            made += part(place, saturated, lengths)
    return [*made, figures.plain("scale: loads that were refused, for they were late", place.refused, "")]


def mixed(place: Place, among: int, lengths: Lengths) -> tuple[list[Figure], int]:
    """Look for the rate that one web process takes, then hold it to shares of that; return that rate too."""
    name = f"scale, {among:,} {'organisation' if among == 1 else 'organisations'}"
    with place.serve() as web:

        def tried(rate: int, seconds: float) -> Step:
            [held] = place.calm(web, lambda: [place.mixed(web, 0, among, rate=rate, seconds=seconds)])
            return Step(rate, held.went)

        place.warm(web, lambda seconds: [place.mixed(web, 0, among, rate=FIRST, seconds=seconds)])
        found = loaders.search(
            lambda rate: tried(rate, lengths.probe),
            lambda rate: tried(rate, lengths.long),
            first=FIRST,
            most=MOST,
            close=lengths.close,
            tries=lengths.tries,
        )
        made = [figures.plain(f"{name}: saturation", found.count, "/s")]
        for share in SHARES:
            rate = found.count * share / 100
            held = repeated(
                place, web, lengths, f"{share} %", lambda rate=rate: [  # type: ignore[misc]  # a task of its own
                    place.mixed(web, 0, among, rate=rate, seconds=lengths.long)
                ]
            )  # fmt: skip
            if held:
                made += at_share(f"{name}, at {share} %", [one for [one] in held])
    return made, found.count


def repeated(
    place: Place, web: Web, lengths: Lengths, what: str, make: Callable[[], list[dict[str, Any]]]
) -> list[list[Round]]:
    """Offer loads in rounds; those that were in time count."""
    return [found for _ in range(lengths.rounds) if (found := place.sound(web, make, what=what))]


def at_share(name: str, held: Sequence[Round]) -> list[Figure]:
    """Tell what was answered, how long it took, and what the processes used."""
    made = [figures.plain(f"{name}: answered", [one.went.rate for one in held], "/s")]
    for per_cent in PERCENTILES:
        made.append(figures.plain(f"{name}: p{per_cent:g}", [one.went.p(per_cent) for one in held], "ms"))
    slowest = [one.went.slowest(90)[1] for one in held]
    made.append(figures.plain(f"{name}: p90 of the kind of request that waits longest", slowest, "ms"))
    for process in held[0].cpu:
        used = [100 * one.cpu[process] / one.went.seconds for one in held]
        made.append(figures.plain(f"{name}: CPU of {process}", used, "% of a core"))
    for process in held[0].memory:
        made.append(
            figures.plain(f"{name}: memory of {process}", [one.memory[process] for one in held], "MiB")
        )
    made.append(
        figures.plain(f"{name}: statements under way that wait for a lock", [one.locked for one in held], "%")
    )
    faults = sum(sum(one.went.faults.values()) for one in held)
    return [
        *made,
        figures.at_most(f"{name}: requests that were not answered as they should be", faults, "", 0),
    ]


def burst(place: Place, saturated: int, lengths: Lengths) -> list[Figure]:
    """Ask for small organisations at a steady rate, alone and beside the large one, whose second comes all at once."""
    small, waited = place.filled.organisations - 1, dict[str, list[float]]()
    with place.serve() as web:

        def alone(seconds: float) -> list[dict[str, Any]]:
            return [place.mixed(web, 1, small, rate=SMALL_SHARE * saturated, seconds=seconds)]

        def beside(seconds: float) -> list[dict[str, Any]]:
            given = {"burst": saturated, "every": lengths.burst_every, "seconds": seconds}
            return [*alone(seconds), place.mixed(web, 0, 1, **given)]

        place.warm(web, alone)
        for what, make in {"alone": alone, "beside bursts": beside}.items():
            held = repeated(place, web, lengths, what, lambda make=make: make(2 * lengths.long))  # type: ignore[misc]
            waited[what] = [rounds[0].went.p(99) for rounds in held]
    if not all(waited.values()):
        return []
    name = "scale, small organisations: p99"
    pairs = zip(waited["alone"], waited["beside bursts"], strict=False)
    return [
        *(figures.plain(f"{name} {what}", found, "ms") for what, found in waited.items()),
        figures.plain(f"{name} beside bursts as a multiple of alone", [two / one for one, two in pairs], "x"),
    ]


def two_processes(place: Place, saturated: int, lengths: Lengths) -> list[Figure]:
    """Compare a request's CPU at one and at two web processes, by turns at the same rate on the same cores."""
    cpu: dict[int, list[float]] = {1: [], 2: []}
    locked: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(lengths.rounds):
        for processes, found in cpu.items():
            with place.serve(processes, everywhere=True) as web:

                def make(seconds: float = lengths.long, web: Web = web) -> list[dict[str, Any]]:
                    return [place.everyone(web, rate=SHARES[0] / 100 * saturated, seconds=seconds)]

                place.warm(web, make)
                held = place.sound(web, make, what=f"{processes} web")
            if held:
                found.append(held[0].web_cpu)
                locked[processes].append(held[0].locked)
    if not all(cpu.values()):
        return []
    name = "scale: CPU of a request at two web processes as a multiple of one"
    return [
        figures.at_most(name, [two / one for one, two in zip(cpu[1], cpu[2], strict=False)], "x", TWO),
        *(figures.plain(f"scale: CPU of a request, web processes: {one}", cpu[one], "us") for one in cpu),
        *(
            figures.plain(
                f"scale: statements under way that wait for a lock, web processes: {one}", locked[one], "%"
            )
            for one in cpu
        ),
    ]


def careers(place: Place, _saturated: int, lengths: Lengths) -> list[Figure]:
    """Ask for the pages that the world sees: a job's, and the list of its organisation's jobs."""
    with place.serve() as web:

        def make(seconds: float = lengths.long) -> list[dict[str, Any]]:
            return [place.everyone(web, rate=CAREERS_RATE, seconds=seconds) | {"make": "pages"}]

        place.warm(web, make)
        held = [one for [one] in repeated(place, web, lengths, "careers", make)]
    if not held:
        return []
    made = [
        figures.plain(
            f"{kind} page at {CAREERS_RATE} /s: p{per_cent}",
            [one.went.p(per_cent, [kind]) for one in held],
            "ms",
        )
        for kind in ("careers list", "careers job")
        for per_cent in (50, 99)
    ]
    return [*made, figures.plain("careers pages: CPU of a request", [one.web_cpu for one in held], "us")]


def cold(place: Place, saturated: int, lengths: Lengths) -> list[Figure]:
    """Start PostgreSQL and web with nothing of the tables in memory, and ask at once; then ask the same again."""
    rate = COLD_SHARE * saturated
    started, first, waited = [], [], dict[str, list[float]]({"cold": [], "warm": []})
    for _ in range(lengths.rounds):
        took = figures.restart_database()
        if took is None:
            print("  left out: this PostgreSQL is not the bench's own, to be started anew", flush=True)
            return []
        started.append(took)
        with place.serve() as web:
            for what, found in waited.items():
                [one] = place.run(web, place.everyone(web, rate=rate, seconds=lengths.probe))
                print(f"  {what}: {one.went}", flush=True)
                if not one.went.is_sound:
                    place.refused += 1
                    continue
                found.append(one.went.p(99))
                if what == "cold":
                    first.append(1000 * max(one.went.first().values()))
    if not all(waited.values()):
        return []
    name = f"scale, {100 * COLD_SHARE:.0f} % of saturation for {lengths.probe} s"
    return [
        figures.plain("scale, cold: start of PostgreSQL", started, "s"),
        figures.plain("scale, cold: the first request of each kind, longest", first, "ms"),
        figures.plain(f"{name}: p99 after a cold start", waited["cold"], "ms"),
        figures.plain(f"{name}: p99 after that", waited["warm"], "ms"),
    ]


PARTS = {
    "small ones beside a burst": burst,
    "two web processes": two_processes,
    "careers pages": careers,
    "cold": cold,
}

if __name__ == "__main__":
    figures.main(measure, __doc__)
