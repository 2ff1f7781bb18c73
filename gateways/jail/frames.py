"""What goes over a socket between the service and a supervisor: a head of JSON, then blocks of bytes as they are."""

import json
import socket
import struct
import time
from typing import Any

LARGEST = 256 << 20


class GoneError(Exception):
    """The other side has closed its end."""


def send(end: socket.socket, head: dict[str, Any], *blocks: bytes) -> None:
    """Send a frame whole."""
    text = json.dumps([head, [len(block) for block in blocks]]).encode()
    end.sendall(struct.pack("!I", len(text)) + text + b"".join(blocks))


def receive(end: socket.socket, until: float = float("inf")) -> tuple[dict[str, Any], list[bytes]]:
    """Wait for a frame; raises GoneError, or TimeoutError once the moment of the monotonic clock has passed."""
    (length,) = struct.unpack("!I", _exactly(end, 4, until))
    head, lengths = json.loads(_exactly(end, length, until))
    return head, [_exactly(end, one, until) for one in lengths]


def _exactly(end: socket.socket, length: int, until: float) -> bytes:
    if length > LARGEST:
        raise GoneError
    found = bytearray()
    while len(found) < length:
        if until != float("inf"):
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError
            end.settimeout(left)
        block = end.recv(min(length - len(found), 1 << 20))
        if not block:
            raise GoneError
        found += block
    return bytes(found)
