"""Grading: what an answer to a case is worth, and what a session's answers come to."""

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any, Protocol

from rules import decimals

Content = Mapping[str, Any]  # a case as it stood at the start: case_type, options, answer_number, …

KEPT = Decimal("0.000001")  # three thirds of a point come to a point
NONE, ALL = Decimal(0), Decimal(1)


@dataclass(frozen=True)
class Grade:
    """The share of a case's points an answer earned, 0 to 1; None while a person has to judge it."""

    share: Decimal | None
    answered: bool = True

    @property
    def status(self) -> str:
        """Name the grade: correct, partial, incorrect, skipped or pending_review."""
        if self.share is None:
            return "pending_review"
        return status_of(self.share, ALL) if self.answered else "skipped"

    def score(self, max_score: Decimal) -> Decimal | None:
        """Turn the share into points, or None while it is pending."""
        return None if self.share is None else (self.share * max_score).quantize(KEPT, ROUND_HALF_UP)


PENDING = Grade(None)
SKIPPED = Grade(NONE, answered=False)


class Marked(Protocol):
    """A graded case: its score is None while it is pending review."""

    @property
    def score(self) -> Decimal | None: ...  # noqa: D102
    @property
    def max_score(self) -> Decimal: ...  # noqa: D102


@dataclass(frozen=True)
class Result:
    """What a session came to; pending cases count nothing yet, and passed is None while there are any.

    Without cases there is nothing to pass or to fail: passed is None then, too.
    """

    score: Decimal
    max_score: Decimal
    score_percentage: Decimal
    passed: bool | None


def grade(content: Content, answer: object, passed_tests: Sequence[bool | None] | None = None) -> Grade:
    """Grade one answer; passed_tests holds each test's outcome for a coding case, None if none could run.

    A test's outcome is None where its check failed: then a person judges the answer.
    """
    if _is_empty(answer):
        return SKIPPED
    if content["case_type"] == "coding":
        share = _coding(content, passed_tests)
    else:
        share = _KINDS[content["case_type"]](content, answer)
    return PENDING if share is None else Grade(share)


def needs_a_person(content: Content) -> bool:
    """Say whether no answer to a case can be graded, for it holds nothing that tells right from wrong."""
    kind = content["case_type"]
    if kind == "mcq":
        return not any(one.get("is_correct") for one in content.get("options") or [])
    return not content.get(
        {"numeric": "answer_number", "text": "accepted_answers", "coding": "test_cases"}[kind]
    )


def maximum(points: int, weight: Decimal | int = 1) -> Decimal:
    """Say how many points a case can bring in one assessment."""
    return decimals.cents(points * Decimal(weight))


def status_of(score: Decimal, max_score: Decimal) -> str:
    """Name a settled score: a reviewer's as well as the machine's."""
    if score >= max_score > 0:
        return "correct"
    return "partial" if score > 0 else "incorrect"


def total(cases: Iterable[Marked], passing_score: int | Decimal) -> Result:
    """Add up a session: percentage over the maximum, 0.00 where nothing can be earned."""
    marked = list(cases)
    scores = [case.score for case in marked]
    score = sum((value for value in scores if value is not None), NONE)
    max_score = sum((case.max_score for case in marked), NONE)
    percentage = decimals.cents(100 * score / max_score) if max_score else decimals.cents(NONE)
    passed = _reaches(score, max_score, len(marked), passing_score) if marked and None not in scores else None
    return Result(decimals.cents(score), decimals.cents(max_score), percentage, passed)


def _reaches(score: Decimal, max_score: Decimal, count: int, passing_score: int | Decimal) -> bool:
    """Say whether the exact figure is enough: 69.995 % is shown as 70.00 and is less than 70."""
    if not max_score:
        return passing_score <= 0
    lost = count * KEPT / 2  # at most, by keeping each score with six digits: three thirds are a whole
    return 100 * (score + lost) >= passing_score * max_score


def fold(text: str) -> str:
    """Bring a short text into the form in which answers are compared: NFKC, one space, no case."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    # Folding can leave a text that is no longer normalised.
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def _mcq(content: Content, answer: object) -> Decimal | None:
    options = content.get("options") or []
    right = {str(option["id"]) for option in options if option.get("is_correct")}
    if not right:
        return None
    chosen = {str(choice) for choice in answer} if isinstance(answer, list | tuple) else {str(answer)}
    if not content.get("allow_multiple"):
        return ALL if chosen == right else NONE
    wrong_options = max(1, len(options) - len(right))
    share = Decimal(len(chosen & right)) / len(right) - Decimal(len(chosen - right)) / wrong_options
    return max(NONE, share)


def _numeric(content: Content, answer: object) -> Decimal | None:
    expected, tolerance = (
        decimals.read(content.get("answer_number")),
        decimals.read(content.get("tolerance") or 0),
    )
    if expected is None or tolerance is None:
        return None
    given = decimals.read(answer)
    with localcontext(prec=100):
        # Bounds around the key, not the distance from it: comparing is exact whatever a candidate sends.
        low, high = expected - abs(tolerance), expected + abs(tolerance)
    return ALL if given is not None and low <= given <= high else NONE


def _text(content: Content, answer: object) -> Decimal | None:
    accepted = {fold(text) for text in content.get("accepted_answers") or []}
    return ALL if fold(str(answer)) in accepted else None


def _coding(content: Content, passed_tests: Sequence[bool | None] | None) -> Decimal | None:
    weights = [Decimal(str(test.get("weight", 1))) for test in content.get("test_cases") or []]
    if passed_tests is None or None in passed_tests or not weights:
        return None
    if not any(weights):
        weights = [ALL] * len(weights)
    earned = sum((weight for weight, passed in zip(weights, passed_tests, strict=True) if passed), NONE)
    return earned / sum(weights, NONE)


# A kind says the share an answer earned, or None where the case holds no key that settles it.
_KINDS: dict[str, Callable[[Content, object], Decimal | None]] = {
    "mcq": _mcq,
    "numeric": _numeric,
    "text": _text,
}


def _is_empty(answer: object) -> bool:
    if isinstance(answer, str):
        return not fold(answer)
    return answer is None or (isinstance(answer, list | tuple) and not answer)
