"""From the event loop to a few threads and back, many answers in one wake-up of the loop."""

import asyncio
import contextvars
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary

from app.http.threads.turns import Full, Turns
from gateways import cores
from gateways.load import Load
from rules.errors import Unavailable

LONGEST_QUEUE = 1000


class Late(Exception):
    """The deadline passed; what was not begun by then never is."""


class Left(Exception):
    """The client has left; what was not begun by then never is."""


class Hop:
    """Threads that run synchronous work for an event loop, each party's in its turn and in at most a share of them.

    An executor wakes the loop for every answer; here answers that are ready together share one wake-up.
    """

    def __init__(
        self,
        threads: int,
        name: str,
        *,
        share: int | None = None,
        room: int = LONGEST_QUEUE,
        load: Load | None = None,
    ) -> None:
        self.threads, self.name = threads, name
        self.started = False
        self.work: Turns[Any] = Turns(room=room, share=share or threads, load=load)
        self.desks: WeakKeyDictionary[asyncio.AbstractEventLoop, _Desk] = WeakKeyDictionary()

    def submit(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        party: Hashable = None,
        within: float | None = None,
    ) -> asyncio.Future[Any]:
        """Have a function run by a thread, in a copy of this context.

        Raises Unavailable when too much waits already, and where no time is left to begin.

        After `within` seconds the future has Late, whether the function was begun or not.
        """
        if within is not None and within <= 0:
            raise Unavailable
        if not self.started:
            self.started = True
            for number in range(self.threads):
                threading.Thread(target=self._serve, name=f"{self.name}-{number}", daemon=True).start()
        loop = asyncio.get_running_loop()
        desk = self.desks.get(loop)
        if desk is None:
            desk = self.desks[loop] = _Desk(loop)
        future = loop.create_future()
        try:
            self.work.put(party, (desk, future, contextvars.copy_context(), function, arguments))
        except Full:
            raise Unavailable("Too many requests of this kind wait already; try again shortly.") from None
        if within is not None:
            timer = loop.call_later(within, give_up, future, Late)
            future.add_done_callback(lambda _: timer.cancel())
        return future

    def ahead(self, future: asyncio.Future[Any]) -> int | None:
        """Count what is begun before what was submitted; None where that was begun."""
        return self.work.ahead(lambda waiting: waiting[1] is future)

    def _serve(self) -> None:
        # Where a party may have all threads nobody rests: others would wait for it.
        waits = cores.Waits() if self.work.share < self.threads else None
        while True:
            party, (desk, future, context, function, arguments) = self.work.take()
            result, raised = None, None
            if not future.done():
                try:
                    result = context.run(function, *arguments)
                except BaseException as fault:  # it is the caller's, whatever it is
                    raised = fault
                desk.put(future, result, raised)
            if waits:
                waited = waits.since()
                if self.work.crowds(party):
                    time.sleep(cores.rest(waited))
            self.work.give_back(party)
            # Nothing outlives its request.
            desk = future = context = function = arguments = result = raised = None


def give_up(future: asyncio.Future[Any], reason: type[Exception]) -> None:
    """Wait no longer for what was submitted."""
    if not future.done():
        future.set_exception(reason())


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
                continue  # nobody waits any more
            if fault is None:
                future.set_result(result)
            else:
                future.set_exception(fault)
