"""One attempt to deliver: a POST that goes to a checked address, follows nothing and reads little."""

import asyncio
import ssl
import time
from collections.abc import Mapping
from functools import cache
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import certifi
import httpcore
import orjson

from gateways.addresses import AddressRefusedError, CheckedBackend, check_host
from rules.addresses import SCHEMES, check_url
from rules.events import FIELDS
from rules.retries import Outcome

TOTAL_SECONDS = 15.0
CONNECT_SECONDS = 5.0
BODY_BYTES = 2_048
USER_AGENT = "Hiring-Webhooks/1.1"

_allow_private = False


def configure(*, allow_private: bool) -> None:
    """Say whether http and private addresses are allowed (development)."""
    global _allow_private  # noqa: PLW0603 - one process, one answer
    _allow_private = allow_private


def objection(url: str) -> str | None:
    """Say why deliveries may not go to a URL. Looks the name up: not in a transaction."""
    try:
        parts = check_url(url, allow_private=_allow_private)
        host, port = parts.hostname or "", parts.port or SCHEMES[parts.scheme]
        asyncio.run(check_host(host, port, allow_private=_allow_private))
    except ValueError as error:
        return str(error)
    except AddressRefusedError as error:
        return f"Deliveries cannot go to this address: {error}"
    return None


def encode(envelope: Mapping[str, Any]) -> bytes:
    """Return the bytes that are signed and sent: the same for the same event, whatever order it was kept in."""
    return orjson.dumps({name: envelope[name] for name in FIELDS})


@cache
def _tls() -> ssl.SSLContext:
    """Trust what the machine trusts, and the usual authorities where it has no store of its own."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


class Poster:
    """Posts to endpoints, keeping connections that can be used again. Belongs to one event loop."""

    def __init__(self, *, connections: int = 256) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=_tls(),
            max_connections=connections,
            keepalive_expiry=15,
            network_backend=CheckedBackend(allow_private=_allow_private),
        )

    async def __aenter__(self) -> Self:
        await self._pool.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        await self._pool.__aexit__(kind, error, traceback)

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Outcome:
        """Make one attempt and say what came of it; raises nothing that the other side can cause."""
        started = time.monotonic()
        answer = _Answer()
        error: str | None = None
        try:
            async with asyncio.timeout(TOTAL_SECONDS):
                await self._exchange(url, body, headers, answer)
        except TimeoutError:
            error = f"The endpoint did not answer within {TOTAL_SECONDS:.0f} seconds."
        except (ValueError, AddressRefusedError) as fault:
            error = str(fault)
        except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError, OSError) as fault:
            error = _describe(fault)
        return Outcome(
            status_code=answer.status,
            response_time_ms=answer.milliseconds or round((time.monotonic() - started) * 1000),
            body=answer.text(),
            error=None if answer.status else error,
            retry_after=answer.retry_after,
        )

    async def _exchange(self, url: str, body: bytes, headers: Mapping[str, str], answer: "_Answer") -> None:
        target, host = _target(url)
        all_headers = {
            "Host": host,
            "User-Agent": USER_AGENT,
            "Accept": "*/*",
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            **headers,
        }
        timeouts = {"connect": CONNECT_SECONDS, "pool": TOTAL_SECONDS}
        started = time.monotonic()
        async with self._pool.stream(
            "POST",
            target,
            headers=list(all_headers.items()),
            content=body,
            extensions={"timeout": timeouts},
        ) as response:
            answer.milliseconds = round((time.monotonic() - started) * 1000)
            answer.status = response.status
            answer.retry_after = next(
                (
                    value.decode("latin-1")[:100]
                    for name, value in response.headers
                    if name.lower() == b"retry-after"
                ),
                None,
            )
            async for chunk in response.aiter_stream():
                answer.body += chunk[: BODY_BYTES - len(answer.body)]
                if len(answer.body) >= BODY_BYTES:
                    break  # the rest is not read; the connection is closed


class _Answer:
    """What has arrived so far: an answer that stalls half-way has its status all the same."""

    def __init__(self) -> None:
        self.status: int | None = None
        self.milliseconds: int | None = None
        self.retry_after: str | None = None
        self.body = b""

    def text(self) -> str:
        # PostgreSQL keeps no NUL in text.
        return self.body.decode(errors="replace").replace("\x00", "\ufffd")


def _target(url: str) -> tuple[httpcore.URL, str]:
    parts = check_url(url, allow_private=_allow_private)
    name = parts.hostname or ""
    host = name if name.isascii() else name.encode("idna").decode()
    port = parts.port or SCHEMES[parts.scheme]
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    query = quote(parts.query, safe="/?%:@!$&'()*+,;=~-._")
    target = httpcore.URL(
        scheme=parts.scheme, host=host, port=port, target=f"{path}?{query}" if query else path
    )
    shown = f"[{host}]" if ":" in host else host
    return target, shown if port == SCHEMES[parts.scheme] else f"{shown}:{port}"


def _describe(fault: Exception) -> str:
    if isinstance(fault, httpcore.ConnectTimeout):
        return f"Connecting took longer than {CONNECT_SECONDS:.0f} seconds."
    if isinstance(fault, httpcore.PoolTimeout):
        return "No connection was free in time."
    text = str(fault).strip() or type(fault).__name__
    if isinstance(fault, httpcore.ConnectError):
        return f"Could not connect: {text}"[:500]
    return f"The connection broke: {text}"[:500]


def post(url: str, body: bytes, headers: Mapping[str, str]) -> Outcome:
    """Make one attempt from a thread that has no event loop. Goes to the network: not in a transaction."""

    async def once() -> Outcome:
        async with Poster(connections=1) as poster:
            return await poster.post(url, body, headers)

    return asyncio.run(once())
