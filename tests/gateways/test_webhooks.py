import asyncio
import errno
import os
import resource
import socket
import ssl
import threading
import time
from contextlib import suppress

import pytest

from gateways import addresses, webhooks
from tests import receiver as receivers
from tests.certificates import certificate, serving
from tests.receiver import Answer

BODY = b'{"a":1}'


@pytest.fixture(autouse=True)
def development(monkeypatch):
    """Allow private addresses; whatever a test sets is gone after it."""
    monkeypatch.setattr(webhooks, "_allow_private", True)


@pytest.fixture
def receiver():
    with receivers.running() as running:
        yield running


@pytest.fixture
def resolving(monkeypatch):
    """Let a name lead where the test says, and count how often it is asked for."""
    asked = []

    def to(**names):
        def look_up(host, port):
            asked.append(host)
            if host not in names:
                raise socket.gaierror("unknown")
            return names[host]

        monkeypatch.setattr(addresses, "_look_up", look_up)
        return asked

    return to


def test_the_body_and_the_headers_arrive_as_they_were_given(receiver):
    outcome = webhooks.post(receiver.url + "/ä b?x=ö".replace(" ", "%20"), BODY, {"webhook-id": "evt_1"})
    (request,) = receiver.requests
    assert (outcome.status_code, outcome.body, outcome.error) == (200, "ok", None)
    assert outcome.response_time_ms >= 0
    assert request.body == BODY
    assert request.path == "/hook/%C3%A4%20b?x=%C3%B6"
    assert request.headers["webhook-id"] == "evt_1"
    assert request.headers["content-type"] == "application/json"
    assert request.headers["user-agent"].startswith("Hiring-Webhooks/")
    assert request.headers["host"] == receiver.url.split("/")[2]


def test_redirects_are_not_followed(receiver):
    receiver.answer(Answer(302, {"Location": receiver.url + "/elsewhere"}))
    assert webhooks.post(receiver.url, BODY, {}).status_code == 302
    assert len(receiver.requests) == 1


def test_no_more_than_2_kb_of_an_answer_is_read(receiver):
    receiver.answer(Answer(500, {"Content-Length": str(10**12)}, b"x" * 100_000))
    outcome = webhooks.post(receiver.url, BODY, {})
    assert (outcome.status_code, outcome.body) == (500, "x" * 2048)


def test_an_answer_that_is_no_text_is_read_as_far_as_it_is_one(receiver):
    receiver.answer(Answer(200, {}, b"a\xff"))
    assert webhooks.post(receiver.url, BODY, {}).body == "a\ufffd"


def test_retry_after_is_handed_on(receiver):
    receiver.answer(Answer(503, {"Retry-After": "120"}))
    assert webhooks.post(receiver.url, BODY, {}).retry_after == "120"


