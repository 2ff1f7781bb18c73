"""The rooms that this process has people in: what they do is kept with everybody else's, and told to whom it concerns.

Tasks of the event loop, each for all rooms: one keeps some milliseconds' acts in one transaction (keeping.py) and
hands them out; one reads what else is new and hands it out; one looks where nobody tells; one notes what was typed.
Database work runs in threads of this module's own.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable
from typing import Any
from uuid import UUID

from prometheus_client import Gauge

import schemas.rooms
from app.http.live import frames, reading
from app.http.live.clients import CLOSED, MOST_FRAMES, RESTARTING, TOO_SLOW, Client, Room
from app.http.live.keeping import Keeper
from app.http.live.presence import Presence
from app.http.threads.hop import Hop
from rules import interviews, rooms, voice
from rules.errors import Unavailable
from store.interviewing import news, stream
from store.interviewing.rooms import Interview
from store.interviewing.stream import Act, Kept, News

log = logging.getLogger("hiring.rooms")

# How often one looks for news: while Redis tells of them, and while not.
LOOK_SECONDS, LOOK_ALONE_SECONDS = 5.0, 0.5
TIDY_SECONDS = 3.0  # after which what was typed is noted for the replay
REST = 3  # times as long as noting one room took, before the next: a full process notes less often
PER_ROOM, PER_ORGANISATION = 16, 1_000  # channels, in this process

CHANNELS = Gauge("hiring_room_channels", "Live channels that are open.", multiprocess_mode="livesum")


class Hub:
    """All rooms of one process; belongs to one event loop."""

    def __init__(self) -> None:
        self.rooms: dict[UUID, Room] = {}
        self.of_organisations: defaultdict[UUID, int] = defaultdict(int)
        self.reading = Hop(2, "rooms-read")
        self.tidying = Hop(1, "rooms-tidy")  # nobody waits for it
        self.untidy: asyncio.Queue[Room] = asyncio.Queue()
        self.keeper = Keeper(self._tell_of)
        self.wanted: set[UUID] = set()
        self.has_news = asyncio.Event()
        self.loop = asyncio.get_running_loop()
        self.stop_listening = news.listen(self._hear)
        self.presence = Presence(self.rooms, self.do)
        tasks = (self.keeper.run, self._tell, self._look, self._tidy, self.presence.beat)
        self.tasks = [self.loop.create_task(one()) for one in tasks]

    def stop(self) -> None:
        """End all channels; the process ends."""
        self.stop_listening()
        for task in self.tasks:
            task.cancel()
        for room in self.rooms.values():
            for client in room.clients:
                client.close(RESTARTING)

    # --- Who is there

    def enter(self, interview: Interview, client: Client) -> Room:
        """Let a client in, or refuse: too many are there."""
        room = self.rooms.get(interview.id)
        if (room and len(room.clients) >= PER_ROOM) or self.of_organisations[
            interview.organisation_id
        ] >= PER_ORGANISATION:
            raise Unavailable("Too many are in this room, or in all rooms of the organisation.")
        if room is None:
            room = self.rooms[interview.id] = Room(
                interview.id,
                interview.organisation_id,
                interview.last_number,
                interview.status,
                has_voice=voice.offered(interview),
            )
        room.clients.append(client)
        self.of_organisations[room.organisation_id] += 1
        CHANNELS.inc()
        return room

    def leave(self, room: Room, client: Client) -> None:
        """Let a client go; with the last one the room is forgotten."""
        room.clients.remove(client)
        self.presence.went(room, client)
        CHANNELS.dec()
        self.of_organisations[room.organisation_id] -= 1
        if not self.of_organisations[room.organisation_id]:
            del self.of_organisations[room.organisation_id]
        if not room.clients:
            self.rooms.pop(room.id, None)
            if room.is_typed_in:
                self.untidy.put_nowait(room)

    def greet(self, room: Room, client: Client, number: int, document: list[bytes]) -> None:
        """Send what came since a client was let in, and everything from now on; it has all up to the number."""
        room.weight = sum(map(len, document))
        client.seen = number
        self.presence.came(room, client)
        early, client.early = client.early, []
        for found, status in early:
            self._send(client, found, status)

    # --- What they do

    def do(self, act: Act) -> asyncio.Future[int]:
        """Keep an act; the future has its number once that is safe, or a refusal."""
        room = self.rooms.get(act.interview_id)
        if act.kind == stream.UPDATE and room:
            rooms.check_document(room.weight)
        future = self.keeper.keep(act)
        if act.kind == stream.UPDATE and room and not room.is_typed_in:
            room.is_typed_in = True
            self.loop.call_later(TIDY_SECONDS, self.untidy.put_nowait, room)
        return future

    def pass_on(self, room: Room, sender: Client, cursor: bytes) -> None:
        """Show everybody else where a cursor stands."""
        self._pass_on(room, frames.cursor(cursor), sender)
        news.pass_on([room.id], cursor)

    def signal(self, room: Room, sender: Client, signal: dict[str, Any]) -> None:
        """Pass on by what browsers find each other to talk."""
        said = {"role": sender.role, "signal": signal}
        self._pass_on(room, frames.words("voice", **said), sender)
        news.pass_on([room.id], signals=[said])

    def _pass_on(self, room: Room, frame: str | bytes, sender: Client | None = None) -> None:
        for client in room.clients:
            if client is not sender and client.seen is not None:
                client.send(frame)

    def _tell_of(self, changed: dict[UUID, list[tuple[Act, Kept]]]) -> None:
        """Hand out what was just kept; what is between it and what was handed out before is read."""
        unknown = set()
        for id, acts in changed.items():
            if room := self.rooms.get(id):
                closed = any(how.number is None for _, how in acts)
                found = None if closed else stream.just_kept(id, room.status, room.seen, acts)
                if found is None:
                    unknown.add(id)
                else:
                    self._hand_out(room, found)
        self._want(unknown)
        news.pass_on(list(changed))

    # --- What they hear

    def _hear(self, ids: list[UUID], cursor: bytes, signals: list[news.Signal]) -> None:
        """Hear of rooms, in any thread."""
        mine = [id for id in ids if id in self.rooms]
        if mine:
            try:
                self.loop.call_soon_threadsafe(self._heard, mine, cursor, signals)
            except RuntimeError:  # the loop is closed: nobody is here any more
                self.stop_listening()

    def _heard(self, ids: list[UUID], cursor: bytes, signals: list[news.Signal]) -> None:
        if not cursor and not signals:
            self._want(set(ids))
            return
        for room in (self.rooms[id] for id in ids if id in self.rooms):
            if cursor:
                self._pass_on(room, frames.cursor(cursor))
            for said in signals:
                self._pass_on(room, frames.words("voice", **said))

    def _want(self, ids: set[UUID]) -> None:
        self.wanted |= ids & self.rooms.keys()
        if self.wanted:
            self.has_news.set()

    async def _look(self) -> None:
        while True:
            for _ in range(round(LOOK_SECONDS / LOOK_ALONE_SECONDS)):
                await asyncio.sleep(LOOK_ALONE_SECONDS)
                if not news.is_heard():
                    break
            self._want(set(self.rooms))

    async def _tell(self) -> None:
        while True:
            await self.has_news.wait()
            ids, self.wanted = self.wanted, set()
            self.has_news.clear()
            asked = {id: self.rooms[id].seen for id in ids if id in self.rooms}
            if not asked:
                continue
            try:
                found = await self.reading.submit(reading.news, asked)
            except Exception as fault:
                log.warning("What happens in rooms cannot be read: %s", fault)
                self.loop.call_later(LOOK_ALONE_SECONDS, self._want, ids)
                continue
            for id, new in found.items():
                if room := self.rooms.get(id):
                    self._hand_out(room, new)

    def _hand_out(self, room: Room, found: News) -> None:
        moved, room.status = room.status != found.status, found.status
        if found.last_number <= room.seen and not moved:
            return
        if len(found.events) == rooms.EVENTS_AT_ONCE:
            self._want({room.id})  # there may be more
        room.seen = max(room.seen, found.last_number)
        room.weight += sum(map(len, found.updates))
        told = found.status if moved else ""
        for client in room.clients:
            if client.seen is None:
                client.early.append((found, told))
                if len(client.early) > MOST_FRAMES:
                    client.close(TOO_SLOW)
            else:
                self._send(client, found, told)

    def _send(self, client: Client, found: News, status: str) -> None:
        assert client.seen is not None
        events = [
            schemas.rooms.lively(one)
            for one in found.events
            if one.number > client.seen and one.kind not in rooms.HIDDEN[client.role]
        ]
        if events:
            client.send(frames.words("events", events=events))
        for update in found.updates:
            client.send(frames.sync(frames.UPDATE, update))
        client.seen = max(client.seen, found.last_number)
        if status:
            client.send(frames.words("status", status=status))
            if status in interviews.CLOSED:
                client.close(CLOSED)

    # --- What stays of it

    async def _tidy(self) -> None:
        while True:
            room = await self.untidy.get()
            room.is_typed_in, began = False, self.loop.time()
            try:
                await self.tidying.submit(reading.tidy, room.id)
            except Exception as fault:  # the next time, or the end of the interview
                log.warning("What was typed in a room is not noted yet: %s", fault)
            await asyncio.sleep(REST * (self.loop.time() - began))

    def in_thread(self, function: Callable[..., Any], *arguments: Any) -> asyncio.Future[Any]:
        """Have something read by a thread of the rooms'."""
        return self.reading.submit(function, *arguments)


_hub: Hub | None = None


def hub() -> Hub:
    """Return the hub of this process's loop; there is one from the first channel on."""
    global _hub  # noqa: PLW0603 - one process, one loop (tests have several)
    if _hub is None or _hub.loop is not asyncio.get_running_loop():
        if _hub is not None:
            _hub.stop_listening()
        _hub = Hub()
    return _hub


def stop() -> None:
    """End all channels."""
    if _hub is not None:
        _hub.stop()
