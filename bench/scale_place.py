"""Where `bench.scale` measures: an instance of many organisations, web processes of it, and loads that were in time."""

import itertools
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from app.instance.settings import Settings
from bench import figures, offered, samples
from bench.mix import PREFIX, PROXIED, key
from bench.offered import Went
from bench.scale_rows import Filled
from bench.sides import PLANS, free_port
from bench.start import answers

TRIES = 3  # of a load that was late
WARM = 3  # seconds of a load that is not measured
READY = f"{PREFIX}/assessments/assessments-1/"


@dataclass
class Web:
    """Web processes on one port."""

    pid: int
    port: int


@dataclass
class Round:
    """A load; what the processes used meanwhile, seconds of a core and MiB at its end; what statements waited for."""

    went: Went
    cpu: dict[str, float]
    memory: dict[str, float]
    waits: Counter[str]
    others: float  # which share of the machine's time they used

    @property
    def locked(self) -> float:
        """Return how many of a hundred statements that were under way waited for a lock."""
        return (
            100
            * sum(self.waits[one] for one in self.waits if one.startswith("Lock"))
            / max(1, self.waits.total())
        )

    @property
    def web_cpu(self) -> float:
        """Return the microseconds that the web processes used for a request."""
        return self.cpu["web"] / self.went.count * 1e6


@dataclass
class Place:
    """A filled database and whoever answers from it."""

    settings: Settings
    filled: Filled
    refused: int = 0  # loads that were late
    seeds: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @contextmanager
    def serve(self, processes: int = 1, *, everywhere: bool = False) -> Iterator[Web]:
        """Run web processes, on the server's core or on all; give them once they answer."""
        port = free_port()
        command = [
            sys.executable,
            "-P",
            "-m",
            "app.cli",
            "web",
            "--port",
            str(port),
            "--processes",
            str(processes),
        ]
        process = figures.start(command, self.settings, PLANS=PLANS, LOG_LEVEL="WARNING", **PROXIED)
        if everywhere:
            figures.pin(process.pid, set(figures.CORES))
        try:
            figures.wait_until(lambda: answers(port, READY, key(1)), seconds=60, what="The start")
            yield Web(process.pid, port)
        finally:
            figures.stop(process)

    def mixed(self, web: Web, first: int, count: int, **more: Any) -> dict[str, Any]:
        """Make a task of the mixed load over organisations that nobody was invited to by its names before."""
        return offered.mixed(self.filled, web.port, first=first, count=count, seed=next(self.seeds), **more)

    def everyone(self, web: Web, **more: Any) -> dict[str, Any]:
        """Make a task of the same over all of them."""
        return self.mixed(web, 0, self.filled.organisations, **more)

    def run(self, web: Web, *tasks: dict[str, Any]) -> list[Round]:
        """Offer loads beside each other; what the processes used is that of all of them."""
        processes, began = samples.servers(self.settings) | {"web": web.pid}, figures.usage()
        with (
            offered.started(tasks) as begin,
            samples.used(processes) as cpu,
            samples.waits(self.settings) as waits,
        ):
            told = begin()
        others = figures.others(began)
        cpu["load"] = sum(one["cpu"] for one in told)
        memory = {name: sum(map(samples.pss, figures.family(pid))) for name, pid in processes.items()}
        memory["load"] = sum(one["memory"] for one in told)
        return [
            Round(Went(one, task["seconds"]), cpu, memory, waits, others)
            for one, task in zip(told, tasks, strict=True)
        ]

    def calm(self, web: Web, make: Callable[[], list[dict[str, Any]]]) -> list[Round]:
        """Do the same with the tasks that `make` makes, again where others disturbed it; the least disturbed counts."""
        return figures.calm(lambda: self.run(web, *make()), lambda found: found[0].others)

    def sound(self, web: Web, make: Callable[[], list[dict[str, Any]]], *, what: str) -> list[Round]:
        """Do the same again where the first load was late; nothing where each try was.

        Of that one are the figures. A burst beside it is due at one moment, and sent as fast as it can be.
        """
        for _ in range(TRIES):
            found = self.calm(web, make)
            for one in found:
                print(f"  {what}: {one.went}", flush=True)
            print(
                f"    others used {found[0].others:.1%}; statements under way: {found[0].waits.most_common(5)}",
                flush=True,
            )
            if found[0].went.is_sound:
                return found
            self.refused += 1
        print(f"  {what}: refused, for the load was late each time", flush=True)
        return []

    def warm(self, web: Web, make: Any) -> None:
        """Let a load pass that is not measured."""
        self.run(web, *make(WARM))
