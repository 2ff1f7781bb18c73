"""What pipelines and their stages look like outside."""

from marshmallow import fields

from schemas.fields import DecimalText, Resource, Show, Stamped
from schemas.showing import show


class Item(Stamped):
    """A pipeline as lists show it."""

    title = fields.String()
    slug = fields.String()
    description = fields.String()
    stage_count = fields.Integer()
    team_id = fields.UUID(allow_none=True)
    team_slug = fields.Function(lambda pipeline: pipeline.team.slug if pipeline.team else None)
    livemode = fields.Boolean()


class Stage(Resource):
    """One stage of a pipeline."""

    stage_type = fields.String()
    label = fields.String()
    assessment_slug = fields.Function(lambda stage: stage.assessment.slug if stage.assessment else None)
    assessment_id = fields.UUID(allow_none=True)
    interview_template_id = fields.UUID(allow_none=True)
    pass_score_override = DecimalText()
    order = fields.Integer(attribute="position")


class Detail(Item):
    """A pipeline with its stages."""

    archived = fields.Function(lambda pipeline: pipeline.archived_at is not None)
    stages = fields.List(fields.Nested(Stage))


item: Show = show(Item())
detail: Show = show(Detail())
