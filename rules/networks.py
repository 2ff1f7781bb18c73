"""Where a request comes from."""

import ipaddress
from collections.abc import Iterable, Sequence
from functools import lru_cache

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_MAPPED = 96  # bits of ::ffff:0:0
_ONES_OWN = 64  # bits of an IPv6 network, of which whoever is given one has every address


@lru_cache(maxsize=1024)
def networks(cidrs: tuple[str, ...]) -> tuple[Network, ...]:
    """Parse networks, or raise ValueError for one that is none."""
    return tuple(_plain(ipaddress.ip_network(cidr, strict=False)) for cidr in cidrs)


def _plain(network: Network) -> Network:
    """Return the IPv4 network that an IPv6 network of mapped addresses means."""
    mapped = getattr(network.network_address, "ipv4_mapped", None)
    if mapped is None or network.prefixlen < _MAPPED:
        return network
    return ipaddress.ip_network(f"{mapped}/{network.prefixlen - _MAPPED}")


@lru_cache(maxsize=1024)
def parse(text: str) -> Address | None:
    """Read an address, with a port or without; an IPv4 address written as IPv6 is the IPv4 address it means."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def within(text: str, cidrs: Sequence[str]) -> bool:
    """Say whether an address lies in one of the networks."""
    address = parse(text)
    return address is not None and any(address in network for network in networks(tuple(cidrs)))


@lru_cache(maxsize=1024)
def _written(peer: str) -> str:
    return str(parse(peer) or peer)


@lru_cache(maxsize=1024)
def counts_as(text: str) -> str:
    """Return as what an address counts where limits are: itself, and one of IPv6 as its network."""
    address = parse(text)
    if isinstance(address, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((address.packed, _ONES_OWN), strict=False))
    return str(address or text)


def client(peer: str, forwarded_for: Iterable[str], trusted: Sequence[str]) -> str:
    """Return the client's address: the socket's, or what the trusted proxies before it report.

    The header is read from its end: each proxy appends whom it was called by, so the first address that is
    not a trusted proxy's is the client, and what stands before that is the client's own invention.
    """
    hops = [hop for line in forwarded_for for hop in line.split(",")] if trusted else []
    if not hops:
        return _written(peer)
    current = parse(peer)
    while hops and current and within(str(current), trusted):
        reported = parse(hops.pop())
        if reported is None:
            break  # a proxy that does not say whom it serves stands for them
        current = reported
    return str(current or peer)
