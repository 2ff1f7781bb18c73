"""What a case of each type needs."""

from decimal import Decimal
from typing import Any

import pytest

from rules import cases
from rules.errors import Invalid

PLAIN: dict[str, Any] = {
    "options": [], "allow_multiple": False, "answer_number": None, "tolerance": None, "language": None,
    "languages": [], "test_cases": [],
}  # fmt: skip


def option(id: str, *, right: bool = False) -> dict[str, Any]:
    return {"id": id, "text": id, "is_correct": right}


FINE: list[dict[str, Any]] = [
    {"case_type": "text"},
    {"case_type": "mcq", "options": [option("a", right=True), option("b")]},
    {
        "case_type": "mcq",
        "options": [option("a", right=True), option("b", right=True)],
        "allow_multiple": True,
    },
    {"case_type": "mcq", "options": [option("a", right=True), option("b")], "allow_multiple": True},
    {"case_type": "numeric", "answer_number": Decimal(0)},
    {"case_type": "numeric", "answer_number": Decimal(-1), "tolerance": Decimal(0)},
    {"case_type": "coding", "language": "sql", "test_cases": [{"weight": 0}, {"weight": 0.5}]},
    {"case_type": "coding", "language": "go", "languages": ["java", "go"], "test_cases": [{"weight": 1}]},
]


@pytest.mark.parametrize("case", FINE, ids=lambda case: case["case_type"])
def test_a_case_with_what_its_type_needs_is_fine(case: dict[str, Any]) -> None:
    cases.check({**PLAIN, **case})


def checked(*checks: str) -> dict[str, Any]:
    tests = [{"weight": 1, "check": check} for check in checks]
    return {"case_type": "coding", "language": "bash", "test_cases": tests}


@pytest.mark.parametrize(("case", "pointers"), [
    ({"case_type": "mcq"}, ["/options"]),
    ({"case_type": "mcq", "options": [option("a", right=True)]}, ["/options"]),
    ({"case_type": "mcq", "options": [option("a"), option("b")]}, ["/options"]),
    ({"case_type": "mcq", "options": [option("a", right=True), option("a")]}, ["/options"]),
    ({"case_type": "mcq", "options": [option("a", right=True), option("b", right=True)]}, ["/allow_multiple"]),
    ({"case_type": "mcq", "options": [option("a", right=True), option("a", right=True)]}, ["/options",
    "/allow_multiple"]),
    ({"case_type": "numeric"}, ["/answer_number"]),
    ({"case_type": "numeric", "tolerance": Decimal(-1)}, ["/answer_number", "/tolerance"]),
    ({"case_type": "coding"}, ["/language", "/test_cases"]),
    ({"case_type": "coding", "language": "bash", "test_cases": [{"weight": 0}]}, ["/test_cases"]),
    (checked() | {"languages": ["go"], "test_cases": [{"weight": 1}]}, ["/languages"]),
    ({"case_type": "text", "languages": ["go"]}, ["/languages"]),
    (checked("x" * 10_000, "y" * 10_001), ["/test_cases"]),
    (checked("x" * 10_000, "y" * 10_000), ["/test_cases/0/check", "/test_cases/1/check"]),
    (checked("x" * 20_000, "x" * 20_000), ["/test_cases/0/check"]),
])  # fmt: skip
def test_every_fault_of_a_case_is_named(case: dict[str, Any], pointers: list[str]) -> None:
    with pytest.raises(Invalid) as refused:
        cases.check({**PLAIN, **case})
    assert [fault["pointer"] for fault in refused.value.details["fields"]] == pointers


def test_what_the_checks_read_is_what_a_change_brings_along() -> None:
    class Watched(dict[str, Any]):
        read: set[str] = set()  # noqa: RUF012

        def __getitem__(self, name: str) -> Any:
            self.read.add(name)
            return super().__getitem__(name)

    for case in FINE:
        cases.check(Watched({**PLAIN, **case}))
    assert Watched.read <= set(cases.CHECKED)
