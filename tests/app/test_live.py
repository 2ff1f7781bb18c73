"""The live channel under the server of production: what goes over it, and what it does not take."""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from datetime import timedelta

import httpx
import pytest
import uvicorn
from connexion import FlaskApp
from sqlalchemy import select
from starlette.testclient import TestClient
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

import store
from app.http import server as web
from app.http.live import clients, frames, hub
from app.http.live import socket as channel
from app.instance.listening import listen
from rules import rooms as limits
from rules.clock import now
from store.interviewing.presence import InterviewPresence
from store.interviewing.rooms import Interview
from tests import interviews, rooms
from tests.live import Program, eventually, join

HELLO = json.dumps({"type": "hello", "after": 0})


@pytest.fixture(scope="module")
def base(app: FlaskApp, http: TestClient) -> Iterator[str]:
    listener = listen("127.0.0.1", 0)
    running = uvicorn.Server(web.config(app))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    eventually(lambda: running.started)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    running.should_exit = True
    thread.join(10)


def open_room(base, **fields):
    room = rooms.prepare(**fields)
    join(base, room)
    return room


def address(base, token):
    return f"{base.replace('http', 'ws')}/api/v1/candidate/interviews/{token}/live/"


def refused(base, token):
    with pytest.raises(InvalidStatus) as fault, connect(address(base, token)):
        pass
    response = fault.value.response
    return response.status_code, json.loads(response.body)["error"]["code"]


def closing(base, token, *said):
    """Say something that ends the channel; return with which code."""
    with connect(address(base, token)) as one:
        for frame in said:
            one.send(frame)
        with contextlib.suppress(ConnectionClosed):
            while True:
                one.recv(timeout=10)
        return one.close_code


def test_two_in_a_room_hear_each_other_and_type_in_one_document(base):
    room = open_room(base)
    with Program(base, room, room.candidate) as one, Program(base, room, room.interviewer) as other:
        ids = [one.say(f"one {number}") for number in range(20)] + [other.say("Hello")]
        for letter in "abcdef":
            one.type(letter)
            other.type(letter.upper(), at=0)
        eventually(lambda: len(one.heard()) == len(other.heard()) == 21)
        eventually(lambda: len(one.code()) == 12 and one.code() == other.code())
        eventually(lambda: set(ids) == {*one.acks, *other.acks} and one.saved >= 6)
        other.point(b"here")
        eventually(lambda: one.cursors == [b"here"])
        assert one.heard() == other.heard()
    assert sorted(room.said()) == sorted([*(f"one {number}" for number in range(20)), "Hello"])


def test_who_comes_back_has_missed_nothing_and_hears_nothing_twice(base):
    room = open_room(base)
    with Program(base, room, room.candidate) as one, Program(base, room, room.interviewer) as other:
        one.say("before")
        eventually(lambda: other.heard() == ["before"])
        other.socket.close()
        eventually(lambda: other.socket is None or other.connections == 2)
        one.say("meanwhile")
        one.type("typed meanwhile")
        eventually(lambda: other.heard() == ["before", "meanwhile"])
        eventually(lambda: other.code() == one.code() == "typed meanwhile")


def test_a_message_that_is_sent_again_is_there_once(base):
    room = open_room(base)
    said = json.dumps({"type": "message", "id": "0195a3c2-7b1e-7c44-9d0a-3f2b8e6a1c55", "content": "Once"})
    with connect(address(base, room.candidate)) as one:
        one.send(HELLO)
        one.send(said)
        one.send(said)
        acks = []
        while len(acks) < 2:
            frame = one.recv(timeout=10)
            if isinstance(frame, str) and json.loads(frame)["type"] == "ack":
                acks.append(json.loads(frame)["number"])
    assert acks[0] == acks[1]
    assert room.said() == ["Once"]


