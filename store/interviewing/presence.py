"""Who is in a room by a live channel: a moment for each side, which whoever has its channel moves ahead.

When the moment passes nobody has one any more: not where the last was closed and none opened within the grace, nor
where the process that had it was killed. Then the schedule tells the room that the side has left.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import Index, UniqueConstraint, delete, select, text
from sqlalchemy.orm import Mapped, Session

from rules import interviews, rooms
from rules.clock import now
from store.database.aside import Row
from store.database.base import Base, Identified
from store.database.due import Due
from store.database.engine import Writing
from store.database.prepared import Prepared, rows
from store.interviewing import stream
from store.interviewing.rooms import Interview, InterviewEvent
from store.interviewing.stream import Act

Side = tuple[UUID, str]  # of which room


class InterviewPresence(Base, Identified):
    """A side that is in a room."""

    __tablename__ = "interview_presences"
    __table_args__ = (
        UniqueConstraint("interview_id", "side"),
        Index("ix_interview_presences_due", "here_until"),
    )

    # No foreign key: whoever moves moments ahead waits for no room that is held.
    interview_id: Mapped[UUID]
    side: Mapped[str]  # candidate, interviewer
    here_until: Mapped[datetime]


_STAY = Prepared(
    text("""
    INSERT INTO interview_presences AS known (id, created_at, interview_id, side, here_until)
    SELECT gen_random_uuid(), :moment, one.room, one.side, :until
    FROM jsonb_to_recordset(CAST(:sides AS jsonb)) AS one (room uuid, side text) ORDER BY one.room, one.side
    ON CONFLICT (interview_id, side) DO UPDATE SET here_until = excluded.here_until WHERE known.here_until < :soon
    RETURNING interview_id, side, xmax = 0 AS is_new
    """)
)
_GONE = Prepared(
    text("""
    SELECT one.room, one.side FROM jsonb_to_recordset(CAST(:sides AS jsonb)) AS one (room uuid, side text),
    LATERAL (
        SELECT kind FROM interview_events
        WHERE interview_id = one.room AND actor = one.side AND kind IN ('join', 'leave') ORDER BY number DESC LIMIT 1
    ) AS last WHERE last.kind = 'leave'
    """)
)
_GO = Prepared(
    text("""
    UPDATE interview_presences SET here_until = :until
    WHERE interview_id = :interview_id AND side = :side AND here_until > :until
    """)
)


def stay(writing: Writing, sides: Collection[Side]) -> list[Side]:
    """Note who is there; return who had left before, of whom the room is to hear that they are back."""
    moment = now()
    wanted = [{"room": room, "side": side} for room, side in sides]
    until, soon = moment + rooms.HERE, moment + rooms.HERE / 2  # not written anew each time
    stayed = _STAY.all(writing, sides=rows(wanted), moment=moment, until=until, soon=soon)
    fresh = [{"room": row.interview_id, "side": row.side} for row in stayed if row.is_new]
    return [(row.room, row.side) for row in _GONE.all(writing, sides=rows(fresh))] if fresh else []


def go(writing: Writing, side: Side) -> None:
    """Note that the last channel of a side was closed here: it has left, unless it is back in time."""
    room, name = side
    _GO.run(writing, interview_id=room, side=name, until=now() + rooms.GRACE)


DUE = Due("presences", InterviewPresence, InterviewPresence.here_until)


def leave(session: Session, due: Sequence[Row]) -> int:
    """Tell rooms of those who are there no more."""
    here = select(InterviewPresence).where(*DUE.among(due)).order_by(InterviewPresence.interview_id)
    gone = session.scalars(here).all()
    for one in gone:
        locked = select(Interview).where(Interview.id == one.interview_id).with_for_update()
        interview = session.scalars(locked).first()
        if interview is not None and interview.status not in interviews.CLOSED:
            _tell(session, interview, one.side)
    session.execute(delete(InterviewPresence).where(InterviewPresence.id.in_([one.id for one in gone])))
    return len(gone)


def _tell(session: Session, interview: Interview, side: str) -> None:
    """Tell a locked room that a side has left which had come in."""
    of_side = (InterviewEvent.interview_id == interview.id, InterviewEvent.actor == side)
    last = (
        select(InterviewEvent.kind, InterviewEvent.actor_name)
        .where(*of_side, InterviewEvent.kind.in_(("join", "leave")))
        .order_by(InterviewEvent.number.desc())
        .limit(1)
    )
    known = session.execute(last).first()
    if known is not None and known.kind == "join":
        stream.add(session, interview, Act(interview.id, "leave", side, known.actor_name))
