"""What is known of people, and when two of them are one."""

from collections.abc import Iterable
from uuid import UUID

from rules.errors import Invalid

# Where a profile says it came from, until somebody says better.
SOURCES = {
    "public_careers": "Careers page",
    "public_api": "API",
    "manual": "Added by hand",
    "import": "Import",
    "invitation": "Invitation",
    "enrollment": "Pipeline",
    "interview": "Interview",
}

MOST_SHOWN = 20  # notes and scorecards of a profile, the newest


def unite(*groups: Iterable[str]) -> list[str]:
    """Return every tag once, in the order in which they were first met."""
    return list(dict.fromkeys(tag for tags in groups for tag in tags))


def check_merge(survivor: UUID, source: UUID) -> None:
    """Refuse to merge a profile with itself."""
    if survivor == source:
        raise Invalid.at("/source_id", "Names the candidate itself.")
