"""Rows set aside: what could not be done of them, so that their neighbours go on."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, ColumnElement, Index, Select, Uuid, delete, func, literal, or_, select, text
from sqlalchemy.orm import Mapped, Session, mapped_column

from rules.clock import now
from store.database.base import NOBODY, Base, Identified, Party
from store.database.ids import new_id

LONGEST_REASON = 1_000  # characters
_QUOTED = re.compile(r"\n(?:DETAIL|CONTEXT|HINT|LINE \d+:|\[SQL)")  # from here on, whatever comes


class SetAside(Base, Identified):
    """One row of some kind of work that failed alone; nobody takes it until `again_at`, or where it has none ever."""

    __tablename__ = "set_aside"
    __table_args__ = (
        Index("uq_set_aside_row", "kind", "row_id", unique=True),
        Index("ix_set_aside_test", "organisation_id", postgresql_where=text("NOT livemode")),
    )

    kind: Mapped[str]  # of scheduled transition or outbox work
    row_id: Mapped[UUID]
    # Whose it is; no references, since a note about a fault waits for nobody.
    organisation_id: Mapped[UUID | None]
    livemode: Mapped[bool | None]
    reason: Mapped[str]
    tries: Mapped[int] = mapped_column(default=1)
    again_at: Mapped[datetime | None]


def one_of(column: Any, rows: Iterable["Row"]) -> ColumnElement[bool]:
    """Return the condition that a column is the id of one of these rows, however many there are."""
    found: ColumnElement[bool] = column == func.any(literal([row.id for row in rows], ARRAY(Uuid())))
    return found


@dataclass(frozen=True)
class Row:
    """A row that is to be worked on, and whose it is."""

    id: UUID
    organisation_id: UUID | None = None
    livemode: bool | None = None

    def party(self) -> Party:
        """Return whose it is."""
        return self.organisation_id or NOBODY, bool(self.livemode)


def hidden(kind: str) -> Select[Any]:
    """Select the ids of a kind that nobody takes now."""
    # The database's clock, so that a statement can be written once for all times.
    waits = or_(SetAside.again_at.is_(None), SetAside.again_at > func.now())
    return select(SetAside.row_id).where(SetAside.kind == kind, waits)


# Twice as long each time, from 5 s to an hour.
_KEEP = text("""
    INSERT INTO set_aside AS known (id, created_at, kind, row_id, organisation_id, livemode, reason, tries, again_at)
    VALUES (:id, :moment, :kind, :row_id, :organisation_id, :livemode, :reason, 1,
            CASE WHEN :again THEN :moment + interval '5 seconds' END)
    ON CONFLICT (kind, row_id) DO UPDATE SET
        tries = known.tries + 1, reason = excluded.reason,
        again_at = excluded.again_at
            + least(interval '1 hour', interval '5 seconds' * (1 << least(known.tries, 10))) - interval '5 seconds'
""")


def keep(session: Session, kind: str, rows: Iterable[Row], fault: BaseException, *, again: bool) -> None:
    """Set rows aside with the reason; `again`: to be tried again by themselves after a while."""
    for row in rows:
        session.execute(
            _KEEP,
            {**vars(row), "row_id": row.id, "id": new_id(), "kind": kind, "moment": now(), "again": again}
            | {"reason": reason(fault)},
        )


def reason(fault: BaseException) -> str:
    """Say in a line what went wrong, without what the database quotes of the row."""
    said = " ".join(_QUOTED.split(str(fault))[0].replace("\x00", "").split())
    return f"{type(fault).__name__}: {said}"[:LONGEST_REASON]


def done(session: Session, kind: str, rows: Iterable[Row]) -> None:
    """Forget that rows were set aside."""
    session.execute(delete(SetAside).where(SetAside.kind == kind, one_of(SetAside.row_id, rows)))


def known(session: Session, kind: str) -> set[UUID]:
    """Return the ids of the rows of a kind that are set aside."""
    return set(session.scalars(select(SetAside.row_id).where(SetAside.kind == kind)))


def taken_back(session: Session, kind: str, id: UUID | None = None) -> list[UUID]:
    """Let rows of a kind be taken again, or one of them; return their ids."""
    these: list[ColumnElement[bool]] = [SetAside.kind == kind]
    if id is not None:
        these.append(SetAside.row_id == id)
    return list(session.scalars(delete(SetAside).where(*these).returning(SetAside.row_id)))
