"""What live channels read and keep, in threads."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import schemas.rooms
import store
from app.http import context, limits
from app.http.live import frames
from handlers import rooms as handlers
from rules import interviews, rooms
from rules.errors import Invalid
from store.interviewing import documents, presence, stream, tidying, visits
from store.interviewing.rooms import Interview
from store.interviewing.stream import Act, Kept, News


@dataclass
class Look:
    """What a client is greeted with, and whose it is."""

    interview: Interview
    role: str
    name: str
    room: dict[str, Any]
    events: list[dict[str, Any]]
    document: list[bytes]
    number: int


def admit(request: context.Request, token: str) -> Interview:
    """Count a client's opening, and find its room; or refuse."""
    limits.count(request, reads=True, cap=None)
    with store.transaction() as session:
        visit = visits.find(session, token)
        interviews.require_open(visit.status)
        return visit.interview


def look(token: str, after: int) -> Look:
    """Read what a client is greeted with that has all up to a number."""
    with store.transaction() as session:
        visit = visits.find(session, token)
        interviews.require_open(visit.status)
        room = handlers.view(session, visit)
        number, found = room["last_number"], []
        while True:
            part = stream.events(session, visit.interview.id, after)
            found += [one for one in part if one.number <= number]
            if len(part) < rooms.EVENTS_AT_ONCE or part[-1].number >= number:
                break
            after = part[-1].number
        shown = [schemas.rooms.lively(one) for one in found if one.kind not in rooms.HIDDEN[visit.role]]
        updates = stream.updates(session, visit.interview.id)
        return Look(visit.interview, visit.role, visits.called(session, visit), room, shown, updates, number)


def missing(updates: list[bytes], state: bytes) -> bytes:
    """Return what of a document a client with this state does not have."""
    try:
        return documents.missing(updates, state)
    except ValueError:
        raise Invalid.at("/query/state", "must be a state vector") from None


def missing_of(interview_id: UUID, state: bytes) -> bytes:
    """Return the same of a room's document as it is now."""
    with store.reading() as reading:
        updates = stream.updates(reading, interview_id)
    try:
        return documents.missing(updates, state)
    except ValueError:
        raise frames.Garbled("This is no state vector.") from None


def keep(acts: list[Act]) -> list[Kept]:
    """Keep acts of many rooms."""
    with store.writing() as writing:
        return stream.keep(writing, acts)


def stay(sides: list[presence.Side]) -> list[presence.Side]:
    """Note who is there; return who is back that had left."""
    with store.writing() as writing:
        return presence.stay(writing, sides)


def go(side: presence.Side) -> None:
    """Note that the last channel of a side was closed."""
    with store.writing() as writing:
        presence.go(writing, side)


def news(seen: dict[UUID, int]) -> dict[UUID, News]:
    """Read what is new in rooms."""
    with store.reading() as means:
        return stream.news(means, seen)


def tidy(id: UUID) -> None:
    """Note how a room's code and drawing stand."""
    with store.transaction() as session:
        tidying.tidy_by_id(session, id)
