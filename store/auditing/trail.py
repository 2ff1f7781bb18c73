"""What leaves a row of the audit log: one for each request that changes something, written with its change."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text

from rules import audit
from store.database.engine import Change
from store.database.ids import new_id
from store.database.prepared import Bound, Prepared, rows

# When a transaction writes the row of whom it is done for.
ALWAYS, IF_TOLD, NEVER = "always", "if told", "never"


@dataclass(slots=True)
class Entry:
    """A row of the log while it is being made."""

    channel: str
    actor_type: str
    action: str
    organisation_id: UUID | None = None  # None: known once the row is that it is about
    livemode: bool | None = None
    actor_id: UUID | None = None
    method: str | None = None
    path: str | None = None
    status_code: int | None = None
    error_code: str | None = None
    ip: str | None = None
    request_id: str | None = None
    resource_type: str | None = None
    resource_id: str | None = None
    began: float | None = None  # on the clock of time.perf_counter
    ended: float | None = None  # the same; None: when it is written
    id: UUID | None = None  # None: made when it is written
    is_told: bool = False  # something happened that it is the row of
    is_placed: bool = False  # a transaction is open that will write it, or was
    is_written: bool = False

    def concerns(self, kind: str, row: Any) -> None:
        """Note the row that it is about, and whose that is: the first one named is the one."""
        id = getattr(row, "id", None)  # an owner may be no row
        if self.resource_id is None and id is not None:
            self.resource_type, self.resource_id = kind, str(id)
        if self.organisation_id is None:
            self.organisation_id = row.organisation_id
            self.livemode = getattr(row, "livemode", None)  # members belong to both modes


def by(change: Change, entry: Entry, when: str = ALWAYS) -> None:
    """Say for whom a transaction is carried out: what happens in it leaves this one row."""
    change.info["audit"], change.info["audit_when"] = entry, when


def about(change: Change, kind: str, row: Any) -> None:
    """Name the row that a request is about, where neither its answer nor its path does so by an id."""
    if entry := change.info.get("audit"):
        entry.concerns(kind, row)


def acting(change: Change, kind: str, id: UUID) -> None:
    """Say who makes a request that names nobody by a key."""
    if entry := change.info.get("audit"):
        entry.actor_type, entry.actor_id = kind, id


def told(change: Change, action: str, row: Any) -> None:
    """Note that something happened: it belongs to whom the transaction is for, or the service did it by itself."""
    kind = kind_of(row) or action.partition(".")[0]
    if entry := change.info.get("audit"):
        entry.is_told = True
        entry.concerns(kind, row)
    elif action not in audit.UNTOLD:
        by_itself(change, action, kind, row)


def by_itself(change: Change, action: str, kind: str, row: Any, error_code: str | None = None) -> None:
    """Note what the service did with a row, or could not do."""
    entry = Entry("system", "system", action, error_code=error_code)
    entry.concerns(kind, row)
    note(change, entry)


def note(change: Change, entry: Entry) -> None:
    """Have a row of its own written with the transaction."""
    change.info.setdefault("audit_also", []).append(entry)


def kind_of(row: Any) -> str:
    """Say what a row is, in the singular; nothing of one that does not know its table."""
    return str(getattr(row, "__tablename__", "")).removesuffix("s")


WRITE = """
    INSERT INTO audit_waiting (
        id, occurred_at, organisation_id, livemode, channel, actor_type, actor_id, action, method, path, outcome,
        status_code, error_code, ip, request_id, resource_type, resource_id, duration_ms
    )
    SELECT id, occurred_at, organisation_id, livemode, channel, actor_type, actor_id, action, method, path, outcome,
           status_code, error_code, ip, request_id, resource_type, resource_id, duration_ms
    FROM jsonb_to_recordset(CAST(:entries AS jsonb)) AS entry (
        id uuid, occurred_at timestamptz, organisation_id uuid, livemode boolean, channel text, actor_type text,
        actor_id uuid, action text, method text, path text, outcome text, status_code int, error_code text, ip text,
        request_id text, resource_type text, resource_id text, duration_ms int
    )
"""
_WRITE = Prepared(text(WRITE))


def to_write(change: Change) -> list[Bound]:
    """Return the statement that writes what was noted, unnumbered: nobody waits for anybody here."""
    entries: list[Entry] = change.info.pop("audit_also", [])
    entry: Entry | None = change.info.pop("audit", None)
    if entry is not None:
        when = change.info.pop("audit_when")
        wanted = when == ALWAYS or (when == IF_TOLD and entry.is_told)
        # What was refused is kept apart.
        if wanted and not entry.is_written and (entry.status_code or 0) < 400:
            entry.is_written = True
            entries.append(entry)
    return [_written(entries)] if entries else []


def keep(change: Change, entries: Sequence[Entry]) -> None:
    """Write entries; one that is nobody's is the instance's."""
    _written(entries).run(change)


def _written(entries: Sequence[Entry]) -> Bound:
    return _WRITE.bound(entries=rows([_facts(entry) for entry in entries]))


def _facts(entry: Entry) -> dict[str, Any]:
    if entry.is_written and entry.resource_id is None and entry.organisation_id is not None:
        # What a request changes that names no row is the organisation's own: its settings, its logo.
        entry.resource_type, entry.resource_id = "organisation", str(entry.organisation_id)
    id = entry.id or new_id()
    ended = time.perf_counter() if entry.ended is None else entry.ended
    # The id's own moment, so that a list by ids is one by moments.
    moment = datetime.fromtimestamp((id.int >> 80) / 1000, UTC)
    return {
        "id": id,
        "occurred_at": moment,
        "organisation_id": entry.organisation_id or audit.INSTANCE,
        "livemode": entry.livemode,
        "channel": entry.channel,
        "actor_type": entry.actor_type,
        "actor_id": entry.actor_id,
        "action": entry.action,
        "method": entry.method,
        "path": entry.path,
        "outcome": audit.outcome(entry.status_code, entry.error_code),
        "status_code": entry.status_code,
        "error_code": entry.error_code,
        "ip": entry.ip,
        "request_id": entry.request_id,
        "resource_type": entry.resource_type,
        "resource_id": entry.resource_id,
        "duration_ms": None if entry.began is None else round((ended - entry.began) * 1000),
    }
