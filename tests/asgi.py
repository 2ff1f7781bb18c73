"""Requests as a server hands them to the application: paths, headers and bodies that no client would let through."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from connexion import FlaskApp
from starlette.testclient import TestClient

from app.http.front import Front
from tests import seen


def front(app: FlaskApp) -> Front:
    """The application's station that carries requests out."""
    station = app.middleware.app
    while not isinstance(station, Front):
        station = station.app
    return station


@dataclass
class Wire:
    """One request's two directions."""

    chunks: Iterable[bytes]
    ends: bool = True  # else the client hangs up after its last chunk
    read: int = 0  # chunks that the application asked for
    messages: list[dict[str, Any]] = field(default_factory=list)

    async def receive(self) -> dict[str, Any]:
        for chunk in self.chunks:
            self.read += 1
            return {"type": "http.request", "body": chunk, "more_body": True}
        return (
            {"type": "http.request", "body": b"", "more_body": False}
            if self.ends
            else {"type": "http.disconnect"}
        )

    async def send(self, message: dict[str, Any]) -> None:
        self.messages.append(message)

    @property
    def status(self) -> int:
        return int(self.messages[0]["status"])

    @property
    def headers(self) -> dict[str, str]:
        return {name.decode().lower(): value.decode() for name, value in self.messages[0]["headers"]}

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.messages[1:])


def send(
    http: TestClient,
    method: str,
    target: str,
    *headers: tuple[str, str],
    body: Iterable[bytes] = (),
    ends: bool = True,
    peer: str = "192.0.2.1",
) -> Wire:
    """Make one request of the application; the target's path arrives decoded, as servers do it."""
    raw_path, _, query = target.partition("?")
    wire = Wire(iter(body), ends=ends)
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
        "path": unquote(raw_path), "raw_path": raw_path.encode(), "query_string": query.encode(), "root_path": "",
        "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers],
        "client": (peer, 4711), "server": ("testserver", 80), "state": {},
    }  # fmt: skip
    assert http.portal
    http.portal.call(http.app, scope, wire.receive, wire.send)
    if wire.messages:
        seen.note(method, scope["path"], wire.status, wire.body)
    return wire
