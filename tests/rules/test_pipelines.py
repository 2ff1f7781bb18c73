"""What pipelines are made of, and what may change of them."""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest

from rules import pipelines
from rules.errors import Invalid, PlanRequired, StagesLocked
from rules.plans import PLANS


@dataclass
class Assessment:
    status: str = "active"
    id: UUID = field(default_factory=uuid4)


@dataclass
class Stage:
    stage_type: str = "manual_review"
    label: str = ""
    assessment_id: UUID | None = None
    interview_template_id: UUID | None = None
    pass_score_override: Decimal | None = None
    id: UUID = field(default_factory=uuid4)


ACTIVE, ARCHIVED = Assessment(), Assessment("archived")
FOUND = {"active": ACTIVE, str(ACTIVE.id): ACTIVE, "archived": ARCHIVED}
REVIEW = {"stage_type": "manual_review"}
TEST = {"stage_type": "assessment", "assessment_slug": "active"}


def faults(given: list[dict[str, Any]], there: tuple[Stage, ...] = ()) -> list[str]:
    with pytest.raises(Invalid) as refused:
        pipelines.restage(given, FOUND, there)
    return [one["pointer"] for one in refused.value.details["fields"]]


def test_stages_are_kept_as_they_are_meant() -> None:
    stand, [test, review] = pipelines.restage(
        [TEST | {"pass_score_override": Decimal("70.126")}, REVIEW], FOUND
    )
    assert stand == 0
    assert test == {
        "stage_type": "assessment",
        "label": "",
        "assessment_id": ACTIVE.id,
        "interview_template_id": None,
        "pass_score_override": Decimal("70.13"),
    }
    assert review["assessment_id"] is review["pass_score_override"] is None


@pytest.mark.parametrize(("orders", "sorted_to"), [
    ((None, None, None), "012"), ((2, 1, 0), "210"), ((9, None, 3), "120"), ((1, None, None), "012"),
])  # fmt: skip
def test_stages_are_sorted_by_their_order(orders: tuple[int | None, ...], sorted_to: str) -> None:
    given = [
        REVIEW | {"label": str(place)} | ({} if order is None else {"order": order})
        for place, order in enumerate(orders)
    ]
    _, kept = pipelines.restage(given, {})
    assert "".join(one["label"] for one in kept) == sorted_to


def test_faults_are_told_where_the_request_has_them_whatever_the_order() -> None:
    archived = {"stage_type": "assessment", "assessment_slug": "archived", "order": 0}
    assert faults([REVIEW | {"order": 5}, archived]) == ["/stages/1/assessment_slug"]
    assert faults([REVIEW | {"order": 5}, REVIEW | {"order": 5}]) == ["/stages/1/order"]
    assert faults([TEST | {"assessment_id": uuid4()}]) == ["/stages/0/assessment_id"]


@pytest.mark.parametrize("kind", ["interview", "manual_review"])
@pytest.mark.parametrize("name", pipelines.OF_ASSESSMENTS)
def test_what_belongs_to_assessments_is_no_other_stages(kind: str, name: str) -> None:
    assert faults([{"stage_type": kind, name: "active"}]) == [f"/stages/0/{name}"]
    pipelines.restage([{"stage_type": kind, name: None}], {})


def test_what_stands_unchanged_in_front_is_told_from_what_follows() -> None:
    there = (Stage("assessment", assessment_id=ACTIVE.id), Stage(), Stage(label="last"))
    last = REVIEW | {"label": "last"}
    assert pipelines.restage([TEST, REVIEW, last], FOUND, there) == (3, [])
    stand, rest = pipelines.restage([TEST, last], FOUND, there)
    assert (stand, [one["label"] for one in rest]) == (1, ["last"])
    assert pipelines.restage([TEST | {"id": there[0].id}], FOUND, there) == (1, [])
    assert pipelines.restage([REVIEW | {"id": there[1].id}], FOUND, there)[0] == 0


def test_a_locked_list_only_grows() -> None:
    there = (Stage(), Stage(label="last"))
    last = REVIEW | {"label": "last"}
    stand, rest = pipelines.restage([REVIEW, last, TEST], FOUND, there, locked=True)
    assert (stand, len(rest)) == (2, 1)
    for given in ([REVIEW], [last, REVIEW], [REVIEW, TEST, last]):
        with pytest.raises(StagesLocked):
            pipelines.restage(given, FOUND, there, locked=True)


def test_a_squad_needs_growth_only_where_one_is_named() -> None:
    with pytest.raises(PlanRequired):
        pipelines.check_plan(PLANS["starter"], {"team_id": uuid4()})
    for plan, team_id in (("starter", None), ("growth", uuid4())):
        pipelines.check_plan(PLANS[plan], {"team_id": team_id})
