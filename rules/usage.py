"""Usage over a span of days, and what the health of an integration is told by."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from rules.errors import Invalid

USUAL_DAYS, MOST_DAYS = 30, 180
USUAL_DAYS_OF_A_FUNNEL = 90


def span(start: date | None, end: date | None, today: date) -> tuple[date, date]:
    """Return the first and the last day that is asked for, or refuse."""
    start, end = between(start, end, today, usual=USUAL_DAYS, names=("start", "end"))
    if (end - start).days >= MOST_DAYS:
        raise Invalid.at("/query/start", f"The span may have {MOST_DAYS} days at most.")
    return start, end


def between(
    start: date | None, end: date | None, today: date, *, usual: int, names: tuple[str, str]
) -> tuple[date, date]:
    """Return the days from one to another, up to today and so many as usual where they are left out; or refuse."""
    if end is None:
        end = today
    try:
        start = start or end - timedelta(days=usual - 1)
    except OverflowError:
        start = date.min
    if start > end:
        raise Invalid.at(f"/query/{names[0]}", f"Must not be after `{names[1]}`.")
    return start, end


def days(start: date, end: date) -> list[date]:
    """List every day of a span."""
    return [start + timedelta(days=number) for number in range((end - start).days + 1)]


@dataclass(frozen=True)
class Health:
    """What alerts are decided by: of the last 24 hours where nothing else is said."""

    requests: int
    faults: int  # answered 5xx
    refusals: Mapping[str, int]  # by code
    disabled: int  # endpoints that were switched off because they failed
    failing: int  # endpoints that nothing got through to since their last failure
    oldest_pending_seconds: int
    invite_limit: int | None
    invites_used: int
    languages_missing: tuple[str, ...] = ()  # of those that cases of active assessments are in


ERROR_RATE, LEAST_REQUESTS = 0.01, 100
LATE_SECONDS = 300
NEARLY = 0.8


def error_rate(requests: int, faults: int) -> float:
    """Return what part of requests the service itself failed: 5xx, for 4xx say what the client can mend."""
    return round(faults / requests, 6) if requests else 0.0


def alerts(health: Health) -> list[dict[str, Any]]:
    """Say in plain words what wants a look, the most urgent first."""
    limit, used = health.invite_limit, health.invites_used
    limited = health.refusals.get("RATE_LIMITED", 0)
    is_failing = error_rate(health.requests, health.faults) >= ERROR_RATE
    found = (
        (
            "ERROR_RATE_HIGH",
            is_failing and health.requests >= LEAST_REQUESTS,
            f"The service failed {health.faults} of {health.requests} requests of the last 24 hours.",
        ),
        (
            "WEBHOOK_DISABLED",
            health.disabled,
            f"{_count(health.disabled, 'endpoint')} switched off after failing for days; test it to switch it on.",
        ),
        (
            "WEBHOOK_FAILING",
            health.failing,
            f"Nothing gets through to {_count(health.failing, 'endpoint')} since the last failure.",
        ),
        (
            "DELIVERIES_LATE",
            health.oldest_pending_seconds > LATE_SECONDS,
            f"The delivery that waits longest does so since {health.oldest_pending_seconds} seconds.",
        ),
        (
            "INVITE_QUOTA_NEARLY_SPENT",
            limit is not None and used >= NEARLY * limit,
            f"{used} of the month's {limit} invitations are used.",
        ),
        (
            "RATE_LIMITED",
            limited,
            f"{_count(limited, 'request')} refused by a rate limit in the last 24 hours.",
        ),
        (
            "PROGRAMS_NOT_RUN",
            health.languages_missing,
            f"Programs in {', '.join(health.languages_missing)} wait for a person: this machine cannot run them.",
        ),
    )
    return [{"code": code, "message": message} for code, applies, message in found if applies]


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
