"""Clients that do not take what they are sent, on real sockets: each is gone in its time, whatever holds its bytes."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import repeat
from types import SimpleNamespace
from typing import Any

import pytest
from connexion import FlaskApp
from starlette.datastructures import Headers
from starlette.testclient import TestClient

import insides.uvicorn
from app.http import answers, context, wire
from app.http import server as web
from app.http.answers import Answer
from schemas import audit
from tests.api import tenant
from tests.app.test_wire import Address, serving

WHOLE = 32 << 20  # more than the buffers of both ends take
PART, PARTS = b"x" * 100_000, 320
GRACE = 10.0  # s, for a machine that is busy


@dataclass
class Gone:
    """What the server knows to be gone."""

    connection: threading.Event = field(default_factory=threading.Event)
    client: threading.Event = field(default_factory=threading.Event)  # as its request is told


@pytest.fixture
def gone() -> Gone:
    return Gone()


@pytest.fixture(autouse=True)
def _in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(insides.uvicorn, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(insides.uvicorn, "TAKEN_SECONDS", 0.3)


@pytest.fixture
def server(gone: Gone) -> Iterator[Address]:
    """A large answer on each path, under our protocols."""

    class Protocol(wire.Protocol):
        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            gone.connection.set()

    class Socket(wire.Socket):
        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            gone.connection.set()

    async def application(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        if scope["type"] == "websocket":
            await send({"type": "websocket.accept"})
            await send({"type": "websocket.send", "bytes": b"x" * WHOLE})
            await send({"type": "websocket.close"})
            return
        request = context.Request(
            "", "", "GET", scope["path"], b"", Headers(scope=scope), whole=scope["extensions"]["answer"]
        )
        if scope["path"] == "/whole":
            await answers.send(Answer(200, b"x" * WHOLE, {}, "text/csv"), send, request)
        elif scope["path"] == "/stream":
            parts = Answer(200, PART, {}, "text/csv", repeat(PART, PARTS - 1))
            await answers.send(parts, send, request, following)
        else:
            endless = asyncio.ensure_future(
                answers.send(Answer(200, PART, {}, "text/csv", repeat(PART)), send, request, following)
            )
            while (await receive())["type"] != "http.disconnect":
                pass
            gone.client.set()
            endless.cancel()

    async def following(rest: Iterator[bytes]) -> bytes | None:
        await asyncio.sleep(0)  # as where parts are made elsewhere, others have their turn meanwhile
        return next(rest, None)

    config = web.config(application)
    config.http, config.ws, config.lifespan = Protocol, Socket, "off"
    with serving(config) as address:
        yield address


def get(path: str, *headers: str) -> bytes:
    return "\r\n".join([f"GET {path} HTTP/1.1", "Host: localhost", *headers, "", ""]).encode()


CHANNEL = get(
    "/api/v1/candidate/interviews/x/live/", "Connection: Upgrade", "Upgrade: websocket",
    "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
)  # fmt: skip


@pytest.mark.parametrize("sent", [
    get("/whole"), get("/whole", "Connection: close"), get("/stream"), get("/whole") * 2, get("/stream") * 3, CHANNEL,
], ids=["whole", "after our close", "stream", "whole, pipelined", "stream, pipelined", "WebSocket"])  # fmt: skip
def test_who_stops_reading_in_the_midst_of_an_answer_is_gone(
    server: Address, gone: Gone, sent: bytes
) -> None:
    with socket.create_connection(server, timeout=GRACE) as connection:
        connection.sendall(sent)
        assert connection.recv(1_000)
        assert gone.connection.wait(GRACE)


def test_a_request_is_told_that_its_client_is_gone_where_another_waits_behind_it(
    server: Address, gone: Gone
) -> None:
    with socket.create_connection(server, timeout=GRACE) as connection:
        connection.sendall(get("/endless") + get("/whole"))
        assert connection.recv(1_000)
        assert gone.client.wait(GRACE)


def test_of_a_file_that_is_made_while_it_is_sent_nothing_more_is_made_for_whoever_is_gone(
    app: FlaskApp, http: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    dropped = threading.Event()

    def endless(_rows: object) -> Iterator[bytes]:
        try:
            yield from repeat(PART)
        finally:
            dropped.set()

    monkeypatch.setitem(audit.FORMATS, "csv", ("text/csv", endless))
    key = tenant(http).live.key
    with (
        serving(web.config(app)) as server,
        socket.create_connection(server, timeout=GRACE) as connection,
    ):
        connection.sendall(get("/api/v1/public/org/audit-log/export/", f"Authorization: Bearer {key}"))
        assert connection.recv(1_000).startswith(b"HTTP/1.1 200")
        assert dropped.wait(GRACE)


@pytest.mark.parametrize("headers", [(), ("Connection: close",)])
@pytest.mark.parametrize(("path", "length"), [("/whole", WHOLE), ("/stream", len(PART) * PARTS)])
def test_who_reads_slowly_but_steadily_gets_everything(
    server: Address, path: str, length: int, headers: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Both ends may stand still for a while; and few looks see as much waiting each time, where parts are equal.
    monkeypatch.setattr(insides.uvicorn, "TAKEN_SECONDS", 1.0)
    monkeypatch.setattr(insides.uvicorn, "LOOK_SECONDS", 0.3)
    found, until = 0, time.monotonic() + 3 * insides.uvicorn.TAKEN_SECONDS
    with socket.socket() as connection:
        # Else what it takes is told to the server once it is a megabyte, which on a busy machine may be too late.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        connection.settimeout(GRACE)
        connection.connect(server)
        connection.sendall(get(path, *headers))
        while (is_slow := time.monotonic() < until) or found < length:
            piece = connection.recv(50_000 if is_slow else 1 << 20)
            assert piece, found
            found += len(piece)
            if is_slow:
                time.sleep(0.1)


@pytest.mark.parametrize("taken", [True, False])
def test_who_takes_a_file_in_equal_parts_has_taken_some_though_as_much_waits_at_each_look(
    taken: bool,
) -> None:
    transport, taking = SimpleNamespace(get_write_buffer_size=lambda: len(PART)), insides.uvicorn.Taking()
    over = []
    for look in range(20):
        if taken:
            taking.took()
        over.append(taking.is_over(transport, look * insides.uvicorn.LOOK_SECONDS))
    assert any(over) != taken
