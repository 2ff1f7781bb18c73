"""What is done in the rooms of this process is kept: all rooms' acts together, and each room's in its order."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable
from uuid import UUID

from prometheus_client import Counter

from app.http.live import reading
from app.http.threads.hop import Hop
from rules.errors import SessionClosed, Unavailable
from store.interviewing.stream import Act, Kept

log = logging.getLogger("hiring.rooms")

GATHER_SECONDS = 0.006  # while acts are gathered for one transaction
MOST_AT_ONCE = 1_000  # acts of one transaction
MOST_WAITING = 10_000  # acts of this process that wait to be kept
AGAIN_SECONDS, PATIENCE_SECONDS = 0.02, 10.0  # between two tries to keep an act, and for all of them

ACTS = Counter("hiring_room_acts", "What was kept of rooms.", ["how"])

Asked = tuple[Act, asyncio.Future[int], float]  # what is to be kept, who waits for it, and until when
TellOf = Callable[[dict[UUID, list[tuple[Act, Kept]]]], None]  # of rooms and what was kept, or refused, there


class Keeper:
    """The acts of one process that are not kept yet; belongs to one event loop."""

    def __init__(self, tell_of: TellOf) -> None:
        self.tell_of = tell_of
        self.threads = Hop(1, "rooms-keep")
        self.acts: list[Asked] = []
        self.held: dict[UUID, list[Asked]] = {}  # of rooms that somebody holds: in their order, for later
        self.has_acts = asyncio.Event()
        self.loop = asyncio.get_running_loop()

    def keep(self, act: Act) -> asyncio.Future[int]:
        """Have an act kept; the future has its number once that is safe, or a refusal."""
        if len(self.acts) + sum(map(len, self.held.values())) >= MOST_WAITING:
            raise Unavailable
        future: asyncio.Future[int] = self.loop.create_future()
        asked = (act, future, self.loop.time() + PATIENCE_SECONDS)
        if act.interview_id in self.held:
            self.held[act.interview_id].append(asked)
        else:
            self.acts.append(asked)
            self.has_acts.set()
        return future

    async def run(self) -> None:
        """Keep acts for ever, some milliseconds' in one transaction."""
        while True:
            await self.has_acts.wait()
            await asyncio.sleep(GATHER_SECONDS)
            taken, self.acts = self.acts[:MOST_AT_ONCE], self.acts[MOST_AT_ONCE:]
            once: dict[UUID, Asked] = {}
            for one in taken:
                if one[0].id in once:
                    self.acts.append(one)  # sent twice: the second finds the first
                else:
                    once[one[0].id] = one
            batch = list(once.values())
            if not self.acts:
                self.has_acts.clear()
            if not batch:
                continue
            try:
                kept = await self.threads.submit(reading.keep, [act for act, _, _ in batch])
            except Exception as fault:  # the database is away, for a moment or longer
                log.warning("What happens in rooms is not kept: %s", fault)
                kept = [Kept(None, held=True)] * len(batch)
            self._kept(batch, kept)

    def _kept(self, batch: list[Asked], kept: list[Kept]) -> None:
        changed: dict[UUID, list[tuple[Act, Kept]]] = {}
        again: defaultdict[UUID, list[Asked]] = defaultdict(list)
        moment, count = self.loop.time(), 0
        for one, how in zip(batch, kept, strict=True):
            act, future, until = one
            if how.held and moment <= until and not future.done():
                again[act.interview_id].append(one)
                continue
            count += 1
            if not how.held:
                changed.setdefault(act.interview_id, []).append((act, how))
            if future.done():
                continue
            if how.number is not None:
                future.set_result(how.number)
            else:
                future.set_exception(Unavailable() if how.held else SessionClosed())
        ACTS.labels("kept").inc(count)
        if again:
            ACTS.labels("again").inc(sum(map(len, again.values())))
            self._put_off(again)
        if changed:
            self.tell_of(changed)

    def _put_off(self, again: dict[UUID, list[Asked]]) -> None:
        """Try rooms that somebody holds a little later, with all that is asked of them until then, in its order."""
        self.held |= again
        waiting, self.acts = self.acts, []
        for one in waiting:
            self.held.get(one[0].interview_id, self.acts).append(one)

        def retry() -> None:
            for id in again:
                self.acts += self.held.pop(id)
            self.has_acts.set()

        self.loop.call_later(AGAIN_SECONDS, retry)
