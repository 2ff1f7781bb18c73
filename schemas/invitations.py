"""What invitations look like outside, in answers and in events."""

from typing import Any

from marshmallow import Schema, fields

from rules import links
from rules.clock import iso
from rules.sessions import time_allowed
from schemas.fields import Moment, Show
from schemas.showing import show


class _Assessment(Schema):
    slug = fields.String()
    title = fields.String()


class Invitation(Schema):
    """One invitation with its assessment."""

    invite_token = fields.String(attribute="token")
    invite_url = fields.Function(lambda invitation: links.take(invitation.token))
    email = fields.String()
    name = fields.String()
    role = fields.String()
    status = fields.String()
    external_id = fields.String(allow_none=True)
    tags = fields.List(fields.String())
    extra_time_percent = fields.Integer()
    language = fields.String(allow_none=True)
    assessment = fields.Nested(_Assessment)
    candidate_id = fields.UUID(allow_none=True)
    retake_of = fields.String(allow_none=True)
    created_at = Moment()
    updated_at = Moment()
    expires_at = Moment()
    started_at = Moment()
    completed_at = Moment()
    reminded_at = Moment()
    mail_error = fields.String(allow_none=True)


class Created(Schema):
    """What an invite answers, besides its message."""

    invite_token = fields.String(attribute="token")
    invite_url = fields.Function(lambda invitation: links.take(invitation.token))
    expires_at = Moment()
    status = fields.String()


class Event(Schema):
    """The data of invitation.created and invitation.expired."""

    invitation_id = fields.UUID(attribute="id")
    invite_token = fields.String(attribute="token")
    email = fields.String()
    candidate_name = fields.String(attribute="name")
    assessment_id = fields.UUID()
    assessment_slug = fields.String(attribute="assessment.slug")
    assessment_title = fields.String(attribute="assessment.title")
    status = fields.String()
    expires_at = Moment()
    external_id = fields.String()
    retake_of = fields.String()
    enrollment_id = fields.UUID()


detail: Show = show(Invitation())
_created: Show = show(Created())
_event: Show = show(Event())


def event(invitation: Any) -> dict[str, Any]:
    """Show an event's data; what is unset is left out, and an enrollment has two names."""
    kept = {name: value for name, value in _event(invitation).items() if value is not None}
    return kept | {"pipeline_enrollment_id": kept["enrollment_id"]} if "enrollment_id" in kept else kept


def created(invitation: Any, message: str) -> dict[str, Any]:
    """Show what an invite answers."""
    answer = _created(invitation)
    if invitation.external_id is not None:
        answer["external_id"] = invitation.external_id
    return {"message": message, **answer}


def bulk_row(invitation: Any) -> dict[str, Any]:
    """Show one invited candidate of many; made by hand, because there may be a thousand."""
    row = {
        "email": invitation.email,
        "invite_token": invitation.token,
        "invite_url": links.take(invitation.token),
    }
    return row if invitation.external_id is None else row | {"external_id": invitation.external_id}


def mail(invitation: Any, organisation_name: str, template: str) -> dict[str, Any]:
    """Write a mail about an invitation as outbox work."""
    assessment = invitation.assessment
    allowed = time_allowed(assessment.time_limit_minutes, invitation.extra_time_percent)
    return {
        "template": template,
        "invitation_id": str(invitation.id),
        "to": invitation.email,
        "to_name": invitation.name,
        "livemode": invitation.livemode,
        "organisation_name": organisation_name,
        "candidate_name": invitation.name,
        "assessment_title": assessment.title,
        "time_limit_minutes": None if allowed is None else round(allowed.total_seconds() / 60),
        "invite_url": links.take(invitation.token),
        "expires_at": iso(invitation.expires_at),
        "languages": [invitation.language, assessment.language],
    }
