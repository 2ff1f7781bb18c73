"""A candidate's report as a page: all that a result says but the recordings."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from rules import decimals, links
from rules import results as rules
from schemas import recordings
from schemas.fields import Moment
from schemas.markdown import to_html, to_line

LONGEST = 2_000  # of what a test read and printed; the result has it all


def share(token: str, expires_at: Any) -> dict[str, Any]:
    """Show a link to look at a report, which is shown this once."""
    return {"token": token, "url": links.shared_report(token), "expires_at": Moment.written(expires_at)}


def page(
    sitting: Any, cases: Sequence[Any], signals: Sequence[Any], percentile: int | None
) -> dict[str, Any]:
    """Show a completed session to people."""
    played = recordings.playback(sitting, cases, signals, [])
    return {
        "candidate": sitting.invitation.name or sitting.invitation.email,
        "email": sitting.invitation.email,
        "role": sitting.invitation.role,
        "title": sitting.invitation.assessment.title,
        "passed": sitting.passed,
        "score": _number(sitting.score),
        "max_score": _number(sitting.max_score),
        "percentage": _number(sitting.score_percentage),
        "passing_score": sitting.passing_score,
        "percentile": percentile,
        "started_at": Moment.written(sitting.started_at),
        "seconds": sitting.time_spent_seconds,
        "needs_review": sitting.integrity_review_status is not None,
        "skills": [{"tag": tag, "share": share} for tag, share in rules.skills(cases)],
        "cases": [_case(one) for one in cases],
        "ended": recordings.clock(int((sitting.completed_at - sitting.started_at).total_seconds() * 1000)),
        "happened": sorted(played["answers"] + played["violations"], key=lambda one: one["at_ms"]),
    }


def _case(case: Any) -> dict[str, Any]:
    content, answer = case.content, case.answer[0] if case.answer else None
    return {
        "order": case.case_order,
        "title_html": to_line(content["title"]),
        "question_html": to_html(content["question"]),
        "kind": content["case_type"],
        "status": case.status or "pending_review",
        "score": _number(case.score),
        "max_score": _number(case.max_score),
        "seconds": case.time_spent_seconds,
        "language": case.code_language if content["case_type"] == "coding" else None,
        "answer": _answer(content, answer),
        "rubric": content["rubric"],
        "comment": case.comment,
        "tests": [
            _test(number, test, went)
            for number, (test, went) in enumerate(
                zip(content["test_cases"], case.tests or (), strict=False), start=1
            )
        ],
    }


def _answer(content: dict[str, Any], answer: Any) -> str | list[str] | None:
    """Write an answer: a text, or of a choice the options that were chosen, as HTML."""
    if answer is None or content["case_type"] != "mcq":
        return None if answer is None else str(answer)
    chosen = answer if isinstance(answer, list) else [answer]
    return [to_line(one["text"]) for one in content["options"] if one["id"] in chosen]


def _test(number: int, test: dict[str, Any], went: dict[str, Any]) -> dict[str, Any]:
    return {
        "number": number,
        "passed": went["passed"],
        "hidden": test.get("hidden") is not False,
        "message": went["message"],
        "time_ms": went["time_ms"],
        "input": _cut(test["input"]),
        "expected_output": _cut(test["expected_output"]),
        "output": _cut(went["output"]),
    }


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _number(value: Decimal | None) -> Decimal | None:
    """Round what is shown, without zeros that say nothing."""
    return None if value is None else Decimal(decimals.plain(decimals.cents(value)))
