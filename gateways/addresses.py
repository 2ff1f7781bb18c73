"""Connections that go only where they may: a name is resolved once, and the address that was checked is used."""

import asyncio
import errno
import socket
import ssl
from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import partial
from typing import TypeVar

from gateways.threads import SharedThreads
from rules.addresses import refusal

Made = TypeVar("Made", bound=asyncio.Protocol)

# What the system says when this process or machine has no more of something.
OURS = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS, errno.EADDRNOTAVAIL, socket.EAI_MEMORY}

# Threads of their own: a name server that does not answer must not hold up anything else, nor one organisation's
# anybody else's.
RESOLVERS, SHARE = 64, 8
_resolvers = SharedThreads[list[str]](RESOLVERS, share=SHARE, name="resolver")


class AddressRefusedError(Exception):
    """The host leads to an address that the service does not connect to."""


class BusyError(Exception):
    """A limit of our own, and nothing that the other side did, kept us from connecting."""


async def resolve(host: str, port: int, *, owner: Hashable, allow_private: bool, seconds: float) -> list[str]:
    """Return the host's addresses; raise AddressRefusedError if any is refused, OSError if there are none in time.

    The system's resolver reads decimal, octal and hexadecimal host forms too, so they are judged by what they mean.
    Raises BusyError when nobody was free to ask, of those that the owner may have.
    """
    asking = _resolvers.submit(owner, partial(_look_up, host, port))
    try:
        async with asyncio.timeout(seconds):
            found = await asyncio.wrap_future(asking)
    except TimeoutError:
        if asking.cancelled():  # it had not been begun
            raise BusyError("Too many names are being looked up.") from None
        raise
    addresses = list(dict.fromkeys(found))
    for address in addresses if not allow_private else ():
        if reason := refusal(address):
            raise AddressRefusedError(f"{host} leads to {address}, which is refused ({reason}).")
    return addresses


def _look_up(host: str, port: int) -> list[str]:
    return [str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


async def check_host(
    host: str, port: int, *, owner: Hashable, allow_private: bool, seconds: float = 2
) -> None:
    """Raise AddressRefusedError if a host leads where it may not; a name that does not resolve now may do so later."""
    if allow_private:
        return
    with suppress(OSError, UnicodeError, BusyError):
        await resolve(host, port, owner=owner, allow_private=False, seconds=seconds)


async def connect(
    make: Callable[[], Made],
    host: str,
    port: int,
    *,
    owner: Hashable,
    tls: ssl.SSLContext | None,
    allow_private: bool,
    seconds: float,
) -> Made:
    """Make a protocol and connect it to the first of a host's addresses that answers, once all have been checked.

    TLS is spoken with the name, not the address. Raises AddressRefusedError, OSError or BusyError.
    """
    end = asyncio.get_running_loop().time() + seconds
    try:
        addresses = await resolve(host, port, owner=owner, allow_private=allow_private, seconds=seconds)
        return await _connect(make, host, addresses, port, tls=tls, end=end)
    except OSError as error:
        if error.errno in OURS:
            raise BusyError(f"The service has too much open: {error.strerror}.") from error
        raise


async def _connect(
    make: Callable[[], Made],
    host: str,
    addresses: list[str],
    port: int,
    *,
    tls: ssl.SSLContext | None,
    end: float,
) -> Made:
    loop = asyncio.get_running_loop()
    failure: OSError = socket.gaierror(f"the name {host} has no address")
    for place, address in enumerate(addresses):
        # One that is silent leaves time for the others.
        share = (end - loop.time()) / (len(addresses) - place)
        try:
            async with asyncio.timeout(share):
                _, made = await loop.create_connection(
                    make, address, port, ssl=tls, server_hostname=host if tls else None
                )
                return made
        except ssl.SSLError:
            raise  # the host was reached: what it says of itself will not change at another address
        except OSError as error:
            failure = error
    raise failure
