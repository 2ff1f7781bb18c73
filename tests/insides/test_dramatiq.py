"""What broke, in one sentence, when Dramatiq changes below us."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import dramatiq
import pytest

from app.instance.settings import Settings
from insides import dramatiq as inside
from insides.dramatiq import Broker
from tests.hooks import wait_until
from workers import broker

QUEUE = "insides"
TIMEOUT_MS = 200


@pytest.fixture
def calls(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Broker, list[str]]]:
    """A broker, and what it asks Redis for."""
    asked: list[str] = []
    made = broker.make(settings.redis_url)
    made.flush(QUEUE)
    made.client.delete(made._calls(QUEUE))
    real = made._dispatch

    def dispatch(command: str) -> Any:
        asked.append(command)
        return real(command)

    monkeypatch.setattr(made, "_dispatch", dispatch)
    yield made, asked
    made.flush(QUEUE)
    made.close()


def test_an_idle_consumer_waits_for_a_call_instead_of_asking(
    calls: tuple[Broker, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inside, "WAIT_SECONDS", 1)
    made, asked = calls
    waits: list[Any] = []
    blpop = made.client.blpop
    monkeypatch.setattr(made.client, "blpop", lambda *given, **more: waits.append(1) or blpop(*given, **more))
    heard = threading.Event()
    actor = dramatiq.actor(broker=made, actor_name=QUEUE, queue_name=QUEUE)(heard.set)
    worker = dramatiq.Worker(made, worker_threads=1, worker_timeout=TIMEOUT_MS)
    worker.start()
    try:
        assert list(worker.consumers) == [QUEUE]  # none for delayed messages
        wait_until(lambda: len(waits) == 2)  # it waited a whole time for nothing
        assert asked.count("fetch") <= 3
        actor.send()
        assert heard.wait(30)
    finally:
        made.end()
        worker.stop()


def test_a_message_wakes_whoever_waits(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inside, "WAIT_SECONDS", 25)
    listener, sender = broker.make(settings.redis_url, seconds=60), broker.make(settings.redis_url)
    found: list[Any] = []
    sender.client.delete(sender._calls(QUEUE))
    thread = threading.Thread(target=lambda: found.extend(listener.do_fetch(QUEUE, 1)))
    began = time.monotonic()
    thread.start()
    wait_until(lambda: listener.client.client_list() != [])
    dramatiq.actor(broker=sender, actor_name=QUEUE, queue_name=QUEUE)(print).send()
    thread.join(30)
    assert len(found) == 1
    assert time.monotonic() - began < 24
    sender.flush(QUEUE)
    for each in (listener, sender):
        each.close()


def test_calls_for_what_others_have_fetched_end_no_wait(
    settings: Settings, calls: tuple[Broker, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inside, "WAIT_SECONDS", 25)
    listener, (sender, _) = broker.make(settings.redis_url, seconds=60), calls
    sender.client.rpush(sender._calls(QUEUE), *[1] * 5)
    found: list[list[Any]] = []
    thread = threading.Thread(target=lambda: found.append(listener.do_fetch(QUEUE, 1)))
    thread.start()
    wait_until(lambda: sender.client.llen(sender._calls(QUEUE)) == 0)
    dramatiq.actor(broker=sender, actor_name=QUEUE, queue_name=QUEUE)(print).send()
    thread.join(30)
    assert [len(one) for one in found] == [1]
    listener.close()


def test_whoever_ends_waits_for_nothing(
    calls: tuple[Broker, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inside, "WAIT_SECONDS", 60)
    made, _ = calls
    dramatiq.actor(broker=made, actor_name=QUEUE, queue_name=QUEUE)(print)
    made.end()
    assert made.do_fetch(QUEUE, 1) == []


def test_calls_that_nobody_hears_do_not_pile_up(calls: tuple[Broker, list[str]]) -> None:
    made, _ = calls
    actor = dramatiq.actor(broker=made, actor_name=QUEUE, queue_name=QUEUE)(print)
    for _ in range(inside.MOST_CALLS + 5):
        actor.send()
    assert made.client.llen(made._calls(QUEUE)) == inside.MOST_CALLS


def test_a_workers_thread_waits_without_looking_at_the_clock_and_ends_at_once(
    calls: tuple[Broker, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inside, "WAIT_SECONDS", 0.5)
    made, asked = calls
    heard = threading.Event()

    @dramatiq.actor(broker=made, actor_name=QUEUE, queue_name=QUEUE)
    def actor() -> None:
        heard.set()

    worker = inside.Worker(made, worker_threads=3, worker_timeout=100)
    looks: list[Any] = []
    get = worker.work_queue.get

    def noted(**given: Any) -> Any:
        looks.append(given)
        return get(**given)

    monkeypatch.setattr(worker.work_queue, "get", noted)
    worker.start()
    try:
        # Five times as long as a thread of Dramatiq's waits at most.
        wait_until(lambda: asked.count("fetch") >= 2)
        assert len(looks) == 3  # one a thread
        actor.send()
        assert heard.wait(30)
    finally:
        made.end()
        began = time.monotonic()
        worker.stop()
    assert [thread.is_alive() for thread in worker.workers] == [False] * 3
    assert time.monotonic() - began < 20
