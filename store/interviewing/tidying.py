"""What stays of a room's document: its code and drawing in events and questions, and few updates instead of many."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from rules import interviews
from rules.clock import now
from store.interviewing import documents, stream
from store.interviewing.rooms import Interview, InterviewEvent, InterviewQuestion, InterviewUpdate
from store.interviewing.stream import Act


def questions(session: Session, interview: Interview) -> list[InterviewQuestion]:
    """List a room's questions in their order."""
    of_room = select(InterviewQuestion).where(InterviewQuestion.interview_id == interview.id)
    return list(session.scalars(of_room.order_by(InterviewQuestion.position)))


def content(session: Session, interview: Interview, asked: list[InterviewQuestion]) -> documents.Content:
    """Read what stands in a room's document."""
    names = [documents.SCRATCH, *(documents.name_of(one.id) for one in asked)]
    return documents.read(stream.updates(session, interview.id), names)


MOST_UPDATES = 200  # before they are put together


def tidy(
    session: Session, interview: Interview, *, at: datetime | None = None, actor: str = "system"
) -> None:
    """Note how the code and the whiteboard of a locked room stand, where that changed, and keep few updates."""
    rows = list(
        session.execute(
            select(InterviewUpdate.number, InterviewUpdate.update)
            .where(InterviewUpdate.interview_id == interview.id)
            .order_by(InterviewUpdate.number)
        )
    )
    if not rows:
        return
    updates = [row.update for row in rows]
    asked = questions(session, interview)
    found = documents.read(updates, [documents.SCRATCH, *(documents.name_of(one.id) for one in asked)])
    for one in asked:
        code = found.texts[documents.name_of(one.id)]
        if code != (one.current_code or one.starter_code):
            one.current_code = code
            one.current_language = one.current_language or interview.active_language
            _note(session, interview, actor, at, code=code, **told(one, one.current_language))
    scratch = found.texts[documents.SCRATCH]
    if scratch != _last_scratch(session, interview):
        _note(session, interview, actor, at, code=scratch, **told(None, interview.active_language))
    drawn = {"strokes": found.strokes} if found.strokes else None
    if drawn != interview.whiteboard_snapshot and (drawn or interview.whiteboard_snapshot):
        interview.whiteboard_snapshot = drawn or {"strokes": []}
        _note(session, interview, actor, at, kind="whiteboard", strokes=found.strokes)
    if len(rows) > MOST_UPDATES:
        of_room = InterviewUpdate.interview_id == interview.id
        last = rows[-1].number
        session.execute(delete(InterviewUpdate).where(of_room, InterviewUpdate.number <= last))
        session.execute(
            insert(InterviewUpdate).values(
                interview_id=interview.id, number=last, update=documents.compact(updates), at=now()
            )
        )


def _last_scratch(session: Session, interview: Interview) -> str:
    told = (
        select(InterviewEvent.data["code"].as_string())
        .where(
            InterviewEvent.interview_id == interview.id,
            InterviewEvent.kind == "code",
            InterviewEvent.data.has_key("code"),
            InterviewEvent.data["question_id"].as_string().is_(None),
        )
        .order_by(InterviewEvent.number.desc())
    )
    return session.scalars(told.limit(1)).first() or ""


def told(asked: InterviewQuestion | None, language: str) -> dict[str, Any]:
    """Say whose code an event is about."""
    return {"question_id": str(asked.id) if asked else None, "language": language}


def _note(
    session: Session, interview: Interview, actor: str, at: datetime | None, kind: str = "code", **data: Any
) -> None:
    stream.add(session, interview, Act(interview.id, kind, actor, data=data), at)


def tidy_by_id(session: Session, id: UUID) -> None:
    """Tidy a room that nobody holds; who holds it does so."""
    found = select(Interview).where(Interview.id == id)
    interview = session.scalars(found.with_for_update(skip_locked=True)).first()
    if interview is not None and interview.status not in interviews.CLOSED:
        tidy(session, interview)
