"""What offers look like outside: in answers, events, letters and mails, and to their candidates."""

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, fields

from rules import links
from rules.clock import iso
from rules.offers import status
from rules.words import say
from schemas import html
from schemas.fields import Day, Moment, Show, Stamped
from schemas.showing import show
from schemas.tongues import Tongue


class Offer(Stamped):
    """An offer."""

    application_id = fields.UUID()
    job_slug = fields.String(attribute="job.slug")
    job_title = fields.String(attribute="job.title")
    candidate_email = fields.String(attribute="application.email")
    candidate_name = fields.String(attribute="application.full_name")
    status = fields.String()
    title = fields.String()
    body_html = fields.String()
    compensation_text = fields.String()
    start_date = Day()
    expires_at = Moment()
    scheduled_send_at = Moment()
    send_error = fields.String(allow_none=True)
    sent_at = Moment()
    responded_at = Moment()
    decline_reason = fields.String()
    mail_error = fields.String(allow_none=True)
    respond_url = fields.Function(lambda offer: links.offer(offer.token) if offer.sent_at else None)
    livemode = fields.Boolean()


class Event(Schema):
    """The data of every offer event."""

    offer_id = fields.UUID(attribute="id")
    application_id = fields.UUID()
    job_slug = fields.String(attribute="job.slug")
    candidate_email = fields.String(attribute="application.email")
    status = fields.String()
    title = fields.String()
    sent_at = Moment()
    responded_at = Moment()
    decline_reason = fields.String()


class Answered(Schema):
    """What a candidate sees of an offer beside its letter."""

    expires_at = Moment()
    sent_at = Moment()
    responded_at = Moment()
    decline_reason = fields.String()


offer: Show = show(Offer())
event: Show = show(Event())
_answered: Show = show(Answered())


def letter(offer: Any, organisation_name: str) -> dict[str, Any]:
    """Write what an offer says, names included: what is kept and printed of it once it is sent."""
    return {
        "organisation_name": organisation_name,
        "candidate_name": offer.application.full_name,
        "title": offer.title,
        "job_title": offer.job.title,
        "compensation_text": offer.compensation_text,
        "start_date": Day.written(offer.start_date),
        "body_html": offer.body_html,
    }


def texts(letter: Mapping[str, Any]) -> dict[str, str | None]:
    """Return what a letter, or some fields of one, says without its form."""
    plain = {"body_html": html.plain(letter["body_html"])} if "body_html" in letter else {}
    return {**letter, **plain}


def facts(letter: Mapping[str, Any], tongue: Tongue) -> dict[str, str]:
    """Say in a language what stands at the head of a letter, by its labels."""
    start = letter["start_date"]
    said = {
        say("For"): letter["candidate_name"],
        say("Position"): letter["job_title"],
        say("Compensation"): letter["compensation_text"],
        say("Start"): tongue.day(start) if start else "",
    }
    return {tongue.tell(label): words for label, words in said.items()}


def mail(offer: Any) -> dict[str, Any]:
    """Write the mail that a sent offer goes out with as outbox work."""
    return {
        "template": "offer",
        "offer_id": str(offer.id),
        "to": offer.application.email,
        "to_name": offer.letter["candidate_name"],
        "livemode": offer.livemode,
        "organisation_name": offer.letter["organisation_name"],
        "candidate_name": offer.letter["candidate_name"],
        "job_title": offer.letter["job_title"],
        "respond_url": links.offer(offer.token),
        "expires_at": iso(offer.expires_at) if offer.expires_at else None,
        "letter": offer.letter,
        "languages": [offer.job.language],
    }


def for_candidate(offer: Any, now: Any) -> dict[str, Any]:
    """Show a sent offer to its candidate: the letter as it was sent, and where the offer stands."""
    return {"status": status(offer.status, offer.expires_at, now), **offer.letter, **_answered(offer)}
