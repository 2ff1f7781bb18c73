"""Work that must happen outside the database, kept with the change that asked for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Index, Update, text, update
from sqlalchemy.orm import Mapped, Session, mapped_column

from rules.clock import now
from store.database.base import Base, Identified
from store.database.engine import Change
from store.database.ids import new_id
from store.database.prepared import Prepared, rows


class OutboxItem(Base, Identified):
    """One piece of work for one actor; done when `finished_at` is set."""

    __tablename__ = "outbox"
    __table_args__ = (Index("ix_outbox_due", "due_at", postgresql_where=text("finished_at IS NULL")),)

    job: Mapped[str]  # the actor's name: mail, grade
    arguments: Mapped[dict[str, Any]]
    due_at: Mapped[datetime] = mapped_column(default=now)  # moved ahead while somebody works on it
    attempts: Mapped[int] = mapped_column(default=0)
    finished_at: Mapped[datetime | None]
    last_error: Mapped[str | None]


def add(session: Change, job: str, *, delay: timedelta = timedelta(0), **arguments: Any) -> None:
    """Ask for work to be done after this transaction commits; `arguments` must be ready for JSON."""
    add_all(session, job, [arguments], delay=delay)


_ADD = Prepared(
    text("""
    INSERT INTO outbox (id, created_at, due_at, job, arguments, attempts)
    SELECT item.id, :moment, :due_at, :job, item.arguments, 0
    FROM jsonb_to_recordset(CAST(:items AS jsonb)) AS item (id uuid, arguments jsonb)
    """)
)


def add_all(
    session: Change, job: str, arguments: list[dict[str, Any]], *, delay: timedelta = timedelta(0)
) -> None:
    """Ask for the same work many times, in one statement."""
    if not arguments:
        return
    moment = now()
    items = rows([{"id": new_id(), "arguments": one} for one in arguments])
    _ADD.run(session, moment=moment, due_at=moment + delay, job=job, items=items)
    ring(session)


def ring(session: Change) -> None:
    """Wake the relay when this transaction has committed."""
    session.info["outbox"] = True


@dataclass(frozen=True)
class Handed:
    """A piece of work that was handed over; whoever counts the next attempt first has it."""

    id: UUID
    job: str
    attempts: int


_HAND_OVER = Prepared(
    text("""
    WITH due AS (
        SELECT item.id
        FROM unnest(CAST(:jobs AS text[]), CAST(:rooms AS int[])) AS kind (job, room)
        CROSS JOIN LATERAL (
            SELECT id
            FROM outbox
            WHERE job = kind.job AND finished_at IS NULL AND due_at <= :moment
            ORDER BY due_at
            LIMIT kind.room
            FOR UPDATE SKIP LOCKED
        ) AS item
    )
    UPDATE outbox SET due_at = :until FROM due WHERE outbox.id = due.id
    RETURNING outbox.id, outbox.job, outbox.attempts
    """)
)


def hand_over(session: Change, rooms: Mapping[str, int], *, lease: timedelta) -> list[Handed]:
    """Take what is due, of each kind as much as it has room for; what nobody has begun after the lease is due again."""
    moment = now()
    found = _HAND_OVER.all(
        session, jobs=list(rooms), rooms=list(rooms.values()), moment=moment, until=moment + lease
    )
    return sorted((Handed(*row) for row in found), key=lambda one: one.id)


def give_back(session: Session, handed: Sequence[Handed], *, delay: timedelta) -> None:
    """Make due again what could not be handed on."""
    for one in handed:
        session.execute(_still(one.id, one.attempts).values(due_at=now() + delay))


def find(session: Session, id: UUID) -> OutboxItem | None:
    """Load a piece of work; None when it is not there any more."""
    return session.get(OutboxItem, id)


def take(session: Session, id: UUID, attempts: int, *, lease: timedelta) -> OutboxItem | None:
    """Begin a piece of work that was handed over after so many attempts; None when it is done or somebody has it."""
    return session.scalar(
        _still(id, attempts)
        .values(due_at=now() + lease, attempts=OutboxItem.attempts + 1)
        .returning(OutboxItem)
    )


def renew(session: Session, id: UUID, *, lease: timedelta) -> None:
    """Go on with a piece of work."""
    session.execute(
        update(OutboxItem)
        .where(OutboxItem.id == id, OutboxItem.finished_at.is_(None))
        .values(due_at=now() + lease)
    )


def finish(session: Session, id: UUID, *, error: str | None = None) -> None:
    """Note that a piece of work is done, or given up with an error."""
    session.execute(update(OutboxItem).where(OutboxItem.id == id).values(finished_at=now(), last_error=error))


def restart(session: Session, job: str, ids: Sequence[UUID]) -> None:
    """Begin work of a kind anew that was ended."""
    session.execute(
        update(OutboxItem)
        .where(OutboxItem.job == job, OutboxItem.id.in_(ids))
        .values(finished_at=None, last_error=None, attempts=0, due_at=now())
    )
    ring(session)


def put_off(session: Session, id: UUID, *, delay: timedelta, error: str) -> None:
    """Note that a piece of work failed and is to be tried again."""
    session.execute(
        update(OutboxItem).where(OutboxItem.id == id).values(due_at=now() + delay, last_error=error)
    )


def _still(id: UUID, attempts: int) -> Update:
    return update(OutboxItem).where(
        OutboxItem.id == id, OutboxItem.attempts == attempts, OutboxItem.finished_at.is_(None)
    )