def test_proxies_of_the_environment_are_ignored(receiver, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert webhooks.post(receiver.url, BODY, {}).status_code == 200


def test_a_closed_port_is_an_outcome_not_a_fault():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    outcome = webhooks.post(f"http://127.0.0.1:{port}/", BODY, {})
    assert outcome.status_code is None
    assert "connect" in outcome.error


def test_an_endpoint_that_does_not_answer_times_out(receiver, monkeypatch):
    monkeypatch.setattr(webhooks, "TOTAL_SECONDS", 0.3)
    done = threading.Event()
    receiver.answer(lambda request: Answer(200 if done.wait(20) else 500))
    outcome = webhooks.post(receiver.url, BODY, {})
    done.set()
    assert outcome.status_code is None
    assert "did not answer" in outcome.error


def test_an_answer_that_stalls_keeps_its_status(receiver, monkeypatch):
    monkeypatch.setattr(webhooks, "TOTAL_SECONDS", 0.5)
    receiver.answer(Answer(200, {"Content-Length": "100"}, b"begin"))
    outcome = webhooks.post(receiver.url, BODY, {})
    assert (outcome.status_code, outcome.body, outcome.error) == (200, "begin", None)


def test_a_connection_is_used_again_and_replaced_once_the_other_side_hung_up(receiver):
    connections = []
    receiver.answer(lambda request: connections.append(request.client) or Answer())

    async def several():
        async with webhooks.Poster() as poster:
            for turn in range(4):
                if turn == 2:
                    receiver.answer(
                        lambda request: (
                            connections.append(request.client) or Answer(200, {"Connection": "close"})
                        )
                    )
                assert (await poster.post(receiver.url, BODY, {})).status_code == 200

    asyncio.run(several())
    assert connections[0] == connections[1] == connections[2] != connections[3]


def test_a_kept_connection_that_breaks_before_an_answer_is_replaced_once(receiver):
    clients = []

    def respond(request):
        clients.append(request.client)
        if len(clients) == 2:
            raise ConnectionError  # the server closes without a word
        return Answer()

    receiver.answer(respond)

    async def several():
        async with webhooks.Poster() as poster:
            return [(await poster.post(receiver.url, BODY, {})).status_code for _ in range(2)]

    assert asyncio.run(several()) == [200, 200]
    assert clients[0] == clients[1] != clients[2]


FORGED = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"


@pytest.mark.parametrize("later", [False, True], ids=["in one segment", "a moment later"])
def test_what_is_left_over_on_a_kept_connection_is_no_answer_to_the_next_delivery(later):
    """Each connection answers its first request with 500, and says more than that."""
    answered, go_on, said = [], threading.Event(), threading.Event()

    def serve(connection):
        with connection:
            connection.recv(1000)
            answered.append(connection)
            connection.sendall(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n" + (b"" if later else FORGED))
            if later:
                go_on.wait(10)
                connection.sendall(FORGED)
            said.set()
            with suppress(ConnectionResetError):  # the client may hang up on what it had not asked for
                connection.recv(1000)

    def accept(server):
        for _ in range(2):
            threading.Thread(target=serve, args=[server.accept()[0]], daemon=True).start()

    async def twice(url):
        async with webhooks.Poster() as poster:
            first = await poster.post(url, BODY, {})
            go_on.set()
            said.wait(10)
            return [first.status_code, (await poster.post(url, BODY, {})).status_code]

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=accept, args=[server], daemon=True).start()
        assert asyncio.run(twice(f"http://127.0.0.1:{server.getsockname()[1]}/")) == [500, 500]
    assert len(answered) == 2


def test_something_that_speaks_no_http_is_an_outcome():
    with socket.create_server(("127.0.0.1", 0)) as server:

        def babble():
            connection, _ = server.accept()
            connection.recv(1000)
            connection.sendall(b"SSH-2.0-OpenSSH\r\n\r\n")
            connection.close()

        thread = threading.Thread(target=babble)
        thread.start()
        outcome = webhooks.post(f"http://127.0.0.1:{server.getsockname()[1]}/", BODY, {})
        thread.join()
    assert outcome.status_code is None
    assert outcome.error


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/",
        "https://2130706433/",
        "https://0x7f000001/",
        "https://0x7f.1/",
        "https://0177.0.0.1/",
        "https://127.1/",
        "https://[::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://[::ffff:7f00:1]/",
        "https://[64:ff9b::7f00:1]/",
        "https://[64:ff9b::10.0.0.1]/",
        "https://[::127.0.0.1]/",
        "https://[2002:7f00:1::]/",
        "https://017700000001/",
        "https://0x7F.0.0.0x1/",
        "https://169.254.43518/",
        "https://localhost/",
        "https://0/",
    ],
)
def test_every_way_to_write_a_private_address_is_refused_at_registration_and_at_the_attempt(url):
    webhooks.configure(allow_private=False)
    assert "address" in webhooks.objection(url)
    outcome = webhooks.post(url, BODY, {})
    assert outcome.status_code is None
    assert "refused" in outcome.error or "address" in outcome.error


def test_one_private_address_among_public_ones_refuses_the_name(resolving):
    webhooks.configure(allow_private=False)
    resolving(**{"mixed.example": ["93.184.215.14", "10.0.0.1"]})
    assert "private" in webhooks.objection("https://mixed.example/")


def test_a_name_that_leads_elsewhere_at_the_attempt_is_not_connected_to(monkeypatch, receiver):
    port = int(receiver.url.split(":")[2].split("/")[0])
    answers = iter([["93.184.215.14"], ["127.0.0.1"], ["93.184.215.14", "127.0.0.1"], ["::ffff:127.0.0.1"]])
    monkeypatch.setattr(addresses, "_look_up", lambda host, port: next(answers))
    webhooks.configure(allow_private=False)
    url = f"https://rebinding.example:{port}/"
    assert webhooks.objection(url) is None
    for reason in ("loopback", "loopback", "IPv4-mapped"):
        outcome = webhooks.post(url, BODY, {})
        assert outcome.status_code is None
        assert reason in outcome.error
    assert receiver.requests == []


