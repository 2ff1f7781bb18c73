"""Where a request comes from."""

import ipaddress
from collections.abc import Iterable, Sequence
from functools import lru_cache

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@lru_cache(maxsize=1024)
def networks(cidrs: tuple[str, ...]) -> tuple[Network, ...]:
    """Parse networks, or raise ValueError for one that is none."""
    return tuple(ipaddress.ip_network(cidr, strict=False) for cidr in cidrs)


def parse(text: str) -> Address | None:
    """Read an address; an IPv4 address written as IPv6 is the IPv4 address it means."""
    try:
        address = ipaddress.ip_address(text.strip().strip("[]").split("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def within(text: str, cidrs: Sequence[str]) -> bool:
    """Say whether an address lies in one of the networks."""
    address = parse(text)
    return address is not None and any(address in network for network in networks(tuple(cidrs)))


def client(peer: str, forwarded_for: Iterable[str], trusted: Sequence[str]) -> str:
    """Return the client's address: the socket's, or what the trusted proxies before it report.

    The header is read from its end: each proxy appends whom it was called by, so the first address that is
    not a trusted proxy's is the client, and what stands before that is the client's own invention.
    """
    hops = [hop.strip() for line in forwarded_for for hop in line.split(",")]
    current = peer
    while hops and within(current, trusted):
        current = hops.pop()
    return str(parse(current) or current)
