"""Rows apart: one that fails is set aside with its reason, and its neighbours go on."""

import logging
import math
import time
from collections import deque
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


def each(kind: str, rows: Sequence[Row], do: Do, *, rest: float = REST, within: float = math.inf) -> int:
    """Do to rows what failed when it was done to all of them: together as far as it succeeds; return how many it did.

    In halves, each in a transaction of its own, until the one that fails is alone; after each that failed it rests so
    many times as long as that took. What succeeds is done before what failed is looked at closer. After so many seconds
    one that fails is found on the shortest way, if none was before, and the others that failed with it are due still.
    A wait that ran out is its organisation's: all its rows are put off together.
    """
    end = time.monotonic() + within
    waiting = deque(_halves(sorted(rows, key=lambda row: (str(row.organisation_id), bool(row.livemode)))))
    done, found = 0, False
    while waiting:
        some = waiting.popleft()
        began = time.monotonic()
        fault = _fault(kind, some, do)
        if fault is None:
            done += len(some)
            continue
        time.sleep(rest * (time.monotonic() - began))
        one_owner = len({row.organisation_id for row in some}) == 1
        if len(some) == 1 or (one_owner and isinstance(fault, WaitRanOut)):
            log.warning(
                "Set aside.", exc_info=fault, extra={"kind": kind, "rows": [str(row.id) for row in some]}
            )
            with store.transaction() as session:
                aside.keep(session, kind, some, fault, again=True)
            found = True
        elif time.monotonic() <= end:
            waiting.extend(_halves(some))
        elif not found:
            waiting.extendleft(reversed(_halves(some)))
    return done


def _halves(rows: Sequence[Row]) -> list[Sequence[Row]]:
    middle = len(rows) // 2
    return [half for half in (rows[:middle], rows[middle:]) if half]


def _fault(kind: str, rows: Sequence[Row], do: Do) -> Exception | None:
    """Do it in one transaction, and say why not; raises what is an outage."""

    def carry_out(session: Session) -> None:
        hurried(session)
        do(session, rows)
        aside.done(session, kind, rows)

    try:
        store.in_transaction(carry_out)
    except store.OUTAGES:
        raise
    except Exception as fault:
        return fault
    return None
