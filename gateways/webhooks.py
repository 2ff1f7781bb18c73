"""One attempt to deliver: a POST that goes to a checked address, follows nothing and reads little."""

import asyncio
import socket
import ssl
import time
from collections.abc import Hashable, Mapping
from functools import cache
from typing import Any, Self
from urllib.parse import quote

import certifi
import h11
import orjson

from gateways.addresses import AddressRefusedError, BusyError, check_host
from gateways.connections import Connection, Connections, Head, Origin
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

    async def post(
        self, url: str, body: bytes, headers: Mapping[str, str], *, owner: Hashable = None
    ) -> Outcome:
        """Make one attempt for an owner and say what came of it; raises nothing that the other side can cause."""
        answer, error = _Answer(), None
        try:
            async with asyncio.timeout(TOTAL_SECONDS):
                await self._exchange(url, body, headers, owner, answer)
        except BusyError as fault:
            return Outcome(error=str(fault), ours=True)
        except (ValueError, AddressRefusedError, OSError, h11.RemoteProtocolError) as fault:
            if isinstance(fault, TimeoutError) and answer.seconds() > TOTAL_SECONDS + LATE_SECONDS:
                return answer.outcome("The service stood still while it waited for an answer.", ours=True)
            error = _describe(fault)
        return answer.outcome(error)

    async def _exchange(
        self, url: str, body: bytes, headers: Mapping[str, str], owner: Hashable, answer: "_Answer"
    ) -> None:
        path, origin, host = target(url, allow_private=_allow_private)
        sent = [
            ("Host", host),
            ("User-Agent", signatures.USER_AGENT),
            ("Accept", "*/*"),
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(body))),
            *headers.items(),
        ]
        for fresh in (False, True):
            async with self._connections.to(origin, CONNECT_SECONDS, owner=owner, fresh=fresh) as connection:
                try:
                    answer.begin(await connection.ask(path, sent, body))
                except (OSError, h11.RemoteProtocolError):
                    # A connection that was kept may have been closed while the request was on its way.
                    if fresh or not connection.used or connection.heard:
                        raise
                    connection.drop()
                    continue
                await self._read(connection, answer)
                return

    async def _read(self, connection: Connection, answer: "_Answer") -> None:
        async for piece in connection.body():
            answer.body += piece[: BODY_BYTES - len(answer.body)]
            if len(answer.body) >= BODY_BYTES:
                return  # the rest is not read, and the connection not used again


class _Answer:
    """What has arrived so far: an answer that stalls half-way has its status all the same."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.milliseconds: int | None = None
        self.head: Head | None = None
        self.body = b""

    def begin(self, head: Head) -> None:
        self.head, self.milliseconds = head, self.elapsed()

    def seconds(self) -> float:
        return time.monotonic() - self.started

    def elapsed(self) -> int:
        return round(self.seconds() * 1000)

    def outcome(self, error: str | None, *, ours: bool = False) -> Outcome:
        if self.head is None:
            return Outcome(response_time_ms=None if ours else self.elapsed(), error=error, ours=ours)
        return Outcome(
            status_code=self.head.status,
            response_time_ms=self.milliseconds,
            body=self.body.decode(errors="replace"),
            retry_after=self.head.headers.get("retry-after", "")[:100] or None,
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
    if isinstance(fault, h11.RemoteProtocolError):
        return f"The endpoint does not speak HTTP: {fault}"[:500]
    return f"Could not connect: {fault}"[:500]


def post(url: str, body: bytes, headers: Mapping[str, str], *, owner: Hashable = None) -> Outcome:
    """Make one attempt from a thread that has no event loop. Goes to the network: not in a transaction."""

    async def once() -> Outcome:
        async with Poster() as poster:
            return await poster.post(url, body, headers, owner=owner)

    return asyncio.run(once())
