"""The engine's table: every kind of stage by every signal and status; when a stage is tried again; who is enrolled."""

from datetime import UTC, datetime

import pytest

from rules import enrollments as rules
from rules.errors import Invalid

# signal -> status -> what it does; what is not here is refused.
EXPECTED = {
    "passed": {"active": "advance", "on_hold": "remember", "passed": "nothing", "rejected": "nothing"},
    "failed": {"active": "reject", "on_hold": "remember", "passed": "nothing", "rejected": "nothing"},
    "advance": {"active": "advance"},
    "reject": {"active": "reject", "on_hold": "reject"},
    "hold": {"active": "hold", "on_hold": "nothing"},
    "unhold": {"on_hold": "unhold"},
}


@pytest.mark.parametrize("status", rules.STATUSES)
@pytest.mark.parametrize("signal", [*rules.OUTCOMES, *rules.BY_HAND])
@pytest.mark.parametrize("stage", rules.STAGE_TYPES)
def test_the_whole_table(stage: str, signal: str, status: str) -> None:
    effect = EXPECTED[signal].get(status)
    if stage == "manual_review" and signal in rules.OUTCOMES:
        effect = "nothing"
    if effect is None:
        with pytest.raises(Invalid) as refusal:
            rules.effect(stage, signal, status)
        assert refusal.value.details == {"status": status}
    else:
        assert rules.effect(stage, signal, status) == effect


def test_what_an_effect_moves_is_allowed_from_there() -> None:
    moves = {name: move.sources for name, move in rules.MOVES.items()}
    for (_, _, status), effect in rules.TABLE.items():
        assert effect not in moves or status in moves[effect]


def test_no_verdict_is_no_outcome() -> None:
    assert [rules.outcome(verdict) for verdict in (True, False, None)] == ["passed", "failed", None]


@pytest.mark.parametrize(
    ("moment", "again"),
    [
        ("2026-11-21T10:15", "2026-11-21T11:15"),
        ("2026-11-30T23:00", "2026-12-01T00:00"),
        ("2026-11-30T23:20", "2026-12-01T00:00"),
        ("2026-12-31T23:59", "2027-01-01T00:00"),
        ("2027-01-31T22:59", "2027-01-31T23:59"),
    ],
)
def test_a_stage_is_tried_again_in_an_hour_or_as_the_month_turns(moment: str, again: str) -> None:
    at = datetime.fromisoformat(moment).replace(tzinfo=UTC)
    assert rules.retry_at(at) == datetime.fromisoformat(again).replace(tzinfo=UTC)


def test_rows_are_divided_with_their_reasons() -> None:
    def row(email: object = None) -> dict[str, object]:
        return {"email": email, "name": " Ada "}

    rows = [
        row("Ada@example.com"), row("ada@EXAMPLE.com"), row("grace@example.com"), row(), row("  "), row("nobody"),
        row(7), {"name": ""},
    ]  # fmt: skip
    wanted, skipped, errors = rules.sift(rows, lambda text: text if "@" in text else None)
    assert wanted == [
        {"email": one, "candidate_name": "Ada"} for one in ("Ada@example.com", "grace@example.com")
    ]
    assert skipped == [{"email": "ada@EXAMPLE.com", "reason": "already_enrolled"}]
    assert [(one["email"], one["code"]) for one in errors] == [
        (None, "missing_email"), ("  ", "missing_email"), ("nobody", "invalid_email"), ("7", "invalid_email"),
        (None, "missing_email"),
    ]  # fmt: skip
    assert all(one["message"] for one in errors)


def test_a_long_address_is_cut_in_its_error() -> None:
    assert len(rules.error("x" * 300, "invalid_email")["email"]) == 254
