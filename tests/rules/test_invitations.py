"""Who may be invited, cancelled and reminded, and when."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules import invitations
from rules.errors import (
    AlreadyCompleted,
    AlreadyStarted,
    AssessmentNotActive,
    Invalid,
    InvitationExpired,
    InviteQuotaExceeded,
    ReminderCooldown,
)
from rules.events import EVENTS

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.mark.parametrize("status", ["draft", "archived"])
def test_only_active_assessments_take_invitations(status: str) -> None:
    invitations.check_active("active")
    with pytest.raises(AssessmentNotActive) as refused:
        invitations.check_active(status)
    assert refused.value.details == {"status": status}


def test_a_quota_of_which_nothing_is_left_refuses() -> None:
    invitations.check_quota(500, 499, 1)
    invitations.check_quota(None, 10_000, 1)
    with pytest.raises(InviteQuotaExceeded) as refused:
        invitations.check_quota(500, 500, 0)
    assert refused.value.details == {"limit": 500, "used": 500}


def test_what_was_begun_is_not_cancelled() -> None:
    for status in ("pending", "expired"):
        invitations.check_cancel(status)
    for status, refusal in (("started", AlreadyStarted), ("completed", AlreadyCompleted)):
        with pytest.raises(refusal):
            invitations.check_cancel(status)


@pytest.mark.parametrize(("status", "expires", "reminded", "refusal"), [
    ("pending", DAY, None, None), ("started", DAY, None, None), ("started", -DAY, None, None),
    ("pending", timedelta(0), None, InvitationExpired), ("pending", -DAY, None, InvitationExpired),
    ("expired", -DAY, None, InvitationExpired), ("expired", DAY, None, InvitationExpired),
    ("completed", DAY, None, AlreadyCompleted), ("completed", -DAY, DAY, AlreadyCompleted),
    ("pending", DAY, timedelta(0), ReminderCooldown), ("pending", DAY, DAY - timedelta(microseconds=1),
    ReminderCooldown),
    ("pending", DAY, DAY, None), ("started", DAY, timedelta(hours=1), ReminderCooldown),
])  # fmt: skip
def test_a_reminder_goes_to_whom_it_can_help_and_once_a_day(
    status: str, expires: timedelta, reminded: timedelta | None, refusal: Any
) -> None:
    def check() -> None:
        invitations.check_remind(
            status,
            expires_at=NOW + expires,
            reminded_at=None if reminded is None else NOW - reminded,
            now=NOW,
        )

    if refusal is None:
        check()
    else:
        with pytest.raises(refusal):
            check()


def normal(text: str) -> str | None:
    return text.strip() if "@" in text else None


EMAILS = st.sampled_from(["a@x", "A@X", " b@x ", "c@x", "STRASSE@x", "straße@x", "nobody", "", "  ", None])
ROWS = st.lists(
    st.fixed_dictionaries(
        {"name": st.just("N"), "role": st.just("R")},
        optional={"email": EMAILS, "external_id": st.sampled_from(["one", "two", None])},
    ),
    max_size=12,
)


@given(
    rows=ROWS, emails=st.sets(st.sampled_from(["a@x", "c@x"])), references=st.sets(st.sampled_from(["one"]))
)
def test_everybody_is_invited_once_or_skipped_with_the_reason(
    rows: list[dict[str, Any]], emails: set[str], references: set[str]
) -> None:
    wanted, skipped = invitations.sift(rows, (emails, references), normal)
    assert len(wanted) + len(skipped) == len(rows)
    addresses = [row["email"].casefold() for row in wanted]
    assert len(set(addresses)) == len(addresses)
    assert not set(addresses) & emails
    named = [row["external_id"] for row in wanted if row["external_id"] is not None]
    assert len(set(named)) == len(named)
    assert not set(named) & references
    reasons = {"missing_email": (None, "", "  "), "invalid_email": ("nobody",)}
    for row in skipped:
        assert row["email"] in reasons.get(row["reason"], (row["email"],))
        assert row["reason"] in {*reasons, "already_invited"}
    # The first of two who are the same is the one that is invited.
    first = {normal(row["email"]).casefold(): row for row in reversed(rows) if normal(row.get("email") or "")}  # type: ignore[union-attr]
    for row in wanted:
        assert row["email"].casefold() in first


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (None, None), ("", ""), ("nobody", "nobody"), ("x" * 300, "x" * 254),
        (7, "7"), (True, "true"), (["ä"], '["ä"]'), ({"a": None}, '{"a": null}'),
    ],
)  # fmt: skip
def test_what_stood_where_an_address_should_is_shown_as_it_was_sent(given: Any, shown: str | None) -> None:
    assert invitations.shown(given) == shown


def test_the_events_of_the_moves_are_in_the_catalogue() -> None:
    assert {move.event for move in invitations.MOVES.values() if move.event} <= set(EVENTS)


@pytest.mark.parametrize("status", ["pending", "started", "completed", "expired"])
def test_a_state_says_what_may_be_changed(status: str) -> None:
    everything = {"expires_at", "extra_time_percent", "name", "role", "tags"}
    allowed = {"pending": everything, "started": {"extra_time_percent"}}.get(status)
    for name in sorted(everything):
        change = {name: NOW + DAY if name == "expires_at" else "x"}
        if allowed is not None and name in allowed:
            invitations.check_update(status, change, NOW)
        else:
            with pytest.raises(Invalid) as refused:
                invitations.check_update(status, change, NOW)
            assert refused.value.details["status"] == status


@pytest.mark.parametrize(
    ("expires_at", "good"),
    [(NOW, False), (NOW + timedelta(seconds=1), True), (NOW + 365 * DAY, True), (NOW + 366 * DAY, False)],
)
def test_an_invitation_expires_within_a_year(expires_at: datetime, good: bool) -> None:
    if good:
        invitations.check_update("pending", {"expires_at": expires_at}, NOW)
        return
    with pytest.raises(Invalid) as refused:
        invitations.check_update("pending", {"expires_at": expires_at}, NOW)
    assert refused.value.details["fields"][0]["pointer"] == "/expires_at"


@pytest.mark.parametrize("status", ["pending", "started", "completed", "expired"])
def test_what_has_expired_is_reopened_and_what_is_completed_taken_again(status: str) -> None:
    for wanted, act in (("expired", invitations.reopen), ("completed", invitations.check_retake)):
        if status == wanted:
            act(status, "ada@example.com", "active")
            with pytest.raises(Invalid, match="erased"):
                act(status, "", "active")
            with pytest.raises(AssessmentNotActive):
                act(status, "ada@example.com", "archived")
        else:
            with pytest.raises(Invalid) as refused:
                act(status, "ada@example.com", "active")
            assert refused.value.details == {"status": status}