def test_plain_requests_and_the_channel_are_of_one_room(base):
    room = open_room(base)
    with Program(base, room, room.interviewer) as one:
        httpx.post(f"{base}{room.url}messages/", json={"content": "By request"})
        eventually(lambda: one.heard() == ["By request"])
        question = room.questions[0]
        httpx.put(f"{base}{room.url}code/", json={"code": "print(42)\n", "language": "python"})
        text = one.doc.get(f"code:{question}", type=type(one.text))
        eventually(lambda: str(text) == "print(42)\n")
        httpx.post(f"{base}{room.url}end/")
        eventually(lambda: one.statuses == ["ended"])
        assert [event["kind"] for event in one.events][-1] == "end"
        eventually(lambda: one.socket is None)


@pytest.mark.parametrize("token", ["unknown", "x" * 128])
def test_a_link_that_leads_nowhere_opens_no_channel(base, token):
    assert refused(base, token) == (404, "NOT_FOUND")


def test_a_closed_room_opens_no_channel(base):
    room = open_room(base)
    httpx.post(f"{base}{room.url}end/")
    assert refused(base, room.candidate) == (409, "SESSION_CLOSED")


def test_no_interviewer_joins_where_none_may(base):
    room = rooms.prepare(interviewer_mode="ai_only", human_can_join=False)
    assert refused(base, room.interviewer) == (404, "NOT_FOUND")


def test_what_comes_after_the_end_is_refused_and_not_kept(base):
    room = open_room(base)
    with Program(base, room, room.candidate) as one:
        room.change(due_at=now() - timedelta(seconds=1))
        one.say("too late")
        eventually(lambda: one.refused)
        assert one.refused[0]["code"] == "SESSION_CLOSED"
    assert room.said() == []


@pytest.mark.parametrize(
    "garbage",
    [
        "no JSON",
        "[]",
        json.dumps({"type": "hello", "after": "0"}),
        json.dumps({"type": "message", "content": "first"}),
        b"\x00",
    ],
)
def test_a_channel_begins_with_hello(base, garbage):
    room = open_room(base)
    assert closing(base, room.candidate, garbage) == channel.GARBLED


@pytest.mark.parametrize(
    "garbage",
    [
        "no JSON",
        json.dumps({"type": "unheard of"}),
        json.dumps({"type": "message", "id": "1", "content": "no id"}),
        b"",
        b"\x07",
        b"\x00\x05\x00",
        b"\x00\x02\x05ab",
        frames.sync(frames.UPDATE, b"\xff" * 40),
        frames.sync(frames.ASK, b"\xff" * 40),
        b"\xff" * 100,
    ],
)
def test_garbage_ends_the_channel_and_nothing_else(base, garbage):
    room = open_room(base)
    with Program(base, room, room.interviewer) as other:
        assert closing(base, room.candidate, HELLO, garbage) == channel.GARBLED
        other.say("still here")
        eventually(lambda: other.heard() == ["still here"])
    assert len(room.updates()) == 1


def test_a_frame_that_is_too_large_ends_the_channel(base):
    room = open_room(base)
    assert closing(base, room.candidate, HELLO, b"\x00" * ((1 << 20) + 1)) == 1009


@pytest.mark.parametrize("content", ["", "   ", "x" * 5001, 5, None, "a\x00b"])
def test_a_message_that_says_nothing_or_too_much_is_refused_and_the_channel_goes_on(base, content):
    room = open_room(base)
    with connect(address(base, room.candidate)) as one:
        one.send(HELLO)
        id = "0195a3c2-7b1e-7c44-9d0a-3f2b8e6a1c55"
        one.send(json.dumps({"type": "message", "id": id, "content": content}))
        while (
            json.loads(frame)["type"] != "refused" if isinstance(frame := one.recv(timeout=10), str) else True
        ):
            pass
        assert json.loads(frame)["id"] == id
        one.send(json.dumps({"type": "ping"}))
        while frame != '{"type":"pong"}':
            frame = one.recv(timeout=10)


def test_a_room_holds_so_many_channels_and_says_so(base):
    room = open_room(base)
    held = [connect(address(base, room.candidate)) for _ in range(hub.PER_ROOM)]
    assert refused(base, room.interviewer) == (503, "UNAVAILABLE")
    held.pop().close()
    eventually(lambda: _opens(base, room.interviewer))
    for one in held:
        one.close()


def _opens(base, token):
    try:
        connect(address(base, token)).close()
    except InvalidStatus:
        return False
    return True


