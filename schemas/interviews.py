"""What interviews and their templates look like outside: in answers and events, and frozen into a room."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from marshmallow import Schema, fields

from rules import interviews as rules
from rules import links
from schemas import interview_mails
from schemas.fields import Moment, Resource, Show, Stamped
from schemas.showing import show


class Item(Stamped):
    """A room as lists show it."""

    org_id = fields.UUID(attribute="organisation_id")
    title = fields.String()
    mode = fields.Constant("org")
    status = fields.String()
    interview_type = fields.String()
    interviewer_mode = fields.String()
    human_can_join = fields.Boolean()
    voice_mode = fields.Boolean()
    active_language = fields.String()
    time_limit_minutes = fields.Integer()
    scheduled_at = Moment()
    started_at = Moment()
    ended_at = Moment()
    candidate_joined_at = Moment()
    interviewer_joined_at = Moment()
    candidate_id = fields.UUID(allow_none=True)
    candidate_name = fields.String()
    candidate_email = fields.String()
    candidate_token = fields.String()
    candidate_url = fields.Function(lambda room: links.interview(room.candidate_token))
    interviewer_url = fields.Function(
        lambda room: links.interview(room.interviewer_token) if room.human_can_join else None
    )
    identity_match = fields.String()
    candidate_session_id = fields.UUID(allow_none=True)
    target_role = fields.String()
    target_company = fields.String()
    difficulty = fields.String()
    pipeline_enrollment_id = fields.UUID(allow_none=True)
    template_id = fields.UUID(allow_none=True)
    send_invite = fields.Boolean()
    mail_error = fields.String(allow_none=True)
    analysis_status = fields.String()
    livemode = fields.Boolean()


class Long(Schema):
    """What a room says of itself beside that."""

    integrity_config = fields.Raw(allow_none=True)
    whiteboard_snapshot = fields.Raw(allow_none=True)
    job_description = fields.String()
    resume_text = fields.String()
    session_metadata = fields.Raw()
    consent_at = Moment()
    consent_text = fields.String(allow_none=True)


class Question(Resource):
    """One question of a room."""

    title = fields.String()
    platform_case_id = fields.UUID(allow_none=True)
    source = fields.String()
    question_type = fields.String()
    body = fields.String()
    starter_code = fields.String()
    solution = fields.String()
    expected_answer = fields.String()
    hints = fields.Raw(allow_none=True)
    difficulty = fields.String()
    order = fields.Integer(attribute="position")
    is_active = fields.Boolean()
    current_code = fields.String()
    current_language = fields.String()


class _Interviewer(Schema):
    user_id = fields.UUID()
    name = fields.String()
    email = fields.String()


class _Outcome(Schema):
    recommendation = fields.String()
    comment = fields.String(attribute="outcome_comment")
    by = fields.String(attribute="outcome_by")
    at = Moment(attribute="outcome_at")


class Event(Schema):
    """The data of every interview event."""

    interview_id = fields.UUID(attribute="id")
    title = fields.String()
    status = fields.String()
    interview_type = fields.String()
    interviewer_mode = fields.String()
    candidate_email = fields.String()
    candidate_name = fields.String()
    scheduled_at = Moment()
    started_at = Moment()
    ended_at = Moment()


class _Template(Stamped):
    title = fields.String()
    livemode = fields.Boolean()


class _Task(Resource):
    title = fields.String()
    task_type = fields.String(attribute="case_type")
    difficulty = fields.String()


_item: Show = show(Item())
_long: Show = show(Long())
question: Show = show(Question())
_interviewer: Show = show(_Interviewer())
_outcome: Show = show(_Outcome())
_event: Show = show(Event())
_template: Show = show(_Template())
task: Show = show(_Task())


def item(room: Any) -> dict[str, Any]:
    """Show a room as lists do."""
    return _item(room) | _linked(room.linked)


def detail(
    room: Any,
    *,
    questions: Iterable[Any],
    messages: Iterable[Any],
    interviewers: Iterable[Any],
    linked: Any | None,
) -> dict[str, Any]:
    """Show a room with all that is in it."""
    return {
        **_item(room),
        **_linked(linked),
        **_long(room),
        "outcome": _outcome(room) if room.recommendation else None,
        "interviewers": [_interviewer(one) for one in interviewers],
        "questions": [question(one) for one in questions],
        "messages": [message(one) for one in messages],
    }


def _linked(assessment: Any | None) -> dict[str, Any]:
    slug, title = (assessment.slug, assessment.title) if assessment else (None, None)
    return {"linked_assessment_title": title, "linked_assessment_slug": slug}


def message(event: Any) -> dict[str, Any]:
    """Show a message, which is an event of its room."""
    return {
        "id": str(event.id),
        "sender_role": event.actor,
        "sender_name": event.actor_name,
        "content": event.data.get("content", ""),
        "source": event.data.get("source", ""),
        "cancelled": event.data.get("cancelled", False),
        "created_at": Moment.written(event.at),
    }


def interview_event(interview: Any) -> dict[str, Any]:
    """Show what an event tells of a room; an enrollment only where there is one."""
    told = _event(interview)
    if interview.pipeline_enrollment_id is not None:
        told["pipeline_enrollment_id"] = str(interview.pipeline_enrollment_id)
    return told


def analysis_event(interview: Any) -> dict[str, Any]:
    """Show what is told of an interview once its analysis is ready, or has failed."""
    found = interview.analysis or {}
    return {
        **interview_event(interview),
        "overall_score": found.get("overall_score"),
        "report_status": interview.analysis_status,
        "summary": found.get("summary") or "",
    }


def template(row: Any) -> dict[str, Any]:
    """Show a template: its settings as a room would have them."""
    settings = rules.settings({}, row.settings)
    lists = {name: list(settings[name]) for name in ("coding_case_ids", "questions", "interviewers")}
    return {**_template(row), **settings, **lists}


def share(room: Any, token: str, link: Any) -> dict[str, Any]:
    """Show a link to look at a room, which is shown this once."""
    return {
        "token": token,
        "url": links.shared_interview(token),
        "expires_at": Moment.written(link.expires_at),
        "room_id": str(room.id),
    }


def analysis(room: Any) -> dict[str, Any]:
    """Show what was made of a room; before that, that nothing was."""
    found = room.analysis or {}
    return {
        "room_id": str(room.id),
        "status": room.analysis_status,
        "summary": found.get("summary"),
        "scores": found.get("scores", {}),
        "overall_score": found.get("overall_score"),
        "signals": found.get("signals", {}),
    }


def replay(room: Any, events: Sequence[Any]) -> dict[str, Any]:
    """Show what happened in a room, in order, with how long after the beginning."""
    offsets, duration = rules.offsets(events, room.started_at, room.ended_at)
    return {
        "room_id": str(room.id),
        "duration_ms": duration,
        "events": [
            {"offset_ms": offset, "kind": one.kind, "actor": one.actor, "data": one.data}
            for offset, one in zip(offsets, events, strict=True)
        ],
        "recording_url": None,
    }


# --- What is frozen into a room


def question_of_case(case: Any, *, language: str) -> dict[str, Any]:
    """Return the columns of a question that a case is, as it stands."""
    written = case.language or language
    return {
        "title": case.title,
        "platform_case_id": case.id,
        "source": "case",
        "question_type": case.case_type,
        "body": "\n\n".join(part for part in (case.question or case.description, _options(case)) if part),
        "starter_code": case.starter_code,
        "solution": "",
        "expected_answer": _expected(case),
        "hints": None,
        "difficulty": case.difficulty,
        "current_code": case.starter_code,
        "current_language": written,
    }


def _options(case: Any) -> str:
    return "\n".join(f"- {one['text']}" for one in case.options)


def _expected(case: Any) -> str:
    right = [one["text"] for one in case.options if one.get("is_correct")]
    number = [] if case.answer_number is None else [str(case.answer_number)]
    return "\n".join([*right, *case.accepted_answers, *number])


def question_in_words(question: Mapping[str, Any], *, language: str) -> dict[str, Any]:
    """Return the columns of a question in one's own words."""
    starter = question.get("starter_code", "")
    return {
        "title": question.get("title", ""),
        "platform_case_id": None,
        "source": "manual",
        "question_type": question.get("question_type", "text"),
        "body": question.get("body", ""),
        "starter_code": starter,
        "solution": question.get("solution", ""),
        "expected_answer": question.get("expected_answer", ""),
        "hints": question.get("hints"),
        "difficulty": question.get("difficulty", ""),
        "current_code": starter,
        "current_language": language,
    }


interview_mail = interview_mails.interview_mail
