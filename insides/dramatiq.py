"""What we reach of Dramatiq: how consumers of its broker on Redis and threads of its workers wait for a message."""

import threading
import time
from contextlib import suppress
from queue import PriorityQueue
from typing import Any

import dramatiq
import redis
from dramatiq import Message
from dramatiq.brokers.redis import RedisBroker

BOUND = "dramatiq[redis]>=2.2,<2.3"
LEANS_ON = [
    ("dramatiq/brokers/redis.py", "self.message_cache = messages = self.broker.do_fetch("),
    ("dramatiq/brokers/redis.py", "def _dispatch(self, command):"),
    ("dramatiq/broker.py", "for queue_name in self.get_declared_delay_queues():"),
    ("dramatiq/worker.py", "self.broker.add_middleware(worker_middleware)"),
    ("dramatiq/worker.py", "self.work_queue: PriorityQueue[_WorkQueueItem] = PriorityQueue()"),
    ("dramatiq/worker.py", "item = self.work_queue.get(timeout=self.timeout)"),
]

WAIT_SECONDS = 5  # for the next message, in one call
SHORTEST = 0.01  # for Redis, to which 0 is without an end
MOST_CALLS = 16  # that wait to be heard, for consumers of as many processes


class Broker(RedisBroker):
    """A broker whose consumers are called when there is a message, rather than ask again and again.

    Nobody asks for delayed messages either: there are none.
    """

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)  # type: ignore[no-untyped-call]
        self._ending = False

    def get_declared_delay_queues(self) -> set[str]:
        """Return none."""
        return set()

    def enqueue(self, message: Message[Any], *, delay: int | None = None) -> Message[Any]:
        """Enqueue a message, and call one consumer."""
        made: Message[Any] = super().enqueue(message, delay=delay)
        self._call(message.queue_name)
        return made

    def do_fetch(self, queue: str, count: int) -> list[Any]:
        """Fetch messages; where there are none wait for a call, but not long."""
        fetch = self._dispatch("fetch")  # type: ignore[no-untyped-call]
        found: list[Any] = fetch(queue, count)
        end = time.monotonic() + WAIT_SECONDS
        # A call for what somebody has fetched already is no reason to return: who returns without a message rests.
        while not found and not self._ending and (left := end - time.monotonic()) > 0:
            if not self.client.blpop([self._calls(queue)], timeout=max(left, SHORTEST)):
                break
            found = fetch(queue, count)
        return found

    def end(self) -> None:
        """Let this broker's consumers begin no wait: they are about to be stopped. Waits for nobody itself.

        Each is called out of the wait that it is in, unless another process's consumer hears the call.
        """
        self._ending = True
        threading.Thread(target=self._call_all, name="last-call", daemon=True).start()

    def _call_all(self) -> None:
        with suppress(redis.RedisError):  # without Redis they end when their wait does
            for queue in list(self.queues):
                self._call(queue)

    def _call(self, queue: str) -> None:
        pipeline = self.client.pipeline(transaction=False)
        pipeline.rpush(self._calls(queue), 1)
        pipeline.ltrim(self._calls(queue), 0, MOST_CALLS - 1)
        pipeline.execute()

    def _calls(self, queue: str) -> str:
        return f"{self.namespace}:{queue}.calls"


class WorkQueue(PriorityQueue[Any]):
    """Messages that were fetched; whoever asks for one waits until there is one, or until it ends."""

    _is_over = False

    def get(self, *_given: object, **_named: object) -> Any:
        """Take one, however long that takes. Raises Empty where nobody is to wait any more."""
        with self.not_empty:
            while not self._qsize() and not self._is_over:
                self.not_empty.wait()
        return self.get_nowait()

    def get_nowait(self) -> Any:
        """Take one. Raises Empty where there is none."""
        return super().get(block=False)

    def end(self) -> None:
        """Let nobody wait any more."""
        with self.not_empty:
            self._is_over = True
            self.not_empty.notify_all()


class Worker(dramatiq.Worker):
    """A worker whose threads are called when there is a message, rather than look for one twice a second each."""

    work_queue: WorkQueue

    def __init__(self, broker: Broker, **given: Any) -> None:
        super().__init__(broker, **given)
        self.work_queue = WorkQueue()

    def stop(self, timeout: int = 600_000) -> None:
        """End all threads, and wait for what they have begun for so many milliseconds."""
        for thread in self.workers:
            thread.stop()
        self.work_queue.end()
        super().stop(timeout)
