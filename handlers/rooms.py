"""What those who are in an interview ask for; the token in the path is the credential, and says which side it is."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from sqlalchemy.orm import Session

import gateways.sandbox
import rules.interviews
import schemas.enrollments
import schemas.interviews
import schemas.rooms
import schemas.tongues
from gateways.languages import LANGUAGES
from gateways.places import Holder
from rules import rooms, voice
from rules.errors import Invalid, NotFound
from rules.words import say
from store.accounts import organisations
from store.advancing import outcomes
from store.auditing import trail
from store.interviewing import documents, moves, news, stream, tidying, visits
from store.interviewing import rooms as kept
from store.interviewing.visits import Visit

Body = dict[str, Any]
Begin = Callable[[], AbstractContextManager[Session]]
T = TypeVar("T")

RUN_SECONDS = 10
RUN_MEMORY_MB = 256


def get_room(session: Session, token: str) -> Body:
    """Show the room in whatever state it is."""
    return view(session, visits.find(session, token))


def join_room(begin: Begin, token: str, body: Body) -> Body:
    """Come in."""
    with begin() as session:
        visit = visits.hold(session, token, schemas.interviews)
        if visit.interview.status not in rules.interviews.CLOSED:
            consent = None
            if visit.role == "candidate" and body["consent_accepted"]:
                consent = schemas.tongues.of(body.get("language")).told(schemas.rooms.consent(visit))
            visits.join(session, visit, schemas.interviews, name=body["name"].strip(), consent=consent)
            visits.stay(session, visit)
            return view(session, visit)
    # Refused after the commit: a room whose time was up has just been closed, and stays so.
    raise _closed(visit)


def list_room_events(session: Session, token: str, after: int) -> Body:
    """List what happened after a number, in order; who asks is there."""
    visit = visits.look(session, token)
    found = stream.events(session, visit.interview.id, after)
    return {
        "events": schemas.rooms.events(found, visit.role),
        "last_number": found[-1].number if found else after,
        "has_more": len(found) == rooms.EVENTS_AT_ONCE,
    }


def post_room_message(begin: Begin, token: str, body: Body) -> Body:
    """Say something."""
    said = rooms.message(body["content"])

    def say(session: Session, visit: Visit) -> Body:
        number = visits.tell(session, visit, "message", id=body.get("id"), content=said)
        return {"number": number}

    return _act(begin, token, say)


def save_room_code(begin: Begin, token: str, body: Body) -> Body:
    """Replace the text of the question that the room looks at, its language or both."""

    def save(session: Session, visit: Visit) -> Body:
        asked = visits.question(session, visit.interview, body.get("question_id"))
        number = visits.write(session, visit, asked, code=body.get("code"), language=body.get("language"))
        return {"number": number}

    return _act(begin, token, save)


def save_whiteboard(begin: Begin, token: str, body: Body) -> Body:
    """Replace the drawing."""
    return _act(
        begin,
        token,
        lambda session, visit: {"number": visits.draw(session, visit, rooms.strokes(body["strokes"]))},
    )


def show_room_question(begin: Begin, token: str, body: Body) -> Body:
    """Have the room look at a question; interviewers alone choose it."""

    def choose(session: Session, visit: Visit) -> Body:
        rooms.require_interviewer(visit.role)
        asked = visits.question(session, visit.interview, body["question_id"])
        assert asked is not None
        visits.choose(session, visit, asked)
        return {"number": visit.interview.last_number}

    return _act(begin, token, choose)


def settle_room(session: Session, token: str, body: Body) -> Body:
    """Keep what an interviewer makes of the candidate; the enrollment moves with it."""
    visit = visits.find(session, token)
    rooms.require_interviewer(visit.role)
    trail.about(session, "interview", visit.interview)
    caller = organisations.caller_of(session, visit.interview)
    name = body["name"].strip() or visits.called(session, visit)
    room, card = outcomes.settle(
        session,
        caller,
        visit.interview.id,
        body["recommendation"],
        body["comment"],
        schemas.enrollments,
        actor=visit.role,
        judged=outcomes.Judged(name, body["criteria"]),
    )
    return {**schemas.rooms.outcome(room), "scorecard_id": card and str(card.id)}


def run_room_code(begin: Begin, finish: Begin, token: str, body: Body) -> Body:
    """Run a program and tell the room how it went; no transaction is open meanwhile."""
    code, language = body["code"], body["language"]
    holder = _act(begin, token, lambda _, visit: Holder(visit.interview.organisation_id, visit.interview.id))
    result = None
    if gateways.sandbox.available(language):
        (result,) = gateways.sandbox.run(
            language, code, [body["input"]], seconds=RUN_SECONDS, memory_mb=RUN_MEMORY_MB, holder=holder
        )
    shown = schemas.rooms.run(language, result)

    def note(session: Session, visit: Visit) -> Body:
        visits.tell(session, visit, "run", code=code, **shown)
        return shown

    return _act(finish, token, note, asks=False)


def report_room_violation(begin: Begin, token: str, body: Body) -> Body:
    """Keep an integrity signal of a candidate's."""

    def note(session: Session, visit: Visit) -> Body:
        kind = body["violation_type"]
        return {"number": visits.tell(session, visit, "violation", violation_type=kind)}

    return _act(begin, token, note, asks=False)  # a page tells of it while it is left


