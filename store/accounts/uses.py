"""That keys and sessions are used: noted of many at once, so that no request costs a commit of its own."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Session

from store.database.prepared import Prepared, rows


class Use(NamedTuple):
    """The last one: from which address, and when."""

    address: str
    at: datetime


Note = Callable[[Session, Mapping[UUID, Use]], dict[UUID, Use]]


def noting(table: str, *, at: str, address: str) -> Note:
    """Return what notes uses, by the ids of a table's rows, in columns of it, and returns those that are still to be.

    These are of rows that somebody has in hand, for whom the others do not wait; what is gone is passed by.
    """
    statement = Prepared(
        text(f"""
        WITH used AS (
            SELECT * FROM jsonb_to_recordset(CAST(:uses AS jsonb)) AS used (id uuid, at timestamptz, address text)
        ), held AS MATERIALIZED (
            SELECT id FROM {table} WHERE id IN (SELECT id FROM used) FOR NO KEY UPDATE SKIP LOCKED
        ), noted AS (
            UPDATE {table} SET {at} = used.at, {address} = used.address
            FROM used JOIN held USING (id) WHERE {table}.id = used.id
        )
        SELECT id FROM {table} WHERE id IN (SELECT id FROM used) AND id NOT IN (SELECT id FROM held)
        """)  # noqa: S608 - names of our own
    )

    def note(session: Session, uses: Mapping[UUID, Use]) -> dict[UUID, Use]:
        given = [{"id": id, **one._asdict()} for id, one in uses.items()]
        return {row.id: uses[row.id] for row in statement.all(session, uses=rows(given))}

    return note
