"""The time of day, in one place."""

from datetime import UTC, datetime


def now() -> datetime:
    """Return the present moment as an aware UTC datetime."""
    return datetime.now(UTC)


def iso(moment: datetime) -> str:
    """Write a moment as ISO 8601 UTC with milliseconds, ending in Z."""
    utc = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    return utc.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
