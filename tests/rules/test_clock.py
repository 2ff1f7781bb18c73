"""Moments are written in one way."""

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from rules.clock import iso

ZONES = st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30)), timezone(timedelta(hours=-11))])
# Hypothesis takes its bounds without a zone.
FIRST, LAST = datetime(1, 1, 2), datetime(9999, 12, 30)  # noqa: DTZ001
MOMENTS = st.datetimes(FIRST, LAST, timezones=ZONES)


@given(MOMENTS)
def test_a_moment_is_utc_to_the_millisecond_and_ends_in_z(moment: datetime) -> None:
    assert iso(moment) == moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
