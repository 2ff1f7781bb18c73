"""The sender: takes deliveries that are due, posts them, writes down what came of them.

One event loop in a thread posts; the database is spoken to in batches from a few threads beside it. A process
that is killed leaves leases behind, and when they are over somebody sends again, under the same webhook-id. One that
is asked to stop claims nothing more, waits for what is under way, and gives back at once what had no answer by then.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import partial
from typing import TypeVar
from uuid import UUID

import uvloop

import store
from gateways import webhooks
from gateways.webhooks import GiveUp
from rules.clock import now
from store.database.aside import Row
from store.delivering import sending
from store.delivering.sending import Attempt, Claimed, Due
from workers import attempts, refused
from workers.refused import Refused
from workers.shares import SLOTS, Promise, Shares, Taking

log = logging.getLogger("hiring.deliveries")

POLL_SECONDS = 1.0  # the net below the bell
LEAST = timedelta(seconds=25)  # of it, for an attempt and for writing down what came of it
BATCH, GATHER_SECONDS = 400, 0.05  # results written at once, and how long one waits for company
# Until what is due is looked for, at most once in so long; and after an end, since of an endpoint with a backlog as
# much is held as sixteen connections send in twice the time of an answer.
LOOK_SECONDS, FREED_SECONDS = 0.02, 0.005
# Between two tries to write results of an endpoint that somebody else holds: as long as that has lasted, which is short
# where it is our own fan-out. And after how long nothing more is taken.
HELD_PAUSES, HELD_SECONDS = (0.003, 0.05), 0.25

Result = TypeVar("Result")


class Sender:
    """Sends deliveries until it is stopped."""

    def __init__(self, *, share: int, grace: float) -> None:
        """Send at most `share` deliveries of one organisation at once, and end within `grace` seconds."""
        self._shares = Shares(share)
        self._grace = grace
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._main, name="sender")
        self._bell = asyncio.Event()
        self._looking: asyncio.TimerHandle | None = None
        self._more = (
            True  # may be due of what there was no room for; else only the bell says that something is
        )
        self._stopping_since: float | None = None
        self._database = ThreadPoolExecutor(3, thread_name_prefix="sender-store")
        self._under_way: dict[UUID, tuple[Claimed, GiveUp]] = {}
        self._results: list[Attempt] = []
        self._has_results, self._is_over = asyncio.Event(), False
        self._held: dict[UUID, float] = {}  # endpoints that somebody else holds, since when
        self._refused = Refused(refused.DELIVERIES)
        self._unwritten: list[Claimed] = []  # have a result that found no room, and their slot until it does

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
        async with webhooks.Poster() as self._poster:
            writer = asyncio.create_task(self._write())
            while self._stopping_since is None:
                self._bell.clear()
                await self._take()
                with suppress(TimeoutError):
                    async with asyncio.timeout(POLL_SECONDS):
                        await self._bell.wait()
            await self._finish()
            self._is_over = True
            self._has_results.set()
            await writer

    # --- Taking

    @contextmanager
    def taking(self) -> Iterator[Taking]:
        """Let some be claimed as they are made, and send what was taken. For any other thread."""
        promise = self._shares.promise()
        taking = Taking(promise.rooms)
        try:
            yield taking
        finally:
            if taking.taken:
                self._loop.call_soon_threadsafe(self._keep_taken, taking.taken, promise)
            else:
                promise.end()

    async def _take(self) -> None:
        """Claim what is due and has room, and begin what has its turn."""
        self._more = True
        if not self._shares.has_room():
            return
        full, promise = [*self._shares.full(), *self._refused.all()], self._shares.promise()

        def claim() -> list[Claimed] | None:
            with store.at_once() as means:
                if not (due := sending.due(means, full=full)):
                    return None
                claimed, faults = refused.claim(means, promise.rooms(due))
            self._hear(due, claimed, faults)
            return claimed

        claimed: list[Claimed] | None = []
        try:
            claimed = await self._in_thread(claim)
        except Exception:
            log.exception("Deliveries could not be taken; trying again.")
        if claimed is None:
            self._more = bool(full)
        self._keep(claimed or (), promise)

    def _hear(self, due: Sequence[Due], claimed: Sequence[Claimed], faults: Mapping[UUID, Exception]) -> None:
        """Refuse the endpoints that nothing can be claimed of; once the connection for claims is given back."""
        self._refused.taken({one.endpoint_id for one in claimed})
        owners = {one.endpoint_id: one.organisation_id for one in due}
        for id, fault in faults.items():
            self._refused.add(Row(id, owners[id]), fault)
            log.error(
                "Deliveries of an endpoint cannot be taken.", exc_info=fault, extra={"endpoint": str(id)}
            )

    def _keep_taken(self, claimed: Sequence[Claimed], promise: Promise) -> None:
        self._keep(claimed, promise)
        self._look_soon()  # for what else the bell rang for

    def _keep(self, claimed: Sequence[Claimed], promise: Promise) -> None:
        for one in claimed:
            self._shares.keep(one)
        promise.end()
        self._begin()

    def _begin(self) -> None:
        latest = now() + LEAST
        while self._stopping_since is None and (claimed := self._shares.next()):
            if claimed.lease_until < latest:  # it waited here for too long, and will be somebody else's
                self._shares.ended(claimed)
                continue
            done = partial(self._ended, claimed)
            self._under_way[claimed.id] = claimed, attempts.begin(self._poster, claimed, done)

    def _ended(self, claimed: Claimed, result: Attempt) -> None:
        del self._under_way[claimed.id]
        self._results.append(result)
        self._has_results.set()
        if len(self._results) > SLOTS:  # nothing more is begun than can be written down
            self._unwritten.append(claimed)
        else:
            self._free(claimed)
            self._begin()
        if self._stopping_since is not None:
            self._bell.set()

    def _free(self, claimed: Claimed) -> None:
        self._shares.ended(claimed)
        if self._more and self._stopping_since is None and self._shares.has_room_for(claimed):
            self._look_soon(FREED_SECONDS)

    def _look_soon(self, seconds: float = LOOK_SECONDS) -> None:
        """Look for what is due, once for all that ends within a moment; who rings waits for none of that."""
        if self._looking is None:
            self._looking = self._loop.call_later(seconds, self._look)

    def _look(self) -> None:
        self._looking = None
        self._bell.set()

    # --- Writing down

    async def _write(self) -> None:
        """Write results down in batches, one after the other, until there will be no more."""
        while self._results or not self._is_over:
            await self._has_results.wait()
            self._has_results.clear()
            if self._results:
                await asyncio.sleep(GATHER_SECONDS)
            while self._results:
                batch = self._results[:BATCH]
                del self._results[:BATCH]
                await self._settle(batch)
                for claimed in self._unwritten:
                    self._free(claimed)
                self._unwritten.clear()
                self._begin()
                if self._held:
                    shortest, longest = HELD_PAUSES
                    lasted = time.monotonic() - min(self._held.values())
                    await asyncio.sleep(min(longest, max(shortest, lasted)))

    async def _settle(self, batch: list[Attempt]) -> None:
        """Write results down, however long the database is away; one that cannot be written spoils no other."""
        while True:
            try:
                self._hold_back(batch, await self._in_thread(lambda: attempts.settle(batch)))
                return
            except store.OUTAGES as fault:
                log.warning("Results of deliveries could not be written; trying again: %s", fault)
                if self._left() <= 0:
                    return  # they are sent again when their leases are over
                await asyncio.sleep(POLL_SECONDS)
            except Exception as fault:
                log.exception("Results of deliveries could not be written.")
                if len(batch) == 1 and isinstance(fault, store.WaitRanOut):
                    self._hold_back(batch, batch)
                break
        for one in batch if len(batch) > 1 else ():
            await self._settle([one])

    def _hold_back(self, batch: list[Attempt], held: list[Attempt]) -> None:
        """Keep what could not be written of endpoints that others hold; meanwhile nothing more of those is taken."""
        moment, ends = time.monotonic(), {one.endpoint_id for one in held}
        for id in {one.endpoint_id for one in batch} - ends:
            if self._held.pop(id, None):
                self._look_soon()
        for id in ends:
            self._held.setdefault(id, moment)
        self._shares.passed_by = {id for id, since in self._held.items() if moment - since > HELD_SECONDS}
        if self._left() > 0:  # else they are sent again when their leases are over
            self._results += held

    # --- Ending

    def _left(self) -> float:
        """Return the seconds that are left of the grace; all of them while nobody has asked to stop."""
        since = self._stopping_since
        return self._grace if since is None else max(0.0, since + self._grace - time.monotonic())

    async def _finish(self) -> None:
        """Give back what has not been begun, wait for what is under way, and give back what has no answer by then."""
        await self._in_thread(self._shares.close)
        await self._release(self._shares.leave())
        while self._under_way and (left := self._left()):
            self._bell.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._bell.wait()
        late = list(self._under_way.values())
        self._under_way.clear()
        for _, give_up in late:
            give_up()
        await self._release([claimed for claimed, _ in late])

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
