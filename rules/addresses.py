"""Which addresses the service never connects to on a customer's behalf, and which URLs it takes at all."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

Address = IPv4Address | IPv6Address

# Why a network is refused, in the order of the IANA special-purpose registries.
REFUSED: dict[str, str] = {
    "0.0.0.0/8": "this network",
    "10.0.0.0/8": "private",
    "100.64.0.0/10": "carrier-grade NAT",
    "127.0.0.0/8": "loopback",
    "168.63.129.16/32": "cloud metadata",
    "169.254.0.0/16": "link-local and cloud metadata",
    "172.16.0.0/12": "private",
    "192.0.0.0/24": "protocol assignments and cloud metadata",
    "192.0.2.0/24": "documentation",
    "192.31.196.0/24": "AS112",
    "192.52.193.0/24": "AMT",
    "192.88.99.0/24": "6to4 relay",
    "192.168.0.0/16": "private",
    "192.175.48.0/24": "AS112",
    "198.18.0.0/15": "benchmarking",
    "198.51.100.0/24": "documentation",
    "203.0.113.0/24": "documentation",
    "224.0.0.0/4": "multicast",
    "240.0.0.0/4": "reserved and broadcast",
    "::/96": "unspecified, loopback and IPv4-compatible",
    "::ffff:0:0/96": "IPv4-mapped",
    "::ffff:0:0:0/96": "IPv4-translated",
    "64:ff9b::/96": "NAT64",
    "64:ff9b:1::/48": "local NAT64",
    "100::/64": "discard",
    "100:0:0:1::/64": "dummy prefix",
    "2001::/23": "protocol assignments, Teredo and benchmarking",
    "2001:db8::/32": "documentation",
    "2002::/16": "6to4",
    "2620:4f:8000::/48": "AS112",
    "3fff::/20": "documentation",
    "5f00::/16": "segment routing",
    "fc00::/7": "unique local and cloud metadata",
    "fe80::/10": "link-local",
    "fec0::/10": "site-local",
    "ff00::/8": "multicast",
}

_NETWORKS: list[tuple[IPv4Network | IPv6Network, str]] = [
    (ip_network(network), reason) for network, reason in REFUSED.items()
]
_UNICAST = IPv6Network("2000::/3")  # all that is routed in IPv6; the rest is unassigned

LONGEST_URL = 2_000
SCHEMES = {"https": 443, "http": 80}
LOWEST_FREE_PORT = 1_024


def refusal(address: str | Address) -> str | None:
    """Say why an address may not be connected to; None when it may."""
    if isinstance(address, str):
        address = ip_address(address.partition("%")[0])
    for network, reason in _NETWORKS:
        if address.version == network.version and address in network:
            return reason
    if isinstance(address, IPv6Address) and address not in _UNICAST:
        return "unassigned"
    return None


def check_url(url: str, *, allow_private: bool) -> SplitResult:
    """Return the parts of a URL that deliveries may go to, or raise ValueError with the reason.

    Names are not resolved here; what they resolve to is checked where the connection is made.
    """
    if len(url) > LONGEST_URL:
        raise ValueError(f"The URL is longer than {LONGEST_URL} characters.")
    if any(character <= " " or character in '\\\x7f<>"' for character in url):
        raise ValueError("The URL contains a space or another character that URLs do not have.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ValueError("The URL is malformed.") from error
    if parts.scheme not in SCHEMES or (parts.scheme == "http" and not allow_private):
        raise ValueError("The URL must begin with https://.")
    if "@" in parts.netloc:
        raise ValueError("The URL must not contain a user name or password.")
    if not parts.hostname:
        raise ValueError("The URL has no host.")
    _check_host(parts.hostname, allow_private=allow_private)
    _check_port(port, allow_private=allow_private)
    return parts


def _check_host(host: str, *, allow_private: bool) -> None:
    if allow_private:
        return
    try:
        reason = refusal(host)
    except ValueError:
        return  # a name
    if reason:
        raise ValueError(f"Deliveries cannot go to this address ({reason}).")


def _check_port(port: int | None, *, allow_private: bool) -> None:
    if port == 0:
        raise ValueError("The URL's port is not valid.")
    # Below 1024 live the services of the machines themselves (SSH, mail, DNS): no place for webhooks.
    if not allow_private and port is not None and port != SCHEMES["https"] and port < LOWEST_FREE_PORT:
        raise ValueError("The URL's port must be 443, or 1024 and above.")
