"""The sender: takes deliveries that are due, posts them, writes down what came of them.

One event loop in a thread posts; the database is spoken to in batches from a few threads beside it. A process
that is killed leaves leases behind, and when they are over somebody sends again, under the same webhook-id. One that
is asked to stop claims nothing more, waits for what is under way, and gives back at once what had no answer by then.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import TypeVar

import store
from gateways import webhooks
from rules import signatures
from rules.clock import now
from rules.retries import Outcome
from store.delivering import sending
from store.delivering.sending import Attempt, Claimed
from workers import measures, posting
from workers.shares import SLOTS, Shares

log = logging.getLogger("hiring.deliveries")

POLL_SECONDS = 1.0  # the net below the bell
LEASE = timedelta(seconds=60)
LEAST = timedelta(seconds=25)  # of it, for an attempt and for writing down what came of it
BATCH, GATHER_SECONDS = 400, 0.02  # results written at once, and how long one waits for company

Result = TypeVar("Result")


class Sender:
    """Sends deliveries until it is stopped."""

    def __init__(self, *, share: int, grace: float) -> None:
        """Send at most `share` deliveries of one organisation at once, and end within `grace` seconds."""
        self._shares = Shares(share)
        self._grace = grace
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._main, name="sender")
        self._bell = asyncio.Event()
        self._replacing: asyncio.TimerHandle | None = None
        self._stopping_since: float | None = None
        self._database = ThreadPoolExecutor(3, thread_name_prefix="sender-store")
        self._under_way: dict[asyncio.Task[None], Claimed] = {}
        # A result that finds no room keeps its slot: nothing more is begun than can be written down.
        self._results: asyncio.Queue[Attempt] = asyncio.Queue(SLOTS)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def ring(self) -> None:
        """Say that something may be due. For any thread."""
        with suppress(RuntimeError):  # the loop is closed: nobody listens any more
            self._loop.call_soon_threadsafe(self._bell.set)

    def wind_up(self) -> None:
        """Begin to end: take nothing more, and give what is under way its grace. For any thread; does not wait."""
        self._stopping_since = self._stopping_since or time.monotonic()
        self.ring()

    def stop(self) -> None:
        """End, and wait for it."""
        self.wind_up()
        self._thread.join()
        self._database.shutdown()

    def _main(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._run())

    async def _run(self) -> None:
        async with webhooks.Poster() as poster:
            writer = asyncio.create_task(self._write())
            while self._stopping_since is None:
                self._bell.clear()
                await self._take(poster)
                with suppress(TimeoutError):
                    async with asyncio.timeout(POLL_SECONDS):
                        await self._bell.wait()
            await self._finish()
            await self._results.join()
            writer.cancel()

    # --- Taking

    async def _take(self, poster: webhooks.Poster) -> None:
        """Claim what is due and has room, and begin what has its turn."""
        try:
            claimed = await self._claim()
        except Exception:
            log.exception("Deliveries could not be taken; trying again.")
            return
        for one in claimed:
            self._shares.keep(one)
        self._begin(poster)

    async def _claim(self) -> list[Claimed]:
        if not self._shares.has_room():
            return []
        full = self._shares.full()

        def claim() -> list[Claimed]:
            with store.at_once() as means:
                due = sending.due(means, full=full)
                # What ends meanwhile only makes more room than is seen here.
                return sending.claim(means, self._shares.rooms(due), lease=LEASE)

        return await self._in_thread(claim)

    def _begin(self, poster: webhooks.Poster) -> None:
        latest = now() + LEAST
        while self._stopping_since is None and (claimed := self._shares.next()):
            if claimed.lease_until < latest:  # it waited here for too long, and will be somebody else's
                self._shares.ended(claimed)
                continue
            task = asyncio.create_task(self._send(poster, claimed))
            self._under_way[task] = claimed
            task.add_done_callback(partial(self._ended, poster))

    def _ended(self, poster: webhooks.Poster, task: asyncio.Task[None]) -> None:
        self._shares.ended(self._under_way.pop(task))
        self._begin(poster)
        # What comes back in one moment is replaced in one claim; what has just become due waits for none of that.
        if self._replacing is None:
            self._replacing = self._loop.call_later(GATHER_SECONDS, self._replace)

    def _replace(self) -> None:
        self._replacing = None
        self._bell.set()

    # --- Posting

    async def _send(self, poster: webhooks.Poster, claimed: Claimed) -> None:
        await self._results.put(await attempt(poster, claimed))

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
                await self._in_thread(lambda: settle(batch))
                return
            except store.OUTAGES as fault:
                log.warning("Results of deliveries could not be written; trying again: %s", fault)
                if self._left() <= 0:
                    return  # they are sent again when their leases are over
                await asyncio.sleep(POLL_SECONDS)
            except Exception:
                log.exception("Results of deliveries could not be written.")
                break
        for one in batch if len(batch) > 1 else ():
            await self._settle([one])

    # --- Ending

    def _left(self) -> float:
        """Return the seconds that are left of the grace; all of them while nobody has asked to stop."""
        since = self._stopping_since
        return self._grace if since is None else max(0.0, since + self._grace - time.monotonic())

    async def _finish(self) -> None:
        """Give back what has not been begun, wait for what is under way, and give back what has no answer by then."""
        await self._release(self._shares.leave())
        tasks = dict(self._under_way)
        if not tasks:
            return
        _, late = await asyncio.wait(tasks, timeout=self._left())
        for task in late:
            task.cancel()
        await self._release([tasks[task] for task in late])

    async def _release(self, claimed: Sequence[Claimed]) -> None:
        def release() -> None:
            with store.at_once() as means:
                sending.release(means, claimed)

        try:
            if claimed:
                await self._in_thread(release)
        except Exception:  # they are sent when their leases are over
            log.exception("Deliveries could not be given back.")

    async def _in_thread(self, function: Callable[[], Result]) -> Result:
        return await self._loop.run_in_executor(self._database, function)


async def attempt(poster: webhooks.Poster, claimed: Claimed) -> Attempt:
    """Make one attempt; what cannot be made says so."""
    moment = now()
    try:
        outcome = await _post(poster, claimed)
    except Exception:  # a fault of ours in one delivery: it waits, and the others go on
        log.exception("A delivery could not be sent.", extra={"delivery": str(claimed.id)})
        outcome = Outcome(error="The service could not send it.", ours=True)
    measures.attempt(outcome)
    number = claimed.attempts + (not outcome.ours)
    return Attempt(claimed.id, claimed.endpoint_id, number, moment, outcome, claimed.lease_until)


async def _post(poster: webhooks.Poster, claimed: Claimed) -> Outcome:
    body = webhooks.encode(claimed.payload)
    try:
        secrets = claimed.secrets()
    except Exception:
        log.exception("A webhook secret cannot be read: SECRET_KEY has changed.")
        return Outcome(error="The service cannot read the endpoint's secret; rotate it.", ours=True)
    headers = signatures.headers(secrets, claimed.payload["id"], int(time.time()), body)
    owner, livemode = claimed.organisation_id, claimed.payload["livemode"]
    return await posting.post(poster, claimed.url, body, headers, owner=owner, livemode=livemode)


def settle(batch: Sequence[Attempt]) -> None:
    """Write down what came of attempts, and tell of endpoints that were switched off."""
    change = store.at_once if all(one.outcome.succeeded for one in batch) else store.writing
    with change() as means:
        disabled = sending.settle(means, batch)
    for endpoint_id, reason in disabled:
        measures.SWITCHED_OFF.inc()
        log.warning("A webhook endpoint was switched off: %s", reason, extra={"endpoint": endpoint_id})
