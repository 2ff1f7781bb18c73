"""What a reviewer may settle."""

from dataclasses import dataclass
from decimal import Decimal

import pytest

from rules import results
from rules.errors import Invalid


@dataclass
class Case:
    case_order: int
    status: str | None = "pending_review"
    max_score: Decimal = Decimal(10)


CASES = [Case(1), Case(2, "correct"), Case(3, None), Case(4, max_score=Decimal("2.50"))]


def review(order: int, score: str = "1") -> dict[str, object]:
    return {"case_order": order, "score": Decimal(score)}


def test_each_review_finds_its_case() -> None:
    pairs = results.match(CASES, [review(4, "2.50"), review(1, "0")])
    assert [(case.case_order, one["score"]) for case, one in pairs] == [(4, Decimal("2.50")), (1, Decimal(0))]


@pytest.mark.parametrize(("reviews", "pointers"), [
    ([review(2)], ["/cases/0/case_order"]), ([review(3)], ["/cases/0/case_order"]), ([review(9)],
    ["/cases/0/case_order"]),
    ([review(1, "10.01")], ["/cases/0/score"]), ([review(1, "-0.01")], ["/cases/0/score"]),
    ([review(1), review(1)], ["/cases/1/case_order"]),
    ([review(4, "2.51"), review(1), review(2), review(9)], ["/cases/0/score", "/cases/2/case_order",
    "/cases/3/case_order"]),
])  # fmt: skip
def test_every_bad_review_is_named(reviews: list[dict[str, object]], pointers: list[str]) -> None:
    with pytest.raises(Invalid) as refused:
        results.match(CASES, reviews)
    assert [fault["pointer"] for fault in refused.value.details["fields"]] == pointers


@pytest.mark.parametrize("status", ["pending", "started", "expired"])
def test_only_what_is_completed_is_reviewed(status: str) -> None:
    results.check_reviewable("completed")
    with pytest.raises(Invalid) as refused:
        results.check_reviewable(status)
    assert refused.value.details == {"status": status}
    assert results.WAITING[status]
