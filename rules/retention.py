"""How long what is held is kept."""

from collections.abc import Mapping
from datetime import timedelta

from rules.errors import Invalid

EVENTS_DAYS = 30  # at most, and unless an organisation says less; deliveries and finished work too
RECORDINGS_DAYS = 90
KEPT = timedelta(days=EVENTS_DAYS)


def check(days: Mapping[str, int | None]) -> None:
    """Refuse a promise that would come to nothing: there are no recordings whose time could be set."""
    if days.get("recordings", RECORDINGS_DAYS) != RECORDINGS_DAYS:
        raise Invalid.at(
            "/retention_days/recordings",
            f"Cannot be changed yet: nothing is recorded so far. Recordings will be kept for {RECORDINGS_DAYS} days.",
        )
