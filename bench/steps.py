"""Where a GET's CPU goes, step by step, in a web process under load: `python -m bench.steps`."""

import json
import os
import signal
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from greenlet import getcurrent, greenlet

from app.cli import main as command_line
from app.http import pipeline
from app.http.pipeline import Pipeline
from app.http.threads import places
from app.instance.settings import ROOT
from bench import figures
from bench.figures import Figure
from bench.requests import load
from bench.sides import KINDS, PLANS, Side, ask, free_port, prepare
from store.database import greenlets, loops, pipe

STEPS = ("identify", "count", "read", "run", "render")
WAITING = (loops, pipe, places, pipeline)  # modules in which a step waits, while the loop does something else
TOTALS = "BENCH_TOTALS"  # names the file that the process writes what it has spent to, when it is told to


def measure(quick: bool) -> list[Figure]:
    """Load one process whose steps are timed, in rounds; what is no step is the server's and the drivers'."""
    spent: dict[str, list[float]] = defaultdict(list)
    with (
        figures.place(plans=PLANS) as settings,
        tempfile.TemporaryDirectory() as folder,
        ExitStack() as stack,
    ):
        key, port, totals = prepare(), free_port(), Path(folder) / "totals.json"
        command = [sys.executable, "-W", "ignore", "-m", "bench.steps", "serve", str(port)]
        timed = {TOTALS: str(totals), "PLANS": PLANS, "LOG_LEVEL": "WARNING"}
        side = Side(port, figures.start(command, settings, cwd=ROOT, **timed))
        stack.callback(figures.stop, side.process)
        ask(side, KINDS["get"], key)
        load(side, "get", key, 1, Path(folder))
        for _ in range(2 if quick else 5):
            before = told(side, totals)
            round = load(side, "get", key, 1 if quick else 4, Path(folder))
            for name, cost in parts(before, told(side, totals), round.cpu).items():
                spent[name].append(cost)
    return [figures.plain(f"a GET's CPU: {name}", costs, "us") for name, costs in spent.items()]


def parts(before: dict[str, float], after: dict[str, float], cpu: float) -> dict[str, float]:
    """Return what a request took in each step, what of its CPU is left beside them, and all of it, in microseconds."""
    count = after["requests"] - before["requests"]
    steps = {name: (after[name] - before[name]) / count / 1000 for name in STEPS}
    return {**steps, "server and drivers": cpu - sum(steps.values()), "all": cpu}


def told(side: Side, totals: Path) -> dict[str, float]:
    """Ask the process what it has spent until now."""
    totals.unlink(missing_ok=True)
    os.kill(side.process.pid, signal.SIGUSR1)
    figures.wait_until(totals.exists, seconds=10, what="An answer of the process")
    return dict(json.loads(totals.read_text()))


def serve(port: str) -> None:
    """Be `hiring web` whose steps note the CPU time of their threads; not what others take while one waits."""
    spent: dict[str, int] = dict.fromkeys((*STEPS, "requests"), 0)
    away: dict[greenlet, int] = defaultdict(int)
    adding = threading.Lock()

    def timed(name: str, step: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any) -> Any:
            mine = getcurrent()
            began = time.thread_time_ns() - away[mine]
            try:
                return step(*given)
            finally:
                took = time.thread_time_ns() - away[mine] - began
                with adding:
                    spent[name] += took
                    spent["requests"] += name == "render"

        return run

    def waiting(awaitable: Any) -> Any:
        mine, left = getcurrent(), time.thread_time_ns()
        try:
            return greenlets.wait_for(awaitable)
        finally:
            away[mine] += time.thread_time_ns() - left

    def tell(_signal: int, _frame: object) -> None:
        file = Path(os.environ[TOTALS])
        part = file.with_suffix(".part")
        part.write_text(json.dumps(spent))
        part.replace(file)

    for name in STEPS:
        setattr(Pipeline, name, timed(name, getattr(Pipeline, name)))
    for module in WAITING:
        module.wait_for = waiting  # type: ignore[attr-defined]
    signal.signal(signal.SIGUSR1, tell)
    sys.argv = ["hiring", "web", "--port", port]
    command_line()


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve(sys.argv[2])
    else:
        figures.main(measure, __doc__)
