"""A candidate's report as people read it, made of what the result says; pages and PDF are of this one content."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from rules import decimals, links
from schemas.fields import Moment, Resource, Show
from schemas.markdown import to_html, to_line
from schemas.recordings import clock
from schemas.showing import show

LONGEST = 2_000  # of what a test read and printed; the result has it all

Result = Mapping[str, Any]


class Item(Resource):
    """A link to look at a report, without its token."""

    created_at = Moment()
    expires_at = Moment()


item: Show = show(Item())


def share(row: Any, token: str) -> dict[str, Any]:
    """Show a new link to look at a report; its token is shown this once."""
    return {**item(row), "token": token, "url": links.shared_report(token)}


def page(result: Result, role: str) -> dict[str, Any]:
    """Show a completed result to people."""
    began = datetime.fromisoformat(result["started_at"])

    def after(moment: str) -> dict[str, Any]:
        ms = max(0, int((datetime.fromisoformat(moment) - began).total_seconds() * 1000))
        return {"at_ms": ms, "at": clock(ms)}

    answered = [
        {**after(one["answered_at"]), "order": one["case_order"]}
        for one in result["cases"]
        if one["answered_at"]
    ]
    signalled = [
        {**after(one["occurred_at"]), "type": one["violation_type"], "order": one["case_order"]}
        for one in result["violation_events"]
    ]
    return {
        "candidate": result["candidate_name"] or result["candidate_email"],
        "email": result["candidate_email"],
        "role": role,
        "title": result["assessment"]["title"],
        "passed": result["passed"],
        "score": _number(result["score"]),
        "max_score": _number(result["max_score"]),
        "percentage": _number(result["score_percentage"]),
        "passing_score": result["passing_score"],
        "percentile": result["percentile"],
        "started_at": result["started_at"],
        "completed_at": result["completed_at"],
        "seconds": result["time_spent_seconds"],
        "needs_review": result["integrity_review_status"] is not None,
        "skills": [
            {"tag": one["tag"], "share": _number(one["score_percentage"])} for one in result["skills"]
        ],
        "cases": [_case(one) for one in result["cases"]],
        "ended": after(result["completed_at"])["at"],
        "happened": sorted(answered + signalled, key=lambda one: one["at_ms"]),
        "signals": result["violation_counts"],
    }


def _case(case: Result) -> dict[str, Any]:
    return {
        "order": case["case_order"],
        "title": case["case_title"],
        "title_html": to_line(case["case_title"]),
        "question_html": to_html(case["question"] or ""),
        "kind": case["case_type"],
        "status": case["status"],
        "score": _number(case["score"]),
        "max_score": _number(case["max_score"]),
        "seconds": case["time_spent_seconds"],
        "language": case["language"] if case["case_type"] == "coding" else None,
        "answer": answer(case),
        "rubric": case["rubric"],
        "comment": case["comment"],
        "tests": [_test(number, one) for number, one in enumerate(case["tests"], start=1)],
    }


def answer(case: Result) -> str | list[str] | None:
    """Write an answer: a text, or of a choice the options that were chosen, as HTML."""
    given = case["answer"]
    if given is None or case["case_type"] != "mcq":
        return None if given is None else str(given)
    chosen = given if isinstance(given, list) else [given]
    return [to_line(one["text"]) for one in case["options"] if one["id"] in chosen]


def _test(number: int, test: Result) -> dict[str, Any]:
    cut = {name: _cut(test[name]) for name in ("input", "expected_output", "output")}
    return {
        "number": number,
        **{name: test[name] for name in ("passed", "hidden", "message", "time_ms")},
        **cut,
    }


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _number(value: str | None) -> Decimal | None:
    """Read what is shown, without zeros that say nothing."""
    return None if value is None else Decimal(decimals.plain(Decimal(value)))
