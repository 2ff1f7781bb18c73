"""The processes behind the web: the worker and the schedule. Several of each may run side by side."""

import logging
import resource
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dramatiq

from app.instance import metrics, wiring
from app.instance.settings import Settings
from store.database.waits import Waits
from workers import broker
from workers import schedule as scheduling
from workers.actors import Actors
from workers.deliveries import Sender
from workers.outbox import Relay

log = logging.getLogger("hiring.processes")

WORKER_THREADS = 4
FILES = 4_096  # open at once: connections under way and kept, with room beside them
BELL_MS = 100  # how often an idle worker looks for the bell


def work(settings: Settings, *, folder: Path | None = None) -> None:
    """Relay, deliver, mail and grade until SIGTERM or SIGINT; `folder` is told the port of the figures."""
    _allow_files(FILES)
    wiring.configure(settings, pool_size=WORKER_THREADS + 6)
    stopping = _stop_on_signals()
    metrics.serve(settings, "work", folder=folder)
    with working(settings):
        log.info("The worker is ready.")
        stopping.wait()
        log.info("The worker is stopping.")


def schedule(settings: Settings, *, folder: Path | None = None) -> None:
    """Do what becomes due until SIGTERM or SIGINT; `folder` is told the port of the figures."""
    wiring.configure(settings, pool_size=2)
    stopping = _stop_on_signals()
    metrics.serve(settings, "schedule", folder=folder)
    log.info("The schedule is ready.")
    scheduling.run(stopping)
    log.info("The schedule is stopping.")


@contextmanager
def working(settings: Settings) -> Iterator[None]:
    """Run a worker's threads as long as the block; what is under way at the end is finished or left to others."""
    bells = broker.make(settings.redis_url, limits=Waits(tcp=settings.tcp_seconds))
    sender = Sender()
    actors = Actors(bells, ring=sender.ring)
    worker = dramatiq.Worker(bells, worker_threads=WORKER_THREADS, worker_timeout=BELL_MS)
    relay = Relay(actors, ring=sender.ring)
    sender.start()
    worker.start()
    relay.start()
    try:
        yield
    finally:
        relay.stop()
        worker.stop(timeout=10_000)
        sender.stop()
        bells.close()


def _allow_files(wanted: int) -> None:
    """Raise the limit of open files as far as this user may: many systems start with 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _stop_on_signals() -> threading.Event:
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    return stopping
