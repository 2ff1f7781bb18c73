from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.retries import DELAYS, Outcome, asked_for, judge, next_attempt

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def verdict(outcome, *, attempts=1, failing_since=None):
    return judge(outcome, attempts=attempts, failing_since=failing_since, now=NOW, spread=Random(1))


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_any_2xx_is_success(status):
    assert verdict(Outcome(status)).status == "delivered"


@pytest.mark.parametrize("status", [301, 302, 307, 308, 400, 401, 404, 409, 429, 500, 503, None])
def test_anything_else_is_tried_again(status):
    assert verdict(Outcome(status)).status == "pending"


@given(st.integers(min_value=1, max_value=9), st.integers())
def test_waits_follow_the_schedule_with_a_fifth_of_jitter(attempts, seed):
    wait = (next_attempt(attempts, NOW, spread=Random(seed)) - NOW).total_seconds()
    assert DELAYS[attempts] * 0.8 - 0.001 <= wait <= DELAYS[attempts] * 1.2 + 0.001


def test_the_schedule_is_the_published_one():
    minute, hour = 60, 3600
    hours = [2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour]
    assert list(DELAYS) == [0, 5, 5 * minute, 30 * minute, *hours]


def test_the_tenth_failure_is_the_last():
    assert verdict(Outcome(500), attempts=9).status == "pending"
    last = verdict(Outcome(500), attempts=10)
    assert (last.status, last.next_attempt_at) == ("failed", None)


def test_gone_disables_at_once_and_the_delivery_waits():
    gone = verdict(Outcome(410), attempts=10)
    assert gone.status == "pending"
    assert "410" in gone.disabled_reason


def test_five_days_of_failures_disable():
    assert verdict(Outcome(500), failing_since=NOW - timedelta(days=4, hours=23)).disabled_reason is None
    assert verdict(Outcome(500), failing_since=NOW - timedelta(days=5)).disabled_reason


def test_success_never_disables():
    assert verdict(Outcome(200), failing_since=NOW - timedelta(days=9)).disabled_reason is None


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120),
        (" 120 ", 120),
        ("Sun, 01 Mar 2026 12:10:00 GMT", 600),
        ("Sun, 01 Mar 2026 12:10:00 -0000", 600),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0),
        ("999999", 86_400),
        ("9" * 400, 86_400),
        ("Sun, 01 Mar 2099 12:10:00 GMT", 86_400),
        ("-5", 0),
        ("1.5", 0),
        ("soon", 0),
        ("٣", 0),
        ("", 0),
        (None, 0),
    ],
)
def test_retry_after_is_read_in_both_forms_up_to_a_day(header, seconds):
    assert asked_for(header, NOW).total_seconds() == seconds


def test_retry_after_lengthens_a_wait_and_never_shortens_it():
    assert verdict(Outcome(503, retry_after="3600")).next_attempt_at == NOW + timedelta(hours=1)
    assert verdict(Outcome(503, retry_after="0")).next_attempt_at >= NOW + timedelta(seconds=4)
