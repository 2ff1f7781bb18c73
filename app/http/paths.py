"""The outermost stations: request id, and the paths the documents know.

Connexion's router answers a wrong method with the methods of the first route alone and redirects a missing slash;
here a path is looked up once in a tree of the documents' paths, so both come out right.
"""

import logging
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.datastructures import Headers

from app.http import addresses, context, measures
from app.instance import logs
from rules.errors import MethodNotAllowed, NotFound
from store.database.ids import new_id

log = logging.getLogger("hiring.requests")

Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
App = Callable[[context.Scope, Receive, Send], Awaitable[None]]

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
STATIC = "/static/"
# No path of ours holds these, and the routers further in read some of them as the end of a path.
_STRANGE = re.compile(r"[\x00-\x1f\x7f]|//")


class Entrance:
    """Give each request its id and address, each answer what all answers carry, and log how it ended.

    `origin` is our own: pages of other sites may not read answers, and are told so.
    """

    def __init__(self, app: App, *, trusted_proxies: tuple[str, ...], origin: str) -> None:
        self.app, self.trusted_proxies, self.origin = app, trusted_proxies, origin

    async def __call__(self, scope: context.Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        started, status = time.perf_counter(), 0
        headers = Headers(scope=scope)
        peer = scope["client"][0] if scope.get("client") else ""
        request = context.Request(
            id=_given(headers) or f"req_{new_id().hex}",
            address=addresses.client(peer, headers.getlist("x-forwarded-for"), self.trusted_proxies),
            path=scope["path"],
            query=scope["query_string"].decode("latin-1"),
        )
        scope.setdefault("extensions", {})["hiring"] = request
        logs.request_id.set(request.id)

        async def answer(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                ours = {
                    "x-request-id": request.id,
                    "access-control-allow-origin": self.origin,
                    **request.headers,
                }
                message["headers"] = [
                    *message.get("headers", ()),
                    *((name.lower().encode(), value.encode()) for name, value in ours.items()),
                ]
            await send(message)

        try:
            await self.app(scope, receive, answer)
        finally:
            seconds = time.perf_counter() - started
            measures.request(request.operation, status, seconds)
            log.info(
                "%s %s",
                scope["method"],
                scope["path"],
                extra={
                    "status": status,
                    "duration_ms": round(seconds * 1000, 1),
                    "address": request.address,
                },
            )
        return None


def _given(headers: Headers) -> str | None:
    """Take the caller's own request id where it is short and harmless."""
    given = headers.get("x-request-id", "")
    return given if re.fullmatch(r"[A-Za-z0-9._-]{8,64}", given) else None


class Tree:
    """The documents' paths by segment: a literal wins over a parameter."""

    def __init__(self) -> None:
        self.root: dict[str | None, Any] = {}  # by segment; under None, the path that ends here

    def add(self, path: str, methods: Mapping[str, Any]) -> None:
        """Register one path of a document."""
        node = self.root
        for segment in path.strip("/").split("/"):
            node = node.setdefault("{}" if segment.startswith("{") else segment, {})
        node.setdefault(None, (path, set()))[1].update(m.upper() for m in methods if m.upper() in METHODS)

    def of(self, scope: context.Scope) -> tuple[str, set[str]] | None:
        """Return a request's documented path and its methods; an encoded slash divides nothing."""
        return None if b"%2f" in (scope.get("raw_path") or b"").lower() else self.find(scope["path"])

    def find(self, path: str) -> tuple[str, set[str]] | None:
        """Return the documented path and its methods; None for a path that nobody wrote down."""
        if _STRANGE.search(path):
            return None
        if path.startswith(STATIC):
            return path, {"GET"}
        node = self.root
        for segment in path.strip("/").split("/"):
            child = node.get(segment) if segment != "{}" else None
            if child is None:
                child = node.get("{}") if segment else None
            if child is None:
                return None
            node = child
        found: tuple[str, set[str]] | None = node.get(None)
        return found


class Paths:
    """Let through what the documents know, with or without its last slash; refuse the rest."""

    def __init__(self, app: App, *, tree: Tree) -> None:
        self.app, self.tree = app, tree

    async def __call__(self, scope: context.Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        path, method = scope["path"], scope["method"]
        found = self.tree.of(scope)
        if found is None:
            raise NotFound("There is no such path.")
        documented, methods = found
        if method == "OPTIONS":
            return await _empty(send, 204, _allow(methods))
        if (method if method != "HEAD" else "GET") not in methods:
            raise MethodNotAllowed(allow=_allow(methods))
        if documented.endswith("/") != path.endswith("/"):
            scope["path"] = path.rstrip("/") + "/" if documented.endswith("/") else path.rstrip("/")
            scope["raw_path"] = scope["path"].encode("utf-8", "surrogateescape")
        return await self.app(scope, receive, send)


def _allow(methods: set[str]) -> str:
    return ", ".join(sorted(methods | {"OPTIONS"} | ({"HEAD"} if "GET" in methods else set())))


async def _empty(send: Send, status: int, allow: str) -> None:
    await send({"type": "http.response.start", "status": status, "headers": [(b"allow", allow.encode())]})
    await send({"type": "http.response.body", "body": b""})
