"""What a case of each type needs."""

import ast
import threading
from collections.abc import Mapping
from typing import Any

from rules.errors import Invalid
from rules.words import say

MOST_CHECKS = 20_000  # characters of the checks of a case; reading them holds up the whole process


def check(case: Mapping[str, Any]) -> None:
    """Refuse a case that could not be answered or graded, every fault at once."""
    faults = [
        {"pointer": pointer, "message": message}
        for pointer, message, bad in (*_CHECKS.get(case["case_type"], lambda _: [])(case), _choice(case))
        if bad
    ]
    if faults:
        raise Invalid(fields=faults)


def _choice(case: Mapping[str, Any]) -> tuple[str, str, bool]:
    if case["case_type"] != "coding":
        return ("/languages", "Only a coding case has languages.", bool(case["languages"]))
    bad = bool(case["languages"]) and case["language"] not in case["languages"]
    return ("/languages", "The case's language must be one of its languages.", bad)


def _mcq(case: Mapping[str, Any]) -> list[tuple[str, str, bool]]:
    options = case["options"]
    correct = [option for option in options if option["is_correct"]]
    ids = [option["id"] for option in options]
    return [
        ("/options", say("A multiple-choice case needs at least two options."), len(options) < 2),
        ("/options", say("At least one option must be correct."), bool(options) and not correct),
        ("/options", "Option ids must differ.", len(set(ids)) < len(ids)),
        (
            "/allow_multiple",
            say("Several options are correct, so several must be allowed."),
            len(correct) > 1 and not case["allow_multiple"],
        ),
    ]


def _numeric(case: Mapping[str, Any]) -> list[tuple[str, str, bool]]:
    tolerance = case["tolerance"]
    return [
        ("/answer_number", say("A numeric case needs its answer."), case["answer_number"] is None),
        ("/tolerance", say("Must be at least 0."), tolerance is not None and tolerance < 0),
    ]


def _coding(case: Mapping[str, Any]) -> list[tuple[str, str, bool]]:
    tests = case["test_cases"]
    checks = {test["check"]: number for number, test in reversed(list(enumerate(tests))) if test.get("check")}
    too_long = sum(map(len, checks)) > MOST_CHECKS
    return [
        ("/language", say("A coding case needs its language."), case["language"] is None),
        ("/test_cases", say("A coding case needs at least one test."), not tests),
        (
            "/test_cases",
            say("At least one test must count."),
            bool(tests) and not any(test["weight"] for test in tests),
        ),
        ("/test_cases", f"The checks may have {MOST_CHECKS:,} characters together.", too_long),
        *(
            (f"/test_cases/{number}/check", fault, True)
            for text, number in reversed(checks.items())
            if not too_long and (fault := _fault_of_check(text))
        ),
    ]


# Threads that read programs at the same time break Python 3.11's reader ("recursion depth mismatch").
_reading = threading.Lock()


def _fault_of_check(text: str) -> str:
    """Say why a check could not be used; empty if it could. It is read, never run."""
    try:
        with _reading:
            found = ast.parse(text)
    except SyntaxError as error:
        return f"The check is not Python: {error.msg} (line {error.lineno})."
    except (ValueError, RecursionError, MemoryError):
        return "The check is not Python that can be read."
    named = [one for one in found.body if isinstance(one, ast.FunctionDef) and one.name == "check"]
    if not named:
        return "The check must define a function check(input, output, expected_output)."
    takes = named[-1].args
    many = len(takes.posonlyargs) + len(takes.args)
    least = many - len(takes.defaults)
    if (
        least > 3
        or (many < 3 and not takes.vararg)
        or len(takes.kwonlyargs) > sum(one is not None for one in takes.kw_defaults)
    ):
        return "The function check must take three arguments: input, output and expected_output."
    return ""


_CHECKS = {"mcq": _mcq, "numeric": _numeric, "coding": _coding}

# What the checks read of a case.
CHECKED = (
    *("case_type", "options", "allow_multiple", "answer_number", "tolerance"),
    *("language", "languages", "test_cases"),
)
