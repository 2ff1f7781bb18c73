"""What an interview's room looks like to those who are in it, and to who plays it again.

The candidate's view is built from named fields, never by leaving fields out: what is not listed here stays inside.
"""

from collections.abc import Sequence
from typing import Any

from rules import interviews, rooms, voice
from rules.clock import iso
from schemas.markdown import to_html

BEGUN = ("waiting", "active", "ended")  # before that nobody reads questions ahead


def show(visit: Any, questions: Sequence[Any], content: Any, *, runnable: Sequence[str]) -> dict[str, Any]:
    """Show a room (store.interviewing.visits.Visit) to the side that looks; content is that of its document."""
    one, status = visit.interview, visit.status
    inside = visit.role == "interviewer"
    asked = questions if inside or status in BEGUN else ()
    shown = {
        "role": visit.role,
        "title": one.title,
        "organisation": {"name": visit.organisation_name},
        "status": status,
        "interview_type": one.interview_type,
        "interviewer_mode": one.interviewer_mode,
        "human_can_join": one.human_can_join,
        "voice_mode": one.voice_mode,
        "voice": _voice(one, status, visit),
        "livemode": one.livemode,
        "candidate_name": one.candidate_name,
        "target_role": one.target_role,
        "target_company": one.target_company,
        "active_language": one.active_language,
        "runnable_languages": list(runnable),
        "time_limit_minutes": one.time_limit_minutes,
        "scheduled_at": moment(one.scheduled_at),
        "started_at": moment(one.started_at),
        "deadline_at": moment(one.due_at if status == "active" else None),
        "ended_at": moment(one.ended_at),
        "candidate_joined_at": moment(one.candidate_joined_at),
        "interviewer_joined_at": moment(one.interviewer_joined_at),
        "consent": consent(visit),
        "consent_at": moment(one.consent_at),
        "questions": [_question(each, content, inside=inside) for each in asked],
        "code": content.texts.get("code", ""),
        "whiteboard": {"strokes": content.strokes},
        "last_number": one.last_number,
        "server_time": iso(visit.moment),
    }
    if inside:
        shown["job_description"], shown["resume_text"] = one.job_description, one.resume_text
        shown["outcome"] = outcome(one) if one.recommendation else None
    return shown


def outcome(interview: Any) -> dict[str, Any]:
    """Show what an interview leads to."""
    return {
        "recommendation": interview.recommendation,
        "comment": interview.outcome_comment,
        "at": moment(interview.outcome_at),
    }


def consent(visit: Any) -> dict[str, Any]:
    """Show what a candidate is told, and agrees to."""
    one = visit.interview
    return rooms.consent(
        organisation=visit.organisation_name,
        ai=one.interviewer_mode != "human_only",
        voice=voice.offered(one),
    )


def _voice(one: Any, status: str, visit: Any) -> dict[str, Any]:
    """Show whether a microphone is offered, and to who may speak now by which servers browsers find each other."""
    offered = voice.offered(one)
    speaks = offered and status in ("waiting", "active")
    return {
        "offered": offered,
        "ice_servers": voice.servers(str(one.id), visit.moment) if speaks else [],
    }


def _question(question: Any, content: Any, *, inside: bool) -> dict[str, Any]:
    shown = {
        "id": str(question.id),
        "title": question.title,
        "question_type": question.question_type,
        "body": question.body,
        "body_html": to_html(question.body),
        "starter_code": question.starter_code,
        "difficulty": question.difficulty,
        "order": question.position,
        "is_active": question.is_active,
        "current_code": content.texts.get(f"code:{question.id}", question.current_code),
        "current_language": question.current_language,
    }
    if inside:
        shown["solution"], shown["expected_answer"] = question.solution, question.expected_answer
        shown["hints"] = question.hints
    return shown


def events(found: Sequence[Any], role: str) -> list[dict[str, Any]]:
    """Show a room's events to a side."""
    return [event(one) for one in found if one.kind not in rooms.HIDDEN[role]]


def event(one: Any) -> dict[str, Any]:
    """Show one event."""
    return {
        "number": one.number,
        "id": str(one.id),
        "kind": one.kind,
        "actor": one.actor,
        "actor_name": one.actor_name,
        "data": one.data,
        "at": iso(one.at),
    }


def lively(one: Any) -> dict[str, Any]:
    """Show one event to who has the document itself: without what stands in it."""
    shown = event(one)
    shown["data"] = {name: value for name, value in one.data.items() if name not in ("code", "strokes")}
    return shown


def run(language: str, result: Any) -> dict[str, Any]:
    """Show how a program ended."""
    return {
        "available": result is not None,
        "language": language,
        "outcome": result.outcome if result else None,
        "compiled": result.compiled if result else True,
        "stdout": result.stdout if result else "",
        "stderr": result.stderr if result else "",
        "time_ms": result.time_ms if result else 0,
    }


def replay(
    interview: Any, organisation_name: str, questions: Sequence[Any], found: Sequence[Any]
) -> dict[str, Any]:
    """Show what happened in a room, each thing with its offset from the first, to who has a link to look at it."""
    offsets, duration = interviews.offsets(found, interview.started_at, interview.ended_at)
    played = [
        {**event(one), "offset_ms": offset}
        for one, offset in zip(found, offsets, strict=True)
        if one.kind not in rooms.HIDDEN["candidate"]
    ]
    return {
        "title": interview.title,
        "organisation": {"name": organisation_name},
        "status": interview.status,
        "candidate_name": interview.candidate_name,
        "interview_type": interview.interview_type,
        "duration_ms": duration,
        "questions": [
            {
                "id": str(one.id),
                "title": one.title,
                "body_html": to_html(one.body),
                "starter_code": one.starter_code,
            }
            for one in questions
        ],
        "events": played,
    }


def moment(moment: Any) -> str | None:
    """Write a moment that may not have come."""
    return iso(moment) if moment else None
