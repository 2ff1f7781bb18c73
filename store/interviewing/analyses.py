"""Analyses: asked for when an interview ends, made once, and told of."""

from collections.abc import Iterator
from typing import Any, Protocol
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from rules.analysis import READ, Analysis
from rules.clock import now
from store import events
from store.interviewing.rooms import Interview, InterviewEvent

AT_ONCE = 1_000  # of the stream


class Shows(Protocol):
    """How an analysis looks in its event: the module `schemas.interviews`."""

    def analysis_event(self, interview: Any, /) -> dict[str, Any]: ...  # noqa: D102


def hold(session: Session, id: UUID) -> Interview | None:
    """Lock a room that has ended and was not analysed yet; None where there is nothing to do."""
    found = select(Interview).where(Interview.id == id).with_for_update(key_share=True)
    room = session.scalars(found).first()
    return room if room and room.status == "ended" and room.analysis_status == "pending" else None


def stream(session: Session, interview: Interview) -> Iterator[Any]:
    """Read what an analysis looks at, in order, some at a time."""
    wanted = (
        select(InterviewEvent.kind, InterviewEvent.actor, InterviewEvent.data)
        .where(InterviewEvent.interview_id == interview.id, InterviewEvent.kind.in_(READ))
        .order_by(InterviewEvent.number)
        .execution_options(yield_per=AT_ONCE)
    )
    yield from session.execute(wanted)


def keep(session: Session, interview: Interview, found: Analysis, summary: str | None, shows: Shows) -> None:
    """Keep the analysis of a locked room, and tell of it."""
    interview.analysis = {**found.kept(), "summary": summary}
    _end(session, interview, "ready", shows)


def fail(session: Session, id: UUID, shows: Shows) -> None:
    """Note that a room cannot be analysed, and tell of it."""
    if room := hold(session, id):
        _end(session, room, "failed", shows)


def _end(session: Session, interview: Interview, status: str, shows: Shows) -> None:
    interview.analysis_status, interview.analysis_at = status, now()
    events.record(session, "interview.analysis_ready", interview, shows.analysis_event(interview))
