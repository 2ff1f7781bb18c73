"""What stays of a room's document: its code and drawing in events and questions, and few updates instead of many."""

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy import delete, func, insert, or_, select
from sqlalchemy.orm import Session

from rules import interviews
from rules.clock import now
from store.interviewing import documents, stream
from store.interviewing.rooms import Interview, InterviewEvent, InterviewQuestion, InterviewUpdate
from store.interviewing.stream import Act

T = TypeVar("T")


def questions(session: Session, interview: Interview) -> list[InterviewQuestion]:
    """List a room's questions in their order."""
    of_room = select(InterviewQuestion).where(InterviewQuestion.interview_id == interview.id)
    return list(session.scalars(of_room.order_by(InterviewQuestion.position)))


def content(session: Session, interview: Interview, asked: list[InterviewQuestion]) -> documents.Content:
    """Read what stands in a room's document."""
    names = [documents.SCRATCH, *(documents.name_of(one.id) for one in asked)]
    return documents.read(stream.updates(session, interview.id), names)


MOST_UPDATES = 200  # before they are put together


def tidy(session: Session, interview: Interview, *, at: datetime | None = None) -> None:
    """Note how code and whiteboard of a locked room stand where that changed, and by whom; keep few updates."""
    rows = list(
        session.execute(
            select(InterviewUpdate.number, InterviewUpdate.update, InterviewUpdate.actor)
            .where(InterviewUpdate.interview_id == interview.id)
            .order_by(InterviewUpdate.number)
        )
    )
    if not rows:
        return
    asked = questions(session, interview)
    names = [documents.SCRATCH, *(documents.name_of(one.id) for one in asked)]
    noted = _last_noted(session, interview)
    parts = groupby(rows, lambda row: (row.number > noted, row.actor))
    whose = [(of, [row.update for row in part]) for of, part in parts]
    stages = documents.stages([updates for _, updates in whose], names)
    stood = [(actor, content) for ((is_new, actor), _), content in zip(whose, stages, strict=True) if is_new]

    def texts(name: str, known: str) -> list[tuple[str, str]]:
        return _since(known, [(actor, content.texts[name]) for actor, content in stood])

    for one in asked:
        for actor, code in texts(documents.name_of(one.id), one.current_code or one.starter_code):
            one.current_code = code
            one.current_language = one.current_language or interview.active_language
            _note(session, interview, actor, at, code=code, **told(one, one.current_language))
    for actor, code in texts(documents.SCRATCH, _last_scratch(session, interview)):
        _note(session, interview, actor, at, code=code, **told(None, interview.active_language))
    drawn = (interview.whiteboard_snapshot or {}).get("strokes", [])
    for actor, strokes in _since(drawn, [(actor, content.strokes) for actor, content in stood]):
        interview.whiteboard_snapshot = {"strokes": strokes}
        _note(session, interview, actor, at, kind="whiteboard", strokes=strokes)
    if len(rows) > MOST_UPDATES:
        of_room = InterviewUpdate.interview_id == interview.id
        last = rows[-1].number
        session.execute(delete(InterviewUpdate).where(of_room, InterviewUpdate.number <= last))
        session.execute(
            insert(InterviewUpdate).values(
                interview_id=interview.id,
                number=last,
                update=documents.compact([row.update for row in rows]),
                at=now(),
            )
        )


def _since(known: T, stood: Sequence[tuple[str, T]]) -> list[tuple[str, T]]:
    """Say what changed since something stood as it is known: how each who changed it left it last, in that order."""
    left: dict[str, T] = {}
    for actor, one in stood:
        if one != known:
            left.pop(actor, None)
            left[actor] = known = one
    return list(left.items())


def _last_noted(session: Session, interview: Interview) -> int:
    """Say up to which number it was noted how code and whiteboard stand."""
    is_whole = or_(InterviewEvent.kind == "whiteboard", InterviewEvent.data.has_key("code"))
    noted = select(func.max(InterviewEvent.number)).where(
        InterviewEvent.interview_id == interview.id,
        InterviewEvent.kind.in_(("code", "whiteboard")),
        is_whole,
    )
    return session.scalar(noted) or 0


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
