"""One HTTP exchange with a server that the operator trusts, ended when its time is over however it drips."""

import asyncio
import functools
import ssl
from collections.abc import Mapping
from typing import Any

import httpx

CONNECT_SECONDS = 5.0


def exchange(
    method: str, url: str, *, seconds: float, headers: Mapping[str, str] | None = None, **content: Any
) -> httpx.Response:
    """Send a request and read the whole answer; TimeoutError after so many seconds, httpx.HTTPError as usual.

    httpx's own limits are for each step, and a server may answer a byte at a time. What is cancelled here closes its
    connection. For threads without an event loop.
    """

    async def take() -> httpx.Response:
        limits = httpx.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))
        async with asyncio.timeout(seconds), httpx.AsyncClient(verify=_trust(), timeout=limits) as client:
            return await client.request(method, url, headers=dict(headers or {}), **content)

    try:
        return asyncio.run(take())
    except httpx.TimeoutException as fault:
        raise TimeoutError(str(fault)) from fault


@functools.cache
def _trust() -> ssl.SSLContext:
    return httpx.create_ssl_context()  # reading it takes longer than most exchanges
