"""Who comes into a room by a link, and what they do there one request at a time.

The room's row is the lock of all that happens in it: whoever moves it or adds to its stream takes it first.
"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

import rules.interviews
from rules import rooms
from rules.errors import LimitReached, NotFound
from rules.words import say
from store.accounts.organisations import Organisation
from store.auditing import trail
from store.database.ids import new_id
from store.interviewing import documents, moves, presence, stream, tidying
from store.interviewing.rooms import (
    Interview,
    InterviewEvent,
    InterviewQuestion,
    InterviewShare,
)
from store.interviewing.stream import Act


@dataclass
class Visit:
    """A room as one side meets it at a moment of the database's clock."""

    interview: Interview
    organisation_name: str
    moment: datetime
    role: str  # candidate, interviewer

    @property
    def status(self) -> str:
        """What the room is at that moment."""
        one = self.interview
        return rules.interviews.status(
            one.status, due_at=one.due_at, scheduled_at=one.scheduled_at, now=self.moment
        )


def find(session: Session, token: str) -> Visit:
    """Find the room that a link opens, or raise NotFound."""
    row = session.execute(
        select(Interview, Organisation.name, func.clock_timestamp())
        .join(Organisation, Organisation.id == Interview.organisation_id)
        .where(_opens(token))
        .execution_options(populate_existing=True)
    ).one_or_none()
    if row is None:
        raise NotFound(say("There is no such interview."))
    interview, name, moment = row
    role = role_of(interview, token)
    rooms.require_way_in(role, human_can_join=interview.human_can_join)
    return Visit(interview, name, moment, role)


def role_of(interview: Interview, token: str) -> str:
    """Say whose of a room's two links this is."""
    return "candidate" if interview.candidate_token == token else "interviewer"


def look(session: Session, token: str) -> Visit:
    """Find it for a side that asks again and again; it is locked where it has to be noted that the side is there."""
    visit = find(session, token)
    if visit.status not in rules.interviews.CLOSED and not presence.is_here(session, _side(visit)):
        _lock(session, token)
        visit = find(session, token)
        stay(session, visit)
    return visit


def hold(session: Session, token: str, shows: moves.Shows) -> Visit:
    """Find and lock it; where its moment has passed, it is moved first."""
    _lock(session, token)
    visit = find(session, token)  # read after the lock: both the row and the moment are those of our turn
    trail.about(session, "interview", visit.interview)
    if visit.status != visit.interview.status:
        moves.fall_due(session, visit.interview, shows)
    return visit


def _lock(session: Session, token: str) -> None:
    session.execute(select(Interview.id).where(_opens(token)).with_for_update())


def _opens(token: str) -> Any:
    return or_(Interview.candidate_token == token, Interview.interviewer_token == token)


def question(session: Session, interview: Interview, id: UUID | None) -> InterviewQuestion | None:
    """Find a room's question, or the one that it looks at; NotFound where there is none with this id."""
    of_room = select(InterviewQuestion).where(InterviewQuestion.interview_id == interview.id)
    if id is None:
        return session.scalars(of_room.where(InterviewQuestion.is_active)).first()
    found = session.scalars(of_room.where(InterviewQuestion.id == id)).first()
    if found is None:
        raise NotFound("There is no such question in this interview.")
    return found


def called(session: Session, visit: Visit) -> str:
    """Say by what name a side last came in."""
    of_side = (InterviewEvent.interview_id == visit.interview.id, InterviewEvent.actor == visit.role)
    last = (
        select(InterviewEvent.actor_name)
        .where(*of_side, InterviewEvent.kind == "join")
        .order_by(InterviewEvent.number.desc())
    )
    return session.scalars(last.limit(1)).first() or rooms.CALLED[visit.role]


# --- What happens


def tell(
    session: Session, visit: Visit, kind: str, name: str = "", id: UUID | None = None, **data: Any
) -> int:
    """Keep what a side does in a locked room; return its number."""
    act = Act(visit.interview.id, kind, visit.role, name or called(session, visit), data, id=id or new_id())
    return stream.add(session, visit.interview, act, visit.moment)


