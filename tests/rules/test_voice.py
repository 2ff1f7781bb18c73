"""Who speaks with whom in a room, and by what browsers find each other."""

import hmac
from base64 import b64encode
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from rules import voice
from rules.errors import Invalid

ONE, OTHER = "0195a3c2-7b1e-7c44-9d0a-3f2b8e6a1c57", "0195a3c2-7b1e-7c44-9d0a-3f2b8e6a1c58"
MOMENT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
HERE = {"kind": "here", "from": ONE, "mic": True, "muted": False, "asks": True}
OFFER = {"kind": "offer", "from": ONE, "to": OTHER, "sdp": "v=0\r\n"}
ADDRESS = {"kind": "candidate", "from": ONE, "to": OTHER, "candidate": "", "mid": "0", "line": 0}


@pytest.fixture(autouse=True)
def _as_before():
    yield
    voice.configure((), secret="")


@pytest.mark.parametrize(
    ("mode", "human_can_join", "voice_mode", "offered"),
    [
        ("human_only", True, True, True),
        ("hybrid", True, True, True),
        ("hybrid", False, True, False),
        ("ai_only", True, True, False),
        ("human_only", True, False, False),
    ],
)
def test_a_microphone_is_offered_where_people_are_to_speak(mode, human_can_join, voice_mode, offered):
    room = SimpleNamespace(interviewer_mode=mode, human_can_join=human_can_join, voice_mode=voice_mode)
    assert voice.offered(room) is offered


@pytest.mark.parametrize(("offered", "status"), [(False, "active"), (True, "scheduled"), (True, "ended")])
def test_nobody_speaks_elsewhere_or_at_another_time(offered, status):
    with pytest.raises(Invalid):
        voice.require(offered=offered, status=status)


@pytest.mark.parametrize("status", ["waiting", "active"])
def test_one_speaks_from_when_somebody_waits(status):
    voice.require(offered=True, status=status)


def test_a_relays_password_expires_and_is_not_the_secret():
    voice.configure(("stun:stun.example.com", "turn:turn.example.com:3478"), secret="shared")
    plain, relay = voice.servers("room", MOMENT)
    assert plain == {"urls": ["stun:stun.example.com"], "username": "", "credential": ""}
    until, _, name = relay["username"].partition(":")
    assert (int(until), name) == (int(MOMENT.timestamp()) + 12 * 3600, "room")
    # As coturn counts it with use-auth-secret.
    expected = b64encode(hmac.digest(b"shared", relay["username"].encode(), "sha1")).decode()
    assert relay["credential"] == expected


def test_a_server_of_another_kind_is_no_server():
    with pytest.raises(ValueError, match="ICE_SERVERS"):
        voice.configure(("https://turn.example.com",), secret="")


@pytest.mark.parametrize(
    "given", [HERE, {**HERE, "to": OTHER}, OFFER, ADDRESS, {"kind": "leave", "from": ONE}]
)
def test_a_signal_is_passed_on_as_it_is(given):
    assert voice.signal(given) == given


def test_what_a_signal_does_not_say_is_not_passed_on():
    assert voice.signal({**HERE, "sdp": "v=0", "more": 1, "to": None}) == HERE


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ({}, "/kind"),
        ({**HERE, "kind": ["here"]}, "/kind"),
        ({**HERE, "kind": "shout"}, "/kind"),
        ({**HERE, "from": "me"}, "/from"),
        ({**HERE, "from": 7}, "/from"),
        ({**HERE, "mic": 1}, "/mic"),
        ({"kind": "here", "from": ONE}, "/mic"),
        ({**OFFER, "to": None}, "/to"),
        ({**OFFER, "sdp": "x" * 20}, "/sdp"),
        ({**OFFER, "sdp": "v=0" + "x" * 16_000}, "/sdp"),
        ({**OFFER, "sdp": "v=0\x00"}, "/sdp"),
        ({**OFFER, "sdp": "v=0\ud800"}, "/sdp"),
        ({**ADDRESS, "line": -1}, "/line"),
        ({**ADDRESS, "line": True}, "/line"),
    ],
)
def test_what_is_no_signal_is_refused_by_what_is_wrong(given, pointer):
    with pytest.raises(Invalid) as fault:
        voice.signal(given)
    assert fault.value.details["fields"][0]["pointer"] == pointer
