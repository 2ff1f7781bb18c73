"""Noting who is in the rooms of this process, so that all hear of who is there no more."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from typing import Any
from uuid import UUID

from app.http.live import reading
from app.http.live.clients import Client, Room
from app.http.threads.hop import Hop
from rules import rooms
from rules.refusal import Refusal
from store.interviewing.presence import Side
from store.interviewing.stream import Act

log = logging.getLogger("hiring.rooms")

BEAT_SECONDS = 5.0  # between two times that it is noted


class Presence:
    """Who is in rooms; belongs to one event loop."""

    def __init__(self, rooms: Mapping[UUID, Room], do: Callable[[Act], asyncio.Future[int]]) -> None:
        self.rooms, self.do = rooms, do
        self.thread = Hop(1, "rooms-presence")  # one: who comes and goes at once has gone
        self.under_way: set[asyncio.Task[None]] = set()

    def came(self, room: Room, client: Client) -> None:
        """Note that somebody is there."""
        self._begin(self._stay([(room.id, client.role)]))

    def went(self, room: Room, client: Client) -> None:
        """Note that somebody is not, unless others of the side are."""
        if client.seen is not None and client.role not in room.sides():
            self._begin(self._go((room.id, client.role)))

    async def beat(self) -> None:
        """Note again and again who is there."""
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            await self._stay((room.id, side) for room in self.rooms.values() for side in room.sides())

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self.under_way.add(task)
        task.add_done_callback(self.under_way.discard)

    async def _stay(self, sides: Iterable[Side]) -> None:
        """Note who is there; a room hears of who is back that had left."""
        given = list(sides)
        if not given:
            return
        try:
            back = await self.thread.submit(reading.stay, given)
        except Exception as fault:  # the next time
            log.warning("Who is in rooms is not noted: %s", fault)
            return
        for id, side in back:
            room = self.rooms.get(id)
            name = next((one.name for one in room.clients if one.role == side), "") if room else ""
            with suppress(Refusal):  # it is closed by now, or nothing can be kept
                await self.do(Act(id, "join", side, name or rooms.CALLED[side]))

    async def _go(self, side: Side) -> None:
        try:
            await self.thread.submit(reading.go, side)
        except Exception as fault:  # it has left when it was not seen for a while
            log.warning("Who left a room is not noted yet: %s", fault)
