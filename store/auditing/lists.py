"""The log as a key sees it: its organisation's rows of its mode, and those of no mode."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any

from sqlalchemy import DateTime, Text, bindparam, func, select, text
from sqlalchemy.orm import aliased

from rules.caller import Caller
from store.accounts.keys import ApiKey
from store.auditing import rows
from store.auditing.rows import MODES, AuditChain, AuditRow
from store.database import listing
from store.database.base import ANYONE
from store.database.engine import Reading
from store.database.ids import first_id
from store.database.pages import containing

SEARCHED = 100_000  # of an organisation's newest rows
EXPORTED = 10_000  # rows of an export

_SINCE, _UNTIL = (bindparam(name, type_=DateTime(timezone=True)) for name in ("since", "until"))
# What holds a text is looked for among the newest rows alone: no index finds a part of one. Numbers have no gaps, so
# that the first row to look at is found by its own.
_SEARCHABLE = aliased(AuditRow)
_FIRST_SEARCHED = (
    select(_SEARCHABLE.id)
    .join(AuditChain, AuditChain.organisation_id == _SEARCHABLE.organisation_id)
    .where(
        _SEARCHABLE.organisation_id == ANYONE.organisation_id,
        _SEARCHABLE.number == func.greatest(1, AuditChain.number - SEARCHED + 1),
    )
    .scalar_subquery()
)
_SEARCHED = func.lower(
    AuditRow.action
    + " "
    + func.coalesce(AuditRow.resource_id, "")
    + " "
    + func.coalesce(AuditRow.request_id, "")
)
_FILTERS = {
    "action": listing.equals(AuditRow.action, skewed=True),
    "channel": listing.equals(AuditRow.channel, skewed=True),
    "outcome": listing.equals(AuditRow.outcome, skewed=True),
    # An id begins with the moment of its row, in ms.
    "since": listing.Filter((AuditRow.id >= first_id(_SINCE)) & (AuditRow.occurred_at >= _SINCE)),
    "until": listing.Filter(
        (AuditRow.id < first_id(_UNTIL + timedelta(milliseconds=1))) & (AuditRow.occurred_at < _UNTIL)
    ),
    "search": listing.Filter(
        _SEARCHED.like(func.lower(bindparam("search", type_=Text())), escape="/")
        & (AuditRow.id >= _FIRST_SEARCHED),
        read=containing,
        instead={"": None},
        skewed=True,
    ),
}
_SHOWN = [column for column in AuditRow.__table__.columns if column.name not in ("hash", "duration_ms")]
_BESIDE: dict[str, listing.Beside] = {"key": (lambda page: ApiKey.id == page.c.actor_id, (ApiKey.name,))}


def _sifted(column: Any, name: str) -> listing.Filter:
    return listing.Filter(column == bindparam(name), skewed=True, sifting=True)


# Sealed rows, the newest first: a list for each mode, since each has indexes of its own.
LISTS = {
    mode: listing.Listing(
        select(*_SHOWN).where(AuditRow.organisation_id == ANYONE.organisation_id, text(where)),
        {"-id": (AuditRow.id,)},
        _FILTERS,
        _BESIDE,
    )
    for mode, where in MODES.items()
}

# Those of requests by a key: an index of each mode has all that filters ask for.
_LOOKED_FOR = {
    "status": _sifted(AuditRow.status_code, "status"),
    "code": _sifted(AuditRow.error_code, "code"),
    "operation": _sifted(AuditRow.action, "operation"),
    "key_id": _sifted(AuditRow.actor_id, "key_id"),
    "since": _FILTERS["since"],
    "until": _FILTERS["until"],
}
_WEEK = AuditRow.id >= first_id(func.now() - timedelta(days=7))
REQUESTS = {
    mode: listing.Listing(
        select(*_SHOWN, AuditRow.duration_ms).where(
            AuditRow.organisation_id == ANYONE.organisation_id,
            text(where),
            text(rows.REQUESTS),
            _WEEK,
        ),
        {"-id": (AuditRow.id,)},
        _LOOKED_FOR,
        _BESIDE,
    )
    for mode, where in MODES.items()
}


def batches(
    readings: Callable[[], AbstractContextManager[Reading]], caller: Caller, **query: Any
) -> Iterator[Sequence[Any]]:
    """Give the newest rows that meet the filters, up to the length of an export."""
    return LISTS[caller.livemode].batches(readings, caller, EXPORTED, **query)
