"""The month's interviews: never more than the plan has."""

from sqlalchemy import bindparam, select, text

from rules.caller import Caller
from rules.clock import month
from store.database.base import ANYONE
from store.database.engine import Change, Means
from store.database.prepared import Prepared
from store.database.usage import InterviewUsage

_LOCK = Prepared(
    text("""
    INSERT INTO interview_usage AS usage (organisation_id, month, used) VALUES (:organisation_id, :month, 0)
    ON CONFLICT (organisation_id, month) DO UPDATE SET used = usage.used
    RETURNING used
    """)
)
_USE = Prepared(
    text("""
    UPDATE interview_usage SET used = used + :count WHERE organisation_id = :organisation_id AND month = :month
    """)
)
_USED = Prepared(
    select(InterviewUsage.used).where(
        InterviewUsage.organisation_id == ANYONE.organisation_id, InterviewUsage.month == bindparam("month")
    )
)


def hold_month(session: Change, caller: Caller) -> int:
    """Take the month's place in the order of locks (store.database.locks); return how many were made in it."""
    return int(_LOCK.first(session, caller, month=month()).used) if caller.livemode else 0


def take(session: Change, caller: Caller, count: int) -> tuple[int, int]:
    """Take up to `count` of the month's live interviews; test mode costs nothing.

    Returns how many were granted, and how many were used before. The month's row stays locked until the commit.
    """
    if not caller.livemode:
        return count, 0
    used, limit = hold_month(session, caller), caller.plan.interviews
    granted = count if limit is None else max(0, min(count, limit - used))
    if granted:
        _USE.run(session, caller, month=month(), count=granted)
    return granted, used


def give_back(session: Change, caller: Caller, count: int) -> None:
    """Give back what was taken in this transaction and not needed after all."""
    if caller.livemode and count:
        _USE.run(session, caller, month=month(), count=-count)


def used(means: Means, caller: Caller) -> int:
    """Count this month's live interviews."""
    found = _USED.first(means, caller, month=month())
    return int(found.used) if found else 0


def left(means: Means, caller: Caller) -> int | None:
    """Return how many interviews the caller may still make this month; None where there is no end."""
    if not caller.livemode or caller.plan.interviews is None:
        return None
    return max(0, caller.plan.interviews - used(means, caller))
