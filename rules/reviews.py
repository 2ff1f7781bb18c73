"""Reviews: for how long somebody has one in hand, and whose it is."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from rules.clock import iso
from rules.errors import AlreadyClaimed

CLAIMED_FOR = timedelta(minutes=15)


def check_claim(
    holder: Mapping[str, Any] | None, until: datetime | None, *, by: Mapping[str, Any], now: datetime
) -> None:
    """Refuse a review that somebody else has in hand."""
    if holder and until and until > now and holder["id"] != by["id"]:
        raise AlreadyClaimed(claimed_by=dict(holder), claimed_until=iso(until))
