"""A real HTTP server that plays a customer's webhook endpoint."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import standardwebhooks

from tests import seen

PATIENCE = 30  # seconds after which a test that waits has failed


@dataclass(frozen=True)
class Received:
    path: str
    headers: dict[str, str]  # names in lower case
    body: bytes
    client: Any = None  # the other end of the connection

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.body)

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    def verify(self, secret: str) -> dict[str, Any]:
        """Return the envelope, or raise because the signature does not fit."""
        return standardwebhooks.Webhook(secret).verify(self.body, self.headers)


@dataclass(frozen=True)
class Answer:
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b"ok"


Respond = Callable[[Received], Answer]

# The first attempt after a failure comes by itself after five seconds, which on a busy machine is amid a
# test that lets time pass by hand. Who wants that attempt answers with an `Answer` of their own.
NOT_BY_ITSELF = {"Retry-After": "3600"}


class Receiver:
    """Records what arrives, and answers as it is told: 200 unless said otherwise."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/hook"
        self.requests: list[Received] = []
        self._respond: Respond = lambda received: Answer()
        self._changed = threading.Condition()

    def answer(self, how: int | Answer | Respond) -> None:
        """Answer so from now on: a status, an answer, or a function of the request (which may wait).

        A status that is a failure asks to be left alone for an hour.
        """
        if isinstance(how, int):
            how = Answer(how, {} if how < 400 else NOT_BY_ITSELF)
        self._respond = how if callable(how) else lambda received: how

    def wait_for(
        self, count: int, where: Callable[[Received], bool] = lambda received: True
    ) -> list[Received]:
        """Return the requests once `count` of them have come."""
        with self._changed:
            found = self._changed.wait_for(
                lambda: len(list(filter(where, self.requests))) >= count, timeout=PATIENCE
            )
            got = list(filter(where, self.requests))
        assert found, f"{len(got)} of {count} requests came"
        return got

    def clear(self) -> None:
        with self._changed:
            self.requests.clear()

    def take(self, received: Received) -> Answer:
        seen.delivery(received.body)
        with self._changed:
            self.requests.append(received)
            self._changed.notify_all()
        return self._respond(received)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    receiver: Receiver

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.server.receiver.take(Received(self.path, headers, body, self.client_address))
        self.send_response(answer.status)
        for name, value in {"Content-Length": str(len(answer.body)), **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, format: str, *args: Any) -> None:
        """Tests speak for themselves."""


@contextmanager
def running(context: Any = None) -> Iterator[Receiver]:
    """Serve on a free port; with a TLS context over https."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.receiver = Receiver(server.server_address[1])
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
