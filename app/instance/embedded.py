"""The embedded PostgreSQL and Redis of a data folder: one owner runs them, everybody else uses them.

The owner holds `run/owner` for as long as the servers run; whoever uses them holds `run/users` in shared
mode. A command that started the servers for its own purposes waits for other users before it stops them;
`hiring up` does not.
"""

import contextlib
import fcntl
import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.instance import children, places, postgres
from app.instance import redis as redis_server
from app.instance.children import Recipe
from app.instance.places import Places
from app.instance.trouble import Trouble

PATIENCE = 300.0  # recovery after a power cut may take PostgreSQL minutes
Ready = Callable[[Places, subprocess.Popen[bytes]], bool]


@contextmanager
def held(path: Path, *, shared: bool = False, wait: bool = True) -> Iterator[int]:
    """Hold a kernel lock, gone with its holder; without `wait` raise BlockingIOError when somebody has it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        fcntl.flock(descriptor, kind if wait else kind | fcntl.LOCK_NB)
        yield descriptor
    finally:
        os.close(descriptor)


class Busy(Trouble):
    """Somebody else runs this data folder's servers."""


@dataclass
class Servers:
    """The servers that this process runs."""

    where: Places
    recipes: dict[str, Recipe]
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self, *names: str) -> None:
        """Start servers side by side and return once each of them answers."""
        for name in names:
            CLEAR[name](self.where)
            self.processes[name] = children.spawn(self.recipes[name])
        for name in names:
            self._await(name)

    def stop(self) -> None:
        """Stop them all; return once they are gone."""
        for name, process in self.processes.items():
            children.ask(process, self.recipes[name].stop)
        for name, process in self.processes.items():
            children.stop(process, self.recipes[name].stop, patience=20)

    def publish(self, **facts: Any) -> None:
        """Tell other commands how to reach the servers, and what else is known."""
        known = {name: URL[name](self.where) for name in self.recipes}
        places.write_private(
            self.where.run / "instance.json", json.dumps(known | {"pid": os.getpid()} | facts)
        )

    def _await(self, name: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not READY[name](self.where, self.processes[name]):
            if self.processes[name].poll() is not None:
                said = children.tail(self.recipes[name].log)
                # The processes of a killed server need a moment to notice; until then it refuses to start.
                if "pre-existing shared memory block" not in said.rpartition("\n")[0][-600:]:
                    raise Trouble(f"{name} did not start. The end of {self.recipes[name].log}:\n{said}")
                time.sleep(0.2)
                self.processes[name] = children.spawn(self.recipes[name])
            if time.monotonic() > deadline:
                raise Trouble(
                    f"{name} does not answer after {PATIENCE:.0f} seconds; see {self.recipes[name].log}."
                )
            time.sleep(0.01)


READY: dict[str, Ready] = {"postgres": postgres.ready, "redis": redis_server.ready}
URL: dict[str, Callable[[Places], str]] = {"postgres": postgres.url, "redis": redis_server.url}
CLEAR: dict[str, Callable[[Places], None]] = {"postgres": postgres.clear, "redis": redis_server.clear}


@contextmanager
def own(
    where: Places, names: tuple[str, ...], *, kind: str, wait_for_users: bool = True, durable: bool = True
) -> Iterator[Servers]:
    """Run the servers named; raise Busy when this folder's are already run by another process."""
    try:
        lock = contextlib.ExitStack()
        descriptor = lock.enter_context(held(where.run / "owner", wait=False))
    except BlockingIOError:
        raise Busy(f"The data folder {where.data} is in use.") from None
    with lock:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps({"pid": os.getpid(), "kind": kind}).encode(), 0)
        (where.run / "instance.json").unlink(missing_ok=True)
        recipes = {
            name: redis_server.recipe(where) if name == "redis" else postgres.recipe(where, durable=durable)
            for name in names
        }
        servers = Servers(where, recipes)
        try:
            servers.start(*names)
            servers.publish()
            yield servers
            if wait_for_users:
                with held(where.run / "users"):
                    (where.run / "instance.json").unlink(missing_ok=True)
        finally:
            (where.run / "instance.json").unlink(missing_ok=True)
            servers.stop()
            places.leave_sockets(where)


@contextmanager
def use(data: Path, names: tuple[str, ...], *, durable: bool = True) -> Iterator[dict[str, Any]]:
    """Give the addresses of a data folder's servers: those that run, or started for as long as this lasts."""
    where = places.settle(data)
    with contextlib.ExitStack() as stack:
        deadline = time.monotonic() + PATIENCE
        while True:
            with contextlib.suppress(Busy):
                stack.enter_context(own(where, names, kind="command", durable=durable))
                break
            users = stack.enter_context(contextlib.ExitStack())
            users.enter_context(held(where.run / "users", shared=True))
            facts = published(where)
            if missing := set(names) - set(facts) if facts else set():
                raise Trouble(f"Those who run {where.data} have their {' and '.join(missing)} elsewhere.")
            if facts:
                break
            users.close()  # they are still starting, or just stopping
            if time.monotonic() > deadline:
                raise Busy(f"The data folder {where.data} is in use, and its servers do not come up.")
            time.sleep(0.05)
        yield published(where)


def published(where: Places) -> dict[str, Any]:
    """Return what the owner told: `postgres`, `redis`, `base_url`; nothing when it does not run."""
    try:
        facts: dict[str, Any] = json.loads((where.run / "instance.json").read_text())
    except (OSError, ValueError):
        return {}
    return facts


def owner(where: Places) -> dict[str, Any]:
    """Return who runs the servers: `pid` and `kind` (`up` or `command`)."""
    try:
        facts: dict[str, Any] = json.loads((where.run / "owner").read_text())
    except (OSError, ValueError):
        return {}
    return facts
