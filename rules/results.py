"""Results: what a reviewer may settle, and what settles a result."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Protocol, TypeVar

from rules import decimals
from rules.errors import Invalid
from rules.words import say

# What a result says until there is one.
WAITING = {
    "pending": say("The candidate has not started yet."),
    "started": say("The candidate is taking the assessment."),
    "expired": say("The invitation expired before the candidate started."),
}


LONGEST_OUTPUT = 4 * 1024  # of a test, in bytes, that is kept
LONGEST_MESSAGE = 1_000


ENOUGH = 20  # settled results of an assessment, from which on one is placed among them


class Marked(Protocol):
    """A case of a session, as far as it is counted."""

    content: dict[str, Any]
    score: Decimal | None
    max_score: Decimal


class Verdict(Protocol):
    """What is said of one run: None where the test's check failed."""

    @property
    def passed(self) -> bool | None: ...  # noqa: D102
    @property
    def message(self) -> str: ...  # noqa: D102


class Run(Protocol):
    """What a program did in one test."""

    @property
    def stdout(self) -> str: ...  # noqa: D102
    @property
    def stderr(self) -> str: ...  # noqa: D102
    @property
    def outcome(self) -> str: ...  # noqa: D102
    @property
    def time_ms(self) -> int: ...  # noqa: D102


class Case(Protocol):
    """A case of a session, as far as a review sees it."""

    case_order: int
    status: str | None
    max_score: Decimal


C = TypeVar("C", bound=Case)


def tested(run: Run, verdict: Verdict) -> dict[str, Any]:
    """Return what is kept of one test: the verdict and why, the beginning of the output, the end of its complaints."""
    complaints = run.stderr.strip()[-(LONGEST_MESSAGE - len(verdict.message) - 1) :]
    return {
        "passed": verdict.passed,
        "output": printable(run.stdout).encode()[:LONGEST_OUTPUT].decode(errors="ignore"),
        "message": printable(f"{verdict.message}\n{complaints}".strip()),
        "time_ms": run.time_ms,
    }


def printable(output: str) -> str:
    """Return what a program wrote without NUL, which no text of the service holds."""
    return output.replace("\x00", "\ufffd")


def check_reportable(status: str) -> None:
    """Refuse to report on a session that is not completed."""
    if status != "completed":
        raise Invalid("There is a report once the candidate has completed the assessment.", status=status)


def check_comparable(token: str, status: str) -> None:
    """Refuse to compare somebody who has not completed the assessment."""
    if status != "completed":
        raise Invalid(
            "Only candidates who have completed the assessment can be compared.",
            status=status,
            invite_token=token,
        )


def share(cases: Iterable[Marked]) -> Decimal | None:
    """Return the percentage of the points of some cases; None while one of them waits, and where there are none."""
    taken = list(cases)
    scores, most = [one.score for one in taken], sum((one.max_score for one in taken), Decimal())
    if not most or None in scores:
        return None
    return decimals.cents(Fraction(sum(filter(None, scores), Decimal())) / Fraction(most) * 100)


def skills(cases: Sequence[Marked]) -> list[tuple[str, Decimal | None]]:
    """Return the share of each tag's cases, in the order of the alphabet."""
    of = {
        tag: [one for one in cases if tag in one.content.get("tags", ())]
        for one in cases
        for tag in one.content.get("tags", ())
    }
    return [(tag, share(of[tag])) for tag in sorted(of)]


def percentile(count: int, below: int, equal: int) -> int | None:
    """Place a result among all of an assessment's, itself included: how many in a hundred are below it.

    Of those that equal it half are. None where there are not yet enough to say it.
    """
    if count < ENOUGH:
        return None
    return round((below + Fraction(equal, 2)) * 100 / count)


def check_reviewable(status: str) -> None:
    """Refuse to review a session that is not completed."""
    if status != "completed":
        raise Invalid("Only a completed session can be reviewed.", status=status)


def match(cases: Sequence[C], reviews: Sequence[Mapping[str, Any]]) -> list[tuple[C, Mapping[str, Any]]]:
    """Pair each review with its case, or refuse, every fault at once."""
    waiting = {case.case_order: case for case in cases}
    faults: list[dict[str, str]] = []
    pairs: list[tuple[C, Mapping[str, Any]]] = []
    for number, review in enumerate(reviews):
        case = waiting.get(review["case_order"])
        if case is None:
            fault: tuple[str, str] | None = (
                "case_order",
                "The result has no such case, or it was named before.",
            )
        else:
            fault = _fault(case, review)
        if fault:
            faults.append({"pointer": f"/cases/{number}/{fault[0]}", "message": fault[1]})
        elif case is not None:
            del waiting[case.case_order]
            pairs.append((case, review))
    if faults:
        raise Invalid(fields=faults)
    return pairs


def _fault(case: Case, review: Mapping[str, Any]) -> tuple[str, str] | None:
    if case.status != "pending_review":
        return "case_order", f"The case does not wait for review; it is {case.status or 'not graded yet'}."
    if not 0 <= review["score"] <= case.max_score:
        return "score", f"Must be from 0 to {case.max_score:.2f}."
    return None
