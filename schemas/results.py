"""What results look like outside."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from marshmallow import Schema, fields

from rules import audit, decimals, links
from rules import results as rules
from rules.clock import iso, now
from rules.sessions import VIOLATION_TYPES
from schemas import recordings, sessions, settings
from schemas.fields import DecimalText, Moment, Show
from schemas.files import Stream
from schemas.showing import show


class Item(Schema):
    """A session as lists show it."""

    candidate_email = fields.String(attribute="invitation.email")
    candidate_name = fields.String(attribute="invitation.name")
    role = fields.Function(lambda sitting: sitting.invitation.role or None)
    status = fields.String(attribute="invitation.status")
    score_percentage = DecimalText()
    passed = fields.Boolean(allow_none=True)
    time_spent_seconds = fields.Integer(allow_none=True)
    started_at = Moment()
    completed_at = Moment()
    invite_token = fields.String(attribute="invitation.token")
    violation_counts = fields.Raw()


class _Assessment(Schema):
    slug = fields.String()
    title = fields.String()


class _Violation(Schema):
    violation_type = fields.String()
    case_order = fields.Integer(allow_none=True)
    occurred_at = Moment()


def _tests(case: Any) -> list[dict[str, Any]]:
    asked = case.content["test_cases"]
    return [
        {
            "name": f"Test {number}",
            "passed": went["passed"],
            "hidden": test.get("hidden") is not False,
            "input": test["input"],
            "expected_output": test["expected_output"],
            "output": went["output"],
            "message": went["message"],
            "time_ms": went["time_ms"],
        }
        for number, (test, went) in enumerate(zip(asked, case.tests or (), strict=False), start=1)
    ]


class _Case(Schema):
    case_order = fields.Integer()
    case_title = fields.Function(lambda case: case.content["title"])
    case_type = fields.Function(lambda case: case.content["case_type"])
    question = fields.Function(lambda case: case.content["question"] or None)
    options = fields.Function(lambda case: case.content["options"] or [])
    score = fields.Function(
        lambda case: None if case.score is None else decimals.written(decimals.cents(case.score))
    )
    max_score = DecimalText()
    # Between submission and grading a case has no grade of its own yet.
    status = fields.Function(lambda case: case.status or "pending_review")
    time_spent_seconds = fields.Integer()
    answer = fields.Function(lambda case: case.answer[0] if case.answer else None)
    answered_at = fields.Function(lambda case: Moment.written(case.saved_at) if case.answer else None)
    language = fields.String(attribute="code_language", allow_none=True)
    tests = fields.Function(_tests)
    rubric = fields.Function(lambda case: case.content["rubric"] or None)
    comment = fields.String(allow_none=True)


class _Result(Schema):
    candidate_email = fields.String(attribute="invitation.email")
    candidate_name = fields.String(attribute="invitation.name")
    assessment = fields.Nested(_Assessment, attribute="invitation.assessment")
    status = fields.String(attribute="invitation.status")
    started_at = Moment()
    completed_at = Moment()
    score = DecimalText()
    max_score = DecimalText()
    score_percentage = DecimalText()
    passed = fields.Boolean(allow_none=True)
    passing_score = fields.Integer()
    time_spent_seconds = fields.Integer(allow_none=True)
    violation_counts = fields.Raw()
    integrity_review_status = fields.String(allow_none=True)


class _Compared(Schema):
    """A candidate among others."""

    invite_token = fields.String(attribute="invitation.token")
    candidate_email = fields.String(attribute="invitation.email")
    candidate_name = fields.String(attribute="invitation.name")
    completed_at = Moment()
    score_percentage = DecimalText()
    passed = fields.Boolean(allow_none=True)
    time_spent_seconds = fields.Integer(allow_none=True)


class _ComparedCase(Schema):
    assessment_case_id = fields.String()
    case_order = fields.Integer()
    case_title = fields.Function(lambda case: case.content["title"])
    score_percentage = fields.Function(lambda case: _percent(rules.share([case])))
    time_spent_seconds = fields.Integer()


def _percent(share: Any) -> str | None:
    return None if share is None else decimals.written(decimals.cents(Decimal(share)))


def _skills(cases: Sequence[Any]) -> list[dict[str, Any]]:
    return [{"tag": tag, "score_percentage": _percent(share)} for tag, share in rules.skills(cases)]


item: Show = show(Item())
_compared, _compared_case = show(_Compared()), show(_ComparedCase())
_result, _violation = show(_Result()), show(_Violation())
case: Show = show(_Case())


def comparison(
    assessment: Any, results: Sequence[tuple[Any, Sequence[Any]]], medians: Mapping[str, Any]
) -> dict[str, Any]:
    """Show completed sessions of an assessment side by side, and the medians of all."""
    whole = medians["whole"]
    return {
        "assessment": {"slug": assessment.slug, "title": assessment.title},
        "results": [
            {**_compared(sitting), "cases": [_compared_case(one) for one in cases], "skills": _skills(cases)}
            for sitting, cases in results
        ],
        "median": {
            "of": whole.count,
            "score_percentage": _percent(whole.share),
            "cases": [
                {"assessment_case_id": str(one.assessment_case_id), "score_percentage": _percent(one.share)}
                for one in medians["cases"]
            ],
            "skills": [
                {"tag": one.tag, "score_percentage": _percent(one.share)} for one in medians["skills"]
            ],
        },
    }


def detail(
    sitting: Any,
    cases: Sequence[Any],
    violations: Sequence[Any],
    *,
    percentile: int | None,
    recorded: Sequence[dict[str, Any]],
) -> dict[str, Any]:
    """Show a completed session with its violations, case by case, and its recordings where there are any."""
    shown = {
        **_result(sitting),
        "report_url": links.report(sitting.invitation.token),
        "consent": settings.consent(sitting),
        "violation_events": [_violation(one) for one in violations],
        "cases": [case(one) for one in cases],
        "skills": _skills(cases),
        "percentile": percentile,
    }
    if sitting.recording:
        shown |= {"recording_consent": recordings.consent(sitting), "recordings": list(recorded)}
    return shown


CELLS = (
    "candidate_email", "candidate_name", "role", "status", "score_percentage", "passed", "time_spent_seconds",
    "started_at", "completed_at", "invite_token",
)  # fmt: skip


def stream(batches: Iterable[Sequence[Any]], slug: str) -> Stream:
    """Write sessions into a file to be saved, each batch when it is wanted; signals have a column for each type."""
    name = f"results-{slug}-{now():%Y-%m-%d}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "private, no-store"}
    return Stream(_csv(batches), "text/csv; charset=utf-8", headers)


def _csv(batches: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    head: list[Sequence[str]] = [(*CELLS, *VIOLATION_TYPES)]
    for rows in batches:
        written = io.StringIO()
        csv.writer(written).writerows([*head, *map(_cells, rows)])
        yield written.getvalue().encode()
        head = []


def _cells(sitting: Any) -> list[str]:
    shown = item(sitting)
    counts = shown["violation_counts"]
    return [
        audit.cell(one)
        for one in (*map(shown.get, CELLS), *(counts.get(kind, 0) for kind in VIOLATION_TYPES))
    ]


outcome_event = sessions.outcome_event


def notice(sitting: Any, member: Any, organisation_name: str) -> dict[str, Any]:
    """Write a mail to a member about a completed session as outbox work."""
    invitation = sitting.invitation
    return {
        "template": "completion",
        "to": member.email,
        "to_name": member.name,
        "livemode": sitting.livemode,
        "organisation_name": organisation_name,
        "candidate_name": invitation.name,
        "candidate_email": invitation.email,
        "assessment_title": invitation.assessment.title,
        "score_percentage": decimals.written(sitting.score_percentage),
        "passed": sitting.passed,
        "waiting": sitting.settled_at is None,
        "completed_at": iso(sitting.completed_at),
    }
