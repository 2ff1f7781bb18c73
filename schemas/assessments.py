"""What assessments and their cases look like outside."""

from marshmallow import Schema, fields

from schemas.fields import Show, Stamped
from schemas.showing import show
from schemas.squads import team


class Item(Stamped):
    """An assessment as lists show it."""

    title = fields.String()
    slug = fields.String()
    description = fields.String()
    status = fields.String()
    case_count = fields.Integer()
    time_limit_minutes = fields.Integer(allow_none=True)
    passing_score = fields.Integer()
    invitation_count = fields.Integer()
    enforce_fullscreen = fields.Boolean()
    copy_paste_disabled = fields.Boolean()
    team = fields.Function(team)


class Detail(Item):
    """An assessment with all its settings."""

    livemode = fields.Boolean()
    session_recording_enabled = fields.Boolean()
    screen_recording_enabled = fields.Boolean()
    webcam_recording_enabled = fields.Boolean()
    notify_on_completion = fields.Boolean()
    violation_review_threshold = fields.Integer(allow_none=True)
    pool_mode = fields.Boolean()
    assignment_size = fields.Integer(allow_none=True)
    shuffle_strategy = fields.String()
    language = fields.String(allow_none=True)


class AttachedCase(Schema):
    """A case's place in an assessment."""

    assessment_case_id = fields.UUID(attribute="id")
    id = fields.UUID(attribute="case.id")
    case_id = fields.UUID()  # what `id` says, under the name by which it is sent
    title = fields.String(attribute="case.title")
    description = fields.String(attribute="case.description")
    source = fields.String(attribute="case.source")
    case_type = fields.String(attribute="case.case_type")
    difficulty = fields.String(attribute="case.difficulty")
    order = fields.Integer()
    weight = fields.Float()
    points = fields.Integer(attribute="case.points")
    time_limit_minutes = fields.Integer(allow_none=True)


item: Show = show(Item())
detail: Show = show(Detail())
attached_case: Show = show(AttachedCase())