def test_the_address_that_was_checked_is_the_one_connected_to(monkeypatch, receiver):
    """There is no second look-up in which a name could lead elsewhere."""
    port = int(receiver.url.split(":")[2].split("/")[0])
    asked = []

    def look_up(host, port):
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["192.0.2.1"]

    monkeypatch.setattr(addresses, "_look_up", look_up)
    assert webhooks.post(f"http://once.example:{port}/", BODY, {}).status_code == 200
    assert asked == ["once.example"]


def test_a_name_that_does_not_resolve_just_now_may_be_registered(resolving):
    webhooks.configure(allow_private=False)
    resolving()
    assert webhooks.objection("https://later.example/") is None
    assert "does not resolve" in webhooks.post("https://later.example/", BODY, {}).error


def test_a_name_is_resolved_once_for_a_connection_and_stays_in_the_host_header(resolving, receiver):
    asked = resolving(**{"hooks.example": ["127.0.0.1"]})
    port = receiver.url.split(":")[2].split("/")[0]
    assert webhooks.post(f"http://hooks.example:{port}/", BODY, {}).status_code == 200
    assert asked == ["hooks.example"]
    assert receiver.requests[0].headers["host"] == f"hooks.example:{port}"


def test_the_next_address_is_tried_when_one_does_not_answer(resolving, receiver):
    resolving(**{"hooks.example": ["127.0.0.2", "127.0.0.1"]})
    port = receiver.url.split(":")[2].split("/")[0]
    assert webhooks.post(f"http://hooks.example:{port}/", BODY, {}).status_code == 200


