"""What applicants are told of their applications, and how often the form may mail somebody."""

from datetime import UTC, datetime
from typing import Any

import pytest

from rules import applications as rules
from rules.errors import Invalid, LimitReached

THEN = datetime(2026, 11, 23, tzinfo=UTC)
NOTHING: dict[str, Any] = {
    "held_from": None, "visibility": "delayed", "mail_at": None, "mailed_at": None, "withdrawn_at": None,
}  # fmt: skip


@pytest.mark.parametrize(
    ("status", "more", "seen"),
    [
        ("submitted", {}, "in_review"),
        ("advanced", {}, "in_review"),
        ("on_hold", {"held_from": "advanced"}, "in_review"),
        ("on_hold", {"held_from": "hired"}, "hired"),
        ("on_hold", {"held_from": "withdrawn"}, "withdrawn"),
        ("knockout_failed", {}, "in_review"),
        # From before anybody was mailed of one.
        ("knockout_failed", {"visibility": "immediate"}, "in_review"),
        ("knockout_failed", {"mail_at": THEN}, "in_review"),
        ("knockout_failed", {"mailed_at": THEN}, "rejected"),
        ("on_hold", {"held_from": "knockout_failed", "mailed_at": THEN}, "rejected"),
        ("rejected", {"mail_at": THEN}, "in_review"),
        ("rejected", {"mailed_at": THEN}, "rejected"),
        ("rejected", {"mailed_at": THEN, "visibility": "hidden"}, "rejected"),
        ("rejected", {}, "rejected"),  # mailed before it was noted when
        ("rejected", {"visibility": "hidden"}, "in_review"),
        ("rejected", {"visibility": "hidden", "withdrawn_at": THEN}, "withdrawn"),
        ("withdrawn", {"withdrawn_at": THEN}, "withdrawn"),
        ("hired", {}, "hired"),
    ],
)
def test_an_applicant_sees_what_they_were_told(status: str, more: dict[str, Any], seen: str) -> None:
    assert rules.seen(status, **NOTHING | more) == seen


@pytest.mark.parametrize("seen", ["rejected", "withdrawn", "hired"])
def test_what_is_decided_stays(seen: str) -> None:
    for check in (lambda: rules.check_correct(seen, 0), lambda: rules.check_withdraw(seen)):
        with pytest.raises(Invalid) as refused:
            check()
        assert refused.value.details["status"] == seen
    rules.check_correct("in_review", rules.MOST_CORRECTIONS - 1)
    with pytest.raises(LimitReached):
        rules.check_correct("in_review", rules.MOST_CORRECTIONS)


def test_only_the_form_is_bounded_and_only_who_applied_themselves_is_mailed() -> None:
    assert rules.may_mail("public_careers", rules.MOST_MAILED)
    assert not rules.may_mail("public_careers", rules.MOST_MAILED + 1)
    assert rules.may_mail("public_api", 1_000)
    assert not rules.may_mail("import", 1)
    assert not rules.may_mail("manual", 1)


def test_a_reminder_comes_once_a_day_and_so_many_in_all() -> None:
    assert rules.may_remind(rules.MOST_MAILED - 1, 0)
    assert not rules.may_remind(rules.MOST_MAILED, 0)
    assert not rules.may_remind(1, 1)
