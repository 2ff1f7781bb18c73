"""The live channel of a room: a WebSocket, or a stream of server-sent events where there can be none."""

import asyncio
import re
from base64 import b64decode, b64encode
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

import orjson
from starlette.datastructures import Headers

import schemas.rooms
import store
from app.http import answers, bodies, context, limits, refusals
from app.http.live import frames
from app.http.live.hub import CLOSED, TOO_SLOW, Client, Hub, Room, hub, stop
from app.http.threads.hop import Hop, Left
from app.instance import logs
from handlers import rooms as handlers
from rules import interviews, networks, rooms
from rules.errors import Invalid, NotFound, Refusal
from store.database.ids import new_id
from store.interviewing import documents, stream, visits
from store.interviewing.rooms import Interview
from store.interviewing.stream import Act

PATH = re.compile(r"/api/v1/candidate/interviews/([^/\x00]{1,128})/live/?")
STREAM = "text/event-stream"
HELLO_SECONDS = 10.0  # for the first message of a WebSocket
BEAT_SECONDS = 15.0  # between two signs of life of a stream
STREAM_SECONDS = 900.0  # then its client opens another
LARGEST_CURSOR = 16 << 10
FRAMES_A_SECOND, FRAMES_AT_ONCE = 100, 400  # that a client may send; beyond it, it waits
HEADERS = {"content-type": STREAM, "cache-control": "no-store", "x-accel-buffering": "no"}

# How a WebSocket ends that says what is no message.
GARBLED = 4400


@dataclass
class Look:
    """What a client is greeted with, and whose it is."""

    interview: Interview
    role: str
    name: str
    room: dict[str, Any]
    events: list[dict[str, Any]]
    document: list[bytes]
    number: int


class Live:
    """Serve live channels; pass everything else on."""

    def __init__(self, app: context.App, *, trusted_proxies: tuple[str, ...]) -> None:
        self.app, self.trusted_proxies = app, trusted_proxies
        self.doors = Hop(2, "rooms-door")

    async def __call__(self, scope: context.Scope, receive: context.Receive, send: context.Send) -> None:
        """Serve one channel."""
        if scope["type"] == "websocket":
            await self._socket(scope, receive, send)
        elif scope["type"] == "http" and _asks_for_stream(scope):
            await self._stream(scope, receive, send)
        elif scope["type"] == "lifespan":
            try:
                await self.app(scope, receive, send)
            finally:
                stop()
        else:
            await self.app(scope, receive, send)

    async def _admit(self, request: context.Request, token: str) -> Interview:
        """Count a client's opening, and find its room; or refuse."""
        request.waits_for = self.doors.submit(_admit, request, token, party=request.address, within=5.0)
        found: Interview = await request.waits_for
        request.waits_for = None
        return found

    # --- A WebSocket

    async def _socket(self, scope: context.Scope, receive: context.Receive, send: context.Send) -> None:
        headers = Headers(scope=scope)
        peer = scope["client"][0] if scope.get("client") else ""
        request = context.Request(
            id=f"req_{new_id().hex}",
            address=networks.client(peer, headers.getlist("x-forwarded-for"), self.trusted_proxies),
            method="GET",
            path=scope["path"],
            query=scope["query_string"],
            head=headers,
        )
        logs.request_id.set(request.id)
        await receive()  # websocket.connect
        client, rooms_hub, room = Client(""), hub(), None
        client.abort = scope.get("extensions", {}).get("abort", client.abort)
        try:
            try:
                found = PATH.fullmatch(scope["path"])
                if found is None:
                    raise NotFound("There is no such path.")
                interview = await self._admit(request, found[1])
                client.role = visits.role_of(interview, found[1])
                room = rooms_hub.enter(interview, client)
            except Exception as fault:
                await _deny(refusals.answer(fault, request), request, send)
                return
            await send({"type": "websocket.accept"})
            await _Socket(rooms_hub, room, client, found[1], receive, send).serve()
        finally:
            if room is not None:
                rooms_hub.leave(room, client)

    # --- A stream of server-sent events

    async def _stream(self, scope: context.Scope, receive: context.Receive, send: context.Send) -> None:
        request = context.of(scope)
        found = PATH.fullmatch(scope["path"])
        assert found is not None
        client, rooms_hub, room = Client(""), hub(), None
        client.abort = scope.get("extensions", {}).get("abort", client.abort)
        try:
            try:
                interview = await self._admit(request, found[1])
                after, state = _asked(request)
                client.role = visits.role_of(interview, found[1])
                room = rooms_hub.enter(interview, client)
                look: Look = await rooms_hub.in_thread(_look, found[1], after)
                missing = await rooms_hub.in_thread(_missing, look.document, state)
            except Left:
                return
            except Exception as fault:
                await answers.send(refusals.answer(fault, request), send)
                return
            head = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            await send({"type": "http.response.start", "status": 200, "headers": head})
            greeting = [
                _event("room", {"room": look.room}),
                _event("events", {"events": look.events}, look.number),
                _event(
                    "document", {"update": _text(missing), "state": _text(documents.state(look.document))}
                ),
            ]
            await send({"type": "http.response.body", "body": b"".join(greeting), "more_body": True})
            rooms_hub.greet(client, look.number)
            request.waits_for = asyncio.get_running_loop().create_future()  # ends when the client leaves
            await _pour(client, request.waits_for, send)
        finally:
            if room is not None:
                rooms_hub.leave(room, client)