def test_a_look_up_that_nobody_was_free_for_is_not_the_endpoints_failure(monkeypatch):
    held = threading.Event()
    monkeypatch.setattr(addresses, "_look_up", lambda host, port: held.wait(20))
    monkeypatch.setattr(webhooks, "CONNECT_SECONDS", 0.5)

    async def one_too_many():
        async with webhooks.Poster() as poster:
            names = [f"http://slow-{number}.example/" for number in range(65)]
            posts = [poster.post(name, BODY, {}, owner=number // 8) for number, name in enumerate(names)]
            outcomes = await asyncio.gather(*posts)
            held.set()
            return outcomes

    outcomes = asyncio.run(one_too_many())
    assert [one.ours for one in outcomes] == [False] * 64 + [True]
    assert "names" in outcomes[-1].error


def test_names_that_nobody_answers_for_take_no_more_than_their_owners_share(monkeypatch, receiver):
    held = threading.Event()
    port = receiver.url.split(":")[2].split("/")[0]

    def look_up(host, _port):
        if host.startswith("slow"):
            held.wait(60)
        return ["127.0.0.1"]

    monkeypatch.setattr(addresses, "_look_up", look_up)
    monkeypatch.setattr(webhooks, "CONNECT_SECONDS", 30.0)
    monkeypatch.setattr(webhooks, "TOTAL_SECONDS", 30.0)

    async def beside():
        async with webhooks.Poster() as poster:
            slow = [
                poster.post(f"http://slow-{n}.example:{port}/", BODY, {}, owner="slow") for n in range(80)
            ]
            slow = asyncio.gather(*slow)
            await asyncio.sleep(0)  # all of them have asked
            other = await poster.post(f"http://quick.example:{port}/", BODY, {}, owner="quick")
            held.set()
            return other, await slow

    other, slow = asyncio.run(beside())
    assert other.status_code == 200
    assert [one.status_code for one in slow] == [200] * 80  # they waited for their own, and lost nothing


def test_running_out_of_open_files_is_not_the_endpoints_failure(receiver):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)

    async def without_a_file():
        async with webhooks.Poster() as poster:
            first = os.dup(0)  # the lowest number that is free
            os.close(first)
            resource.setrlimit(resource.RLIMIT_NOFILE, (first, hard))
            try:
                return await poster.post(receiver.url, BODY, {})
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    outcome = asyncio.run(without_a_file())
    assert (outcome.ours, outcome.status_code) == (True, None)
    assert "open" in outcome.error


def test_ports_that_have_run_out_are_not_the_endpoints_failure(receiver, monkeypatch):
    async def connect(*arguments, **options):
        raise OSError(errno.EADDRNOTAVAIL, "Cannot assign requested address")

    monkeypatch.setattr(addresses, "_connect", connect)  # 28,000 connections would be the other way
    assert webhooks.post(receiver.url, BODY, {}).ours


def test_a_process_that_stood_still_does_not_take_it_for_the_endpoints_silence(receiver, monkeypatch):
    monkeypatch.setattr(webhooks, "TOTAL_SECONDS", 0.3)
    monkeypatch.setattr(webhooks, "LATE_SECONDS", 0.3)
    held = threading.Event()
    receiver.answer(lambda request: Answer(200 if held.wait(30) else 500))

    async def stopped_meanwhile():
        async with webhooks.Poster() as poster:
            asyncio.get_running_loop().call_later(0.1, time.sleep, 1)
            return await poster.post(receiver.url, BODY, {})

    outcome = asyncio.run(stopped_meanwhile())
    held.set()
    assert (outcome.ours, outcome.status_code) == (True, None)


@pytest.fixture
def authority(tmp_path):
    return certificate(tmp_path, "hooks.example")


def test_tls_is_checked_against_the_name_not_the_address(resolving, authority, monkeypatch):
    resolving(**{"hooks.example": ["127.0.0.1"], "other.example": ["127.0.0.1"]})
    names = []
    context = serving(authority)
    context.sni_callback = lambda sock, name, context: names.append(name)
    trusting = ssl.create_default_context(cafile=str(authority))
    monkeypatch.setattr(webhooks, "tls", lambda: trusting)
    with receivers.running(context) as receiver:
        port = receiver.url.split(":")[2].split("/")[0]
        assert webhooks.post(f"https://hooks.example:{port}/", BODY, {}).status_code == 200
        assert names == ["hooks.example"]
        refused = webhooks.post(f"https://other.example:{port}/", BODY, {})
    assert refused.status_code is None
    assert "certificate" in refused.error
    assert len(receiver.requests) == 1


def test_a_certificate_nobody_vouches_for_is_refused(resolving, authority):
    resolving(**{"hooks.example": ["127.0.0.1"]})
    with receivers.running(serving(authority)) as receiver:
        port = receiver.url.split(":")[2].split("/")[0]
        assert webhooks.post(f"https://hooks.example:{port}/", BODY, {}).status_code is None


# --- Answers as they come


def answered(*pieces, stay=False):
    """Post once to a server that answers with these bytes, a moment apart, and then hangs up, or stays."""
    over = threading.Event()

    def serve(server):
        connection, _ = server.accept()
        with connection:
            connection.recv(1000)
            try:
                for piece in pieces:
                    connection.sendall(piece)
                    over.wait(0.02)
            except OSError:
                return  # the other side had enough
            if stay:
                over.wait(10)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve, args=[server])
        thread.start()
        outcome = webhooks.post(f"http://127.0.0.1:{server.getsockname()[1]}/", BODY, {})
        over.set()
        thread.join()
    return outcome


