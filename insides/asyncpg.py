"""What we reach of asyncpg: the socket below a connection, which alone can be told how long it may be silent."""

import socket
from typing import Any

import asyncpg

BOUND = "asyncpg>=0.32,<0.33"
LEANS_ON = [
    ("asyncpg/connection.py", "self._transport = transport"),
]


def set_options(connection: "asyncpg.Connection[Any]", options: dict[int, int]) -> None:
    """Set options of TCP; a connection within this machine has none."""
    below: socket.socket = connection._transport.get_extra_info("socket")
    if below.family in (socket.AF_INET, socket.AF_INET6):
        below.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in options.items():
            below.setsockopt(socket.IPPROTO_TCP, name, value)
