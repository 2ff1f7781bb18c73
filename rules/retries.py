"""When a delivery is tried again, and when an endpoint has failed for too long."""

import random
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from rules.words import say

# Seconds from one attempt to the next; the first attempt is made at once.
DELAYS = (0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400)
JITTER = 0.2
SHORTEST_RETRY_AFTER, LONGEST_RETRY_AFTER = timedelta(seconds=5), timedelta(hours=24)
DISABLED_AFTER = timedelta(days=5)
OURS = timedelta(seconds=30)  # after an attempt that we could not make
# An endpoint that was switched off is asked whether it is back: an hour later, then every day, as long as its
# deliveries are kept. One that said it is gone is not asked.
FIRST_PROBE, NEXT_PROBE, PROBES = timedelta(hours=1), timedelta(days=1), 30


class Outcome(NamedTuple):
    """What came of one attempt; without a status code the endpoint was not reached."""

    status_code: int | None = None
    response_time_ms: int | None = None
    body: str = ""  # at most 2 kB
    error: str | None = None
    retry_after: str | None = None  # the header as it came
    ours: bool = False  # a limit of our own stopped it: no attempt was made, and nothing counts

    @property
    def succeeded(self) -> bool:
        """2xx is success, and nothing else is: redirects are not followed."""
        return self.status_code is not None and 200 <= self.status_code < 300


class Verdict(NamedTuple):
    """What an outcome means for the delivery, and for its endpoint."""

    status: str  # delivered, pending, failed
    next_attempt_at: datetime | None = None
    error: str | None = None
    disabled_reason: str | None = None  # set: the endpoint is switched off


def judge(
    outcome: Outcome,
    *,
    attempts: int,
    failing_since: datetime | None,
    now: datetime,
    spread: random.Random | None = None,
) -> Verdict:
    """Say what follows from the outcome of attempt number `attempts` (from 1)."""
    if outcome.succeeded:
        return Verdict("delivered")
    error = explain(outcome)
    if outcome.ours:
        return Verdict("pending", now + OURS * (spread or random).uniform(1 - JITTER, 1 + JITTER), error)
    disabled = disabled_reason(outcome, failing_since=failing_since, now=now)
    moment = next_attempt(attempts, now, retry_after=outcome.retry_after, spread=spread)
    if disabled and moment is None:
        moment = now  # the endpoint gets its last chance when it is switched on again
    return Verdict("failed" if moment is None else "pending", moment, error, disabled)


def next_attempt(
    attempts: int, now: datetime, *, retry_after: str | None = None, spread: random.Random | None = None
) -> datetime | None:
    """Return when to try again after `attempts` attempts; None when they are used up."""
    if attempts >= len(DELAYS):
        return None
    wait = timedelta(seconds=DELAYS[attempts] * (spread or random).uniform(1 - JITTER, 1 + JITTER))
    if retry_after is not None:
        wait = min(max(wait, asked_for(retry_after, now), SHORTEST_RETRY_AFTER), LONGEST_RETRY_AFTER)
    return now + wait


def asked_for(retry_after: str, now: datetime) -> timedelta:
    """Read a Retry-After header (seconds or a date): at most 24 hours, nothing when it makes no sense."""
    text = retry_after.strip()
    try:
        if text.isascii() and text.isdigit():
            return min(timedelta(seconds=int(text.lstrip("0")[:9] or "0")), LONGEST_RETRY_AFTER)
        moment = parsedate_to_datetime(text)
        if moment.tzinfo is None:  # a date that says -0000
            moment = moment.replace(tzinfo=UTC)
        return max(timedelta(0), min(moment - now, LONGEST_RETRY_AFTER))
    except (ValueError, TypeError, OverflowError, IndexError):  # what the parser makes of mad days
        return timedelta(0)


def disabled_reason(outcome: Outcome, *, failing_since: datetime | None, now: datetime) -> str | None:
    """Say why a failure switches its endpoint off: it is gone, or nothing got through for five days."""
    if outcome.status_code == 410:
        return str(say("The endpoint answered 410 Gone."))
    if failing_since is not None and now - failing_since >= DISABLED_AFTER:
        return str(say("Every delivery failed for five days."))
    return None


def explain(outcome: Outcome) -> str:
    """Say in one line why an attempt failed."""
    if outcome.status_code is None:
        return outcome.error or "The endpoint could not be reached."
    if 300 <= outcome.status_code < 400:
        return f"The endpoint answered {outcome.status_code}; redirects are not followed."
    return f"The endpoint answered {outcome.status_code}."


def probe_after(made: int) -> timedelta | None:
    """Return how long to wait for the next probe after so many; None when there is no further one."""
    if made >= PROBES:
        return None
    return NEXT_PROBE if made else FIRST_PROBE