def test_who_reads_too_slowly_is_let_go_and_holds_up_nobody(base, monkeypatch):
    monkeypatch.setattr(clients, "MOST_BYTES", 200_000)
    monkeypatch.setattr(channel, "FRAMES_AT_ONCE", 10_000)
    room = open_room(base)
    slow = socket.create_connection(tuple(base.removeprefix("http://").split(":")))
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    path = f"{room.url}live/"
    slow.sendall(
        f"GET {path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
    )
    hello = HELLO.encode()
    slow.sendall(bytes((0x81, 0x80 | len(hello), 0, 0, 0, 0)) + hello)  # masked with zeros
    with Program(base, room, room.interviewer) as other:
        for number in range(1500):
            other.say(f"{number} " + "x" * 4900)
            if number % 20 == 0:
                eventually(lambda: not other.unsent)
        eventually(lambda: len(other.heard()) == 1500, 30)
        slow.settimeout(10)
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)  # what there is is read at once
        read = 0
        with contextlib.suppress(ConnectionResetError):
            while piece := slow.recv(1 << 20):
                read += len(piece)
    assert read < 1500 * 4900


def test_where_there_can_be_no_websocket_a_stream_tells_the_same(base):
    room = open_room(base)
    room_events = []
    with httpx.stream(
        "GET", f"{base}{room.url}live/", headers={"Accept": "text/event-stream"}, timeout=20
    ) as answer:
        assert answer.headers["content-type"] == "text/event-stream"
        lines = answer.iter_lines()

        def next_event():
            said = {}
            while (line := next(lines)) != "" or not said:
                name, _, value = line.partition(": ")
                if line:
                    said[name] = value
            return said["event"], json.loads(said["data"]), said.get("id")

        assert [next_event()[0] for _ in range(3)] == ["room", "events", "document"]
        httpx.post(f"{base}{room.inside}messages/", json={"content": "Heard?"})
        name, told, number = next_event()
        assert name == "events"
        assert told["events"][0]["data"] == {"content": "Heard?"}
        room_events.append(number)
    with httpx.stream(
        "GET",
        f"{base}{room.url}live/",
        headers={"Accept": "text/event-stream", "Last-Event-ID": number},
        timeout=20,
    ) as answer:
        lines = answer.iter_lines()
        next_event()
        assert next_event()[1] == {"events": []}


