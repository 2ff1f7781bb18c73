"""What reaches the server as bytes: also what is no HTTP at all is answered in the contract's envelope."""

import contextlib
import gc
import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from connexion import FlaskApp
from starlette.testclient import TestClient

import insides.uvicorn
from app.http import server as web
from app.http import wire
from app.http.threads import clients
from app.instance.listening import listen
from tests import seen
from tests.api import Tenant, tenant
from tests.app.instances import eventually
from tests.documents import check
from tests.operations.table.every import DOCUMENTED

Address = tuple[str, int]
KEPT = 1  # seconds for the next request on a connection
ASK = b"GET / HTTP/1.1\r\nHost: hiring\r\n\r\n"


@dataclass
class Answered:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def error(self) -> dict[str, object]:
        assert self.headers["content-type"] == "application/json"
        body = json.loads(self.body)
        if "error" not in body:  # the assistant's are flat
            assert set(body) == {"code", "message", "status"}
            return dict(body)
        error = body["error"]
        assert error["details"]["request_id"] == self.headers["x-request-id"]
        return dict(error)


@pytest.fixture(scope="module")
def server(app: FlaskApp, http: TestClient) -> Iterator[Address]:
    """The application under the server of production, on a port of its own."""
    config = web.config(app)
    config.timeout_keep_alive = KEPT
    with serving(config) as address:
        yield address


@contextlib.contextmanager
def serving(
    config: uvicorn.Config, host: str = "127.0.0.1", listener: socket.socket | None = None
) -> Iterator[Address]:
    listener = listener or listen(host, 0)
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield listener.getsockname()[:2]
    running.should_exit = True
    thread.join(10)


@pytest.fixture(scope="module")
def owner(http: TestClient) -> Tenant:
    return tenant(http)


def test_a_proxy_may_come_by_a_socket_of_unix(app: FlaskApp, tmp_path: Path) -> None:
    path = str(tmp_path / "web")
    config = uvicorn.Config(app, http=wire.Protocol, log_level="warning")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        with (
            serving(config, listener=listener),
            httpx.Client(transport=httpx.HTTPTransport(uds=path)) as client,
        ):
            assert client.get("http://web/healthz").status_code == 200


def send(server: Address, *parts: bytes) -> Answered:
    """Send bytes and read the one answer."""
    with socket.create_connection(server, timeout=20) as connection:
        for part in parts:
            connection.sendall(part)
        return answered(read(connection))


def read(connection: socket.socket) -> bytes:
    """Read until the server closes."""
    found = b""
    while piece := connection.recv(65_536):
        found += piece
    return found


def answered(answer: bytes) -> Answered:
    """Take one answer apart."""
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return Answered(int(first.split()[1]), headers, body)


