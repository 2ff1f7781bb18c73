"""Moving every moment of an organisation's test mode into the past: what columns there are is read from the tables.

So time passes for its rows alone: each query stays as it is, and a signature's moment is the real one.
"""

from functools import cache
from typing import Any
from uuid import UUID

from sqlalchemy import Column, DateTime, Table, UniqueConstraint, Uuid, bindparam, text

from store import outbox
from store.database import prepared
from store.database.base import Base
from store.database.due import Due
from store.database.engine import Change
from store.database.locks import ORDER
from store.database.prepared import Prepared

# Tables and columns that stay where they are, each with its reason. Whatever else is a moment is moved.
BOTH_MODES, REAL = "it is of both modes", "it tells what really happened, and when"
CREDENTIAL = "people and programs come with it in real time"
STAY = {
    "organisations": BOTH_MODES,
    "organisation_settings": BOTH_MODES,
    "mail_templates": BOTH_MODES,
    "members": BOTH_MODES,
    "member_invites": BOTH_MODES,
    "squads": BOTH_MODES,
    "squad_members": BOTH_MODES,
    "member_sessions": CREDENTIAL,
    "sign_in_codes": CREDENTIAL,
    "sign_in_starts": CREDENTIAL,
    "passkeys": CREDENTIAL,
    "api_keys": CREDENTIAL,
    "audit_rows": REAL,
    "audit_waiting": REAL,
    "audit_chains": REAL,
    "audit_anchors": REAL,
    "request_counts": REAL,
    "request_refusals": REAL,
    "request_sketches": REAL,
    "interview_presences": "who is in a room is there in real time",
    "deliveries.lease_until": "whoever is sending it is sending it now",
}
TESTS = "organisation_id = :organisation_id AND NOT livemode"
BY = "make_interval(secs => :seconds)"
# A piece of work that somebody has in hand keeps its lease; one that was put off for less is tried again soon anyway.
IN_HAND = f"attempts > 0 AND due_at BETWEEN now() AND now() + interval '{outbox.LEASE.seconds} seconds'"
OTHERWISE = {"outbox.due_at": f"CASE WHEN {IN_HAND} THEN due_at ELSE due_at - {BY} END"}
ONLY = {"idempotent_answers": "holder IS NULL"}  # whoever is at work on a request is at work now
# What work was asked for names moments too, which are compared with those of rows.
_ARGUMENTS = f"""
    UPDATE outbox SET arguments = arguments || coalesce((
        SELECT jsonb_object_agg(name, to_jsonb(value::timestamptz - {BY}))
        FROM jsonb_each_text(arguments) AS argument (name, value)
        WHERE name IN ('failing_since', 'since', 'until', 'asked_at') AND value <> '-infinity'
    ), '{{}}')
    WHERE {TESTS} AND finished_at IS NULL AND job IN ('probe', 'replay')
"""  # noqa: S608 - of our own words


def moments(table: Table) -> list[Column[Any]]:
    """Return the columns of a table that are moments, whether they are moved or not."""
    return [column for column in table.c if isinstance(column.type, DateTime)]


def moved(table: Table) -> list[str]:
    """Return the names of the columns of a table that are moved."""
    if table.name in STAY:
        return []
    return [column.name for column in moments(table) if f"{table.name}.{column.name}" not in STAY]


def owned(table: Table) -> str | None:
    """Return the condition that a row is of an organisation's test mode, by itself or by what it belongs to."""
    is_owner = {"organisation_id", "livemode"} <= set(table.c.keys())
    if is_owner and _leads_to_tests(table):
        return TESTS
    for key in table.foreign_keys:
        parent = key.column.table
        if key.parent.nullable or parent.c.get("organisation_id", key.parent).nullable:
            continue
        if parent is not table and (above := owned(parent)):
            return f"{key.parent.name} IN (SELECT id FROM {parent.name} WHERE {above})"  # noqa: S608 - names of tables
    return TESTS if is_owner else None


def of_tests(due: Due, organisation_id: UUID | None = None) -> Due:
    """Limit what falls due to one organisation's test mode; without one to that which a prepared statement is given.

    Where no index leads to all its rows, they are found by what they belong to.
    """
    mine = bindparam("organisation_id", organisation_id, type_=Uuid())
    where = owned(due.model.__table__)
    return due.of_tests(mine, *([text(where).bindparams(mine)] if where and where != TESTS else []))


def _leads_to_tests(table: Table) -> bool:
    """Say whether an index leads to all of an organisation's test rows."""
    firsts = [next(iter(table.primary_key))]
    firsts += [next(iter(one.columns)) for one in table.constraints if isinstance(one, UniqueConstraint)]
    for index in table.indexes:
        where = index.dialect_options["postgresql"]["where"]
        if where is None or str(where) == "NOT livemode":
            firsts += list(index.columns)[:1]
    return any(column.name == "organisation_id" for column in firsts)


@cache
def statements() -> list[Prepared]:
    """Return what moves all moments, in the order of locks."""
    tables = sorted(Base.metadata.tables.values(), key=_place)
    return [*(_statement(table) for table in tables if moved(table)), Prepared(text(_ARGUMENTS))]


def _place(table: Table) -> tuple[int, bool, str]:
    # Whoever makes deliveries of events takes the endpoints after these.
    order = [*ORDER, table.name]
    is_event = table.name == "events"
    return order.index("webhook_endpoints" if is_event else table.name), not is_event, table.name


def _statement(table: Table) -> Prepared:
    where = owned(table)
    assert where, f"{table.name} is nobody's: say why it stays"
    changes = (f"{name} = {OTHERWISE.get(f'{table.name}.{name}', f'{name} - {BY}')}" for name in moved(table))
    only = f" AND {ONLY[table.name]}" if table.name in ONLY else ""
    return Prepared(
        text(f"UPDATE {table.name} SET {', '.join(changes)} WHERE {where}{only}")  # noqa: S608 - the same
    )


def move(change: Change, organisation_id: UUID, seconds: int) -> None:
    """Move every moment of an organisation's test mode so many seconds into the past, in one exchange."""
    with prepared.driver(change).pipeline():
        for one in statements():
            one.run(change, organisation_id=organisation_id, seconds=seconds)
