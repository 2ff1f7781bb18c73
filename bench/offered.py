"""An open load that is offered to a web process, and how it went."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from bench import loaders
from bench.loaders import percentile
from bench.scale_rows import Filled

LOAD = "bench.load"
CONNECTIONS = 128
LATE_MS = 25  # at p99: a load that was later than that has measured itself


class Went:
    """What became of one load: times are milliseconds from when each request was due."""

    def __init__(self, told: Mapping[str, Any], seconds: float) -> None:
        self.kinds, self.due, self.took = told["kinds"], told["due"], told["took"]
        self.faults: dict[str, int] = told["faults"]
        self.seconds = seconds
        self.late = percentile(told["late"], 99)

    @property
    def count(self) -> int:
        """How many requests there were."""
        return len(self.took)

    @property
    def rate(self) -> float:
        """How many were answered in a second, before the last was due."""
        return (
            sum(due + took <= self.seconds for due, took in zip(self.due, self.took, strict=True))
            / self.seconds
        )

    @property
    def is_sound(self) -> bool:
        """Say whether the load was in time: it did not wait for a core of its own."""
        return self.late <= LATE_MS

    def p(self, per_cent: float, kinds: Collection[str] = ()) -> float:
        """Return a percentile, of some kinds of requests or of all."""
        return percentile(
            [took for kind, took in zip(self.kinds, self.took, strict=True) if not kinds or kind in kinds],
            per_cent,
        )

    def slowest(self, per_cent: float) -> tuple[str, float]:
        """Return the kind of request that waits longest, by a percentile: few of a kind are lost among all."""
        each = ((kind, self.p(per_cent, [kind])) for kind in set(self.kinds))
        return max(each, key=lambda found: found[1], default=("nothing", 0.0))

    def first(self) -> dict[str, float]:
        """Return how many seconds the first request of each kind took."""
        found: dict[str, float] = {}
        for kind, took in zip(self.kinds, self.took, strict=True):
            found.setdefault(kind, took)
        return found

    def between(self, since: float, until: float) -> list[float]:
        """Return how many seconds those took that were due then."""
        return [took for due, took in zip(self.due, self.took, strict=True) if since <= due < until]

    def __str__(self) -> str:
        faults = "".join(f"; {count} x {what}" for what, count in sorted(self.faults.items())[:3])
        kind, longest = self.slowest(90)
        return (
            f"{self.count / self.seconds:7.0f} /s offered, {self.rate:7.0f} /s answered, p50 {self.p(50):7.1f} ms,"
            f" p99 {self.p(99):8.1f} ms, p99.9 {self.p(99.9):8.1f} ms, p90 of {kind} {longest:.1f} ms,"
            f" sent late by {self.late:5.1f} ms{faults}"
        )


def mixed(filled: Filled, port: int, *, first: int, count: int, seed: int, **more: Any) -> dict[str, Any]:
    """Make the task of a load of the mix over so many organisations from the first one on; `more` says how much."""
    among = {"organisations": filled.organisations, "rows": filled.rows, "first": first, "count": count}
    return {
        "make": "mixed",
        "port": port,
        "connections": CONNECTIONS,
        "seed": seed,
        "mark": f"{seed}",
        **among,
        **more,
    }


def started(tasks: Sequence[dict[str, Any]]) -> AbstractContextManager[Callable[[], list[dict[str, Any]]]]:
    """Start a process for each load; what is given begins them and waits for what they saw."""
    return loaders.started(tasks, LOAD)


def offer(*tasks: dict[str, Any]) -> list[Went]:
    """Offer loads beside each other."""
    with started(tasks) as begin:
        return [Went(told, task["seconds"]) for told, task in zip(begin(), tasks, strict=True)]