class _Socket:
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
        look: Look = await self.hub.in_thread(_look, self.token, after)
        self.client.name = _name(hello.get("name")) or look.name
        self.client.send(frames.words("room", room=look.room))
        for place in range(0, len(look.events), rooms.EVENTS_AT_ONCE):
            part = look.events[place : place + rooms.EVENTS_AT_ONCE]
            self.client.send(frames.words("events", events=part))
        self.client.send(frames.sync(frames.ASK, documents.state(look.document)))
        self.hub.greet(self.client, look.number)

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
            missing = await self.hub.in_thread(_missing_of, self.room.id, given.content)
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

    def _await(self, act: Act, then: Any) -> None:
        """Have an act kept, and say so; the next message does not wait for it."""

        async def kept() -> None:
            try:
                then(await self.hub.do(act))
            except Refusal as fault:
                self._refuse(act.id if act.kind != stream.UPDATE else None, fault)
                if (
                    act.kind == stream.UPDATE
                ):  # what it has and the room has not: it comes back and says it again
                    self.client.close(CLOSED if fault.status == 409 else TOO_SLOW)

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


# --- In threads


def _admit(request: context.Request, token: str) -> Interview:
    limits.count(request, reads=True, cap=None)
    with store.transaction() as session:
        visit = visits.find(session, token)
        interviews.require_open(visit.status)
        return visit.interview


def _look(token: str, after: int) -> Look:
    with store.transaction() as session:
        visit = visits.find(session, token)
        interviews.require_open(visit.status)
        room = handlers.view(session, visit)
        number, found = room["last_number"], []
        while True:
            part = stream.events(session, visit.interview.id, after)
            found += [one for one in part if one.number <= number]
            if len(part) < rooms.EVENTS_AT_ONCE or part[-1].number >= number:
                break
            after = part[-1].number
        shown = [schemas.rooms.lively(one) for one in found if one.kind not in rooms.HIDDEN[visit.role]]
        updates = stream.updates(session, visit.interview.id)
        return Look(visit.interview, visit.role, visits.called(session, visit), room, shown, updates, number)


def _missing(updates: list[bytes], state: bytes) -> bytes:
    try:
        return documents.missing(updates, state)
    except ValueError:
        raise Invalid.at("/query/state", "must be a state vector") from None


def _missing_of(interview_id: UUID, state: bytes) -> bytes:
    with store.reading() as reading:
        updates = stream.updates(reading, interview_id)
    try:
        return documents.missing(updates, state)
    except ValueError:
        raise frames.Garbled("This is no state vector.") from None


# --- What is read and written


def _asks_for_stream(scope: context.Scope) -> bool:
    return (
        scope["method"] == "GET"
        and PATH.fullmatch(scope["path"]) is not None
        and STREAM in Headers(scope=scope).get("accept", "")
    )


def _asked(request: context.Request) -> tuple[int, bytes]:
    """Read from where a stream goes on: the number, and what of the document its client has."""
    query = parse_qs(request.query.decode("latin-1"))
    number = request.head.get("last-event-id") or query.get("after", ["0"])[0]
    if not re.fullmatch(r"\d{1,18}", number, re.ASCII):
        raise Invalid.at("/query/after", "must be a whole number")
    try:
        state = b64decode(query.get("state", ["AA=="])[0], validate=True)
    except ValueError:
        raise Invalid.at("/query/state", "must be Base64") from None
    return int(number), state


async def _pour(client: Client, left: asyncio.Future[Any], send: context.Send) -> None:
    """Send what there is until the client leaves, or has been here for long."""
    until = left.get_loop().time() + STREAM_SECONDS
    waiting: asyncio.Task[Any] | None = None
    try:
        while left.get_loop().time() < until:
            waiting = waiting or asyncio.ensure_future(client.next())
            done, _ = await asyncio.wait(
                {waiting, left}, timeout=BEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            if left in done:
                return
            if not done:
                await send({"type": "http.response.body", "body": b": still here\n\n", "more_body": True})
                continue
            frame, waiting = waiting.result(), None
            if frame is None or client.closed == TOO_SLOW:
                break
            body = _of_frame(frame, client.seen or 0)
            await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    finally:
        if waiting is not None:
            waiting.cancel()
        left.cancel()


def _of_frame(frame: str | bytes, number: int) -> bytes:
    """Write a frame of a WebSocket as an event of a stream."""
    if isinstance(frame, str):
        said = orjson.loads(frame)
        name = said.pop("type")
        last = said["events"][-1]["number"] if name == "events" and said["events"] else None
        return _event(name, said, last)
    given = frames.read(frame)
    name = "cursor" if given.kind == frames.AWARENESS else "update"
    return _event(name, {"update": _text(given.content)})


def _event(name: str, said: dict[str, Any], number: int | None = None) -> bytes:
    id = f"id: {number}\n" if number is not None else ""
    return f"event: {name}\n{id}data: ".encode() + orjson.dumps(said) + b"\n\n"


def _text(content: bytes) -> str:
    return b64encode(content).decode()


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


async def _deny(answer: answers.Answer, request: context.Request, send: context.Send) -> None:
    """Refuse a WebSocket before it is one, in the envelope of every other refusal."""
    headers = answer.headers | {"content-type": answer.media_type, "x-request-id": request.id}
    await send(
        {
            "type": "websocket.http.response.start",
            "status": answer.status,
            "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        }
    )
    await send({"type": "websocket.http.response.body", "body": answer.body})