def request(first: str, *headers: str, body: bytes = b"") -> bytes:
    lines = [first, "Host: localhost", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


ORG = "/api/v1/public/org/"


@pytest.mark.parametrize("data", [
    b"nonsense\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 50,
    b"GET / HTTP/9.9\r\n\r\n",
    request("FROBNICATE /api/v1/public/org/ HTTP/1.1"), request("GET /\x00 HTTP/1.1"), b"\xff\xfe\xfd\r\n\r\n",
    request(f"GET {ORG} HTTP/1.1", "no colon"), request(f"GET {ORG} HTTP/1.1", "a b: c"),
    request(f"PATCH {ORG} HTTP/1.1", "Content-Length: x"), request(f"PATCH {ORG} HTTP/1.1", "Content-Length: -1"),
    request(f"PATCH {ORG} HTTP/1.1", "Content-Length: 1", "Content-Length: 2"),
    request(f"PATCH {ORG} HTTP/1.1", "Content-Length: 1", "Transfer-Encoding: chunked"),
    request("GET http://[ HTTP/1.1"),
], ids=lambda data: repr(data[:40]))  # fmt: skip
def test_what_is_no_http_is_refused(server: Address, data: bytes) -> None:
    answer = send(server, data)
    assert answer.status in (400, 405)
    assert answer.error["code"] == "VALIDATION_ERROR"


@pytest.mark.parametrize(("path", "accept", "is_page"), [
    ("/area/sign-in/?next=/area/", "text/html,*/*;q=0.8", True), ("/area/sign-in/", "application/json", False),
    (ORG, "text/html", False),
])  # fmt: skip
def test_what_cannot_be_read_behind_a_browsers_accept_is_refused_with_a_page(
    server: Address, path: str, accept: str, is_page: bool
) -> None:
    for spoilt in (("Cookie: a=\x00",), ("Transfer-Encoding: chunked", "", "zz")):
        said = send(server, request(f"POST {path} HTTP/1.1", f"Accept: {accept}", *spoilt))
        assert said.status == 400
        kind = "text/html; charset=utf-8" if is_page else "application/json"
        assert (said.headers["content-type"], b"<h1>" in said.body) == (kind, is_page)
        assert said.headers["x-request-id"]


@pytest.mark.parametrize("target", [
    "/%", "/%zz", "/%ff", "/caf\xe9", "/%ED%A0%80", "/api/v1/public/org/%00", "/api//v1", "/?\xe9=1", "*",
    "//localhost/api",
    "http://localhost/nothing", "/" + "a" * 60_000, "/nothing#" + "a" * 100,
])  # fmt: skip
def test_a_strange_target_is_not_found(server: Address, target: str) -> None:
    answer = send(server, request(f"GET {target} HTTP/1.1"))
    assert (answer.status, answer.error["code"]) in ((404, "NOT_FOUND"), (400, "VALIDATION_ERROR"))


def test_a_strange_header_or_query_does_no_harm(server: Address, owner: Tenant) -> None:
    key = f"Authorization: Bearer {owner.live.key}"
    latin = (
        "X-Odd: \xff\xfe",
        "Cookie: \x80",
        "Accept: \xe9",
        "Content-Type: \xe9",
        "X-Request-Id: " + "\xe9" * 8,
    )
    asks = ("Expect: 100-continue", "Upgrade: websocket", "Upgrade: h2c")
    for header in (*latin, *asks, f"X-Long: {'a' * 60_000}"):
        assert send(server, request(f"GET {ORG} HTTP/1.1", key, header)).status == 200, header[:40]
    assert (
        send(server, request(f"GET {ORG} HTTP/1.1", "Authorization: Bearer \xe9\xe9")).error["code"]
        == "INVALID_API_KEY"
    )
    for query in ("\xe9=1", "a=%", "cursor=%ff", "x" * 60_000, "&" * 5_000, "\x7f"):
        answer = send(server, request(f"GET {ORG}?{query} HTTP/1.1", key))
        assert answer.status in (200, 400), query[:20]
        assert answer.status == 200 or answer.error["code"] == "VALIDATION_ERROR"


def test_head_has_headers_and_no_body(server: Address, owner: Tenant) -> None:
    for target, status in ((ORG, 200), ("/nothing", 404), ("/api/v1/public/assessments/create/", 405)):
        answer = send(server, request(f"HEAD {target} HTTP/1.1", f"Authorization: Bearer {owner.live.key}"))
        assert (answer.status, answer.body) == (status, b"")
        assert answer.headers["x-request-id"]


def test_a_body_in_chunks_is_read_and_bounded(server: Address, owner: Tenant) -> None:
    head = request(
        "POST /api/v1/public/assessments/create/ HTTP/1.1", f"Authorization: Bearer {owner.live.key}",
        "Content-Type: application/json", "Transfer-Encoding: chunked",
    )  # fmt: skip
    whole = send(server, head, b"a\r\n" + b'{"title": \r\n', b"6\r\n" + b'"Cut"}\r\n', b"0\r\n\r\n")
    assert (whole.status, json.loads(whole.body)["title"]) == (201, "Cut")
    for bad in (b"zz\r\n", b"5\r\nabc\r\n0\r\n\r\n", b"-1\r\n\r\n"):
        answer = send(server, head, bad)
        assert answer.status == 400
    endless = send_until_refused(server, head, b"10000\r\n" + b"x" * 65_536 + b"\r\n")
    assert (endless.status, endless.error["code"]) == (413, "BODY_TOO_LARGE")


def send_until_refused(server: Address, head: bytes, chunk: bytes) -> Answered:
    """Send chunk after chunk until the server answers."""
    with socket.create_connection(server, timeout=20) as connection:
        connection.sendall(head)
        answer = b""
        for _ in range(2_000):
            try:
                connection.sendall(chunk)
                connection.setblocking(False)
                answer = connection.recv(65_536)
            except BlockingIOError:
                connection.settimeout(20)
                continue
            except OSError:
                break
            break
        connection.settimeout(20)
        try:
            while piece := connection.recv(65_536):
                answer += piece
        except OSError:
            pass
    return answered(answer)


def test_who_hangs_up_in_the_middle_of_a_body_changes_nothing(server: Address, owner: Tenant) -> None:
    before = owner.live.get("/assessments/").json()["results"]
    for kind, body in (
        ("application/x-www-form-urlencoded", b"title=Half"),
        ("application/json", b'{"title": "Half"}'),
    ):
        head = request(
            "POST /api/v1/public/assessments/create/ HTTP/1.1", f"Authorization: Bearer {owner.live.key}",
            f"Content-Type: {kind}", "Content-Length: 100", body=body,
        )  # fmt: skip
        with socket.create_connection(server, timeout=20) as connection:
            connection.sendall(head)
            connection.shutdown(socket.SHUT_WR)
            connection.recv(65_536)
    assert owner.live.get("/assessments/").json()["results"] == before


OFFERS = [
    ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"),
    ("Connection: upgrade", "Upgrade: websocket"),
    ("Upgrade: h2c", "Connection: keep-alive, Upgrade"),
]
BODY = b'{"title": "Offered"}'
SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"


def answers(server: Address, parts: list[bytes]) -> list[int]:
    """Send one connection's bytes piece by piece, then a last request; return the statuses of all answers."""
    last = request(f"GET {ORG} HTTP/1.1", "Authorization: none")
    with socket.create_connection(server, timeout=20) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for part in parts:
            connection.sendall(part)
            time.sleep(0.005)  # each in a segment of its own
        connection.sendall(last)
        found = read(connection)
    return [int(status) for status in re.findall(rb"HTTP/1.1 (\d{3})", found)]


@pytest.mark.parametrize("offer", OFFERS, ids=str)
@pytest.mark.parametrize("segments", ["one", "two", "many"])
@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_an_offer_of_another_protocol_is_ignored_and_the_body_read(
    server: Address, owner: Tenant, offer: tuple[str, ...], segments: str, framing: str
) -> None:
    body = BODY + b" " * 10
    sent = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body) if framing == "chunked" else body
    length = "Transfer-Encoding: chunked" if framing == "chunked" else f"Content-Length: {len(body)}"
    lines = ["POST /api/v1/public/assessments/create/ HTTP/1.1", "Host: localhost", *offer,
             f"Authorization: Bearer {owner.live.key}", "Content-Type: application/json", length]  # fmt: skip
    head = "\r\n".join([*lines, "", ""]).encode()
    whole = head + sent
    parts = {
        "one": [whole],
        "two": [head, sent],
        "many": [whole[at : at + 40] for at in range(0, len(whole), 40)],
    }
    assert answers(server, parts[segments]) == [201, 401]


