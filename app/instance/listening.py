"""The port that a web process listens on."""

import ipaddress
import socket
from urllib.parse import urlsplit

from app.instance.trouble import Trouble

BACKLOG = 2048


def listen(host: str, port: int) -> socket.socket:
    """Take the port, or say who may have it and what to do."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    taken = socket.socket(family, socket.SOCK_STREAM)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind((host, port))
        taken.listen(BACKLOG)
    except OSError as error:
        taken.close()
        raise Trouble(
            f"Port {port} on {host} cannot be had: {error.strerror}. Choose another with --port,"
            " or --port 0 for a free one."
        ) from error
    return taken


def reachable(listener: socket.socket) -> tuple[str, int]:
    """Return host and port under which this machine reaches a listening socket."""
    host, port = listener.getsockname()[:2]
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host), port  # noqa: S104 - nothing listens by it


def url(listener: socket.socket) -> str:
    """Return the same as an address for links."""
    host, port = reachable(listener)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_private(listener: socket.socket, base_url: str) -> bool:
    """Say whether nobody but this machine reaches a listening socket, nor anything in front of it."""
    places = (listener.getsockname()[0], urlsplit(base_url).hostname or "")
    return all(_is_loopback(place) for place in places)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
