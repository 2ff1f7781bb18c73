"""One HTTP exchange with a server that the operator trusts, ended when its time is over however it drips."""

import asyncio
import functools
import socket
import ssl
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

import httpx

from gateways.threads import SharedThreads

CONNECT_SECONDS = 5.0
RESOLVERS, SHARE = 16, 4  # that look names up, and of them those that one name may have

Answer = TypeVar("Answer")
_resolvers = SharedThreads[Any](RESOLVERS, share=SHARE, name="exchange-resolver")


class _Loop(asyncio.SelectorEventLoop):
    """A loop that does not wait, when it ends, for names that are still being looked up: nothing ends a look-up."""

    async def getaddrinfo(
        self,
        host: bytes | str | None,
        port: bytes | str | int | None,
        *,
        family: int = 0,
        type: int = 0,
        proto: int = 0,
        flags: int = 0,
    ) -> Any:
        look_up = functools.partial(socket.getaddrinfo, host, port, family, type, proto, flags)
        return await asyncio.wrap_future(_resolvers.submit(host, look_up))


def run(asking: Coroutine[Any, Any, Answer]) -> Answer:
    """Ask a server; for threads without an event loop."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(asking)


def exchange(
    method: str, url: str, *, seconds: float, headers: Mapping[str, str] | None = None, **content: Any
) -> httpx.Response:
    """Send a request and read the whole answer; TimeoutError after so many seconds, httpx.HTTPError as usual.

    httpx's own limits are for each step, and a server may answer a byte at a time. What is cancelled here closes its
    connection. For threads without an event loop.
    """

    async def take() -> httpx.Response:
        limits = httpx.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))
        async with asyncio.timeout(seconds), httpx.AsyncClient(verify=trust(), timeout=limits) as client:
            return await client.request(method, url, headers=dict(headers or {}), **content)

    try:
        return run(take())
    except httpx.TimeoutException as fault:
        raise TimeoutError(str(fault)) from fault


@functools.cache
def trust() -> ssl.SSLContext:
    """Return whose certificates are believed."""
    return httpx.create_ssl_context()  # reading it takes longer than most exchanges
