"""One attempt to deliver: a POST that goes to a checked address, follows nothing and reads little."""

import asyncio
import socket
import ssl
import time
from collections.abc import Callable, Hashable, Mapping
from functools import cache, lru_cache
from typing import Any, Self
from urllib.parse import quote

import certifi
import orjson
import uvloop

from gateways.addresses import AddressRefusedError, BusyError, check_host
from gateways.connections import Connections
from gateways.conversations import Exchange, Origin, ProtocolError, head
from rules import signatures
from rules.addresses import SCHEMES, check_url
from rules.events import FIELDS
from rules.retries import Outcome

TOTAL_SECONDS = 15.0
LATE_SECONDS = (
    5.0  # by which a limit of time is noticed too late: then this process stood still, and heard nothing
)
CONNECT_SECONDS = 5.0
BODY_BYTES = 2_048

Done = Callable[[Outcome], object]
GiveUp = Callable[[], object]  # ends an attempt without a word

_allow_private = False


def configure(*, allow_private: bool) -> None:
    """Say whether http and private addresses are allowed (development)."""
    global _allow_private  # noqa: PLW0603 - one process, one answer
    _allow_private = allow_private


def objection(url: str, *, owner: Hashable = None) -> str | None:
    """Say why an owner's deliveries may not go to a URL. Looks the name up: not in a transaction."""
    try:
        _, origin, _ = target(url, allow_private=_allow_private)
        asyncio.run(check_host(origin.host, origin.port, owner=owner, allow_private=_allow_private))
    except ValueError as error:
        return str(error)
    except AddressRefusedError as error:
        return f"Deliveries cannot go to this address: {error}"
    return None


def encode(envelope: Mapping[str, Any]) -> bytes:
    """Return the bytes that are signed and sent: the same for the same event, whatever order it was kept in."""
    return orjson.dumps({name: envelope[name] for name in FIELDS})


@cache
def tls() -> ssl.SSLContext:
    """Trust what the machine trusts, and the usual authorities where it has no store of its own."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


class Poster:
    """Posts to endpoints, keeping connections that can be used again. Belongs to one event loop."""

    def __init__(self) -> None:
        self._connections = Connections(tls=tls(), allow_private=_allow_private)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        self._connections.close()

    def begin(
        self, url: str, body: bytes, headers: Mapping[str, str], *, owner: Hashable, done: Done
    ) -> GiveUp:
        """Begin one attempt for an owner, and call what is `done` with what came of it, later.

        Raises nothing that the other side can cause.
        """
        loop = asyncio.get_running_loop()
        try:
            origin, first = _beginning(url, allow_private=_allow_private)
        except ValueError as fault:
            return loop.call_soon(done, Outcome(response_time_ms=0, error=str(fault))).cancel
        rest = head(f"Content-Length: {len(body)}", headers.items())
        attempt = _Attempt(origin, f"{first}{rest}\r\n".encode() + body, owner, done)
        self._connections.begin(attempt)
        return attempt.give_up

    async def post(
        self, url: str, body: bytes, headers: Mapping[str, str], *, owner: Hashable = None
    ) -> Outcome:
        """Make one attempt, and wait for what comes of it."""
        outcome: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        give_up = self.begin(url, body, headers, owner=owner, done=outcome.set_result)
        try:
            return await outcome
        except asyncio.CancelledError:
            give_up()
            raise


class _Attempt(Exchange):
    """One attempt; an answer that stalls half-way has its status all the same."""

    def __init__(self, origin: Origin, request: bytes, owner: Hashable, done: Done) -> None:
        super().__init__(origin, request, owner=owner, seconds=CONNECT_SECONDS, most=BODY_BYTES)
        self._done = done
        self._started = time.monotonic()
        self._milliseconds: int | None = None
        self._timer = asyncio.get_running_loop().call_later(TOTAL_SECONDS, self._too_late)

    def begun(self) -> None:
        self._milliseconds = self._elapsed()

    def ended(self, fault: Exception | None) -> None:
        self._timer.cancel()
        self._done(self._outcome(fault))

    def give_up(self) -> None:
        self._timer.cancel()
        super().give_up()

    def _too_late(self) -> None:
        super().give_up()
        self._done(self._outcome(TimeoutError()))

    def _elapsed(self) -> int:
        return round((time.monotonic() - self._started) * 1000)

    def _outcome(self, fault: Exception | None) -> Outcome:
        if self.status is None and fault is not None:
            if isinstance(fault, BusyError):
                return Outcome(error=str(fault), ours=True)
            elapsed = self._elapsed()
            if isinstance(fault, TimeoutError) and elapsed > 1000 * (TOTAL_SECONDS + LATE_SECONDS):
                return Outcome(error="The service stood still while it waited for an answer.", ours=True)
            return Outcome(response_time_ms=elapsed, error=_describe(fault))
        return Outcome(
            status_code=self.status,
            response_time_ms=self._milliseconds,
            body=self.body.decode(errors="replace"),
            retry_after=(self.header(b"retry-after") or "")[:100] or None,
        )


@lru_cache(maxsize=4_096)
def _beginning(url: str, *, allow_private: bool) -> tuple[Origin, str]:
    """Return whom a URL is asked of, and the lines of the head that are the same for all attempts."""
    path, origin, host = target(url, allow_private=allow_private)
    return origin, head(
        f"POST {path} HTTP/1.1",
        [
            ("Host", host),
            ("User-Agent", signatures.USER_AGENT),
            ("Accept", "*/*"),
            ("Content-Type", "application/json"),
        ],
    )


def target(url: str, *, allow_private: bool) -> tuple[str, Origin, str]:
    """Return what is asked for, of whom, and the Host header."""
    parts = check_url(url, allow_private=allow_private)
    name = parts.hostname or ""
    host = name if name.isascii() else name.encode("idna").decode()
    port = parts.port or SCHEMES[parts.scheme]
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    query = quote(parts.query, safe="/?%:@!$&'()*+,;=~-._")
    shown = f"[{host}]" if ":" in host else host
    return (
        f"{path}?{query}" if query else path,
        Origin(host, port, tls=parts.scheme == "https"),
        shown if port == SCHEMES[parts.scheme] else f"{shown}:{port}",
    )


def _describe(fault: Exception) -> str:
    if isinstance(fault, (ValueError, AddressRefusedError)) and not isinstance(fault, ssl.SSLError):
        return str(fault)
    if isinstance(fault, TimeoutError):
        return "The endpoint did not answer in time."
    if isinstance(fault, socket.gaierror):
        return f"The endpoint's name does not resolve: {fault}"[:500]
    if isinstance(fault, ProtocolError):
        return f"The endpoint does not speak HTTP: {fault}"[:500]
    return f"Could not connect: {fault}"[:500]


def post(url: str, body: bytes, headers: Mapping[str, str], *, owner: Hashable = None) -> Outcome:
    """Make one attempt from a thread that has no event loop. Goes to the network: not in a transaction."""

    async def once() -> Outcome:
        async with Poster() as poster:
            return await poster.post(url, body, headers, owner=owner)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(once())
