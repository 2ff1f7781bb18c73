"""How assessments move, and what plans allow of them."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from rules import plans
from rules.errors import AssessmentLimitReached, CasesLocked, LimitReached
from rules.moves import Move, take
from rules.plans import Plan

# By the status asked for.
MOVES = {
    "active": Move({"draft", "archived"}, "active"),
    "archived": Move({"draft", "active"}, "archived"),
    "draft": Move(set(), "draft"),
}

# Settings that need more than the starter plan.
GATED = {
    "screen_recording_enabled": "screen_recording",
    "webcam_recording_enabled": "webcam_recording",
    "pool_mode": "pool_mode",
    "team_id": "squads",
}

# Paths of the contract that a slug must not hide.
RESERVED_SLUGS = {"create"}


def move(status: str, wanted: str) -> Move | None:
    """Say how an assessment gets the status that a PATCH wants, or refuse; None where it has it already."""
    return None if wanted == status else take(MOVES, wanted, status)


def check_plan(plan: Plan, settings: Mapping[str, Any]) -> None:
    """Refuse settings that the plan does not include."""
    plans.require_for(plan.name, settings, GATED)


def check_room(plan: Plan, used: int) -> None:
    """Refuse one assessment more than the plan has."""
    if plan.assessments is not None and used >= plan.assessments:
        raise AssessmentLimitReached(limit=plan.assessments, used=used)


def check_unlocked(*, locked: bool) -> None:
    """Refuse to change the cases once a candidate has started."""
    if locked:
        raise CasesLocked


def check_cases(plan: Plan, count: int, *, used: int = 0) -> None:
    """Refuse to have more cases than the plan has; `used` is how many are attached now."""
    if count > plan.cases:
        raise LimitReached(limit=plan.cases, used=used)


def is_same(there: Sequence[Any], wanted: Sequence[Mapping[str, Any]]) -> bool:
    """Say whether the cases of an assessment are wanted as they are."""
    return [(str(row.case_id), row.order, row.weight, row.time_limit_minutes) for row in there] == [
        (
            str(one["case_id"]),
            one.get("order", number),
            round(Decimal(str(one.get("weight", 1))), 2),
            one.get("time_limit_minutes"),
        )
        for number, one in enumerate(wanted)
    ]
