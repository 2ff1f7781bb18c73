"""HTTP as the server reads it: what it cannot read is refused in the contract's envelope too."""

import logging
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any

from starlette.datastructures import Headers

import insides.uvicorn
from app.http import context, refusals
from app.http.live import channel
from app.http.threads import clients, hop
from app.instance import logs
from rules import errors, links, networks
from rules.refusal import Refusal
from store.database.ids import new_hex

log = logging.getLogger("hiring.sockets")
log.setLevel(logging.WARNING)

ROOMS = channel.ROOMS.encode()
REFUSALS: dict[int, Callable[[str | None], Refusal]] = {
    400: errors.Invalid,
    408: errors.RequestTimeout,
    431: partial(errors.HeadersTooLarge, limit_bytes=insides.uvicorn.HEAD_BYTES),
    503: errors.Unavailable,
}


class Protocol(insides.uvicorn.Protocol):
    """Refuses as every other part does."""

    def connection_made(self, transport: Any) -> None:
        """Serve a client, unless its address has too many connections already."""
        super().connection_made(transport)
        peer = self.client[0] if self.client else ""
        self.counted = (
            networks.counts_as(peer) if peer and not networks.within(peer, clients.proxies) else None
        )
        if self.counted and not clients.connections.take(self.counted):
            self.counted = None
            transport.write(self.refuse(503, "Too many connections are open from this address."))
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Count it no more."""
        super().connection_lost(exc)
        if self.counted:
            clients.connections.give_back(self.counted)

    def on_headers_complete(self) -> None:
        """Tell a stream how to end its connection at once."""
        if self.url.startswith(ROOMS):
            scope: Any = self.scope
            scope.setdefault("extensions", {})["abort"] = self.transport.abort
        super().on_headers_complete()

    def opens_socket(self, path: bytes) -> bool:
        """Say whether there is a live channel at a path."""
        return channel.PATH.fullmatch(path.decode("latin-1")) is not None

    def moved(self, socket: Any) -> None:
        """Count the connection on, until the WebSocket ends."""
        socket.counted, self.counted = self.counted, None

    def left(self, scope: context.Scope) -> None:
        """Have nothing begun for whoever is gone."""
        request: context.Request | None = scope.get("extensions", {}).get("hiring")
        if request is None:
            return
        request.has_left = True
        if request.waits_for is not None:
            hop.give_up(request.waits_for, hop.Left)

    def shutdown(self) -> None:
        """End a stream that would last for long, and the connection after the request that it has."""
        for cycle in self.unanswered():
            if cycle.response_started:
                self.left(cycle.scope)
        super().shutdown()

    def refuse(self, status: int, why: str | None = None) -> bytes:
        """Write the whole answer to what cannot become a request."""
        request_id = f"req_{new_hex()}"
        token = logs.request_id.set(request_id)
        path, _, query = getattr(self, "url", b"").partition(b"?")
        asked = context.Request(
            id=request_id,
            address=self.client[0] if self.client else "",
            method="",
            path=path.decode("latin-1"),
            query=query,
            head=Headers(raw=self.headers or []),
        )
        try:
            refusal = REFUSALS[status](why)
            # The documents promise JSON to everybody for the others: most come before it is known who asks.
            answer = (
                refusals.answer(refusal, asked) if status == 400 else refusals.render(refusal, asked.path)
            )
        finally:
            logs.request_id.reset(token)
        headers = answer.headers | {
            "content-type": answer.media_type,
            "content-length": str(len(answer.body)),
            "access-control-allow-origin": links.origin(),
            "x-request-id": request_id,
            "connection": "close",
        }
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", *map(": ".join, headers.items()), "", ""]
        return "\r\n".join(lines).encode() + answer.body


class Socket(insides.uvicorn.WebSocket):
    """A WebSocket; it counts for its address as any other connection does."""

    counted: str | None = None

    async def run_asgi(self) -> None:
        """Say how to end it at once; what it is opened with is no news, and names a token."""
        self.logger = log
        scope: Any = self.scope
        scope["extensions"]["abort"] = self.transport.abort
        await super().run_asgi()

    def connection_lost(self, exc: Exception | None) -> None:
        """Count it no more."""
        super().connection_lost(exc)
        if self.counted:
            clients.connections.give_back(self.counted)
            self.counted = None
