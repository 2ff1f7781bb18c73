"""What applications and their screening look like outside, in answers, events and mails."""

from collections.abc import Iterable
from typing import Any

from marshmallow import Schema, fields

from rules import decimals, links
from schemas import enrollments, interviews, invitations, settings
from schemas.fields import DecimalText, Moment, Resource, Show, Stamped
from schemas.showing import show

invitation_event = invitations.event


class Summary(Schema):
    """What screening found, in short; shown of an application."""

    status = fields.String(attribute="screening.status")
    l1_passed = fields.Boolean(attribute="screening.l1_passed", allow_none=True)
    l3_score = DecimalText()
    l3_breakdown = fields.Raw(attribute="screening.l3_breakdown")
    ai_brief = fields.String(attribute="screening.ai_brief")
    ai_red_flags = fields.Raw(attribute="screening.ai_red_flags")
    brief_error = fields.String(attribute="screening.brief_error")
    auto_advanced = fields.Boolean(attribute="screening.auto_advanced")
    screened_at = Moment(attribute="screening.screened_at")
    parse_error = fields.String(attribute="screening.parse_error")


class Profile(fields.Field[dict[str, Any]]):
    """What was read in a CV, without the CV's text, which scoring alone needs."""

    @staticmethod
    def written(value: dict[str, Any] | None) -> dict[str, Any] | None:
        """Leave out the text."""
        return None if value is None else {name: one for name, one in value.items() if name != "text"}

    def _serialize(self, value: Any, attr: str | None, obj: Any, **options: Any) -> dict[str, Any] | None:
        return self.written(value)


class Result(Summary):
    """What screening found, with the evidence."""

    application_id = fields.UUID(attribute="id")
    knockout = fields.Raw(attribute="screening.knockout")
    evidence = fields.Raw(attribute="screening.evidence")
    model_version = fields.String(attribute="screening.model_version")
    profile = Profile(attribute="screening.profile")
    ai_rationale = fields.String(attribute="screening.ai_rationale")


class Item(Stamped):
    """An application as lists show it."""

    candidate_id = fields.UUID()
    job_id = fields.UUID()
    job_slug = fields.String(attribute="job.slug")
    job_title = fields.String(attribute="job.title")
    email = fields.String()
    full_name = fields.String()
    phone = fields.String()
    status = fields.String()
    source = fields.String()
    external_id = fields.String(allow_none=True)
    invitation_id = fields.UUID(allow_none=True)
    enrollment_id = fields.UUID(allow_none=True)
    reject_reason = fields.String()
    livemode = fields.Boolean()
    submitted_at = Moment()


class Answer(Resource):
    """One answer, with the question as it was."""

    field_id = fields.UUID()
    field_key = fields.String()
    field_label = fields.String()
    field_type = fields.String()
    value_text = fields.String()
    value_number = fields.Function(lambda answer: number(answer.value_number))
    value_boolean = fields.Boolean(allow_none=True)
    value_json = fields.Raw()


class Attachment(Resource):
    """One file."""

    kind = fields.String()
    filename = fields.String()
    content_type = fields.String()
    size_bytes = fields.Integer()
    created_at = Moment()


class History(Resource):
    """One thing that happened."""

    type = fields.String()
    from_status = fields.String(allow_none=True)
    to_status = fields.String()
    actor = fields.String()
    details = fields.Raw()
    created_at = Moment()


class Event(Schema):
    """The data of every application event."""

    application_id = fields.UUID(attribute="id")
    job_id = fields.UUID()
    job_slug = fields.String(attribute="job.slug")
    email = fields.String()
    full_name = fields.String()
    status = fields.String()
    source = fields.String()
    external_id = fields.String(allow_none=True)
    team_id = fields.UUID(attribute="job.team_id", allow_none=True)
    submitted_at = Moment()


_item: Show = show(Item())
_summary: Show = show(Summary())
_answer: Show = show(Answer())
attachment: Show = show(Attachment())
_history: Show = show(History())
_event: Show = show(Event())
result: Show = show(Result())


def number(value: Any) -> str | None:
    """Write a number without the zeros that a column adds."""
    return None if value is None else decimals.plain(value)


def item(application: Any) -> dict[str, Any]:
    """Show an application as lists do."""
    return _item(application) | {"screening": _summary(application)}


def detail(
    application: Any, answers: Iterable[Any], attachments: Iterable[Any], history: Iterable[Any]
) -> dict[str, Any]:
    """Show an application with its answers, its files and its history."""
    return item(application) | {
        "source_detail": application.source_detail,
        "consent": settings.consent(application),
        "answers": [_answer(one) for one in answers],
        "attachments": [attachment(one) for one in attachments],
        "events": [_history(one) for one in history],
    }


def event(application: Any, type: str) -> dict[str, Any]:
    """Show what an event tells of an application."""
    data = _event(application)
    if type == "application.rejected":
        data["reject_reason"] = application.reject_reason
    if type == "application.screened":
        summary = _summary(application)
        names = ("status", "l1_passed", "l3_score", "auto_advanced")
        data["screening"] = {name: summary[name] for name in names}
    return data


enrollment_event = enrollments.enrollment_event
invitation_mail = enrollments.invitation_mail
interview_event = interviews.interview_event
interview_mail = interviews.interview_mail
question_of_case = interviews.question_of_case
question_in_words = interviews.question_in_words


def rejection_mail(application: Any, organisation_name: str) -> dict[str, Any]:
    """Write the mail that tells of a rejection as outbox work; the reason is not for the candidate."""
    mail = _mail("rejection", application, application.job, organisation_name)
    return mail | {"own_text": application.job.rejection_text}


def status_mail(kind: str, application: Any, organisation_name: str, token: str) -> dict[str, Any]:
    """Write a mail with the link to an applicant's own page as outbox work: that it has arrived, or had before."""
    mail = _mail(kind, application, application.job, organisation_name)
    return mail | {"status_url": links.application(token)}


def _mail(template: str, application: Any, job: Any, organisation_name: str) -> dict[str, Any]:
    return {
        "template": template,
        "to": application.email,
        "to_name": application.full_name,
        "livemode": application.livemode,
        "organisation_name": organisation_name,
        "candidate_name": application.full_name,
        "job_title": job.title,
        "languages": [job.language],
    }
