"""Rows set aside: what could not be done of them, so that their neighbours go on."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, ColumnElement, Index, Select, Uuid, delete, func, literal, select, text
from sqlalchemy.orm import Mapped, Session, mapped_column

from rules.clock import now
from store.database.base import NOBODY, Base, Identified, Party
from store.database.engine import Means
from store.database.ids import new_id
from store.database.prepared import Prepared

LONGEST_REASON = 1_000  # characters
_QUOTED = re.compile(r"\n(?:DETAIL|CONTEXT|HINT|LINE \d+:|\[SQL)")  # from here on, whatever comes


class SetAside(Base, Identified):
    """One row of some kind of work that failed; it is tried again from `again_at` on, or never where it has none.

    `tries` is how often it failed alone: 0 where it failed together with others.
    """

    __tablename__ = "set_aside"
    __table_args__ = (
        Index("uq_set_aside_row", "kind", "row_id", unique=True),
        Index("ix_set_aside_again", "again_at", postgresql_where=text("again_at IS NOT NULL")),
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
    """Select the ids of a kind that are set aside."""
    return select(SetAside.row_id).where(SetAside.kind == kind)


# Twice as long each time that it failed alone, from 5 s to an hour.
_KEEP = text("""
    INSERT INTO set_aside AS known (id, created_at, kind, row_id, organisation_id, livemode, reason, tries, again_at)
    VALUES (:id, :moment, :kind, :row_id, :organisation_id, :livemode, :reason, :tries,
            CASE WHEN :again THEN :moment + interval '1 second' * :seconds END)
    ON CONFLICT (kind, row_id) DO UPDATE SET
        tries = known.tries + excluded.tries, reason = excluded.reason,
        again_at = CASE
            WHEN excluded.tries = 0 THEN excluded.again_at
            WHEN :again THEN
                :moment + least(interval '1 hour', interval '5 seconds' * (1 << least(known.tries, 10)))
        END
""")
# Of each party's of a kind the one that waits longest, and of these any: nobody's wait for those of others.
_AGAIN = Prepared(
    text("""
    UPDATE set_aside SET again_at = now() + interval '30 seconds'
    WHERE again_at <= now() AND id = (
        SELECT id FROM (
            SELECT DISTINCT ON (kind, organisation_id, livemode) id
            FROM set_aside WHERE kind = ANY (CAST(:kinds AS text[])) AND again_at <= now()
            ORDER BY kind, organisation_id, livemode, again_at
        ) AS first
        ORDER BY random() LIMIT 1
    )
    RETURNING kind, row_id, organisation_id, livemode, tries
    """)
)
_WITH_IT = Prepared(
    text("""
    UPDATE set_aside SET again_at = now() + interval '30 seconds'
    WHERE id = ANY (ARRAY(
        SELECT id FROM set_aside
        WHERE kind = :kind AND tries = 0 AND again_at <= now()
          AND organisation_id IS NOT DISTINCT FROM CAST(:organisation_id AS uuid)
          AND livemode IS NOT DISTINCT FROM CAST(:livemode AS boolean)
        ORDER BY again_at LIMIT :limit FOR UPDATE SKIP LOCKED
    ))
    RETURNING row_id, organisation_id, livemode
    """)
)


def keep(session: Session, kind: str, rows: Sequence["Row"], fault: BaseException, *, again: bool) -> None:
    """Set rows aside with the reason, each of which failed alone; `again`: to be tried again after a while."""
    _keep(session, kind, rows, fault, again=again, tries=1, seconds=5.0)


def keep_together(
    session: Session, kind: str, rows: Sequence["Row"], fault: BaseException, *, seconds: float
) -> None:
    """Set rows aside which failed together, for so many seconds: it is not known which of them does."""
    _keep(session, kind, rows, fault, again=True, tries=0, seconds=seconds)


def _keep(session: Session, kind: str, rows: Sequence["Row"], fault: BaseException, **known: Any) -> None:
    known |= {"kind": kind, "moment": now(), "reason": reason(fault)}
    session.execute(_KEEP, [{**known, **vars(row), "row_id": row.id, "id": new_id()} for row in rows])


def again(means: Means, kinds: Sequence[str]) -> tuple[str, "Row", int] | None:
    """Take a row of one of these kinds that is to be tried again: its kind, the row, and how often it failed alone.

    It is nobody else's for longer than that takes. None where there is none.
    """
    found = _AGAIN.first(means, kinds=list(kinds))
    return found and (found.kind, Row(found.row_id, found.organisation_id, found.livemode), found.tries)


def with_it(means: Means, kind: str, row: "Row", limit: int) -> list["Row"]:
    """Take more rows of a kind, whose they are as this one, of which none has failed alone yet."""
    found = _WITH_IT.all(
        means, kind=kind, organisation_id=row.organisation_id, livemode=row.livemode, limit=limit
    )
    return [Row(*one) for one in found]


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
