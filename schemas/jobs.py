"""What jobs and the questions they ask look like outside."""

from collections.abc import Iterable
from typing import Any

from marshmallow import Schema, fields

from schemas.fields import DecimalText, Moment, Resource, Show, Stamped
from schemas.showing import show
from schemas.squads import team


class Item(Stamped):
    """A job as lists show it."""

    slug = fields.String()
    title = fields.String()
    status = fields.String()
    livemode = fields.Boolean()
    team = fields.Function(team)
    position_types = fields.List(fields.String())
    workplace_type = fields.String()
    location_text = fields.String()
    country_code = fields.String()
    region = fields.String()
    expires_at = Moment()
    scheduled_publish_at = Moment()
    cv_required = fields.Boolean()
    auto_invite_assessment = fields.Boolean()
    assessment_id = fields.UUID(allow_none=True)
    assessment_slug = fields.Function(lambda job: job.assessment.slug if job.assessment else None)
    pipeline_id = fields.UUID(allow_none=True)
    pipeline_slug = fields.Function(lambda job: job.pipeline.slug if job.pipeline else None)
    application_count = fields.Integer()
    rejection_visibility = fields.String()
    published_at = Moment()
    closed_at = Moment()


class Detail(Item):
    """A job with its description and its settings."""

    sample_task = fields.String(allow_none=True)
    description_html = fields.String()
    rejection_text = fields.String()
    language = fields.String(allow_none=True)
    cv_analysis_enabled = fields.Boolean()
    screen_auto_advance_enabled = fields.Boolean()
    screen_auto_advance_l3_min = DecimalText()


class Event(Schema):
    """The data of every job event."""

    job_id = fields.UUID(attribute="id")
    job_slug = fields.String(attribute="slug")
    title = fields.String()
    status = fields.String()
    team_id = fields.UUID(allow_none=True)
    published_at = Moment()
    closed_at = Moment()


class Question(Stamped):
    """One question of a job."""

    key = fields.String()
    label = fields.String()
    field_type = fields.String()
    placeholder = fields.String()
    help_text = fields.String()
    is_required = fields.Boolean()
    sort_order = fields.Integer()
    is_active = fields.Boolean()
    options = fields.Raw()


class Knockout(Resource):
    """One condition that an answer has to meet."""

    field_key = fields.String()
    operator = fields.String()
    value = fields.Function(lambda rule: rule.value[0])
    on_fail = fields.String()
    is_active = fields.Boolean()
    sort_order = fields.Integer()


class Requirement(Resource):
    """One thing that a job looks for."""

    kind = fields.String()
    importance = fields.String()
    field = fields.String(allow_none=True)
    key = fields.String()
    label = fields.String()
    weight = fields.Integer()
    min_years = fields.Integer(allow_none=True)
    values = fields.List(fields.String())
    sort_order = fields.Integer()
    is_active = fields.Boolean()


item: Show = show(Item())
question: Show = show(Question())
knockout: Show = show(Knockout())
requirement: Show = show(Requirement())
event: Show = show(Event())
_detail: Show = show(Detail())


def detail(job: Any, questions: Iterable[Any]) -> dict[str, Any]:
    """Show a job with all its settings and the questions it asks."""
    return _detail(job) | {"application_fields": [question(one) for one in questions]}
