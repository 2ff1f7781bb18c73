"""The outermost station: request id, address, what all answers carry, and the line of the log."""

import logging
import re
import time
from collections.abc import Callable
from functools import cache
from typing import Any

from prometheus_client import Counter, Histogram
from starlette.datastructures import Headers

from app.http import answers, context
from app.http.answers import Answer
from app.http.records.notes import NOTES
from app.http.threads import clients
from app.instance import logs
from rules import networks
from store.database.ids import new_hex

log = logging.getLogger("hiring.requests")

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0)

REQUESTS = Counter("hiring_requests", "Requests answered.", ["operation", "status"])
SECONDS = Histogram("hiring_request_seconds", "Time until the answer.", ["operation"], buckets=BUCKETS)
_HARMLESS = re.compile(r"[A-Za-z0-9._-]{8,64}")
NONE = "none"  # a path that is in no document, or a request that was refused before its operation was known


class Entrance:
    """Give each request its id and address, each answer what all answers carry, and log how it ended.

    `origin` is our own: pages of other sites may not read answers, and are told so. `refuse` answers what has broken.
    """

    def __init__(
        self,
        app: context.App,
        *,
        trusted_proxies: tuple[str, ...],
        origin: str,
        refuse: Callable[[Exception, context.Request], Answer],
    ) -> None:
        self.app, self.trusted_proxies, self.origin, self.refuse = app, trusted_proxies, origin, refuse

    async def __call__(self, scope: context.Scope, receive: context.Receive, send: context.Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            if scope["type"] == "lifespan":  # its end is the process's
                NOTES.flush()
            return
        started = time.perf_counter()
        headers = context.Head(scope=scope)
        peer = scope["client"][0] if scope.get("client") else ""
        id = _given(headers) or f"req_{new_hex()}"
        extensions = scope.setdefault("extensions", {})
        request = context.Request(
            id=id,
            address=self._address(peer, headers),
            method=scope["method"],
            path=scope["path"],
            query=scope["query_string"],
            head=headers,
            started=started,
            headers={"X-Request-Id": id, "Access-Control-Allow-Origin": self.origin},
            whole=extensions.get("answer"),
        )
        extensions["hiring"] = request
        logs.request_id.set(request.id)

        async def answer(message: Any) -> None:
            if message["type"] == "http.response.start":
                request.status = message["status"]
                message["headers"] = [
                    *message.get("headers", ()),
                    *[(name.lower().encode(), value.encode()) for name, value in request.headers.items()],
                ]
            await send(message)

        try:
            await self.app(scope, receive, answer)
        except Exception as fault:  # of a station, or while an answer was sent
            if request.status:
                raise  # the server ends the connection, so that nobody takes the answer for whole
            await answers.send(self.refuse(fault, request), answer, request)
        finally:
            seconds = time.perf_counter() - started
            # The connection knows the request, which knows it by this: nobody would see that both are gone.
            request.whole = extensions["answer"] = None
            if request.held:
                clients.bodies.give_back(request.counts_as, request.held)
            _count(request.pipeline.id if request.pipeline else "", request.status, seconds)
            NOTES.take(request, request.status, seconds)
            if log.isEnabledFor(logging.INFO):
                said = {
                    "status": request.status,
                    "duration_ms": round(seconds * 1000, 1),
                    "address": request.address,
                }
                log.info("%s %s", scope["method"], scope["path"], extra=said)

    def _address(self, peer: str, headers: Headers) -> str:
        reported = headers.getlist("x-forwarded-for") if self.trusted_proxies else ()
        return networks.client(peer, reported, self.trusted_proxies)


def _given(headers: Headers) -> str | None:
    """Take the caller's own request id where it is short and harmless."""
    given = headers.get("x-request-id")
    return given if given and _HARMLESS.fullmatch(given) else None


def _count(operation: str, status: int, seconds: float) -> None:
    """Count one request; without an answer its status is 0."""
    requests, took = _counters(operation or NONE, status)
    requests.inc()
    took.observe(seconds)


@cache
def _counters(operation: str, status: int) -> tuple[Counter, Histogram]:
    return REQUESTS.labels(operation, str(status)), SECONDS.labels(operation)
