"""The processes behind the web: the worker and the schedule. Several of each may run side by side."""

import gc
import logging
import signal
import sys
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from app.instance import metrics, wiring
from app.instance.settings import Settings
from gateways import cores, open_files
from insides.dramatiq import Broker, Worker
from store.database.waits import Waits
from workers import broker
from workers import schedule as scheduling
from workers.actors import Actors
from workers.again import Again
from workers.clock import Clock
from workers.deliveries import Sender
from workers.events import Events
from workers.jobs import JOBS
from workers.outbox import Relay, hand_over

log = logging.getLogger("hiring.processes")

DELIVERIES = "deliveries"  # the one kind that is no job of the outbox
KINDS = (DELIVERIES, *JOBS)
STORE_CONNECTIONS = 6  # of the relays, the sender and whoever asks for figures
NICENESS = 3  # somebody waits for a request: what comes after it leaves the cores of a full machine to those
SWITCH_SECONDS = 0.001  # what computes, mails and grades, leaves the interpreter to the sender after so long
BELL_MS = 500  # an idle worker that has waited for the bell in vain rests for so long at most
SCHEDULE_POOL = len(scheduling.KINDS) + 3  # connections that each pool of a schedule keeps


def pool_size(kinds: Collection[str]) -> int:
    """Return how many connections each of a worker's two pools keeps."""
    return sum(JOBS[kind].threads for kind in kinds if kind in JOBS) + STORE_CONNECTIONS


def work(settings: Settings, *, kinds: Collection[str] = KINDS, folder: Path | None = None) -> None:
    """Do these kinds of work until SIGTERM or SIGINT; `folder` is told the port of the figures."""
    cores.give_way(NICENESS)
    open_files.allow(open_files.WORK)
    sys.setswitchinterval(SWITCH_SECONDS)
    wiring.configure(settings, pool_size=pool_size(kinds))
    stopping = _stop_on_signals()
    metrics.serve(settings, "work", folder=folder)
    with working(settings, kinds):
        gc.freeze()  # to look for garbage in what stays would be a pause in deliveries
        log.info("The worker is ready.")
        stopping.wait()
        log.info("The worker is stopping.")


def schedule(settings: Settings, *, folder: Path | None = None) -> None:
    """Do what becomes due until SIGTERM or SIGINT; `folder` is told the port of the figures."""
    cores.give_way(NICENESS)
    wiring.configure(settings, pool_size=SCHEDULE_POOL)
    stopping = _stop_on_signals()
    metrics.serve(settings, "schedule", folder=folder)
    with scheduled(settings, stopping) as clock:
        gc.freeze()  # the same here
        log.info("The schedule is ready.")
        clock.run()
        log.info("The schedule is stopping.")


@contextmanager
def scheduled(
    settings: Settings, stopping: threading.Event, kinds: Sequence[scheduling.Kind] = scheduling.KINDS
) -> Iterator[Clock]:
    """Run the actors of what becomes due as long as the block, and give it the clock that rings for them."""
    brokers = {kind.name: _broker(settings) for kind in kinds}
    clock = Clock(kinds, brokers, bell=_broker(settings, seconds=broker.HURRIED), stopping=stopping)
    again = Again(kinds)
    with ExitStack() as stack:
        again.start()
        stack.callback(again.stop)
        stack.enter_context(_running(dict.fromkeys(brokers.values(), 1), grace=settings.grace_seconds))
        stack.callback(again.wind_up)  # first of all: one grace for everything
        yield clock


@contextmanager
def working(settings: Settings, kinds: Collection[str] | None = None) -> Iterator[None]:
    """Run a worker's threads as long as the block; what is under way at the end is finished or left to others."""
    jobs = [kind for kind in JOBS if kinds is None or kind in kinds]
    sender = None
    with ExitStack() as stack:
        if kinds is None or DELIVERIES in kinds:
            sender = Sender(share=settings.delivery_share, grace=settings.grace_seconds)
            events = Events(sender)
            relay = Relay("relay", events.turn, follow=events.follow)
            sender.start()
            stack.callback(sender.stop)
            stack.callback(events.stop)
            relay.start()
            stack.callback(relay.stop)
        if jobs:
            brokers = {kind: _broker(settings) for kind in jobs}
            stack.enter_context(_doing(brokers, grace=settings.grace_seconds))
        if sender:
            stack.callback(sender.wind_up)  # first of all: one grace for everything
        yield


def _broker(settings: Settings, **options: float) -> Broker:
    return broker.make(settings.redis_url, limits=Waits(tcp=settings.tcp_seconds), **options)


@contextmanager
def _doing(brokers: Mapping[str, Broker], *, grace: float) -> Iterator[None]:
    """Hand over these kinds of work and do them, each with threads of its own; `grace`: seconds at the end."""
    # Whoever looks after other kinds takes turns of its own.
    actors = Actors(brokers)
    relay = Relay(f"hand-over of {', '.join(sorted(brokers))}", partial(hand_over, actors), also=actors.look)
    with _running({each: JOBS[kind].threads for kind, each in brokers.items()}, grace=grace):
        relay.start()
        try:
            yield
        finally:
            relay.stop()


@contextmanager
def _running(threads: Mapping[Broker, int], *, grace: float) -> Iterator[None]:
    """Run the actors of each broker with so many threads; at the end they have `grace` seconds to finish."""
    workers = [Worker(each, worker_threads=count, worker_timeout=BELL_MS) for each, count in threads.items()]
    for worker in workers:
        worker.broker.emit_after("process_boot")
        worker.start()
    try:
        yield
    finally:
        for each in threads:
            each.end()
        with ThreadPoolExecutor(len(workers)) as pool:  # all of them within the one grace period
            list(pool.map(lambda worker: worker.stop(timeout=int(grace * 1000)), workers))
        for each in threads:
            each.close()


def _stop_on_signals() -> threading.Event:
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    return stopping
