"""What may be done in an interview's room, by whom, and how much of it."""

from base64 import b64decode
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from rules.errors import Invalid, LimitReached, NotFound
from rules.words import say, together

LONGEST_MESSAGE = 5_000
# Bytes of updates that a room's document is made of: beyond it, nobody can write more.
MOST_DOCUMENT = 4 << 20
MOST_NUMBERS = 200_000  # events and updates of one room: beyond it, it is no interview
ALWAYS = {"end", "leave", "code", "whiteboard"}  # but for these, which tell how it stood at last
SHOWN = ("message", "code", "question")  # what an interview shows of what happens in it
EVENTS_AT_ONCE = 200

GRACE = timedelta(seconds=10)  # after a side's last channel was closed, until it has left
HERE = timedelta(seconds=20)  # after a side was last seen by who has its channel, until it has left
ASKS = timedelta(seconds=60)  # after the last request of a side that has no channel, until it has left

HIDDEN = {"candidate": {"violation"}, "interviewer": set()}  # kinds of events that a side is not shown
CALLED = {"candidate": "Candidate", "interviewer": "Interviewer"}  # who gives no name

RECORDED = (
    say("what is said in the chat"),
    say("the code, as it is typed and run"),
    say("the whiteboard"),
    say("when each side comes and goes"),
)


def consent(*, organisation: str, ai: bool, voice: bool) -> dict[str, Any]:
    """Say what a candidate is told, and agrees to, before joining."""
    told = [
        say(
            "This interview is recorded for %(name)s: what is said in the chat, the code, as it is typed and run, "
            "the whiteboard, and when each side comes and goes.",
            name=organisation,
        )
    ]
    if voice:
        told.append(say("What is spoken is not recorded."))
    if ai:
        told.append(say("An AI takes part; what it says is marked as such."))
    return {"text": together(*told), "recorded": list(RECORDED), "ai": ai}


def require_interviewer(role: str) -> None:
    """Refuse what a candidate's link does not open, as if it were not there."""
    if role != "interviewer":
        raise NotFound


def require_way_in(role: str, *, human_can_join: bool) -> None:
    """Refuse an interviewer where none may join."""
    if role == "interviewer" and not human_can_join:
        raise NotFound


def check_document(weight: int) -> None:
    """Refuse to make a document larger that is as large as it may be."""
    if weight > MOST_DOCUMENT:
        raise LimitReached(say("The room's document is too large."), limit=MOST_DOCUMENT)


def message(text: str) -> str:
    """Return what is said, without the space around it, or refuse silence."""
    said = text.strip()
    if not said:
        raise Invalid.at("/content", say("must say something"))
    return said


def strokes(given: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a drawing as it is kept."""
    return [
        {"colour": one["colour"], "width": one["width"], "points": [[x, y] for x, y in one["points"]]}
        for one in given
    ]


def content(text: str, pointer: str) -> bytes:
    """Read what is written in Base64, or refuse."""
    try:
        return b64decode(text, validate=True)
    except ValueError:
        raise Invalid.at(pointer, "must be Base64") from None
