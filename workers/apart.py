"""Rows apart: one that fails is set aside with its reason, and its neighbours go on."""

import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import nullcontext

from sqlalchemy import text
from sqlalchemy.orm import Session

import store
from store.database import aside
from store.database.aside import Row
from store.database.base import Party
from store.database.waits import WaitRanOut
from workers import few, rests

log = logging.getLogger("hiring.work")

Do = Callable[[Session, Sequence[Row]], object]

# Rests after what failed, as multiples of how long that took: the cores are left to others. While it may be somebody
# else's rows too they wait for what is found out; what fails of one alone has a tenth of a thread.
PARTING, ALONE = 3.0, 9.0
IN_HAND_SECONDS = 5.0  # for which rows are put off that somebody has in hand

# Whoever is waited for has the row in hand; it is put off, which costs less than waiting while others are due.
_LOCK = text("SET LOCAL lock_timeout = '500ms'")


def hurried(session: Session) -> None:
    """Let this transaction wait for no row that somebody else has in hand."""
    session.execute(_LOCK)


def each(
    kind: str,
    rows: Sequence[Row],
    do: Do,
    *,
    closer: bool = True,
    hurry: bool = False,
    pause: Callable[[float], object] = time.sleep,
) -> int:
    """Do to rows what failed when it was done to all of them: together as far as it succeeds; return how many it did.

    In halves, each in a transaction of its own, until the one that fails is alone, and no party's are halved before
    they are apart from everybody else's; few are at it at once, and after each that failed there is a rest of so many
    times as long as that took, unless they are in a `hurry`. What succeeds is done before what failed is looked at
    closer; where it is not to be looked at `closer` here, all of that party's are put off, to be tried again. A wait
    that ran out is its party's: all its rows are put off too.
    """
    waiting = deque(_halves(sorted(rows, key=Row.party)))
    done = 0
    while waiting:
        some = waiting.popleft()
        with nullcontext() if hurry else few.at_once():
            began = time.monotonic()
            fault = _fault(kind, some, do)
        if fault is None:
            done += len(some)
            continue
        is_ones = _of_one(some)
        if len(some) == 1 or (is_ones and (not closer or isinstance(fault, WaitRanOut))):
            _set_aside(kind, some, fault)
        else:
            waiting.extend(_halves(some))
        if not hurry:
            times = ALONE if closer and is_ones else PARTING
            pause(rests.after(times * (time.monotonic() - began)))
    return done


def once_more(kind: str, rows: Sequence[Row], do: Do) -> float:
    """Do to rows of one party what failed; return for how many seconds to rest after that: 0 where it did not fail."""
    began = time.monotonic()
    fault = _fault(kind, rows, do)
    if fault is None:
        return 0.0
    _set_aside(kind, rows, fault)
    times = 1.0 if isinstance(fault, WaitRanOut) else ALONE  # who waits needs no core
    return times * (time.monotonic() - began)


def _set_aside(kind: str, rows: Sequence[Row], fault: Exception) -> None:
    log.warning("Set aside.", exc_info=fault, extra={"kind": kind, "rows": [str(row.id) for row in rows]})
    with store.transaction() as session:
        if isinstance(fault, WaitRanOut):
            aside.keep_together(session, kind, rows, fault, seconds=IN_HAND_SECONDS)
        elif len(rows) > 1:
            aside.keep_together(session, kind, rows, fault, seconds=0.0)
        else:
            aside.keep(session, kind, rows, fault, again=True)


def failing(kind: str, rows: Sequence[Row], do: Do) -> set[Party]:
    """Do to rows what failed when it was done to all of them; return for whom it fails, and do nothing to theirs."""
    waiting, found = deque[Sequence[Row]]([sorted(rows, key=Row.party)]), set()
    while waiting:
        some = waiting.popleft()
        if len(some) < len(rows) and _fault(kind, some, do) is None:
            continue
        if _of_one(some):
            found.add(some[0].party())
        else:
            waiting.extend(_halves(some))
    return found


def _of_one(rows: Sequence[Row]) -> bool:
    return rows[0].party() == rows[-1].party()


def _halves(rows: Sequence[Row]) -> list[Sequence[Row]]:
    """Part rows between two parties, as near to the middle as can be; those of one party in the middle."""
    middle = len(rows) // 2
    between = [place for place in range(1, len(rows)) if rows[place - 1].party() != rows[place].party()]
    place = min(between, key=lambda place: abs(place - middle), default=middle)
    return [half for half in (rows[:place], rows[place:]) if half]


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
