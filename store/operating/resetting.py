"""An empty test mode: whatever rows an organisation has there go, but for those that are kept for good."""

from functools import cache
from typing import Any

from sqlalchemy import Table, text
from sqlalchemy.orm import Session

from rules.caller import Caller
from store import outbox
from store.accounts import room
from store.database import prepared
from store.database.base import Base
from store.database.locks import ORDER
from store.database.prepared import Prepared
from store.operating import moving

AT_ONCE = 1_000  # files, and mails written as files, that one piece of work lets go
# Beside what is of both modes or tells what really happened: numbers that receivers know go on rising.
KEPT = {"event_sequences"}
ONLY = {"idempotent_answers": "holder IS NULL"}  # whoever is at work on a request will keep its answer

_FILES = Prepared(
    text(f"""
    SELECT 'files' AS kind, key, size_bytes FROM attachments
    WHERE application_id IN (SELECT id FROM applications WHERE {moving.TESTS})
    UNION ALL
    SELECT 'files', key, size_bytes FROM recording_chunks
    WHERE recording_id IN (SELECT id FROM recordings WHERE {moving.TESTS})
    UNION ALL
    SELECT 'mails', CAST(id AS text), 0 FROM outbox WHERE {moving.TESTS} AND job = 'mail'
    """)  # noqa: S608 - of our own words
)
_IN_ROOMS = f"interview_id IN (SELECT id FROM interviews WHERE {moving.TESTS})"  # noqa: S608 - the same
_PRESENCES = Prepared(text(f"DELETE FROM interview_presences WHERE {_IN_ROOMS}"))  # noqa: S608 - the same
_CLOCK = Prepared(text("DELETE FROM test_clocks WHERE organisation_id = :organisation_id"))


@cache
def _statements() -> tuple[list[Prepared], list[Prepared]]:
    """Return what waits for whoever else is at work here, in the order of locks, and what deletes."""
    locks, deletes = [], [_PRESENCES, _CLOCK]
    for name in ORDER:
        if name in Base.metadata.tables and (where := _locked(Base.metadata.tables[name])):
            held = f"SELECT NULL AS held FROM {name} WHERE {where} FOR UPDATE OF {name}"  # noqa: S608
            locks.append(Prepared(text(held)))
    for table in reversed(Base.metadata.sorted_tables):
        if where := _condition(table):
            only = f" AND {ONLY[table.name]}" if table.name in ONLY else ""
            deletes.append(Prepared(text(f"DELETE FROM {table.name} WHERE {where}{only}")))  # noqa: S608
    return locks, deletes


def reset(session: Session, caller: Caller) -> int:
    """Delete all rows of the caller's test mode, their files after the commit; return how many rows it were."""
    mine: dict[str, Any] = {"organisation_id": caller.organisation_id}
    locks, deletes = _statements()
    with prepared.driver(session).pipeline():
        for one in locks:
            one.run(session, **mine)
        files = _FILES.all(session, **mine)
        done = [one.execute(session, None, dict(mine)) for one in deletes]
    room.give_back(session, caller.organisation_id, sum(one.size_bytes for one in files))
    keys = {kind: [one.key for one in files if one.kind == kind] for kind in ("files", "mails")}
    starts = range(0, max(map(len, keys.values())), AT_ONCE)
    parts = [{kind: some[start : start + AT_ONCE] for kind, some in keys.items()} for start in starts]
    outbox.add_all(session, caller, "discard", parts)
    return sum(one.rowcount for one in done)


def _locked(table: Table) -> str | None:
    return _IN_ROOMS if table.name == "interview_presences" else _condition(table)


def _condition(table: Table) -> str | None:
    return None if table.name in moving.STAY or table.name in KEPT else moving.owned(table)
