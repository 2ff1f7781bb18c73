"""The sender: takes deliveries that are due, posts them, writes down what came of them.

One event loop in a thread posts; the database is spoken to in batches from a few threads beside it. A process
that is killed leaves leases behind, and when they are over somebody sends again, under the same webhook-id.
"""

import asyncio
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from typing import TypeVar
from uuid import UUID

import store
from gateways import webhooks
from rules import signatures
from rules.clock import now
from rules.retries import Outcome
from store.delivering import sending
from store.delivering.sending import Attempt, Claimed
from workers import measures

log = logging.getLogger("hiring.deliveries")

SLOTS = 512  # deliveries under way in this process
SHARE, FAILING_SHARE = 32, 4  # of them for one endpoint, and for one that fails
FAILING_SLOTS = SLOTS // 2  # of them for all endpoints that fail: the others always have room
CONNECTIONS = 16  # to one endpoint at once
POLL_SECONDS = 1.0  # the net below the bell
LEASE = timedelta(seconds=60)  # longer than an endpoint's share takes, timeouts included
BATCH, GATHER_SECONDS = 400, 0.02  # results written at once, and how long one waits for company
PATIENCE_SECONDS = 3.0  # for what is under way when the process stops

Result = TypeVar("Result")


class Sender:
    """Sends deliveries until it is stopped."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._main, name="sender")
        self._bell = asyncio.Event()
        self._stopping = False
        self._database = ThreadPoolExecutor(3, thread_name_prefix="sender-store")
        self._under_way: dict[asyncio.Task[None], Claimed] = {}
        self._busy: Counter[UUID] = Counter()  # how many of them each endpoint has
        self._failing: set[UUID] = set()  # deliveries of failing endpoints that are under way
        self._doors: dict[UUID, asyncio.Semaphore] = {}
        # A result that finds no room keeps its slot: nothing more is begun than can be written down.
        self._results: asyncio.Queue[Attempt] = asyncio.Queue(SLOTS)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def ring(self) -> None:
        """Say that something may be due. For any thread."""
        with suppress(RuntimeError):  # the loop is closed: nobody listens any more
            self._loop.call_soon_threadsafe(self._bell.set)

    def stop(self) -> None:
        """End: give what is under way a moment, leave the rest to others; waits for it."""
        self._stopping = True
        self.ring()
        self._thread.join()
        self._database.shutdown()

    def _main(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._run())

    async def _run(self) -> None:
        async with webhooks.Poster() as poster:
            writer = asyncio.create_task(self._write())
            while not self._stopping:
                self._bell.clear()
                more = await self._begin(poster)
                if not more:
                    await self._rest(POLL_SECONDS)
            await self._wind_up()
            await self._results.join()
            writer.cancel()

    async def _rest(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._bell.wait()

    # --- Taking

    async def _begin(self, poster: webhooks.Poster) -> bool:
        """Start what is due and has room; say whether to look again at once."""
        try:
            healthy = await self._claim(failing=False)
            failing = await self._claim(failing=True)
        except Exception:
            log.exception("Deliveries could not be taken; trying again.")
            return False
        self._failing.update(one.id for one in failing)
        for claimed in (*healthy, *failing):
            task = asyncio.create_task(self._send(poster, claimed))
            self._under_way[task] = claimed
            self._busy[claimed.endpoint_id] += 1
            task.add_done_callback(self._ended)
        return False if not healthy and not failing else await self._room()

    async def _room(self) -> bool:
        """Wait for room after a full helping: what comes back in one moment is replaced in one claim."""
        await self._rest(POLL_SECONDS)
        await asyncio.sleep(GATHER_SECONDS)
        return True

    async def _claim(self, *, failing: bool) -> list[Claimed]:
        free = SLOTS - len(self._under_way)
        limit = min(free, FAILING_SLOTS - len(self._failing)) if failing else free
        busy = dict(self._busy)
        share = FAILING_SHARE if failing else SHARE

        def claim() -> list[Claimed]:
            with store.at_once() as means:
                return sending.claim(means, limit=limit, share=share, busy=busy, failing=failing, lease=LEASE)

        return await self._in_thread(claim) if limit > 0 else []

    def _ended(self, task: asyncio.Task[None]) -> None:
        claimed = self._under_way.pop(task)
        self._failing.discard(claimed.id)
        self._busy[claimed.endpoint_id] -= 1
        if not self._busy[claimed.endpoint_id]:
            del self._busy[claimed.endpoint_id]
            self._doors.pop(claimed.endpoint_id, None)
        self._bell.set()
        if not task.cancelled() and (fault := task.exception()):
            log.error("A delivery could not be sent.", exc_info=fault)

    # --- Posting

    async def _send(self, poster: webhooks.Poster, claimed: Claimed) -> None:
        door = self._doors.setdefault(claimed.endpoint_id, asyncio.Semaphore(CONNECTIONS))
        async with door:
            moment = now()
            outcome = await self._post(poster, claimed)
        measures.attempt(outcome)
        number = claimed.attempts + (not outcome.ours)
        await self._results.put(Attempt(claimed.id, claimed.endpoint_id, number, moment, outcome))

    async def _post(self, poster: webhooks.Poster, claimed: Claimed) -> Outcome:
        body = webhooks.encode(claimed.payload)
        try:
            secrets = claimed.secrets()
        except Exception:
            log.exception("A webhook secret cannot be read: SECRET_KEY has changed.")
            return Outcome(error="The service cannot read the endpoint's secret; rotate it.", ours=True)
        headers = signatures.headers(secrets, claimed.payload["id"], int(time.time()), body)
        return await poster.post(claimed.url, body, headers)

    # --- Writing down

    async def _write(self) -> None:
        while True:
            batch = [await self._results.get()]
            await asyncio.sleep(GATHER_SECONDS)
            while len(batch) < BATCH and not self._results.empty():
                batch.append(self._results.get_nowait())
            await self._settle(batch)
            for _ in batch:
                self._results.task_done()

    async def _settle(self, batch: list[Attempt]) -> None:
        """Write results down, however long the database is away; one that cannot be written spoils no other."""
        while True:
            try:
                for endpoint_id, reason in await self._in_thread(lambda: _settle(batch)):
                    measures.SWITCHED_OFF.inc()
                    log.warning(
                        "A webhook endpoint was switched off: %s", reason, extra={"endpoint": endpoint_id}
                    )
                return
            except store.OUTAGES as fault:
                log.warning("Results of deliveries could not be written; trying again: %s", fault)
                if self._stopping:
                    return  # they are sent again when their leases are over
                await asyncio.sleep(POLL_SECONDS)
            except Exception:
                log.exception("Results of deliveries could not be written.")
                break
        for one in batch if len(batch) > 1 else ():
            await self._settle([one])

    async def _wind_up(self) -> None:
        tasks = dict(self._under_way)
        if not tasks:
            return
        _, late = await asyncio.wait(tasks, timeout=PATIENCE_SECONDS)
        for task in late:
            task.cancel()
        ids = [tasks[task].id for task in late]

        def release() -> None:
            with store.transaction() as session:
                sending.release(session, ids)

        if ids:
            await self._in_thread(release)

    async def _in_thread(self, function: Callable[[], Result]) -> Result:
        return await self._loop.run_in_executor(self._database, function)


def _settle(batch: list[Attempt]) -> list[tuple[UUID, str]]:
    change = store.at_once if all(one.outcome.succeeded for one in batch) else store.writing
    with change() as means:
        return sending.settle(means, batch)
