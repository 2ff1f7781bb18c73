"""Rows apart: one that fails is set aside with its reason, and its neighbours go on."""

import logging
import time
from collections.abc import Callable, Sequence

from sqlalchemy import text
from sqlalchemy.orm import Session

import store
from store.database import aside
from store.database.aside import Row
from store.database.waits import WaitRanOut

log = logging.getLogger("hiring.work")

Do = Callable[[Session, Sequence[Row]], object]

REST = 3.0  # a flood of rows that fail has a quarter of a thread, and leaves the processor to others

# Whoever is waited for has the row in hand; it is put off, which costs less than waiting while others are due.
_LOCK = text("SET LOCAL lock_timeout = '500ms'")


def hurried(session: Session) -> None:
    """Let this transaction wait for no row that somebody else has in hand."""
    session.execute(_LOCK)


def each(kind: str, rows: Sequence[Row], do: Do, *, rest: float = REST) -> int:
    """Do to rows what failed when it was done to all of them: together as far as it succeeds; return how many it did.

    In halves, each in a transaction of its own, until the one that fails is alone; after each that failed it rests so
    many times as long as that took. A wait that ran out is its organisation's: all its rows are put off together.
    """
    by_owner = sorted(rows, key=lambda row: (str(row.organisation_id), bool(row.livemode)))
    middle = len(by_owner) // 2
    if not middle:
        return _half(kind, by_owner, do, rest)
    return _half(kind, by_owner[:middle], do, rest) + _half(kind, by_owner[middle:], do, rest)


def _half(kind: str, rows: Sequence[Row], do: Do, rest: float) -> int:
    def carry_out(session: Session) -> None:
        hurried(session)
        do(session, rows)
        aside.done(session, kind, rows)

    began = time.monotonic()
    try:
        store.in_transaction(carry_out)
    except store.OUTAGES:
        raise
    except Exception as fault:
        time.sleep(rest * (time.monotonic() - began))
        one_owner = len({row.organisation_id for row in rows}) == 1
        if len(rows) > 1 and not (one_owner and isinstance(fault, WaitRanOut)):
            return each(kind, rows, do, rest=rest)
        log.warning("Set aside.", exc_info=True, extra={"kind": kind, "rows": [str(row.id) for row in rows]})
        with store.transaction() as session:
            aside.keep(session, kind, rows, fault, again=True)
        return 0
    return len(rows)