def end_room(begin: Begin, token: str) -> Body:
    """End the interview; again, the answer is the same."""
    with begin() as session:
        visit = visits.hold(session, token, schemas.interviews)
        one = visit.interview
        if one.status not in rules.interviews.CLOSED:
            moves.move(session, one, "end", schemas.interviews, at=visit.moment)
            visits.tell(session, visit, "end")
        if one.status == "ended":
            return {"status": one.status, "ended_at": schemas.rooms.moment(one.ended_at)}
    raise _closed(visit)


def open_live_channel(session: Session, token: str, after: int) -> Body:
    """Show what a channel begins with: the room, what happened after a number, and the whole of the document."""
    visit = visits.look(session, token)
    found = stream.events(session, visit.interview.id, after)
    return {"room": view(session, visit), "events": schemas.rooms.events(found, visit.role)}


def send_live_changes(begin: Begin, token: str, body: Body) -> Body:
    """Keep changes of the document, and pass on where a cursor stands and by what browsers find each other."""
    updates = [rooms.content(one, f"/updates/{place}") for place, one in enumerate(body["updates"])]
    cursor = rooms.content(body["cursor"], "/cursor") if body.get("cursor") else b""
    for place, update in enumerate(updates):
        if not documents.is_sound(update):
            raise Invalid.at(f"/updates/{place}", "must be an update of a yjs document, version 1")

    signals = [voice.signal(one, f"/voice/{place}") for place, one in enumerate(body["voice"])]

    def change(session: Session, visit: Visit) -> Body:
        if signals:
            voice.require(offered=voice.offered(visit.interview), status=visit.interview.status)
            told = [{"role": visit.role, "signal": one} for one in signals]
            news.tell([visit.interview.id], signals=told)
        if cursor:
            news.tell([visit.interview.id], cursor)
        return {"number": visits.change(session, visit, [one for one in updates if one != documents.NOTHING])}

    return _act(begin, token, change)


def get_shared_replay(session: Session, token: str) -> Body:
    """Show what happened in a room to who has a link to look at it."""
    found = visits.shared(session, kept.digest(token))
    if found is None:
        raise NotFound(say("There is no such link, or it has expired."))
    interview, organisation_name = found
    asked = tidying.questions(session, interview)
    told = stream.events(session, interview.id, 0, rooms.MOST_NUMBERS)
    return schemas.rooms.replay(interview, organisation_name, asked, told)


# --- What they share


def view(session: Session, visit: Visit) -> Body:
    """Show a room to the side that looks."""
    asked = tidying.questions(session, visit.interview)
    content = tidying.content(session, visit.interview, asked)
    missing = gateways.sandbox.missing()
    runnable = [name for name in rules.interviews.LANGUAGES if name in LANGUAGES and name not in missing]
    return schemas.rooms.show(visit, asked, content, runnable=runnable)


def _act(begin: Begin, token: str, do: Callable[[Session, Visit], T], *, asks: bool = True) -> T:
    """Do something in a room that is in use; who asks for it is there."""
    with begin() as session:
        visit = visits.hold(session, token, schemas.interviews)
        if (refusal := rules.interviews.not_running(visit.interview.status)) is None:
            if asks:
                visits.stay(session, visit)
            return do(session, visit)
    raise refusal


def _closed(visit: Visit) -> Exception:
    refusal = rules.interviews.not_running(visit.interview.status)
    assert refusal is not None
    return refusal
