"""Work that must happen outside the database, kept with the change that asked for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Index, Update, select, text, update
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
    """A piece of work that was handed over; whoever moves `due_at` on from there first has it."""

    id: UUID
    job: str
    due_at: datetime


def hand_over(session: Session, *, lease: timedelta, limit: int) -> list[Handed]:
    """Take what is due for as long as the lease; what nobody has worked on by then is due again."""
    due = (
        select(OutboxItem.id)
        .where(OutboxItem.finished_at.is_(None), OutboxItem.due_at <= now())
        .order_by(OutboxItem.due_at)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    rows = session.execute(
        update(OutboxItem)
        .where(OutboxItem.id.in_(due.scalar_subquery()))
        .values(due_at=now() + lease)
        .returning(OutboxItem.id, OutboxItem.job, OutboxItem.due_at)
    )
    return sorted((Handed(*row) for row in rows), key=lambda one: one.id)


def give_back(session: Session, handed: Sequence[Handed], *, delay: timedelta) -> None:
    """Make due again what could not be handed on."""
    for one in handed:
        session.execute(_still(one.id, one.due_at).values(due_at=now() + delay))


def find(session: Session, id: UUID) -> OutboxItem | None:
    """Load a piece of work; None when it is not there any more."""
    return session.get(OutboxItem, id)


def take(session: Session, id: UUID, due_at: datetime, *, lease: timedelta) -> OutboxItem | None:
    """Begin a piece of work that was handed over; None when it is done or somebody else has it."""
    return session.scalar(
        _still(id, due_at)
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


def put_off(session: Session, id: UUID, *, delay: timedelta, error: str) -> None:
    """Note that a piece of work failed and is to be tried again."""
    session.execute(
        update(OutboxItem).where(OutboxItem.id == id).values(due_at=now() + delay, last_error=error)
    )


def _still(id: UUID, due_at: datetime) -> Update:
    return update(OutboxItem).where(
        OutboxItem.id == id, OutboxItem.due_at == due_at, OutboxItem.finished_at.is_(None)
    )
