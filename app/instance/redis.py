"""The embedded Redis: a bell and counters, nothing that has to survive; PostgreSQL is the truth."""

import contextlib
import os
import socket
import subprocess
from pathlib import Path

from app.instance import binaries, places
from app.instance.children import Recipe
from app.instance.places import Places


def url(where: Places, *, number: int = 0) -> str:
    """Return the address of a database on the embedded server."""
    return f"unix://{_socket(where)}?db={number}"


def recipe(where: Places) -> Recipe:
    """Say how to start Redis: on a socket that only its owner can reach, with nothing written to disk."""
    program = binaries.redis(where.account)
    settings = {
        "port": "0",
        "unixsocket": str(_socket(where)),
        "unixsocketperm": "700",
        "save": "",
        "appendonly": "no",
        "databases": "64",
        "dir": str(where.state / "redis"),
        "daemonize": "no",
    }
    return Recipe(
        name="redis",
        command=[
            str(program.path),
            *(word for name, value in settings.items() for word in (f"--{name}", value)),
        ],
        log=where.logs / "redis.log",
        environ={"PATH": os.defpath, "LC_ALL": "C"},
        account=where.account,
        cwd=Path("/"),
    )


def ready(where: Places, process: subprocess.Popen[bytes]) -> bool:
    """Say whether the server answers."""
    return process.poll() is None and _say(where, b"PING\r\n").startswith(b"+PONG")


def clear(where: Places) -> None:
    """Stop a server whose owner was killed. Needs the instance's lock."""
    _say(where, b"SHUTDOWN NOSAVE\r\n")
    _socket(where).unlink(missing_ok=True)


def _socket(where: Places) -> Path:
    return places.sockets(where) / "redis"


def _say(where: Places, words: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX) as connection, contextlib.suppress(OSError):
        connection.settimeout(5)
        connection.connect(str(_socket(where)))
        connection.sendall(words)
        return connection.recv(64)
    return b""
