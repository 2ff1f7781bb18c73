"""Whoever answers a byte at a time is not waited for longer than whoever is silent."""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import httpx
import pytest

from gateways import briefs, buckets, models
from gateways.exchanges import exchange

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"


class Dripping:
    """A server that takes a request and then answers a byte at a time, for ever; `left` once its client has gone."""

    def __init__(self, at_once: bytes) -> None:
        self.left, self._at_once, self._ended = threading.Event(), at_once, threading.Event()
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while not self._ended.is_set():
            with suppress(OSError):
                connection, _ = self._server.accept()
                threading.Thread(target=self._drip, args=[connection], daemon=True).start()

    def _drip(self, connection: socket.socket) -> None:
        with connection:
            try:
                connection.sendall(self._at_once)
                while not self._ended.wait(0.02):
                    connection.sendall(b"H")
            except OSError:
                self.left.set()

    def end(self) -> None:
        self._ended.set()
        with suppress(OSError):
            socket.create_connection(self._server.getsockname()).close()
        self._thread.join()
        self._server.close()


@pytest.fixture(params=[b"", HEAD], ids=["in its head", "in its body"])
def dripping(request: pytest.FixtureRequest) -> Iterator[Dripping]:
    server = Dripping(request.param)
    yield server
    server.end()


def test_an_exchange_ends_when_its_time_is_over(dripping: Dripping) -> None:
    with pytest.raises(TimeoutError):
        exchange("GET", dripping.url, seconds=0.5)
    assert dripping.left.wait(30)  # its connection is closed: nothing of it goes on somewhere


def test_a_model_that_drips_is_late(dripping: Dripping, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "_model", models.Model(dripping.url, "model", ""))
    assert briefs.write(briefs.transcript("CV", "Job", "Text", []), seconds=0.5).late
    assert dripping.left.wait(30)


def test_a_name_that_is_looked_up_for_ever_holds_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    found, look_up = threading.Event(), socket.getaddrinfo

    def slow(host: bytes | str, *asked: object, **options: object) -> object:
        # No name server of this machine can be made to be silent.
        if host in (b"slow.example", "slow.example"):
            found.wait()
        return look_up(host, *asked, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    monkeypatch.setattr(models, "_model", models.Model("http://slow.example", "model", ""))
    ended = threading.Event()

    def ask() -> None:
        for _ in range(6):  # more than one name may have threads
            with pytest.raises(TimeoutError):
                exchange("GET", "http://slow.example/", seconds=0.2)
        assert briefs.write(briefs.transcript("CV", "Job", "Text", []), seconds=0.2).late
        with pytest.raises(httpx.ConnectError):
            exchange("GET", "http://localhost:1/", seconds=5)
        ended.set()

    asking = threading.Thread(target=ask)
    asking.start()
    assert ended.wait(30)
    found.set()
    asking.join()


def test_a_bucket_that_drips_is_given_up(dripping: Dripping, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buckets, "SECONDS", 0.5)
    bucket = buckets.Bucket(
        "cvs", endpoint=dripping.url, region="", access_key="an-id", secret_key="a secret"
    )
    for act in (lambda: bucket.get("key"), lambda: bucket.put("key", b"x"), lambda: bucket.delete("key")):
        with pytest.raises(Exception, match=r"[Tt]ime"):
            act()
    assert dripping.left.wait(30)
