"""An AI's turns in rooms: one at a time in each, taken, and kept once or as broken off."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid5

from sqlalchemy import select
from sqlalchemy.orm import Session

from rules import speaking
from rules.clock import now
from store import outbox
from store.database.engine import Change
from store.interviewing import documents, stream, tidying
from store.interviewing.rooms import Interview, InterviewEvent
from store.interviewing.stream import Act

JOB = "speak"
READ = ("message", "question")


@dataclass(frozen=True)
class Taken:
    """A turn in hand, with what is to be known of its room."""

    interview: Interview
    turn: speaking.Turn
    code: str


def ask(change: Change, interview: Any) -> None:
    """Have the AI of a room speak after this transaction commits, if it has something to say then."""
    outbox.add(change, interview, JOB, interview_id=str(interview.id))


def take(session: Session, id: UUID) -> Taken | None:
    """Take a room's turn of speaking; None where there is nothing to say, or somebody is about to say it."""
    room = _hold(session, id)
    if room is None or not speaking.takes_part(room.interviewer_mode, room.status):
        return None
    if speaking.is_taken(room.speaking_since, now()):
        return None
    asked = tidying.questions(session, room)
    turn = speaking.turn(_happened(session, room), asked)
    if turn is None:
        return None
    room.speaking_since = now()
    texts = tidying.content(session, room, asked).texts
    return Taken(room, turn, texts.get(documents.name_of(turn.current.id if turn.current else None), ""))


def keep(session: Session, taken: Taken, said: str, *, source: str, goes_on: bool) -> None:
    """Keep what was said in a turn, whole or broken off, and ask for the next where the candidate went on meanwhile."""
    room, turn = _hold(session, taken.interview.id), taken.turn
    if room is None or room.speaking_since != taken.interview.speaking_since:
        return  # it took so long that somebody else has taken it
    room.speaking_since = None
    since = [one for one in _happened(session, room) if one.number > turn.heard]
    data: dict[str, Any] = {"content": said, "source": source, "heard": turn.heard}
    if speaking.is_interrupted(room.status, since):
        data["cancelled"] = True
    elif goes_on:
        _show(session, room, turn)
        data |= {} if turn.following or turn.greets else {"last": True}
    stream.add(session, room, _act(room, turn, "message", data))
    if any(one.actor == "candidate" for one in since):
        ask(session, room)


def let_go(session: Session, taken: Taken) -> None:
    """Give a turn back unused."""
    room = _hold(session, taken.interview.id)
    if room is not None and room.speaking_since == taken.interview.speaking_since:
        room.speaking_since = None


def _show(session: Session, room: Interview, turn: speaking.Turn) -> None:
    """Have the room look at the next question."""
    if turn.following is None:
        return
    for one in tidying.questions(session, room):
        one.is_active = one.id == turn.following.id
        if one.is_active and one.current_language:
            room.active_language = one.current_language
    shown = {"question_id": str(turn.following.id), "title": turn.following.title}
    stream.add(session, room, _act(room, turn, "question", shown))


def _act(room: Interview, turn: speaking.Turn, kind: str, data: dict[str, Any]) -> Act:
    """Make an act whose id is its turn's: again, it adds nothing."""
    return Act(room.id, kind, "ai", speaking.NAME, data, id=uuid5(room.id, f"{kind} {turn.heard}"))


def _hold(session: Session, id: UUID) -> Interview | None:
    locked = select(Interview).where(Interview.id == id).with_for_update(key_share=True)
    return session.scalars(locked.execution_options(populate_existing=True)).first()


def _happened(session: Session, room: Interview) -> list[Any]:
    wanted = (
        select(InterviewEvent.number, InterviewEvent.kind, InterviewEvent.actor, InterviewEvent.data)
        .where(InterviewEvent.interview_id == room.id, InterviewEvent.kind.in_(READ))
        .order_by(InterviewEvent.number)
    )
    return list(session.execute(wanted))
