"""Two profiles become one: all that the one has is the other's, in one transaction."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Session

from rules import candidates as rules
from rules.caller import Caller
from rules.clock import now
from store.database.prepared import Prepared
from store.people import candidates
from store.people.candidates import Candidate

# What names a profile, in the order of store.database.locks; rows that are shown with a moment of change get one. An
# invitation may be made meanwhile by whoever holds the application or enrollment that it comes of: so it comes after.
MOVED = {
    "applications": True,
    "enrollments": True,
    "invitations": True,
    "interviews": True,
    "candidate_notes": False,
    "scorecards": True,
}
_MOVES = {
    table: Prepared(
        text(f"""
        UPDATE {table} SET candidate_id = :survivor{", updated_at = :moment" if stamped else ""}
        WHERE id IN (SELECT id FROM {table} WHERE candidate_id = :source ORDER BY id FOR NO KEY UPDATE)
        """)  # noqa: S608 - names of our own
    )
    for table, stamped in MOVED.items()
}
_ALIASES = Prepared(
    text("UPDATE candidates SET merged_into = :survivor, updated_at = :moment WHERE merged_into = :source")
)


def merge(session: Session, caller: Caller, survivor_id: UUID, source_id: UUID) -> Candidate:
    """Merge one profile into another, or refuse; return the survivor, with the tags of both.

    Its blanks are filled by the other one, which stays as an alias: who applies with its address reaches the survivor.
    """
    rules.check_merge(survivor_id, source_id)
    survivor, source = candidates.hold(session, caller, [survivor_id, source_id])
    moment = now()
    survivor.tags = rules.unite(survivor.tags, source.tags)
    for name in ("full_name", "phone", "source_summary"):
        setattr(survivor, name, getattr(survivor, name) or getattr(source, name))
        setattr(source, name, "")
    survivor.last_activity_at = _later(survivor.last_activity_at, source.last_activity_at)
    survivor.updated_at = moment
    source.tags, source.gone_at, source.merged_into = [], moment, survivor.id
    session.flush()
    named: dict[str, Any] = {"survivor": survivor.id, "source": source.id, "moment": moment}
    _ALIASES.run(session, **named)
    for move in _MOVES.values():
        move.run(session, **named)
    return survivor


def _later(*moments: datetime | None) -> datetime | None:
    return max((one for one in moments if one is not None), default=None)
