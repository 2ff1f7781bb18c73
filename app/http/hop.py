"""From the event loop to a few threads and back, many answers in one wake-up of the loop."""

import asyncio
import contextvars
import queue
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary

from rules.errors import Unavailable

LONGEST_QUEUE = 1000


class Hop:
    """Threads that run synchronous work for an event loop.

    An executor wakes the loop for every answer; here answers that are ready together share one wake-up.
    """

    def __init__(self, threads: int, name: str) -> None:
        self.threads, self.name = threads, name
        self.started = False
        self.work: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.desks: WeakKeyDictionary[asyncio.AbstractEventLoop, _Desk] = WeakKeyDictionary()

    def submit(self, function: Callable[..., Any], *arguments: Any) -> asyncio.Future[Any]:
        """Have a function run by a thread, in a copy of this context; Unavailable when too much waits already."""
        if not self.started:
            self.started = True
            for number in range(self.threads):
                threading.Thread(target=self._serve, name=f"{self.name}-{number}", daemon=True).start()
        if self.work.qsize() > LONGEST_QUEUE:
            raise Unavailable
        loop = asyncio.get_running_loop()
        desk = self.desks.get(loop)
        if desk is None:
            desk = self.desks[loop] = _Desk(loop)
        future = loop.create_future()
        self.work.put((desk, future, contextvars.copy_context(), function, arguments))
        return future

    def _serve(self) -> None:
        while True:
            desk, future, context, function, arguments = self.work.get()
            result, raised = None, None
            try:
                result = context.run(function, *arguments)
            except BaseException as fault:  # it is the caller's, whatever it is
                raised = fault
            desk.put(future, result, raised)
            # Nothing outlives its request.
            desk = future = context = function = arguments = result = raised = None


class _Desk:
    """Where one loop (a server has one, tests have many) finds what is done."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.call = loop.call_soon_threadsafe
        self.done: deque[tuple[asyncio.Future[Any], Any, BaseException | None]] = deque()
        self.waking = False

    def put(self, future: asyncio.Future[Any], result: Any, fault: BaseException | None) -> None:
        """Leave one result, from any thread."""
        self.done.append((future, result, fault))
        if not self.waking:
            self.waking = True
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self.call(self._deliver)

    def _deliver(self) -> None:
        self.waking = False
        while self.done:
            future, result, fault = self.done.popleft()
            if future.done():
                continue  # the client has gone
            if fault is None:
                future.set_result(result)
            else:
                future.set_exception(fault)
