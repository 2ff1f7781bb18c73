"""Who is in a room: a moment for each side, which whoever has its channel moves ahead, or its own requests do.

When the moment passes nobody is there any more: not where the last channel was closed and none opened within the
grace, nor where the process that had it was killed, nor where nothing was asked for a while. Then the schedule tells
the room that the side has left.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import Index, UniqueConstraint, delete, select, text, true
from sqlalchemy.orm import Mapped, Session, mapped_column

from rules import interviews, rooms
from rules.clock import now
from store.database.aside import Row
from store.database.base import Base, Identified
from store.database.due import Due
from store.database.engine import Change, Writing
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
    # Then requests do not move its moment: whoever closes the page has left, whatever it asked for before.
    has_channel: Mapped[bool] = mapped_column(server_default=true())


_STAY = Prepared(
    text("""
    INSERT INTO interview_presences AS known (id, created_at, interview_id, side, here_until, has_channel)
    SELECT gen_random_uuid(), :moment, one.room, one.side, :until, true
    FROM jsonb_to_recordset(CAST(:sides AS jsonb)) AS one (room uuid, side text) ORDER BY one.room, one.side
    ON CONFLICT (interview_id, side) DO UPDATE SET here_until = excluded.here_until, has_channel = true
    WHERE known.here_until < :soon OR NOT known.has_channel
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
    UPDATE interview_presences SET here_until = least(here_until, :until), has_channel = false
    WHERE interview_id = :interview_id AND side = :side AND (has_channel OR here_until > :until)
    """)
)
_IS_HERE = Prepared(
    text("""
    SELECT FROM interview_presences
    WHERE interview_id = :interview_id AND side = :side
      AND here_until > CASE WHEN has_channel THEN CAST(:moment AS timestamptz) ELSE :soon END
    """)
)
_ASK = Prepared(
    text("""
    INSERT INTO interview_presences AS known (id, created_at, interview_id, side, here_until, has_channel)
    VALUES (gen_random_uuid(), :moment, :interview_id, :side, :until, false)
    ON CONFLICT (interview_id, side) DO UPDATE SET here_until = excluded.here_until, has_channel = false
    WHERE NOT known.has_channel OR known.here_until <= :moment
    RETURNING xmax = 0 AS is_new
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


def is_here(change: Change, side: Side) -> bool:
    """Say whether a side that asks for something has a channel, or asked a short while ago: then nothing is to note."""
    room, name = side
    moment = now()
    known = _IS_HERE.first(change, interview_id=room, side=name, moment=moment, soon=moment + rooms.ASKS / 2)
    return known is not None


def ask(change: Change, side: Side) -> bool:
    """Note that a side asks for something in a locked room; say whether it had left before."""
    room, name = side
    moment = now()
    noted = _ASK.first(change, interview_id=room, side=name, moment=moment, until=moment + rooms.ASKS)
    fresh = [{"room": room, "side": name}]
    return noted is not None and noted.is_new and _GONE.first(change, sides=rows(fresh)) is not None


# Whoever asks in a room has its lock and then notes so: rooms are taken first here too.
DUE = Due("presences", InterviewPresence, InterviewPresence.here_until, locked=False)


def leave(session: Session, due: Sequence[Row]) -> int:
    """Tell rooms of those who are there no more."""
    rooms_of = select(InterviewPresence.interview_id).where(*DUE.among(due))
    locked = select(Interview).where(Interview.id.in_(rooms_of)).order_by(Interview.id)
    found = {one.id: one for one in session.scalars(locked.with_for_update(of=Interview))}
    # Whoever has one in hand moves it ahead.
    here = select(InterviewPresence).where(*DUE.among(due)).with_for_update(skip_locked=True)
    gone = session.scalars(here).all()
    for one in gone:
        interview = found.get(one.interview_id)
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
