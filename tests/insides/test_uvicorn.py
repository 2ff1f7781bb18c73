"""What broke, in one sentence, when uvicorn changes below us."""

import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn

from insides.uvicorn import Protocol

ANSWER = b"HTTP/1.1 400 Of ours\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


class Ours(Protocol):
    def refuse(self, status: int, why: str | None = None) -> bytes:
        return ANSWER


async def hello(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@pytest.fixture
def server() -> Iterator[tuple[uvicorn.Server, tuple[str, int]]]:
    listener = socket.create_server(("127.0.0.1", 0))
    running = uvicorn.Server(uvicorn.Config(hello, http=Ours, lifespan="off", log_config=None))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield running, listener.getsockname()
    running.should_exit = True
    thread.join(10)


def answer(connection: socket.socket) -> bytes:
    read = b""
    while piece := connection.recv(65_536):
        read += piece
    return read


def test_bytes_that_are_no_request_are_refused_by_us(server: tuple[uvicorn.Server, tuple[str, int]]) -> None:
    with socket.create_connection(server[1], timeout=10) as connection:
        connection.sendall(b"nonsense\r\n\r\n")
        assert answer(connection) == ANSWER, "Uvicorn answers what it cannot read by itself again."


def test_a_request_on_its_way_while_the_server_stops_is_answered(
    server: tuple[uvicorn.Server, tuple[str, int]],
) -> None:
    running, address = server
    with socket.create_connection(address, timeout=10) as connection:
        while not running.server_state.connections:
            time.sleep(0.001)  # uvicorn tells nobody of a connection
        running.should_exit = True
        connection.sendall(REQUEST)
        assert answer(connection).startswith(b"HTTP/1.1 204"), (
            "Uvicorn closes new connections at once when it stops."
        )
