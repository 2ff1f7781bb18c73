"""A live channel as a WebSocket."""

import asyncio
from contextlib import suppress
from typing import Any
from uuid import UUID

import orjson

from app.http import bodies, context
from app.http.live import frames, reading
from app.http.live.clients import CLOSED, TOO_SLOW, Client, Room
from app.http.live.hub import Hub
from rules import rooms, voice
from rules.errors import Invalid, RateLimited
from rules.refusal import Refusal
from store.interviewing import documents, stream
from store.interviewing.stream import Act

HELLO_SECONDS = 10.0  # for the first message
LARGEST_CURSOR = 16 << 10
FRAMES_A_SECOND, FRAMES_AT_ONCE = 100, 400  # that a client may send; beyond it, it waits
SIGNALS_A_SECOND, SIGNALS_AT_ONCE = 10, 200  # by which it finds another to talk; beyond it, they are refused
GARBLED = 4400  # how it ends that says what is no message
ENDS = {409: CLOSED, 403: 4413}  # whose change of the document is refused: the room is closed, or full


class Socket:
    """One WebSocket, from its first message to its end."""

    def __init__(
        self,
        rooms_hub: Hub,
        room: Room,
        client: Client,
        token: str,
        receive: context.Receive,
        send: context.Send,
    ) -> None:
        self.hub, self.room, self.client, self.token = rooms_hub, room, client, token
        self.receive, self.send = receive, send
        self.budget, self.refilled = float(FRAMES_AT_ONCE), rooms_hub.loop.time()
        self.signals, self.signalled = float(SIGNALS_AT_ONCE), self.refilled
        self.under_way: set[asyncio.Task[None]] = set()
        self.updates = 0  # of the document, that this client knows to be safe

    async def serve(self) -> None:
        """Talk until either side ends it."""
        sending = asyncio.create_task(self._send_all())
        try:
            await self._greet()
            while self.client.closed is None:
                message = await self.receive()
                if message["type"] == "websocket.disconnect":
                    self.client.close(1000)
                    return
                await self._pace()
                await self._take(message)
        except frames.Garbled as fault:
            self.client.send(frames.words("refused", id=None, code="VALIDATION_ERROR", message=str(fault)))
            self.client.close(GARBLED)
        except Refusal as fault:
            self.client.send(frames.words("refused", id=None, code=fault.code, message=str(fault)))
            self.client.close(CLOSED)
        finally:
            for task in self.under_way:
                task.cancel()
            if self.client.closed is None:
                self.client.close(1011)
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(sending, 5.0)

    async def _send_all(self) -> None:
        with suppress(OSError, RuntimeError):  # the client is gone
            while (frame := await self.client.next()) is not None and self.client.closed != TOO_SLOW:
                kind = "text" if isinstance(frame, str) else "bytes"
                await self.send({"type": "websocket.send", kind: frame})
            await self.send({"type": "websocket.close", "code": self.client.closed or 1000})

    async def _pace(self) -> None:
        """Let a client wait that sends too fast."""
        moment = self.hub.loop.time()
        self.budget = min(FRAMES_AT_ONCE, self.budget + (moment - self.refilled) * FRAMES_A_SECOND) - 1
        self.refilled = moment
        if self.budget < 0:
            await asyncio.sleep(-self.budget / FRAMES_A_SECOND)

    async def _greet(self) -> None:
        try:
            said = await asyncio.wait_for(self.receive(), HELLO_SECONDS)
        except TimeoutError:
            raise frames.Garbled("A channel begins with hello.") from None
        hello = _json(said)
        if hello.get("type") != "hello":
            raise frames.Garbled("A channel begins with hello.")
        after = hello.get("after", 0)
        if not isinstance(after, int) or isinstance(after, bool) or not 0 <= after < 1 << 62:
            raise frames.Garbled("`after` is a number.")
        look: reading.Look = await self.hub.in_thread(reading.look, self.token, after)
        self.client.name = _name(hello.get("name")) or look.name
        self.client.send(frames.words("room", room=look.room))
        for place in range(0, len(look.events), rooms.EVENTS_AT_ONCE):
            part = look.events[place : place + rooms.EVENTS_AT_ONCE]
            self.client.send(frames.words("events", events=part))
        self.client.send(frames.sync(frames.ASK, documents.state(look.document)))
        self.hub.greet(self.room, self.client, look.number, look.document)

    async def _take(self, message: Any) -> None:
        data = message.get("bytes")
        if data is None:
            self._take_words(_json(message))
            return
        given = frames.read(data)
        if given.kind == frames.AWARENESS:
            if len(given.content) > LARGEST_CURSOR:
                raise frames.Garbled("A cursor is smaller.")
            self.hub.pass_on(self.room, self.client, given.content)
        elif given.step == frames.ASK:
            missing = await self.hub.in_thread(reading.missing_of, self.room.id, given.content)
            self.client.send(frames.sync(frames.ANSWER, missing))
        elif given.content == documents.NOTHING:
            self._saved()
        elif not documents.is_sound(given.content):
            raise frames.Garbled("This is no update of a document.")
        else:
            act = Act(self.room.id, stream.UPDATE, self.client.role, update=given.content)
            self._await(act, lambda _number: self._saved())

    def _take_words(self, said: dict[str, Any]) -> None:
        if said.get("type") == "ping":
            self.client.send(frames.words("pong"))
            return
        if said.get("type") == "voice":
            self._take_signal(said.get("signal"))
            return
        if said.get("type") != "message":
            raise frames.Garbled("There is no such message.")
        try:
            id = UUID(said["id"])
        except (KeyError, ValueError, TypeError, AttributeError):
            raise frames.Garbled("A message has an id.") from None
        content = said.get("content")
        if (
            not isinstance(content, str)
            or not content.strip()
            or len(content) > rooms.LONGEST_MESSAGE
            or not bodies.sound(content)
        ):
            self._refuse(id, Invalid("A message says something, and is no longer than 5,000 characters."))
            return
        act = Act(
            self.room.id,
            "message",
            self.client.role,
            self.client.name,
            {"content": content.strip()},
            id=id,
        )
        self._await(act, lambda number: self.client.send(frames.words("ack", id=str(id), number=number)))

    def _take_signal(self, given: Any) -> None:
        """Pass on by what browsers find each other; one that is refused ends nothing."""
        moment = self.hub.loop.time()
        self.signals += (moment - self.signalled) * SIGNALS_A_SECOND
        self.signals, self.signalled = min(SIGNALS_AT_ONCE, self.signals), moment
        try:
            voice.require(offered=self.room.has_voice, status=self.room.status)
            if self.signals < 1:
                raise RateLimited(retry_after_seconds=1)
            signal = voice.signal(given if isinstance(given, dict) else {})
        except Refusal as fault:
            self._refuse(None, fault)
            return
        self.signals -= 1
        self.hub.signal(self.room, self.client, signal)

    def _await(self, act: Act, then: Any) -> None:
        """Have an act kept, and say so; the next message does not wait for it."""

        async def kept() -> None:
            try:
                then(await self.hub.do(act))
            except Refusal as fault:
                self._refuse(act.id if act.kind != stream.UPDATE else None, fault)
                # What it has and the room has not: it comes back and says it again.
                if act.kind == stream.UPDATE:
                    self.client.close(ENDS.get(fault.status, TOO_SLOW))

        task = asyncio.create_task(kept())
        self.under_way.add(task)
        task.add_done_callback(self.under_way.discard)

    def _saved(self) -> None:
        self.updates += 1
        self.client.send(frames.words("saved", updates=self.updates))

    def _refuse(self, id: UUID | None, fault: Refusal) -> None:
        self.client.send(
            frames.words("refused", id=str(id) if id else None, code=fault.code, message=str(fault))
        )


def _json(message: Any) -> dict[str, Any]:
    if message["type"] == "websocket.disconnect":
        raise frames.Garbled("The channel is closed.")
    try:
        said = orjson.loads(message.get("text") or b"")
    except orjson.JSONDecodeError:
        raise frames.Garbled("A message is JSON, or binary.") from None
    if not isinstance(said, dict):
        raise frames.Garbled("A message in JSON is an object.")
    return said


def _name(given: Any) -> str:
    return given.strip()[:200] if isinstance(given, str) and bodies.sound(given) else ""
