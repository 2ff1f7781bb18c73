"""Spans of days, and what wants a look."""

import dataclasses

import pytest

from rules import usage
from rules.usage import Health

QUIET = Health(
    requests=1_000, faults=0, refusals={}, disabled=0, failing=0, oldest_pending_seconds=0, invite_limit=100,
    invites_used=79,
)  # fmt: skip


def test_nothing_wants_a_look_on_a_quiet_day() -> None:
    assert usage.alerts(QUIET) == []


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"faults": 10}, "ERROR_RATE_HIGH"),
        ({"disabled": 1}, "WEBHOOK_DISABLED"),
        ({"failing": 2}, "WEBHOOK_FAILING"),
        ({"oldest_pending_seconds": 301}, "DELIVERIES_LATE"),
        ({"invites_used": 80}, "INVITE_QUOTA_NEARLY_SPENT"),
        ({"refusals": {"RATE_LIMITED": 1}}, "RATE_LIMITED"),
        ({"languages_missing": ("bash",)}, "PROGRAMS_NOT_RUN"),
    ],
)
def test_what_wants_a_look_is_told(change: dict[str, object], code: str) -> None:
    [alert] = usage.alerts(dataclasses.replace(QUIET, **change))  # type: ignore[arg-type]
    assert alert["code"] == code
    assert alert["message"].endswith(".")


@pytest.mark.parametrize(
    "change",
    [
        {"faults": 9},
        {"requests": 99, "faults": 99},
        {"oldest_pending_seconds": 300},
        {"invite_limit": None, "invites_used": 10**6},
        {"refusals": {"NOT_FOUND": 10**6}},
    ],
)
def test_what_is_usual_wants_none(change: dict[str, object]) -> None:
    assert usage.alerts(dataclasses.replace(QUIET, **change)) == []  # type: ignore[arg-type]


def test_no_request_has_no_error() -> None:
    assert usage.error_rate(0, 0) == 0.0
