from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from hypothesis import example, given
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
        ("0" * 20 + "120", 120),
        ("9" * 5_000, 86_400),
        ("", 0),
    ],
)
def test_retry_after_is_read_in_both_forms_up_to_a_day(header, seconds):
    assert asked_for(header, NOW).total_seconds() == seconds


def test_retry_after_lengthens_a_wait_and_never_shortens_it():
    assert verdict(Outcome(503, retry_after="3600")).next_attempt_at == NOW + timedelta(hours=1)
    assert verdict(Outcome(503, retry_after="0"), attempts=2).next_attempt_at >= NOW + timedelta(minutes=4)


HUGE = st.integers(min_value=0, max_value=10**30).map(str)
DATES = st.builds(
    "{}, {} {} {} {}:{}:{} {}".format,
    st.sampled_from(["Fri", "", "x"]),
    HUGE,
    st.sampled_from(["Dec", "Feb", "13"]),
    HUGE,
    HUGE,
    HUGE,
    HUGE,
    st.one_of(st.sampled_from(["GMT", "-0000", "+2359", "-9999", ""]), HUGE.map("+{}".format)),
)


@given(
    header=st.one_of(st.text(), HUGE, DATES), attempts=st.integers(1, 9), status=st.sampled_from([410, 503])
)
@example(header="Fri, 31 Dec 99999999999 23:59:59 GMT", attempts=1, status=410)
@example(header="Fri, 99999999999999999999 Dec 2026 23:59:59 GMT", attempts=1, status=410)
@example(header="Fri, 31 Dec 2026 99999999999999999999:59:59 GMT", attempts=1, status=410)
@example(header="Fri, 31 Dec 9999 23:59:59 -2359", attempts=9, status=503)
@example(header="0", attempts=1, status=503)
def test_any_retry_after_ends_in_a_wait_of_5_seconds_to_a_day_and_gone_disables(header, attempts, status):
    found = judge(Outcome(status, retry_after=header), attempts=attempts, failing_since=None, now=NOW)
    assert timedelta(seconds=5) <= found.next_attempt_at - NOW <= timedelta(hours=24)
    assert (found.disabled_reason is not None) == (status == 410)
