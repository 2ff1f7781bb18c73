"""What a session looks like: to its candidate, and in events.

The candidate's view is built from named fields, never by leaving fields out: what is not listed here stays inside.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

import rules.sessions
from rules import decimals, links
from rules.clock import iso
from rules.results import printable
from schemas.markdown import to_html, to_line

# --- To the candidate ---------------------------------------------------------------------------------------


def show(sitting: Any, cases: Sequence[Any]) -> dict[str, Any]:
    """Show a sitting (store.assessing.sessions.Sitting) to its candidate; cases and answers while it runs only."""
    invitation, session, status = sitting.invitation, sitting.session, sitting.status
    shown = {
        "status": status,
        "assessment": _assessment(invitation.assessment, invitation.extra_time_percent, session),
        "organisation": {"name": sitting.organisation_name},
        "candidate_name": invitation.name,
        "livemode": invitation.livemode,
        "expires_at": iso(invitation.expires_at),
        "started_at": moment(session and session.started_at),
        "deadline_at": moment(session and session.deadline_at),
        "completed_at": moment(session and session.completed_at),
        "server_time": iso(sitting.moment),
    }
    return shown | {"cases": [_case(case) for case in cases]} if status == "started" else shown


def _assessment(assessment: Any, extra_time_percent: int, session: Any | None) -> dict[str, Any]:
    limit, allowed = rules.sessions.own_time(
        assessment.time_limit_minutes,
        extra_time_percent,
        began=session and session.started_at,
        deadline=session and session.deadline_at,
    )
    drawn = (assessment.pool_mode and assessment.assignment_size) or assessment.case_count
    return {
        "title": assessment.title,
        "description": assessment.description,
        "time_limit_minutes": limit,
        "extra_time_percent": extra_time_percent,
        "time_allowed_seconds": None if allowed is None else int(allowed.total_seconds()),
        "case_count": min(drawn, assessment.case_count),
        "rules": {
            "enforce_fullscreen": assessment.enforce_fullscreen,
            "copy_paste_disabled": assessment.copy_paste_disabled,
            "focus_reported": assessment.enforce_fullscreen or assessment.copy_paste_disabled,
        },
    }


def _case(case: Any) -> dict[str, Any]:
    content = case.content
    return {
        "assessment_case_id": str(case.assessment_case_id),
        "case_order": case.case_order,
        "title": content["title"],
        "title_html": to_line(content["title"]),
        "case_type": content["case_type"],
        "difficulty": content["difficulty"],
        "question": content["question"],
        "question_html": to_html(content["question"]),
        "options": [
            {"id": one["id"], "text": one["text"], "text_html": to_line(one["text"])}
            for one in content["options"]
        ],
        "allow_multiple": content["allow_multiple"],
        "language": case.code_language,
        "languages": rules.sessions.languages(content),
        "starter_code": content["starter_code"],
        "test_cases": [
            {
                "input": test["input"],
                "expected_output": test["expected_output"],
                "checked": bool(test.get("check")),
            }
            for test in visible_tests(content)
        ],
        "points": content["points"],
        "time_limit_minutes": content["time_limit_minutes"],
        "answer": case.answer[0] if case.answer else None,
        "saved_at": moment(case.saved_at),
    }


def saved(saved_at: datetime, deadline_at: datetime | None) -> dict[str, Any]:
    """Confirm a save, with the deadline as it is by now."""
    return {"saved_at": iso(saved_at), "deadline_at": moment(deadline_at)}


def visible_tests(content: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the tests of a case's content that its candidate may see."""
    return [test for test in content["test_cases"] if test.get("hidden") is False]


def run(tests: Sequence[dict[str, Any]], runs: Sequence[Any], verdicts: Sequence[Any]) -> dict[str, Any]:
    """Show how the candidate's code did on each input, and where it went wrong; nothing is expected of one's own."""
    return {
        "available": True,
        "results": [
            {
                "input": test["input"],
                "expected_output": test["expected_output"],
                "stdout": printable(one.stdout),
                "stderr": printable(one.stderr),
                "outcome": one.outcome,
                "passed": None if test["expected_output"] is None else verdict.passed is True,
                "judged": verdict.passed is not None,
                "message": printable(verdict.message),
                "difference": verdict.difference and _printable(verdict.difference),
                "checked": bool(test.get("check")),
                "exit_code": one.exit_code if one.exit_code is not None and one.exit_code >= 0 else None,
                "time_ms": one.time_ms,
            }
            for test, one, verdict in zip(tests, runs, verdicts, strict=True)
        ],
    }


def waiting(place: int | None) -> dict[str, Any]:
    """Show where a program is: in the queue, at work, or nowhere that is known."""
    state = "idle" if place is None else "waiting" if place else "running"
    return {"state": state, "place": place or None}


def _printable(difference: Mapping[str, Any]) -> dict[str, Any]:
    return {name: printable(one) if isinstance(one, str) else one for name, one in difference.items()}


def violation(violation: Any) -> dict[str, Any]:
    """Confirm an integrity signal to the candidate's browser."""
    return {
        "violation_type": violation.violation_type,
        "case_order": violation.case_order,
        "occurred_at": iso(violation.occurred_at),
    }


# --- In events (contract: the shared fields, then what each adds) -------------------------------------------


def event(session: Any) -> dict[str, Any]:
    """Return the data of assessment.started and .completed; the row comes with its invitation and assessment."""
    invitation, assessment = session.invitation, session.invitation.assessment
    data = {
        "session_id": str(session.id),
        "assessment_id": str(assessment.id),
        "assessment_slug": assessment.slug,
        "assessment_title": assessment.title,
        "candidate_email": invitation.email,
        "candidate_name": invitation.name,
        "invite_token": invitation.token,
        "started_at": iso(session.started_at),
        "completed_at": moment(session.completed_at),
    }
    return data if invitation.external_id is None else data | {"external_id": invitation.external_id}


def outcome_event(session: Any) -> dict[str, Any]:
    """Return the data of candidate.passed and candidate.failed: the session's, and how it was graded."""
    return event(session) | {
        "score": _decimal(session.score),
        "max_score": _decimal(session.max_score),
        "score_percentage": _decimal(session.score_percentage),
        "passed": session.passed,
        "report_url": links.report(session.invitation.token),
    }


def violation_event(session: Any, violation: Any) -> dict[str, Any]:
    """Return the data of candidate.violation; the case is null where the signal belongs to none."""
    return event(session) | {
        "violation_type": violation.violation_type,
        "case_order": violation.case_order,
        "occurred_at": iso(violation.occurred_at),
        "violation_counts": dict(session.violation_counts),
    }


def moment(moment: Any) -> str | None:
    """Write a moment, or None."""
    return None if moment is None else iso(moment)


def _decimal(number: Decimal | None) -> str | None:
    return None if number is None else decimals.written(number)
