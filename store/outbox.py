"""Work that must happen outside the database, kept with the change that asked for it."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Index, insert, text
from sqlalchemy.orm import Mapped, Session, mapped_column

from rules.clock import now
from store.base import Base, Identified
from store.ids import new_id


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


def add(session: Session, job: str, *, delay: timedelta = timedelta(0), **arguments: Any) -> None:
    """Ask for work to be done after this transaction commits; `arguments` must be ready for JSON."""
    add_all(session, job, [arguments], delay=delay)


def add_all(
    session: Session, job: str, arguments: list[dict[str, Any]], *, delay: timedelta = timedelta(0)
) -> None:
    """Ask for the same work many times, in one statement."""
    if not arguments:
        return
    moment = now()
    session.execute(
        insert(OutboxItem),
        [
            {
                "id": new_id(),
                "created_at": moment,
                "due_at": moment + delay,
                "job": job,
                "arguments": one,
                "attempts": 0,
            }
            for one in arguments
        ],
    )
    session.info["outbox"] = True
