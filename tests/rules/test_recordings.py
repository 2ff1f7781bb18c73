"""What is recorded, agreed to and refused, decided without a database."""

from dataclasses import dataclass
from datetime import timedelta

import pytest

from rules import recordings as rules
from rules.clock import iso, now
from rules.errors import Invalid, LimitReached, SessionClosed

WEBM = b"\x1aE\xdf\xa3"


@dataclass(frozen=True)
class Assessment:
    session_recording_enabled: bool = False
    screen_recording_enabled: bool = False
    webcam_recording_enabled: bool = False


def test_an_assessment_asks_for_what_its_settings_say() -> None:
    assert rules.asked(Assessment()) == []
    assert rules.asked(Assessment(webcam_recording_enabled=True, session_recording_enabled=True)) == [
        "session",
        "webcam",
    ]


def test_the_notice_says_what_is_recorded_for_how_long_and_nothing_else() -> None:
    said = rules.notice("Northwind Labs", ["webcam"], 30)
    assert "camera, without sound" in said
    assert "30 days" in said
    assert "screen" not in said


def test_everything_that_is_recorded_has_to_be_agreed_to() -> None:
    assert rules.faults(["webcam"], ["webcam", "screen"]) == []
    assert rules.faults([], []) == []
    [fault] = rules.faults(["session", "webcam"], ["session"])
    assert fault["pointer"] == "/recording_accepted"
    assert fault["message"].endswith("webcam.")


def test_what_is_kept_of_an_agreement_are_its_words_and_its_moment() -> None:
    moment = now()
    kept = rules.given("Northwind Labs", ["screen"], 30, moment)["recording"]
    assert kept["notice"] == rules.notice("Northwind Labs", ["screen"], 30)
    assert (kept["kinds"], kept["days"], kept["accepted_at"]) == (["screen"], 30, iso(moment))
    assert rules.given("Northwind Labs", [], 30, moment) == {}


def test_what_was_not_agreed_to_is_not_taken() -> None:
    assert rules.agreement({"kinds": ["webcam"]}, "webcam")
    for agreed in (None, {"kinds": ["session"]}):
        with pytest.raises(Invalid):
            rules.agreement(agreed, "webcam")


def test_what_a_device_still_holds_is_taken_for_a_day() -> None:
    ended = now()
    rules.check_open("started", None, ended)
    rules.check_open("completed", ended, ended + rules.SENT_AFTER)
    with pytest.raises(SessionClosed):
        rules.check_open("completed", ended, ended + rules.SENT_AFTER + timedelta(seconds=1))


def test_chunks_come_in_their_order_and_may_come_again() -> None:
    assert rules.is_known(2, 3)
    assert not rules.is_known(3, 3)
    with pytest.raises(Invalid):
        rules.is_known(4, 3)


@pytest.mark.parametrize(
    ("kind", "media_type", "content"),
    [
        ("webcam", "video/webm", b""),
        ("webcam", "video/webm", WEBM + bytes(rules.LARGEST_CHUNK)),
        ("webcam", "application/json", b"[]"),
        ("session", "video/webm", WEBM),
        ("session", "application/json", b"{}"),
    ],
)
def test_what_is_no_chunk_is_refused(kind: str, media_type: str, content: bytes) -> None:
    with pytest.raises(Invalid):
        rules.check_chunk(kind, media_type, content)


def test_chunks_of_each_kind_are_taken() -> None:
    rules.check_chunk("session", "application/json", b"[]")
    rules.check_chunk("screen", "video/mp4", b"....ftyp")
    rules.check_chunk("webcam", "video/webm", WEBM)


def test_a_sitting_and_a_track_have_their_bounds() -> None:
    rules.check_sitting(rules.MOST_TRACKS, rules.MOST_BYTES - 1, 1)
    assert rules.place(str(rules.MOST_CHUNKS - 1)) == rules.MOST_CHUNKS - 1
    for check in (
        lambda: rules.check_sitting(rules.MOST_TRACKS + 1, 0, 1),
        lambda: rules.check_sitting(1, rules.MOST_BYTES, 1),
        lambda: rules.place(str(rules.MOST_CHUNKS)),
    ):
        with pytest.raises(LimitReached):
            check()
