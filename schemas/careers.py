"""What the world sees of open jobs."""

from collections.abc import Iterable
from typing import Any

from marshmallow import Schema, fields

from rules import links
from schemas import settings
from schemas.fields import Moment, Show
from schemas.showing import show


class Item(Schema):
    """An open job as lists show it."""

    slug = fields.String()
    title = fields.String()
    position_types = fields.List(fields.String())
    workplace_type = fields.String()
    location_text = fields.String()
    country_code = fields.String()
    region = fields.String()
    # A list's row has a team of nulls where it has none.
    team = fields.Function(lambda job: job.team.name if job.team else None)
    published_at = Moment()
    expires_at = Moment()


class Detail(Item):
    """An open job with its description."""

    description_html = fields.String()
    sample_task = fields.String(allow_none=True)
    cv_required = fields.Boolean()
    language = fields.String(allow_none=True)


class Question(Schema):
    """One question of a job."""

    key = fields.String()
    label = fields.String()
    field_type = fields.String()
    placeholder = fields.String()
    help_text = fields.String()
    is_required = fields.Boolean()
    options = fields.Raw()


_item: Show = show(Item())
_detail: Show = show(Detail())
_question: Show = show(Question())


def item(job: Any, organisation: Any) -> dict[str, Any]:
    """Show an open job as lists do."""
    return _item(job) | {"url": links.job(organisation.slug, job.slug)}


def detail(job: Any, organisation: Any, questions: Iterable[Any], own: Any) -> dict[str, Any]:
    """Show an open job with the questions that are asked, and what its organisation says of privacy."""
    return _detail(job) | {
        "url": links.job(organisation.slug, job.slug),
        "organisation_name": organisation.name,
        "privacy": settings.privacy(own),
        "application_fields": [asked(one) for one in questions if one.is_active],
    }


def asked(question: Any) -> dict[str, Any]:
    """Show one question of a job."""
    shown = _question(question)
    options = [{"value": one["value"], "label": one["label"]} for one in shown["options"]]
    return shown | {"options": options}
