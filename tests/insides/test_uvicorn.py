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
    status, body = (204, b"") if scope["query_string"] else (200, b"Hello")
    headers = [("X-Here", "yes"), ("Content-Length", str(len(body)))] if body else []
    if scope["path"] == "/at-once":
        assert scope["extensions"]["answer"](status, headers, body)
        return
    if scope["path"] == "/broken":
        scope["extensions"]["answer"](200, [("X-Here", "yes\r\nSet-Cookie: no")], b"")
    written = [(name.lower().encode(), value.encode()) for name, value in headers]
    await send({"type": "http.response.start", "status": status, "headers": written})
    await send({"type": "http.response.body", "body": body})


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


@pytest.mark.parametrize(
    "head",
    [
        "HTTP/1.1\r\nHost: x\r\nConnection: close",
        "HTTP/1.0",
        "HTTP/1.1\r\nExpect: 100-continue\r\nConnection: close",
    ],
)
@pytest.mark.parametrize("query", ["", "?nothing"])
def test_an_answer_at_once_is_what_uvicorn_would_have_sent(
    server: tuple[uvicorn.Server, tuple[str, int]], head: str, query: str
) -> None:
    def ask(path: str) -> list[bytes]:
        with socket.create_connection(server[1], timeout=10) as connection:
            connection.sendall(f"GET {path}{query} {head}\r\n\r\n".encode())
            return [line for line in answer(connection).split(b"\r\n") if not line.startswith(b"date: ")]

    assert ask("/at-once") == ask("/"), "Uvicorn writes an answer in another way."


def test_an_answer_at_once_comes_in_one_piece_and_the_next_request_is_read(
    server: tuple[uvicorn.Server, tuple[str, int]],
) -> None:
    with socket.create_connection(server[1], timeout=10) as connection:
        for _ in range(2):
            connection.sendall(b"GET /at-once HTTP/1.1\r\nHost: x\r\n\r\n")
            assert connection.recv(65_536).endswith(b"\r\n\r\nHello")


def test_nothing_is_said_in_a_header_that_ends_it(server: tuple[uvicorn.Server, tuple[str, int]]) -> None:
    with socket.create_connection(server[1], timeout=10) as connection:
        connection.sendall(b"GET /broken HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        told = answer(connection)
    assert told.startswith(b"HTTP/1.1 500")
    assert b"set-cookie" not in told.lower()


def test_a_request_on_its_way_while_the_server_stops_is_answered(
    server: tuple[uvicorn.Server, tuple[str, int]],
) -> None:
    running, address = server
    with socket.create_connection(address, timeout=10) as connection:
        while not running.server_state.connections:
            time.sleep(0.001)  # uvicorn tells nobody of a connection
        running.should_exit = True
        connection.sendall(REQUEST)
        assert answer(connection).startswith(b"HTTP/1.1 200"), (
            "Uvicorn closes new connections at once when it stops."
        )
