"""The live channel of a room: a WebSocket, or a stream of server-sent events where there can be none."""

import asyncio
import re
from collections.abc import Awaitable

from starlette.datastructures import Headers

from app.http import answers, context, refusals
from app.http.live import pouring, reading
from app.http.live.clients import Client
from app.http.live.hub import hub, stop
from app.http.live.socket import Socket
from app.http.threads.hop import Hop, Left
from app.instance import logs
from rules import networks
from rules.errors import NotFound
from store.database.ids import new_hex
from store.interviewing import documents, visits
from store.interviewing.rooms import Interview

ROOMS = "/api/v1/candidate/interviews/"
PATH = re.compile(ROOMS + r"([^/\x00]{1,128})/live/?")
STREAM = "text/event-stream"
HEADERS = {"content-type": STREAM, "cache-control": "no-store", "x-accel-buffering": "no"}


class Live:
    """Serve live channels; pass everything else on."""

    def __init__(self, app: context.App, *, trusted_proxies: tuple[str, ...]) -> None:
        self.app, self.trusted_proxies = app, trusted_proxies
        self.doors = Hop(2, "rooms-door")

    def __call__(self, scope: context.Scope, receive: context.Receive, send: context.Send) -> Awaitable[None]:
        """Serve one channel; what is none is passed on without a station of its own that it would wait in."""
        if scope["type"] == "websocket":
            return self._socket(scope, receive, send)
        if scope["type"] == "lifespan":
            return self._live(scope, receive, send)
        if _asks_for_stream(scope):
            return self._stream(scope, receive, send)
        return self.app(scope, receive, send)

    async def _live(self, scope: context.Scope, receive: context.Receive, send: context.Send) -> None:
        try:
            await self.app(scope, receive, send)
        finally:
            stop()

    async def _admit(self, request: context.Request, token: str) -> Interview:
        """Count a client's opening, and find its room; or refuse."""
        request.waits_for = self.doors.submit(
            reading.admit, request, token, party=request.counts_as, within=5.0
        )
        found: Interview = await request.waits_for
        request.waits_for = None
        return found

    # --- A WebSocket

    async def _socket(self, scope: context.Scope, receive: context.Receive, send: context.Send) -> None:
        headers = Headers(scope=scope)
        peer = scope["client"][0] if scope.get("client") else ""
        request = context.Request(
            id=f"req_{new_hex()}",
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
            await Socket(rooms_hub, room, client, found[1], receive, send).serve()
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
                after, state = pouring.asked(request)
                client.role = visits.role_of(interview, found[1])
                room = rooms_hub.enter(interview, client)
                look: reading.Look = await rooms_hub.in_thread(reading.look, found[1], after)
                missing = await rooms_hub.in_thread(reading.missing, look.document, state)
            except Left:
                return
            except Exception as fault:
                await answers.send(refusals.answer(fault, request), send, request)
                return
            head = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            await send({"type": "http.response.start", "status": 200, "headers": head})
            greeting = [
                pouring.event("room", {"room": look.room}),
                pouring.event("events", {"events": look.events}, look.number),
                pouring.event(
                    "document",
                    {"update": pouring.text(missing), "state": pouring.text(documents.state(look.document))},
                ),
            ]
            await send({"type": "http.response.body", "body": b"".join(greeting), "more_body": True})
            rooms_hub.greet(room, client, look.number, look.document)
            request.waits_for = asyncio.get_running_loop().create_future()  # ends when the client leaves
            await pouring.pour(client, request.waits_for, send)
        finally:
            if room is not None:
                rooms_hub.leave(room, client)


def _asks_for_stream(scope: context.Scope) -> bool:
    return (
        scope["path"].startswith(ROOMS)
        and scope["method"] == "GET"
        and PATH.fullmatch(scope["path"]) is not None
        and STREAM in Headers(scope=scope).get("accept", "")
    )


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
