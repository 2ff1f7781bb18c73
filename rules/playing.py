"""Playing a candidate: answers that are worth as much of a session's points as somebody wishes."""

import json
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Protocol

from rules import decimals, grading

Content = Mapping[str, Any]
OUTCOMES: Mapping[str, int] = {"pass": 100, "fail": 0, "abandon": 100}
WORDS = "I would measure first, change one thing, and measure again."


class Case(Protocol):
    """A case of a session, with what is right."""

    @property
    def case_order(self) -> int: ...  # noqa: D102
    @property
    def content(self) -> Content: ...  # noqa: D102
    @property
    def max_score(self) -> Decimal: ...  # noqa: D102


@dataclass(frozen=True)
class Played:
    """An answer, and in which language where it is a program; None leaves the case out."""

    answer: Any = None
    language: str | None = None
    score: Decimal | None = Decimal(0)  # what it is to be worth where a person says so; None: nobody does

    def said(self) -> dict[str, Any]:
        """Return what is saved of it; nothing where the case is left out."""
        language = {"language": self.language} if self.language else {}
        return {} if self.answer is None else {"answer": self.answer, **language}


def percentage(asked: Mapping[str, Any]) -> int:
    """Return the share of the points that somebody wishes."""
    return int(asked.get("score", OUTCOMES.get(asked.get("outcome", ""), 100)))


def given(answers: Iterable[Mapping[str, Any]]) -> dict[int, Played]:
    """Return answers that somebody has written themselves, by the order of their cases."""
    return {one["case_order"]: Played(one["answer"], one.get("language"), None) for one in answers}


def reviews(cases: Iterable[Mapping[str, Any]], played: Mapping[int, Played]) -> list[dict[str, Any]]:
    """Return what a person says of those cases of a result that wait for one."""
    waiting = [one["case_order"] for one in cases if one["status"] == "pending_review"]
    scores = {order: played[order].score for order in waiting}
    return [
        {"case_order": order, "score": str(score)} for order, score in scores.items() if score is not None
    ]


def play(cases: Sequence[Case], percentage: Decimal | int) -> dict[int, Played]:
    """Return for each case, by its order, what comes to such a share of all points, or to the next below that.

    Whole cases are right or not, the largest first; an answer that a person judges is worth any score.
    """
    left = sum((case.max_score for case in cases), Decimal(0)) * Decimal(percentage) / 100
    played: dict[int, Played] = {}
    for case in sorted(cases, key=lambda one: (_is_judged(one.content), -one.max_score, one.case_order)):
        if _is_judged(case.content):
            played[case.case_order] = Played(
                _anything(case.content), score=decimals.cents(min(case.max_score, left))
            )
        elif case.max_score <= left and (right := _right(case.content)):
            played[case.case_order] = replace(right, score=case.max_score)
        else:
            played[case.case_order] = _wrong(case.content)
        left -= played[case.case_order].score or 0
    return played


def _is_judged(content: Content) -> bool:
    return grading.needs_a_person(content)


def _anything(content: Content) -> Any:
    return next((one["id"] for one in content["options"]), None) if content["case_type"] == "mcq" else WORDS


def _right(content: Content) -> Played | None:
    if content["case_type"] == "coding":
        return _program(content)
    if content["case_type"] == "mcq":
        right = [one["id"] for one in content["options"] if one.get("is_correct")]
        return Played(right if content["allow_multiple"] else right[0])
    if content["case_type"] == "numeric":
        return Played(str(content["answer_number"]))
    return Played(content["accepted_answers"][0])


def _wrong(content: Content) -> Played:
    if content["case_type"] == "mcq":
        wrong = [one["id"] for one in content["options"] if not one.get("is_correct")][:1]
        return Played((wrong if content["allow_multiple"] else wrong[0]) if wrong else None)
    if content["case_type"] == "numeric":
        number = decimals.read(content["answer_number"]) or Decimal(0)
        return Played(str(number + 2 * abs(decimals.read(content.get("tolerance") or 0) or Decimal(0)) + 1))
    # A text that is not the wanted one waits for a person, and a program takes a place: neither is answered.
    return Played()


def _program(content: Content) -> Played | None:
    """Return a program that knows what each test expects; None where a function judges, or no language is known."""
    tests = content.get("test_cases") or []
    known = {test["input"]: test["expected_output"] for test in tests}
    for language in (content["language"], *(content.get("languages") or [])):
        if language in _PROGRAMS and tests and not any(test.get("check") for test in tests):
            return Played(_PROGRAMS[language](known), language)
    return None


def _python(known: Mapping[str, str]) -> str:
    return f"import sys\nprint({dict(known)!r}[sys.stdin.read()], end='')\n"


def _javascript(known: Mapping[str, str]) -> str:
    return f"process.stdout.write({json.dumps(known)}[require('fs').readFileSync(0, 'utf8')]);\n"


def _bash(known: Mapping[str, str]) -> str:
    arms = (
        f"  {shlex.quote(given)}) printf %s {shlex.quote(expected)};;" for given, expected in known.items()
    )
    return "\n".join(['IFS= read -r -d "" given', 'case "$given" in', *arms, "esac", ""])


_PROGRAMS: Mapping[str, Callable[[Mapping[str, str]], str]] = {
    "python": _python,
    "javascript": _javascript,
    "bash": _bash,
}
