"""Connections that go only where they may: a name is resolved once, and the address that was checked is used."""

import asyncio
import socket
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import httpcore

from rules.addresses import refusal

# Threads of their own: a name server that does not answer must not hold up anything else.
_resolvers = ThreadPoolExecutor(64, thread_name_prefix="resolver")


class AddressRefusedError(Exception):
    """The host leads to an address that the service does not connect to."""


async def resolve(host: str, port: int, *, allow_private: bool) -> list[str]:
    """Return the host's addresses; raise AddressRefusedError if any is refused, OSError if there are none.

    The system's resolver reads decimal, octal and hexadecimal host forms too, so they are judged by what they mean.
    """
    loop = asyncio.get_running_loop()
    found = await loop.run_in_executor(_resolvers, _look_up, host, port)
    addresses = list(dict.fromkeys(found))
    for address in addresses if not allow_private else ():
        if reason := refusal(address):
            raise AddressRefusedError(f"{host} leads to {address}, which is refused ({reason}).")
    return addresses


def _look_up(host: str, port: int) -> list[str]:
    return [str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


async def check_host(host: str, port: int, *, allow_private: bool, seconds: float = 2) -> None:
    """Raise AddressRefusedError if a host leads where it may not; a name that does not resolve now may do so later."""
    if allow_private:
        return
    with suppress(OSError, UnicodeError, TimeoutError):
        async with asyncio.timeout(seconds):
            await resolve(host, port, allow_private=False)


class CheckedBackend(httpcore.AsyncNetworkBackend):
    """Connects to checked addresses alone; TLS and the Host header keep the name they were given."""

    def __init__(self, *, allow_private: bool) -> None:
        self.allow_private = allow_private
        self._inner = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Resolve, check every address, and connect to the first that answers, all within the timeout."""
        try:
            async with asyncio.timeout(timeout):
                return await self._connect(host, port, local_address, socket_options)
        except TimeoutError as error:
            raise httpcore.ConnectTimeout("timed out while connecting") from error
        except (socket.gaierror, UnicodeError) as error:
            raise httpcore.ConnectError(f"the name {host} does not resolve") from error

    async def _connect(
        self,
        host: str,
        port: int,
        local_address: str | None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None,
    ) -> httpcore.AsyncNetworkStream:
        failure: Exception = httpcore.ConnectError(f"the name {host} has no address")
        for address in await resolve(host, port, allow_private=self.allow_private):
            try:
                return await self._inner.connect_tcp(
                    address, port, local_address=local_address, socket_options=socket_options
                )
            except httpcore.ConnectError as error:
                failure = error
        raise failure

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)
