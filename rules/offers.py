"""How offers move, and when one may go out."""

import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime

from rules.errors import Invalid
from rules.moves import Move, take

STATUSES = ("draft", "scheduled", "sent", "accepted", "declined", "withdrawn", "expired")
OPEN = {"draft", "scheduled"}  # may still be changed

MOVES = {
    "schedule": Move({"draft"}, "scheduled"),
    "unschedule": Move({"scheduled"}, "draft"),
    "send": Move(OPEN, "sent", stamp="sent_at", event="offer.sent"),
    "withdraw": Move(OPEN | {"sent"}, "withdrawn", event="offer.withdrawn"),
    "accept": Move({"sent"}, "accepted", stamp="responded_at", event="offer.accepted"),
    "decline": Move({"sent"}, "declined", stamp="responded_at", event="offer.declined"),
    "expire": Move({"sent"}, "expired", event="offer.expired"),
}

LONGEST_BODY = 50_000  # characters, once it is safe to show
LONGEST_REASON = 2_000
CLOSED_TO_OFFERS = {"rejected", "withdrawn"}  # statuses of an application
NEEDED = {"title": "An offer needs a title.", "body_html": "An offer needs a letter."}


def status(kept: str, expires_at: datetime | None, now: datetime) -> str:
    """Say where an offer stands at a moment: the schedule expires it a moment after its time."""
    return "expired" if kept == "sent" and expires_at is not None and expires_at <= now else kept


def check_open(status: str) -> None:
    """Refuse changes of what the candidate has seen, or never will."""
    if status not in OPEN:
        raise Invalid(f"An offer that is {status} can no longer be changed.", status=status)


def rescheduled(status: str, moment: datetime | None) -> Move | None:
    """Say how an open offer moves when its moment of sending is set; None where it stays what it is."""
    name = "unschedule" if moment is None else "schedule"
    return take(MOVES, name, status) if MOVES[name].target != status else None


def answer(name: str, status: str) -> Move | None:
    """Say how a candidate's answer (accept, decline) moves an offer, or refuse; None where it was given before."""
    return None if MOVES[name].target == status else take(MOVES, name, status)


def send(
    status: str,
    texts: Mapping[str, str | None],
    *,
    unprintable: Sequence[Mapping[str, str]],
    expires_at: datetime | None,
    application_status: str,
    others_sent: bool,
    now: datetime,
) -> Move:
    """Say how an offer goes out, or refuse with all that stands in the way; `texts` are what its letter says."""
    move = take(MOVES, "send", status)
    if application_status in CLOSED_TO_OFFERS:
        raise Invalid(f"The application is {application_status}.", status=application_status)
    if others_sent:
        raise Invalid("Another offer for this application is out; withdraw it first.", status="sent")
    found = [dict(fault) for fault in unprintable]
    for name, message in NEEDED.items():
        if is_blank(texts[name] or ""):
            found.append({"pointer": f"/{name}", "message": message})
    if expires_at is not None and expires_at <= now:
        found.append({"pointer": "/expires_at", "message": "This moment has passed."})
    if found:
        raise Invalid("The offer cannot be sent yet.", fields=found)
    return move


def is_blank(text: str) -> bool:
    """Say whether nothing of a text shows: spaces alone, and what has no shape, such as joiners of zero width."""
    return all(unicodedata.category(character)[0] in "ZC" for character in text)


def reason(refusal: Exception) -> str:
    """Write in one line why an offer was not sent."""
    faults = getattr(refusal, "details", {}).get("fields", ())
    named = [f"{fault['pointer'].removeprefix('/')}: {fault['message']}" for fault in faults]
    return " ".join([str(refusal), *named])