def test_nothing_of_a_body_is_read_as_a_request(server: Address, owner: Tenant) -> None:
    head = "\r\n".join([f"PATCH {ORG} HTTP/1.1", "Host: localhost", *OFFERS[0], "Content-Type: text/plain",
                       f"Content-Length: {len(SMUGGLED)}", "", ""]).encode()  # fmt: skip
    assert answers(server, [head + SMUGGLED]) == [401, 401]
    assert answers(server, [head, SMUGGLED]) == [401, 401]


def test_an_offer_without_a_body_is_answered_as_if_it_were_none(server: Address, owner: Tenant) -> None:
    head = "\r\n".join([f"GET {ORG} HTTP/1.1", "Host: localhost", *OFFERS[0], "", ""]).encode()
    assert answers(server, [head]) == [401, 401]
    assert send(server, request("CONNECT localhost:80 HTTP/1.1")).status in (400, 405)


def test_a_head_has_a_size(server: Address) -> None:
    for target, header in (("/", "a" * 65_536), ("/" + "a" * 65_536, "")):
        answer = send(server, request(f"GET {target} HTTP/1.1", f"X-Long: {header}"))
        assert (answer.status, answer.error["code"]) == (431, "HEADERS_TOO_LARGE")
    endless = send_until_refused(server, b"GET / HTTP/1.1\r\nX-Long: ", b"a" * 65_536)
    assert endless.status == 431


