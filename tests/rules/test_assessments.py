"""How assessments move, and what plans allow of them."""

import itertools

import pytest

from rules import assessments
from rules.errors import AssessmentLimitReached, CasesLocked, Invalid, LimitReached, PlanRequired
from rules.plans import PLANS

STATUSES = ("draft", "active", "archived")
ALLOWED = {("draft", "active"), ("active", "archived"), ("draft", "archived"), ("archived", "active")}


@pytest.mark.parametrize(("status", "wanted"), list(itertools.product(STATUSES, repeat=2)))
def test_the_moves_are_those_of_the_table(status: str, wanted: str) -> None:
    if status == wanted:
        assert assessments.move(status, wanted) is None
    elif (status, wanted) in ALLOWED:
        move = assessments.move(status, wanted)
        assert move
        assert move.target == wanted
    else:
        with pytest.raises(Invalid) as refused:
            assessments.move(status, wanted)
        assert refused.value.details == {"status": status}


@pytest.mark.parametrize("setting", assessments.GATED)
def test_a_gated_setting_needs_growth_only_where_it_is_switched_on(setting: str) -> None:
    with pytest.raises(PlanRequired) as refused:
        assessments.check_plan(PLANS["starter"], {setting: True})
    assert refused.value.details["required_plan"] == "growth"
    assessments.check_plan(PLANS["starter"], {setting: False})
    assessments.check_plan(PLANS["starter"], {})
    for plan in ("growth", "enterprise"):
        assessments.check_plan(PLANS[plan], {setting: True})


def test_there_is_room_up_to_the_plans_number() -> None:
    assessments.check_room(PLANS["starter"], 14)
    for used in (15, 16):
        with pytest.raises(AssessmentLimitReached) as refused:
            assessments.check_room(PLANS["starter"], used)
        assert refused.value.details == {"limit": 15, "used": used}
    assessments.check_room(PLANS["enterprise"], 1_000_000)


@pytest.mark.parametrize(("plan", "limit"), [("starter", 30), ("growth", 60), ("enterprise", 200)])
def test_an_assessment_has_as_many_cases_as_its_plan(plan: str, limit: int) -> None:
    assessments.check_cases(PLANS[plan], limit)
    with pytest.raises(LimitReached) as refused:
        assessments.check_cases(PLANS[plan], limit + 1, used=limit)
    assert refused.value.details == {"limit": limit, "used": limit}


def test_cases_stand_once_they_are_locked() -> None:
    assessments.check_unlocked(locked=False)
    with pytest.raises(CasesLocked):
        assessments.check_unlocked(locked=True)
