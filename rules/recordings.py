"""What is recorded of a sitting, what its candidate agrees to, and how much of it is kept."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

from rules.clock import iso
from rules.errors import Invalid, LimitReached, SessionClosed
from rules.words import say, say_many, together

FIELD = "recording_accepted"
EVENTS = "application/json"
# Each kind with the assessment's setting that asks for it, and how people are told of it.
KINDS: Mapping[str, tuple[str, str]] = {
    "session": (
        "session_recording_enabled",
        say("what you do on this page: what you see, click and type here"),
    ),
    "screen": (
        "screen_recording_enabled",
        say("the picture of your screen, or of the window that you choose"),
    ),
    "webcam": ("webcam_recording_enabled", say("the picture of your camera, without sound")),
}
LARGEST_CHUNK = 4 << 20  # bytes
MOST_BYTES = 1_000_000_000  # of one sitting
MOST_TRACKS = 90  # of one sitting: each reload of the page begins up to three
MOST_CHUNKS = 20_000  # of one track
LONGEST_CHUNK = 600_000  # ms
SENT_AFTER = timedelta(hours=24)  # what a device still holds when a session ends is taken for so long
LINK_FOR = timedelta(hours=6)  # a link to a sitting's recordings opens them


def asked(assessment: Any) -> list[str]:
    """List what an assessment asks to be recorded."""
    return [kind for kind, (setting, _) in KINDS.items() if getattr(assessment, setting)]


def notice(organisation_name: str, kinds: Collection[str], days: int) -> str:
    """Write what a candidate agrees to."""
    what, *more = [said for kind, (_, said) in KINDS.items() if kind in kinds]
    for one in more:
        what = say("%(these)s; %(this)s", these=what, this=one)
    return together(
        say("While you take this assessment, %(name)s records %(what)s.", name=organisation_name, what=what),
        say(
            "Only %(name)s sees the recording, to look at how the answers came about.", name=organisation_name
        ),
        say_many(
            "It is kept for %(num)s day and then deleted.",
            "It is kept for %(num)s days and then deleted.",
            days,
        ),
    )


def given(organisation_name: str, kinds: Collection[str], days: int, moment: datetime) -> dict[str, Any]:
    """Return what is kept of an agreement: what is recorded, for how long, in which words, and when."""
    if not kinds:
        return {}
    said = notice(organisation_name, kinds, days)
    return {"recording": {"kinds": list(kinds), "days": days, "notice": said, "accepted_at": iso(moment)}}


def faults(kinds: Collection[str], accepted: Collection[str]) -> list[dict[str, str]]:
    """Find what is recorded and was not agreed to."""
    missing = [kind for kind in kinds if kind not in accepted]
    if not missing:
        return []
    return [
        {
            "pointer": f"/{FIELD}",
            "message": say("You need to agree to the recording: %(kinds)s.", kinds=", ".join(missing)),
        }
    ]


def check_open(status: str, completed_at: datetime | None, moment: datetime) -> None:
    """Refuse a chunk that comes too long after the end: SESSION_CLOSED."""
    if status == "completed" and completed_at is not None and moment > completed_at + SENT_AFTER:
        raise SessionClosed(status=status)


def agreement(agreed: Mapping[str, Any] | None, kind: str) -> Mapping[str, Any]:
    """Return what a candidate has agreed to, or refuse a kind that is not of it."""
    if agreed is None or kind not in agreed["kinds"]:
        raise Invalid.at("/kind", "is not recorded in this session")
    return agreed


def check_chunk(kind: str, media_type: str, content: bytes) -> None:
    """Refuse a chunk that is none by itself."""
    if (kind == "session") != (media_type == EVENTS):
        raise Invalid.at(
            "/media_type", "must be that of events for a session, of a video for screen and webcam"
        )
    if wrong := _fault(content, media_type):
        raise Invalid.at("/content", wrong)


def _fault(content: bytes, media_type: str) -> str | None:
    if not content:
        return "must not be empty"
    if len(content) > LARGEST_CHUNK:
        return f"must be at most {LARGEST_CHUNK >> 20} MiB"
    if media_type == EVENTS and not content.startswith(b"["):
        return "must be an array of events as JSON"
    return None


def is_known(number: int, chunks: int) -> bool:
    """Say whether a chunk has come already, or refuse one whose turn has not."""
    if number > chunks:
        raise Invalid.at("/number", f"must be {chunks}: chunks are sent in their order")
    return number < chunks


def place(number: str) -> int:
    """Read a chunk's number, or refuse more of a track than there is room for."""
    if int(number) >= MOST_CHUNKS:
        raise LimitReached(say("The track is as long as one may be."))
    return int(number)


def check_sitting(tracks: int, bytes: int, size: int) -> None:
    """Refuse more of a sitting than there is room for."""
    if tracks > MOST_TRACKS:
        raise LimitReached(say("The session has as many recordings as it may have."))
    if bytes + size > MOST_BYTES:
        raise LimitReached(say("The session's room for recordings is used up."))
