"""Results: what a reviewer may settle, and what settles a result."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Protocol, TypeVar

from rules.errors import Invalid

# What a result says until there is one.
WAITING = {
    "pending": "The candidate has not started yet.",
    "started": "The candidate is taking the assessment.",
    "expired": "The invitation expired before the candidate started.",
}


LONGEST_OUTPUT = 4 * 1024  # of a test, in bytes, that is kept
LONGEST_MESSAGE = 1_000


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