HEAD = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("pieces", "stay"),
    [
        ([HEAD + b"Content-Length: 2\r\n\r\nok"], True),
        ([HEAD + b"Content-", b"Length: 2\r\n\r", b"\no", b"k"], True),
        ([HEAD + b"Transfer-Encoding: chunked\r\n\r\n1;a=b\r\no\r\n1\r\nk\r\n0\r\nTrailer: x\r\n\r\n"], True),
        ([HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 9\r\n\r\n2\r\nok\r\n0\r\n\r\n"], True),
        ([HEAD + b"\r\n", b"o", b"k"], False),
        ([b"HTTP/1.0 200 OK\r\n\r\nok"], False),
        ([b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok"], True),
        ([b"HTTP/1.1 100 Continue\r\nRetry-After: 9\r\n\r\n" + HEAD + b"Content-Length: 2\r\n\r\nok"], True),
        ([b"HTTP/1.1 103 Early Hints\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\n\r\n", HEAD + b"\r\nok"], False),
    ],
    ids=["length", "in pieces", "chunks", "both", "until close", "1.0", "bare LF", "1xx", "several 1xx"],
)
def test_every_way_in_which_an_answer_may_end_is_understood(pieces, stay):
    outcome = answered(*pieces, stay=stay)
    assert (outcome.status_code, outcome.body, outcome.retry_after) == (200, "ok", None)


@pytest.mark.parametrize(
    "pieces",
    [
        [HEAD + b"X: " + b"x" * 100_000],
        [HEAD + b"a: b\r\n" * 20_000],
        [b"HTTP/1.1 100 Continue\r\n\r\n" * 20_000],
        [b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n" + FORGED],
        [b"HTTP/1.1 101 Switching Protocols\r\n\r\n"],
        [b"HTTP/1.1 007 Bond\r\nContent-Length: 0\r\n\r\n"],
        [b"HTTP/1.1 20 OK\r\n\r\n"],
        [HEAD + b"Content-Length: -1\r\n\r\n"],
        [HEAD + b"a b: c\r\n\r\n"],
        [b"\x16\x03\x01\x02\x00"],
    ],
    ids=["long", "many", "1xx", "101", "bare 101", "007", "20", "length", "name", "TLS"],
)
def test_a_head_that_is_mad_or_has_no_end_is_an_outcome(pieces):
    outcome = answered(*pieces, stay=True)
    assert outcome.status_code is None
    assert "does not speak HTTP" in outcome.error
    assert not outcome.ours


@pytest.mark.parametrize(
    "rest",
    [b"1;" + b"x" * 100_000, b"0\r\n" + b"a: b\r\n" * 20_000, b"zz\r\n"],
    ids=["an extension", "trailers", "no size"],
)
def test_chunks_that_are_mad_or_have_no_end_leave_the_status(rest):
    outcome = answered(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + rest, stay=True)
    assert (outcome.status_code, outcome.body) == (200, "")


def test_who_hangs_up_before_or_within_an_answer_has_said_so():
    assert "without an answer" in answered().error
    assert "within its answer" in answered(b"HTTP/1.1 200").error
    assert answered(HEAD + b"Content-Length: 9\r\n\r\nok").body == "ok"


@pytest.mark.parametrize(
    "first",
    [
        b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        HEAD + b"Connection: close\r\nContent-Length: 0\r\n\r\n",
        HEAD + b"Content-Length: 0\r\n\r\nrubbish",
        HEAD + b"Content-Length: 0\r\n\r\n\x00",
        HEAD + b"Content-Length: 3000\r\n\r\n" + b"x" * 2_500,
    ],
    ids=["1.0", "close", "rubbish", "a byte", "the rest of a body"],
)
def test_a_connection_on_which_anything_is_left_is_not_used_again(first):
    clients = []

    def serve(connection):
        with connection:
            while connection.recv(1000):
                clients.append(connection)
                connection.sendall(first)

    def accept(server):
        for _ in range(2):
            threading.Thread(target=serve, args=[server.accept()[0]], daemon=True).start()

    async def twice(url):
        async with webhooks.Poster() as poster:
            return [(await poster.post(url, BODY, {})).status_code for _ in range(2)]

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=accept, args=[server], daemon=True).start()
        assert asyncio.run(twice(f"http://127.0.0.1:{server.getsockname()[1]}/")) == [200, 200]
    assert clients[0] is not clients[1]


def test_a_header_cannot_begin_another_line(receiver):
    with pytest.raises(ValueError, match="header"):
        webhooks.post(receiver.url, BODY, {"webhook-id": "evt_1\r\nX-Forged: 1"})
    assert receiver.requests == []


def test_an_attempt_that_is_given_up_says_nothing_and_closes_its_connection(receiver):
    hung_up, outcomes = threading.Event(), []

    def serve(server):
        connection, _ = server.accept()
        with connection:
            connection.recv(1000)
            loop.call_soon_threadsafe(asked.set)
            with suppress(ConnectionError):
                assert connection.recv(1000) == b""
            hung_up.set()

    async def give_up(url):
        nonlocal loop, asked
        loop, asked = asyncio.get_running_loop(), asyncio.Event()
        async with webhooks.Poster() as poster:
            end = poster.begin(url, BODY, {}, owner=None, done=outcomes.append)
            await asked.wait()
            end()
            assert await asyncio.to_thread(hung_up.wait, 10)

    loop = asked = None
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, args=[server], daemon=True).start()
        asyncio.run(give_up(f"http://127.0.0.1:{server.getsockname()[1]}/"))
    assert outcomes == []
