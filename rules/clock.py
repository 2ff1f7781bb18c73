"""The time of day, in one place."""

from datetime import UTC, datetime


def now() -> datetime:
    """Return the present moment as an aware UTC datetime."""
    return datetime.now(UTC)


def iso(moment: datetime) -> str:
    """Write a moment as ISO 8601 UTC with milliseconds, ending in Z."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