def test_a_stream_of_a_closed_room_is_refused(base):
    room = open_room(base)
    httpx.post(f"{base}{room.url}end/")
    answer = httpx.get(f"{base}{room.url}live/", headers={"Accept": "text/event-stream"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "SESSION_CLOSED")


def test_news_are_found_where_nobody_tells_of_them(base, monkeypatch):
    monkeypatch.setattr("store.interviewing.news._client", None)
    monkeypatch.setattr("store.interviewing.news._listeners", [])
    room = open_room(base)
    with Program(base, room, room.candidate) as one:
        httpx.post(f"{base}{room.inside}messages/", json={"content": "Quietly"})
        eventually(lambda: one.heard() == ["Quietly"])


def test_elsewhere_an_offer_of_a_websocket_is_ignored(base):
    answer = httpx.get(f"{base}/healthz", headers={"Upgrade": "websocket", "Connection": "Upgrade"})
    assert answer.status_code == 200


def test_while_a_room_is_held_another_goes_on(base):
    held, free = open_room(base), open_room(base)
    with (
        Program(base, held, held.candidate) as one,
        Program(base, free, free.candidate) as other,
        store.transaction() as session,
    ):
        session.get(Interview, held.id, with_for_update=True)
        one.say("waits")
        other.say("goes on")
        eventually(lambda: other.heard() == ["goes on"], 5)
        assert one.heard() == []
        session.rollback()
        eventually(lambda: one.heard() == ["waits"])


def test_what_waits_for_a_room_is_kept_in_the_order_in_which_it_was_said(base):
    room = open_room(base)
    with Program(base, room, room.candidate) as one:
        said = [str(number) for number in range(60)]
        for number in said:  # what is said while the room is free again comes after what waits
            if int(number) % 20 == 0:
                with store.transaction() as session:
                    session.get(Interview, room.id, with_for_update=True)
                    one.say(number)
                    time.sleep(0.03)  # longer than acts are gathered
            else:
                one.say(number)
        eventually(lambda: one.heard() == said)
        assert room.said() == said


def test_a_document_that_is_too_large_takes_no_more(base, monkeypatch):
    monkeypatch.setattr("rules.rooms.MOST_DOCUMENT", 200)
    room = open_room(base)
    with Program(base, room, room.candidate) as one:
        one.type("x" * 300)
        eventually(lambda: one.saved)  # twice, where the service asks for the document meanwhile
        eventually(lambda: len(room.updates()) >= 2)
        one.type("y" * 10)
        eventually(lambda: one.refused)
        assert one.refused[0]["code"] == "LIMIT_REACHED"


# --- Who is there


def comings(room):
    """Who came and went, as the schedule finds it by now."""
    interviews.run("presences")
    return [(one.kind, one.actor, one.actor_name) for one in room.events("join", "leave")]


def sides(room, *, by_channel=False):
    with store.transaction() as session:
        here = select(InterviewPresence).where(InterviewPresence.interview_id == room.id)
        return sorted(one.side for one in session.scalars(here) if one.has_channel or not by_channel)


CAME = [("join", "candidate", "Amina Diallo"), ("join", "interviewer", "Interviewer")]


def test_a_channel_that_is_gone_is_told_of_after_a_while_and_so_is_who_comes_back(base, monkeypatch):
    monkeypatch.setattr(limits, "GRACE", timedelta(0))
    room = open_room(base)
    with Program(base, room, room.interviewer) as other:
        with Program(base, room, room.candidate):
            eventually(lambda: sides(room, by_channel=True) == ["candidate", "interviewer"])
            assert comings(room) == CAME
        left = [*CAME, ("leave", "candidate", "Amina Diallo")]
        eventually(lambda: comings(room) == left)
        with Program(base, room, room.candidate, "Amina"):
            back = [*left, ("join", "candidate", "Amina")]
            eventually(lambda: comings(room) == back)
            eventually(lambda: [one["kind"] for one in other.events] == ["join", "join", "leave", "join"])
        httpx.post(f"{base}{room.inside}end/")
        eventually(lambda: comings(room) == back and not sides(room))


def test_who_has_another_channel_or_comes_back_in_time_has_not_left(base, monkeypatch):
    room = open_room(base)
    with Program(base, room, room.candidate):
        with Program(base, room, room.candidate):
            pass
        assert comings(room) == CAME
    with Program(base, room, room.candidate):
        assert comings(room) == CAME
    assert sides(room) == ["candidate", "interviewer"]


def test_who_never_came_in_does_not_leave(base, monkeypatch):
    monkeypatch.setattr(limits, "GRACE", timedelta(0))
    room = rooms.prepare()
    with connect(address(base, room.candidate)) as one:
        one.send(HELLO)
        eventually(lambda: sides(room))
    eventually(lambda: comings(room) == [] and not sides(room))


def test_where_a_stream_ends_it_is_told_of_too(base, monkeypatch):
    monkeypatch.setattr(limits, "GRACE", timedelta(0))
    room = open_room(base)
    stream = {"Accept": "text/event-stream"}
    with httpx.stream("GET", f"{base}{room.url}live/", headers=stream, timeout=20) as answer:
        said = answer.iter_bytes()
        next(said)
        eventually(lambda: sides(room, by_channel=True) == ["candidate"])
    eventually(lambda: comings(room) == [*CAME, ("leave", "candidate", "Amina Diallo")])


def test_who_comes_and_goes_at_once_has_gone(base, monkeypatch):
    monkeypatch.setattr(limits, "GRACE", timedelta(0))
    room = open_room(base)
    for _ in range(5):
        with connect(address(base, room.candidate)) as one:
            one.send(HELLO)
            one.recv(timeout=10)
    eventually(lambda: not sides(room) or comings(room)[-1][0] == "leave")


ME, THEM = "0195a3c2-7b1e-7c44-9d0a-3f2b8e6a1c57", "0195a3c2-7b1e-7c44-9d0a-3f2b8e6a1c58"
HERE = {"kind": "here", "from": ME, "mic": True, "muted": False, "asks": True}
OFFER = {"kind": "offer", "from": ME, "to": THEM, "sdp": "v=0\r\n"}


def speak(one, signal):
    one.socket.send(json.dumps({"type": "voice", "signal": signal}))


def test_signals_reach_everybody_else_and_are_kept_nowhere(base):
    room, elsewhere = open_room(base, voice_mode=True), open_room(base, voice_mode=True)
    with (
        Program(base, room, room.candidate) as one,
        Program(base, room, room.interviewer) as other,
        Program(base, elsewhere, elsewhere.candidate) as stranger,
    ):
        before = len(room.events())
        speak(one, {**HERE, "role": "interviewer"})
        speak(one, OFFER)
        eventually(lambda: len(other.signals) == 2)
        assert other.signals == [
            {"role": "candidate", "signal": HERE},
            {"role": "candidate", "signal": OFFER},
        ]
        answer = httpx.post(f"{base}{room.inside}live/", json={"voice": [{**HERE, "from": THEM}]}, timeout=20)
        assert answer.status_code == 200
        eventually(lambda: one.signals == [{"role": "interviewer", "signal": {**HERE, "from": THEM}}])
        assert stranger.signals == []
        assert len(room.events()) == before


@pytest.mark.parametrize(
    "fields", [{"voice_mode": False}, {"voice_mode": True, "interviewer_mode": "ai_only"}]
)
def test_signals_are_refused_where_nobody_is_to_speak(base, fields):
    room = open_room(base, **fields)
    with Program(base, room, room.candidate) as one, Program(base, room, room.interviewer) as other:
        speak(one, HERE)
        eventually(lambda: one.refused)
        assert one.refused[0]["code"] == "VALIDATION_ERROR"
        answer = httpx.post(f"{base}{room.url}live/", json={"voice": [HERE]}, timeout=20)
        assert answer.status_code == 400
        assert answer.json()["error"]["details"]["fields"][0]["pointer"] == "/voice"
        one.say("The channel goes on")
        eventually(other.heard)
        assert other.signals == []


@pytest.mark.parametrize(
    "signal", [None, [], "here", {**OFFER, "sdp": "v=0" + "x" * 16_000}, {**HERE, "to": 1}]
)
def test_what_is_no_signal_is_refused_and_ends_nothing(base, signal):
    room = open_room(base, voice_mode=True)
    with Program(base, room, room.candidate) as one, Program(base, room, room.interviewer) as other:
        speak(one, signal)
        speak(one, HERE)
        eventually(lambda: other.signals)
        assert other.signals == [{"role": "candidate", "signal": HERE}]
        eventually(lambda: [said["code"] for said in one.refused] == ["VALIDATION_ERROR"])


def test_who_signals_without_end_is_refused(base, monkeypatch):
    monkeypatch.setattr(channel, "SIGNALS_AT_ONCE", 5)
    monkeypatch.setattr(channel, "SIGNALS_A_SECOND", 0)
    room = open_room(base, voice_mode=True)
    with Program(base, room, room.candidate) as one, Program(base, room, room.interviewer) as other:
        for _ in range(8):
            speak(one, HERE)
        eventually(lambda: len(one.refused) == 3)
        assert {said["code"] for said in one.refused} == {"RATE_LIMITED"}
        eventually(lambda: len(other.signals) == 5)


def test_a_stream_hears_signals(base):
    room = open_room(base, voice_mode=True)
    with (
        httpx.stream(
            "GET", f"{base}{room.inside}live/", headers={"accept": "text/event-stream"}, timeout=20
        ) as stream,
        Program(base, room, room.candidate) as one,
    ):
        lines = stream.iter_lines()
        while next(lines) != "event: document":
            pass
        speak(one, HERE)
        while next(lines) != "event: voice":
            pass
        said = json.loads(next(lines).removeprefix("data: "))
        assert said == {"role": "candidate", "signal": HERE}
