"""The time of day, in one place."""

from datetime import UTC, date, datetime, time, timedelta


def now() -> datetime:
    """Return the present moment as an aware UTC datetime."""
    return datetime.now(UTC)


def month() -> date:
    """Return the first day of the present month, by which use is counted."""
    return now().date().replace(day=1)


def cycle() -> tuple[datetime, datetime]:
    """Return when the present month began and when the next one begins, at 00:00 UTC."""
    first = month()
    following = (first + timedelta(days=32)).replace(day=1)
    return datetime.combine(first, time(), UTC), datetime.combine(following, time(), UTC)


def iso(moment: datetime) -> str:
    """Write a moment as ISO 8601 UTC with milliseconds, ending in Z."""
    utc = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    # In half of the time of isoformat, which asks for the offset; an f-string formats each number by a call.
    return "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ" % (  # noqa: UP031
        utc.year, utc.month, utc.day, utc.hour, utc.minute, utc.second, utc.microsecond // 1000
    )  # fmt: skip
