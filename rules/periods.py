"""Months of work: periods from month to month, overlaps counted once."""

from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from rules.decimals import cents

Period = tuple[date, date]  # first day of the first month, first day of the last month; both count


def of(position: Mapping[str, Any]) -> Period | None:
    """Read a position's `start` and `end` ("2019-03"); None where one is missing or they run backwards."""
    start, end = _month(position.get("start")), _month(position.get("end"))
    return (start, end) if start and end and start <= end else None


def months(periods: Iterable[Period]) -> int:
    """Count the months that lie in any of the periods."""
    total, reached = 0, 0
    for start, end in sorted(periods):
        first, last = _number(start), _number(end) + 1
        first = max(first, reached)
        if last > first:
            total, reached = total + last - first, last
    return total


def years(count: int) -> Decimal:
    """Turn months into years with 2 digits."""
    return cents(Decimal(count) / 12)


def _month(text: object) -> date | None:
    try:
        return date.fromisoformat(f"{text}-01") if isinstance(text, str) else None
    except ValueError:
        return None


def _number(day: date) -> int:
    return day.year * 12 + day.month - 1
