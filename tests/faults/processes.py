"""Two of each process of a deployment, started again whenever they fall."""

import os
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from app.instance import children
from app.instance.children import Recipe
from app.instance.settings import Settings
from tests.shared import HIRING, environ, free_port

PLANS = '{"enterprise": {"reads": 10000000, "writes": 10000000}}'


class Fleet:
    """web-1, web-2, work-1, work-2, schedule-1, schedule-2."""

    def __init__(self, settings: Settings, logs: Path, more: Mapping[str, str] | None = None) -> None:
        ports = {f"web-{number}": free_port() for number in (1, 2)}
        self.bases = [f"http://127.0.0.1:{port}" for port in ports.values()]
        env = environ(settings) | {"PLANS": PLANS, "CANDIDATE_LIMIT": "10000000", "LOG_LEVEL": "WARNING"}
        env |= more or {}
        self.recipes = {
            name: Recipe(name, [*HIRING, kind, *rest], logs / f"{name}.log", env, cwd=Path("/"))
            for kind in ("web", "work", "schedule")
            for name in (f"{kind}-1", f"{kind}-2")
            for rest in [["--port", str(ports[name])] if kind == "web" else []]
        }
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.started_again = 0

    def __enter__(self) -> Self:
        for name, recipe in self.recipes.items():
            self.processes[name] = children.spawn(recipe)
        return self

    def __exit__(self, *error: object) -> None:
        for name, process in self.processes.items():
            children.ask(process, self.recipes[name].stop)
        for name, process in self.processes.items():
            children.stop(process, self.recipes[name].stop, patience=15)

    def kill(self, *names: str) -> None:
        """Kill with no chance to clean up, and start again."""
        for name in names:
            os.kill(self.processes[name].pid, signal.SIGKILL)
        for name in names:
            self.processes[name].wait()
            self.processes[name] = children.spawn(self.recipes[name])
            self.started_again += 1
