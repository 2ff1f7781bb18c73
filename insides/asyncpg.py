"""What we reach of asyncpg: the socket below a connection, and its protocol, for a statement that is prepared.

The socket alone can be told how long it may be silent. What the protocol is asked for directly costs half of what
`PreparedStatement.fetch` does, which passes it through ten calls.
"""

import socket
from collections.abc import Awaitable, Sequence
from typing import Any

import asyncpg

BOUND = "asyncpg>=0.32,<0.33"
LEANS_ON = [
    ("asyncpg/connection.py", "self._transport = transport"),
    ("asyncpg/prepared_stmt.py", "protocol = self._connection._protocol"),
    ("asyncpg/prepared_stmt.py", "self._state, args, '', limit, True, timeout))"),
    ("asyncpg/prepared_stmt.py", "data = await self.__bind_execute(args, 0, timeout)"),
]


def set_options(connection: "asyncpg.Connection[Any]", options: dict[int, int]) -> None:
    """Set options of TCP; a connection within this machine has none."""
    below: socket.socket = connection._transport.get_extra_info("socket")
    if below.family in (socket.AF_INET, socket.AF_INET6):
        below.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in options.items():
            below.setsockopt(socket.IPPROTO_TCP, name, value)


def fetch(statement: Any, values: Sequence[Any]) -> Awaitable[tuple[list[Any], Any, Any]]:
    """Carry out a prepared statement; what is awaited are its rows, and what the server says of them."""
    made: Awaitable[tuple[list[Any], Any, Any]] = statement._connection._protocol.bind_execute(
        statement._state, values, "", 0, True, None
    )
    return made
