"""What a case of each type needs."""

from collections.abc import Mapping
from typing import Any

from rules.errors import Invalid


def check(case: Mapping[str, Any]) -> None:
    """Refuse a case that could not be answered or graded, every fault at once."""
    faults = [
        {"pointer": pointer, "message": message}
        for pointer, message, bad in _CHECKS.get(case["case_type"], lambda _: [])(case)
        if bad
    ]
    if faults:
        raise Invalid(fields=faults)


def _mcq(case: Mapping[str, Any]) -> list[tuple[str, str, bool]]:
    options = case["options"]
    correct = [option for option in options if option["is_correct"]]
    ids = [option["id"] for option in options]
    return [
        ("/options", "A multiple-choice case needs at least two options.", len(options) < 2),
        ("/options", "At least one option must be correct.", bool(options) and not correct),
        ("/options", "Option ids must differ.", len(set(ids)) < len(ids)),
        (
            "/allow_multiple",
            "Several options are correct, so several must be allowed.",
            len(correct) > 1 and not case["allow_multiple"],
        ),
    ]


def _numeric(case: Mapping[str, Any]) -> list[tuple[str, str, bool]]:
    tolerance = case["tolerance"]
    return [
        ("/answer_number", "A numeric case needs its answer.", case["answer_number"] is None),
        ("/tolerance", "Must be at least 0.", tolerance is not None and tolerance < 0),
    ]


def _coding(case: Mapping[str, Any]) -> list[tuple[str, str, bool]]:
    tests = case["test_cases"]
    return [
        ("/language", "A coding case needs its language.", case["language"] is None),
        ("/test_cases", "A coding case needs at least one test.", not tests),
        (
            "/test_cases",
            "At least one test must count.",
            bool(tests) and not any(test["weight"] for test in tests),
        ),
    ]


_CHECKS = {"mcq": _mcq, "numeric": _numeric, "coding": _coding}

# What the checks read of a case.
CHECKED = ("case_type", "options", "allow_multiple", "answer_number", "tolerance", "language", "test_cases")
