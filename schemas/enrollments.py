"""What enrollments and their notes look like outside."""

from collections.abc import Iterable
from typing import Any

from marshmallow import Schema, fields

from schemas import interviews, invitations
from schemas.fields import Moment, Resource, Show, Stamped
from schemas.showing import show


class _Pipeline(Schema):
    slug = fields.String()
    title = fields.String()


class Enrollment(Stamped):
    """An enrollment with its pipeline."""

    pipeline = fields.Nested(_Pipeline)
    email = fields.String()
    candidate_name = fields.String()
    status = fields.String()
    current_stage = fields.Integer()
    rejected_at_stage = fields.Integer(allow_none=True)
    reject_reason = fields.String()
    waiting_reason = fields.String(allow_none=True)
    invite_token = fields.String(attribute="invitation.token", allow_none=True)
    livemode = fields.Boolean()
    enrolled_at = Moment()
    completed_at = Moment()


class History(Schema):
    """One thing that happened."""

    at = Moment(attribute="created_at")
    kind = fields.String()
    from_stage = fields.Integer(allow_none=True)
    to_stage = fields.Integer(allow_none=True)
    actor = fields.String()
    reason = fields.String()


class Note(Resource):
    """What somebody wrote."""

    body = fields.String()
    author = fields.String()
    author_id = fields.UUID(allow_none=True)
    created_at = Moment()


class Event(Schema):
    """The data of every pipeline event."""

    enrollment_id = fields.UUID(attribute="id")
    pipeline_id = fields.UUID()
    pipeline_slug = fields.String(attribute="pipeline.slug")
    email = fields.String()
    candidate_name = fields.String()
    status = fields.String()
    current_stage = fields.Integer()
    rejected_at_stage = fields.Integer(allow_none=True)
    reject_reason = fields.String()


_enrollment: Show = show(Enrollment())
_history: Show = show(History())
_event: Show = show(Event())
note: Show = show(Note())


def detail(enrollment: Any, history: Iterable[Any]) -> dict[str, Any]:
    """Show an enrollment with its history."""
    return _enrollment(enrollment) | {"history": [_history(one) for one in history]}


def enrolled(shown: dict[str, Any], message: str) -> dict[str, Any]:
    """Show what enrolling answers: the enrollment, beside what became of the request."""
    return {"message": message, "enrollment_id": shown["id"], **shown}


def bulk_row(enrollment: Any) -> dict[str, Any]:
    """Show one enrolled candidate of many."""
    return {"email": enrollment.email, "enrollment_id": str(enrollment.id)}


def enrollment_event(enrollment: Any, /, **more: Any) -> dict[str, Any]:
    """Show what an event tells of an enrollment."""
    return _event(enrollment) | more


invitation_event = invitations.event
interview_event = interviews.interview_event
interview_mail = interviews.interview_mail
question_of_case = interviews.question_of_case
question_in_words = interviews.question_in_words


def invitation_mail(invitation: Any, organisation_name: str) -> dict[str, Any]:
    """Write the mail that goes with a stage's invitation as outbox work."""
    return invitations.mail(invitation, organisation_name, "invitation")
