"""How migrations change tables while the service runs: what takes long holds no lock that others wait for.

A migration that uses one of these is several transactions, and is run again from its beginning where it was broken off
or somebody held what it needed: so each of them may be carried out again, and so must be what stands beside them.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from alembic import op
from sqlalchemy import Column, text

from store.database.waits import OF_MIGRATIONS


def create_index(name: str, table: str, columns: Sequence[Any], **how: Any) -> None:
    """Build an index beside reads and writes."""
    with outside():
        if _is_invalid(name):
            op.drop_index(name, table, if_exists=True, postgresql_concurrently=True)
        op.create_index(name, table, columns, if_not_exists=True, postgresql_concurrently=True, **how)


def add_column(table: str, column: Column[Any]) -> None:
    """Add a column, if it is not there."""
    op.add_column(table, column, if_not_exists=True)


def drop_index(name: str, table: str) -> None:
    """Let an index go beside reads and writes."""
    with outside():
        op.drop_index(name, table, if_exists=True, postgresql_concurrently=True)


def add_constraint(name: str, table: str, definition: str) -> None:
    """Hold new rows to a constraint (`CHECK (…)`, `FOREIGN KEY (…) REFERENCES …`), then look at those that are there."""
    there = text("SELECT 1 FROM pg_constraint WHERE conname = :name AND conrelid = CAST(:table AS regclass)")
    if not op.get_bind().scalar(there, {"name": name, "table": table}):
        op.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition} NOT VALID")
    with outside():
        op.execute(f"ALTER TABLE {table} VALIDATE CONSTRAINT {name}")


def forbid_null(table: str, column: str) -> None:
    """Hold a column to having a value, without a look at all rows while everybody waits."""
    name = f"{table}_{column}_is_there"
    add_constraint(name, table, f"CHECK ({column} IS NOT NULL)")
    op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET NOT NULL")
    op.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")


def clear_early(table: str) -> None:
    """Have a table cleared of dead rows when they are one in fifty; PostgreSQL's own limit is one in five."""
    with outside():
        op.execute(f"ALTER TABLE {table} SET (autovacuum_vacuum_scale_factor = 0.02)")


@contextmanager
def outside() -> Iterator[None]:
    """Commit what was done so far; each statement in here is a transaction of its own, and holds nobody up."""
    with op.get_context().autocommit_block():
        op.execute("SET lock_timeout = 0")
        try:
            yield
        finally:
            op.execute(f"SET lock_timeout = '{OF_MIGRATIONS}'")


def _is_invalid(name: str) -> bool:
    """Say whether an index is the rest of an attempt that was broken off."""
    found = text("SELECT NOT indisvalid FROM pg_index WHERE indexrelid = to_regclass(:name)")
    return bool(op.get_bind().scalar(found, {"name": name}))
