"""What a change tells of: the work that it asks for, its row of the audit log, its events. They are written with it."""

from typing import Any

from store import events, outbox
from store.auditing import trail
from store.database.base import NOBODY
from store.database.engine import Change
from store.database.prepared import Bound


class NeedsTransaction(Exception):
    """What was to be one statement takes a transaction; nothing was changed."""


def to_write(means: Change) -> list[Bound]:
    """Return the statements that write it, events last: nobody may hold their counter and wait for something else."""
    return [*outbox.to_write(means), *trail.to_write(means), *events.to_write(means)]


# The same as parts of one statement, which come to nothing where its part `changed` has no row. That has one once all
# else is locked.
PARTS = f"""
    asked AS ({outbox.ADD} CROSS JOIN changed), noted AS ({trail.WRITE} CROSS JOIN changed),
    numbers AS ({events.NUMBER.format(where="FROM changed")}), told AS ({events.WRITE})
"""
_UNASKED: dict[str, Any] = {"owner": NOBODY, "mode": True, "job": "", "items": "[]", "due_at": None}


def leave(means: Change, change: Bound) -> None:
    """Leave a change to the end of `store.alone`: one statement with PARTS, that says how many rows it `made`."""
    means.info["change"] = change


def whole(means: Change) -> Bound:
    """Return the change that was left, with what it tells of; raises NeedsTransaction where that is too much for it."""
    change: Bound = means.info.pop("change")
    told = to_write(means)
    if len({id(one.statement) for one in told}) < len(told):  # work of two kinds, or events of two owners
        raise NeedsTransaction
    values = dict(_UNASKED)
    for one in (*told, change):
        values |= one.values
    return change.statement.bound(**values)