@pytest.mark.parametrize(("sent", "status"), [
    (b"GET / HTTP/1.1\r\nHost: loc", 408), (b"", None),
    (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", 200),
])  # fmt: skip
def test_a_head_that_does_not_come_in_time_is_not_waited_for(
    server: Address, monkeypatch: pytest.MonkeyPatch, sent: bytes, status: int | None
) -> None:
    monkeypatch.setattr(insides.uvicorn, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(insides.uvicorn, "HEAD_SECONDS", 0.2)
    answered = until_closed(server, sent)
    assert answered[9:12] == (b"" if status is None else str(status).encode())


def test_empty_lines_after_an_answer_are_the_beginning_of_a_head_that_has_its_time(
    server: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(insides.uvicorn, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(insides.uvicorn, "HEAD_SECONDS", 0.2)
    with socket.create_connection(server, timeout=3) as connection:
        connection.sendall(ASK)
        assert connection.recv(65_536).startswith(b"HTTP/1.1 ")
        connection.sendall(b"\r\n")
        assert answered(read(connection)).status == 408


CHUNKED = b"POST / HTTP/1.1\r\nHost: hiring\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize("before", [1, 2])
@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET http://[ HTTP/1.1\r\nHost: hiring\r\n\r\n", 400),
        (b"CONNECT hiring:80 HTTP/1.1\r\nHost: hiring\r\n\r\n", 400),
        (CHUNKED + b"zz\r\n", 400),
        (b"GET / HTTP/1.1\r\nX-Long: " + b"a" * 65_536 + b"\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\nX-Long: " + b"a" * 65_536, 431),
        (b"GET / HTTP/1.1\r\nX-Sl", 408),
    ],
    ids=[
        "no request",
        "no target",
        "a proxy's",
        "no chunk",
        "too large",
        "too large before its end",
        "too slow",
    ],
)
def test_what_is_refused_behind_other_requests_is_answered_behind_them(
    server: Address, monkeypatch: pytest.MonkeyPatch, before: int, sent: bytes, status: int
) -> None:
    monkeypatch.setattr(insides.uvicorn, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(insides.uvicorn, "HEAD_SECONDS", 0.5)
    with socket.create_connection(server, timeout=20) as connection:
        connection.sendall(ASK * before + sent)
        found = read(connection)
    # Each whole: where it ends the next one begins, and nothing is behind the last.
    statuses = []
    while found:
        head, _, found = found.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
        assert length is not None
        statuses.append(int(head[9:12]))
        found = found[int(length[1]) :]
    assert statuses == [200] * before + [status]


def test_a_request_that_breaks_off_after_its_answer_has_begun_gets_no_second_one(server: Address) -> None:
    with socket.create_connection(server, timeout=20) as connection:
        connection.sendall(CHUNKED.replace(b"POST / ", f"PATCH {ORG} ".encode()))
        begun = connection.recv(65_536)
        connection.sendall(b"zz\r\n")
        assert re.findall(rb"HTTP/1.1 (\d{3})", begun + read(connection)) == [b"401"]


TOO_LARGE = b"X-Long: " + b"a" * 65_536


def test_every_operation_answers_what_is_too_large_or_too_slow_as_its_document_says(
    server: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(insides.uvicorn, "LOOK_SECONDS", 0.05)
    for rest, status, code in (
        (TOO_LARGE, 431, "HEADERS_TOO_LARGE"), (b"Host: loc", 408, "REQUEST_TIMEOUT"),
    ):  # fmt: skip
        if status == 408:
            monkeypatch.setattr(insides.uvicorn, "HEAD_SECONDS", 0.2)
        with contextlib.ExitStack() as stack:
            asked = []
            for operation in DOCUMENTED.values():
                path = re.sub(r"\{\w+\}", "x", operation.path)
                connection = stack.enter_context(socket.create_connection(server, timeout=20))
                connection.sendall(f"{operation.method} {path} HTTP/1.1\r\n".encode() + rest)
                asked.append((operation, path, connection))
            for operation, path, connection in asked:
                answer = answered(read(connection))
                asking = httpx.Request(operation.method, f"http://localhost{path}")
                check(httpx.Response(status, headers=answer.headers, content=answer.body, request=asking))
                assert (answer.status, answer.error["code"]) == (status, code), operation.id
                promised = operation.definition["responses"][str(status)]["headers"]
                assert {name.lower() for name, one in promised.items() if one.get("required")} <= set(
                    answer.headers
                )
                seen.note(operation.method, path, status, answer.body)


def test_a_body_that_pauses_is_not_waited_for(
    server: Address, owner: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(insides.uvicorn, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(insides.uvicorn, "PAUSE_SECONDS", 0.2)
    key = f"Authorization: Bearer {owner.live.key}"
    sent = request(f"PATCH {ORG} HTTP/1.1", key, "Content-Length: 20", body=b'{"name": ')
    assert until_closed(server, sent)[9:12] == b"408"
    refused = request(f"PATCH {ORG} HTTP/1.1", "Content-Length: 20", body=b'{"name": ')
    assert until_closed(server, refused)[9:12] == b"401"  # the key was looked at before the body


WITH_BODY = [one for one in DOCUMENTED.values() if one.scopes and "requestBody" in one.definition]
CREATE = "POST /api/v1/public/assessments/create/ HTTP/1.1"


@pytest.mark.parametrize(
    "key", ["", "Authorization: Bearer nobody", f"Authorization: Bearer ct_live_{'x' * 40}"]
)
def test_the_key_is_looked_at_before_a_large_body_that_comes_slowly(server: Address, key: str) -> None:
    for operation in WITH_BODY:
        first = f"{operation.method} {re.sub(r'{[^}]+}', 'x', operation.path)} HTTP/1.1"
        length = "Content-Length: 1000000"
        sent = request(first, *filter(None, [key]), "Content-Type: application/json", length, body=b"{")
        # Which waits for what never comes, or else has the answer.
        answer = answered(until_closed(server, sent))
        assert (answer.status, answer.error["code"]) == (401, "INVALID_API_KEY"), operation.id


def test_a_body_that_nobody_wants_is_not_taken_for_ever(server: Address) -> None:
    head = "\r\n".join([CREATE, "Host: localhost", "Content-Length: 100000000", "", ""]).encode()
    with socket.create_connection(server, timeout=20) as connection:
        connection.sendall(head)
        assert connection.recv(65_536).startswith(b"HTTP/1.1 401")
        with pytest.raises(ConnectionError):
            connection.sendall(b"x" * 99_000_000)


# --- What one address holds open

ELSEWHERE = ("127.0.0.2", 0)


def ask(server: Address, sent: bytes, address: Address = ("127.0.0.1", 0)) -> int:
    """Send a request from an address of this machine; return the status, 0 where there is no answer."""
    with socket.create_connection(server, timeout=20, source_address=address) as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(sent)
        with contextlib.suppress(ConnectionError):
            return answered(read(connection)).status
    return 0


HEALTH = request("GET /healthz HTTP/1.1")


def test_an_address_has_so_many_connections_and_others_have_theirs(
    server: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(insides.uvicorn, "HEAD_SECONDS", 60)
    eventually(lambda: not clients.connections.held)  # those of the tests before
    monkeypatch.setattr(clients.connections, "most", 3)
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(socket.create_connection(server, timeout=20)) for _ in range(3)]
        eventually(lambda: clients.connections.held == {"127.0.0.1": 3})
        assert ask(server, HEALTH) in (503, 0)
        with socket.create_connection(server, timeout=20) as connection:  # who listens first is told why
            refused = answered(read(connection))
        assert (refused.status, refused.error["code"]) == (503, "UNAVAILABLE")
        assert refused.headers["retry-after"].isdigit()
        assert ask(server, HEALTH, ELSEWHERE) == 200
        held[0].sendall(HEALTH)
        assert answered(read(held[0])).status == 200
    eventually(lambda: not clients.connections.held)
    assert ask(server, HEALTH) == 200


def test_connections_of_ipv6_count_for_their_network(app: FlaskApp, http: TestClient) -> None:
    with contextlib.ExitStack() as stack:
        try:
            server = stack.enter_context(serving(web.config(app), "::1"))
        except OSError:
            pytest.skip("This machine has no IPv6.")
        stack.enter_context(socket.create_connection(server, timeout=20))
        eventually(lambda: clients.connections.held.get("::/64") == 1)


def test_a_trusted_proxy_has_as_many_connections_as_it_likes(
    server: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "proxies", ("127.0.0.0/8",))
    monkeypatch.setattr(clients.connections, "most", 0)
    assert ask(server, HEALTH) == 200


def test_an_address_has_so_many_bytes_of_bodies_on_their_way_and_others_have_theirs(
    server: Address, owner: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients.bodies, "most", 100_000)
    monkeypatch.setattr(insides.uvicorn, "PAUSE_SECONDS", 60)
    key, media = f"Authorization: Bearer {owner.live.key}", "Content-Type: application/json"

    def create(length: int, body: bytes) -> bytes:
        return request(CREATE, key, media, f"Content-Length: {length}", body=body)

    whole = b'{"title": "Sent"%b}' % (b" " * 50_000)
    with socket.create_connection(server, timeout=20) as connection:
        connection.sendall(create(200_000, b" " * 90_000))
        eventually(lambda: clients.bodies.held.get("127.0.0.1", 0) == 90_000)
        assert ask(server, create(len(whole), whole)) == 503
        assert ask(server, create(len(whole), whole), ELSEWHERE) == 201
        assert ask(server, HEALTH) == 200
    eventually(lambda: not clients.bodies.held)
    assert ask(server, create(len(whole), whole)) == 201


def until_closed(server: Address, sent: bytes) -> bytes:
    with socket.create_connection(server, timeout=20) as connection:
        connection.sendall(sent)
        return read(connection)


def test_a_request_that_comes_while_the_process_is_too_busy_to_read_it_is_answered_on_its_idle_connection() -> (
    None
):
    busy, go_on = threading.Event(), threading.Event()

    class Busy(wire.Protocol):
        def data_received(self, data: bytes) -> None:
            if b"busy" in data:
                busy.set()
                go_on.wait(30)
            super().data_received(data)

    async def application(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    config = web.config(application)
    config.http, config.timeout_keep_alive, config.lifespan = Busy, KEPT, "off"
    with (
        serving(config) as server,
        socket.create_connection(server, timeout=20) as idle,
        socket.create_connection(server, timeout=20) as other,
    ):
        idle.sendall(ASK)
        assert idle.recv(65_536).startswith(b"HTTP/1.1 204")
        other.sendall(ASK.replace(b"hiring", b"busy"))
        assert busy.wait(30)
        idle.sendall(ASK)
        time.sleep(KEPT)  # while nobody reads, the connection's time runs out
        go_on.set()
        assert idle.recv(65_536).startswith(b"HTTP/1.1 204")


def test_a_connection_that_is_gone_is_no_garbage_to_be_looked_for(server: Address, owner: Tenant) -> None:
    def left() -> int:
        return sum(type(one) is wire.Protocol for one in gc.get_objects())

    head = request(f"GET {ORG} HTTP/1.1", f"Authorization: Bearer {owner.live.key}")
    gc.collect()
    gc.disable()
    try:
        before = left()
        for _ in range(20):
            assert send(server, head).status == 200
        eventually(lambda: left() <= before + 1)
    finally:
        gc.enable()
