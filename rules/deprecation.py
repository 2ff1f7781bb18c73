"""What answers of an operation say that is going to go (RFC 9745, RFC 8594)."""

from datetime import UTC, date, datetime
from email.utils import format_datetime

# In between an operation works as before.
SHORTEST_DAYS = 365


def notices(deprecated_at: str, sunset_at: str, page: str) -> dict[str, str]:
    """Return the headers: since when it is deprecated, after when it may be gone, and where that is explained.

    Days are ISO 8601 and begin at midnight UTC.
    """
    return {
        "Deprecation": f"@{int(_midnight(deprecated_at).timestamp())}",
        "Sunset": format_datetime(_midnight(sunset_at), usegmt=True),
        "Link": f'<{page}>; rel="deprecation"',
    }


def _midnight(day: str) -> datetime:
    return datetime.combine(date.fromisoformat(day), datetime.min.time(), UTC)
