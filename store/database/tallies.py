"""Counts of a row's children that are kept apart from it for a moment: who adds one waits for nobody who has the row.

Each transaction takes a tally that nobody else has in hand, or begins one. What is shown is the row's own count and its
tallies; the schedule adds these to the row, unless somebody has that in hand.
"""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, func, select, text
from sqlalchemy.orm import InstrumentedAttribute, Mapped, Session

from rules.clock import now
from store.database.aside import Row
from store.database.base import Base, Owned
from store.database.prepared import Prepared


class Tally(Base, Owned):
    """Some of a row's children; the row has as many of these as transactions have ever counted side by side."""

    __abstract__ = True

    count: Mapped[int]


def total(
    own: InstrumentedAttribute[int], tally: type[Tally], row_id: Any, row: Any, name: str
) -> ColumnElement[int]:
    """Return what a row shows as `name`: its own count and that of its tallies."""
    apart = select(func.coalesce(func.sum(tally.count), 0)).where(row_id == row.id)
    return (own + apart.correlate(row).scalar_subquery()).label(name)


def folding(tallies: str, row_id: str, rows: str, count: str) -> Callable[[Session, Sequence[Row]], int]:
    """Return what adds tallies to rows, but for those that somebody has in hand, and says how many rows it were."""
    statement = Prepared(
        text(f"""
        WITH held AS (
            SELECT id FROM {rows} WHERE id IN (SELECT {row_id} FROM {tallies} WHERE id = ANY (:ids))
            FOR NO KEY UPDATE SKIP LOCKED
        ), gone AS (
            DELETE FROM {tallies} USING held
            WHERE {row_id} = held.id AND {tallies}.id = ANY (:ids) RETURNING {row_id}, count
        )
        UPDATE {rows} SET {count} = {count} + added.count, updated_at = :moment
        FROM (SELECT {row_id}, sum(count) AS count FROM gone GROUP BY {row_id}) AS added
        WHERE {rows}.id = added.{row_id}
        """)  # noqa: S608 - names of our own
    )

    def fold(session: Session, chosen: Sequence[Row]) -> int:
        return statement.run(session, ids=[row.id for row in chosen], moment=now())

    return fold
