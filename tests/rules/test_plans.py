"""What each plan includes."""

import json

import pytest

from rules import assessments, plans
from rules.errors import PlanRequired

TABLE = {
    "starter": (500, 15, 30, 5, 20, 5, 500, 100),
    "growth": (1_000, 50, 60, 25, 100, 15, 2_000, 400),
    "enterprise": (None, None, 200, None, None, None, 10_000, 2_000),
}


@pytest.mark.parametrize("name", plans.RANKS)
def test_the_numbers_are_those_of_the_table(name: str) -> None:
    plan = plans.PLANS[name]
    numbers = (plan.invites, plan.assessments, plan.cases, plan.open_jobs, plan.interviews, plan.seats)
    assert (*numbers, plan.reads, plan.writes) == TABLE[name]


def test_the_caps_are_those_of_the_table() -> None:
    assert plans.EXTRA_CAPS == {
        "bulk_invite": 20,
        "bulk_enroll": 20,
        "public_api_assistant": 30,
        "briefs": 200,
    }


@pytest.mark.parametrize("feature", plans.GATES)
def test_a_feature_belongs_to_its_plan_and_those_above(feature: str) -> None:
    lowest = plans.RANKS.index(plans.GATES[feature])
    for rank, plan in enumerate(plans.RANKS):
        assert plans.includes(plan, feature) == (rank >= lowest)
        if rank < lowest:
            with pytest.raises(PlanRequired) as refused:
                plans.require(plan, feature)
            assert refused.value.details == {"required_plan": plans.GATES[feature], "feature": feature}
        else:
            plans.require(plan, feature)


def test_what_has_no_gate_belongs_to_everybody() -> None:
    assert all(plans.includes(plan, "webhooks") for plan in plans.RANKS)


def test_every_gated_setting_has_its_gate() -> None:
    assert set(assessments.GATED.values()) <= set(plans.GATES)


def test_an_operator_changes_the_numbers_named_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "PLANS", dict(plans.PLANS))
    plans.override(json.dumps({"starter": {"invites": 50, "seats": None}}))
    assert (plans.PLANS["starter"].invites, plans.PLANS["starter"].seats) == (50, None)
    assert (plans.PLANS["starter"].cases, plans.PLANS["growth"].invites) == (30, 1_000)


@pytest.mark.parametrize(
    "text", ['{"gold": {}}', '{"starter": {"invitations": 5}}', '{"starter": {"name": "x"}}', "x"]
)
def test_an_operators_mistake_is_named(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(plans, "PLANS", dict(plans.PLANS))
    with pytest.raises(ValueError):  # noqa: PT011
        plans.override(text)