def join(
    session: Session, visit: Visit, shows: moves.Shows, *, name: str, consent: dict[str, Any] | None
) -> None:
    """Let a side in: its moment and what it agrees to, a first document, and the moves that follow from it."""
    interview, side = visit.interview, visit.role
    rules.interviews.require_open(interview.status)
    if getattr(interview, f"{side}_joined_at") is None:
        setattr(interview, f"{side}_joined_at", visit.moment)
    if consent is not None and interview.consent_at is None:
        interview.consent_at, interview.consent_text = visit.moment, consent["text"]
    asked = tidying.questions(session, interview)
    if not stream.updates(session, interview.id):
        if asked and not any(one.is_active for one in asked):
            asked[0].is_active = True
        texts = {documents.name_of(one.id): one.starter_code for one in asked if one.starter_code}
        begun = Act(interview.id, stream.UPDATE, "system", update=documents.begin(texts))
        stream.add(session, interview, begun, visit.moment)
    tell(session, visit, "join", name or _own_name(visit))
    steps = rules.interviews.joined(
        interview.status,
        interview.interviewer_mode,
        candidate=interview.candidate_joined_at is not None,
        interviewer=interview.interviewer_joined_at is not None,
    )
    for step in steps:
        moves.move(session, interview, step, shows)


def stay(session: Session, visit: Visit) -> None:
    """Note in a locked room that a side is there, for it asks; the room hears of who had left that they are back."""
    if visit.status in rules.interviews.CLOSED or presence.is_here(session, _side(visit)):
        return
    if presence.ask(session, _side(visit)):
        with suppress(LimitReached):  # what is full can be read all the same
            tell(session, visit, "join")


def _side(visit: Visit) -> presence.Side:
    return visit.interview.id, visit.role


def _own_name(visit: Visit) -> str:
    named = visit.interview.candidate_name if visit.role == "candidate" else ""
    return named or rooms.CALLED[visit.role]


def choose(session: Session, visit: Visit, chosen: InterviewQuestion) -> None:
    """Have the room look at a question."""
    for one in tidying.questions(session, visit.interview):
        one.is_active = one.id == chosen.id
    if chosen.current_language:
        visit.interview.active_language = chosen.current_language
    tell(session, visit, "question", question_id=str(chosen.id), title=chosen.title)


def write(
    session: Session, visit: Visit, asked: InterviewQuestion | None, *, code: str | None, language: str | None
) -> int:
    """Put a text in the place of a question's, as one more change of the document; return the stream's number."""
    interview = visit.interview
    if language is not None and language != interview.active_language:
        interview.active_language = language
        if asked is not None:
            asked.current_language = language
        tell(session, visit, "code", **tidying.told(asked, language))
    if code is not None:
        known = stream.updates(session, interview.id)
        change = documents.write(known, documents.name_of(asked.id if asked else None), code)
        if change is not None:
            made = Act(interview.id, stream.UPDATE, visit.role, update=change)
            stream.add(session, interview, made, visit.moment)
            tidying.tidy(session, interview, at=visit.moment)
    return interview.last_number


def change(session: Session, visit: Visit, updates: list[bytes]) -> int:
    """Keep changes of the document that were made elsewhere; return the stream's number."""
    for update in updates:
        made = Act(visit.interview.id, stream.UPDATE, visit.role, update=update)
        stream.add(session, visit.interview, made, visit.moment)
    return visit.interview.last_number


def draw(session: Session, visit: Visit, strokes: list[Any]) -> int:
    """Put a drawing in the place of the whiteboard's."""
    interview = visit.interview
    made = documents.draw(stream.updates(session, interview.id), strokes)
    if made is not None:
        act = Act(interview.id, stream.UPDATE, visit.role, update=made)
        stream.add(session, interview, act, visit.moment)
        tidying.tidy(session, interview, at=visit.moment)
    return interview.last_number


def shared(session: Session, hash: str) -> tuple[Interview, str] | None:
    """Find the room that a link to look at opens, and whose it is; None where there is none, or no more."""
    row = session.execute(
        select(Interview, Organisation.name)
        .join(InterviewShare, InterviewShare.interview_id == Interview.id)
        .join(Organisation, Organisation.id == Interview.organisation_id)
        .where(InterviewShare.hash == hash, InterviewShare.expires_at > func.clock_timestamp())
    ).one_or_none()
    return (row[0], row[1]) if row else None
