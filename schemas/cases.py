"""What cases look like outside."""

from marshmallow import fields

from schemas.fields import DecimalText, Resource, Show, Stamped
from schemas.showing import show


class PlatformCase(Resource):
    """A case of the catalogue; its answers stay inside."""

    case_number = fields.Integer()
    title = fields.String()
    difficulty = fields.String()
    case_type = fields.String()
    points = fields.Integer()
    track = fields.String()
    language = fields.String(allow_none=True)


class Case(Stamped):
    """One of the organisation's own cases, with its answers."""

    title = fields.String()
    case_type = fields.String()
    description = fields.String()
    question = fields.String()
    difficulty = fields.String()
    points = fields.Integer()
    time_limit_minutes = fields.Integer(allow_none=True)
    options = fields.Raw()
    allow_multiple = fields.Boolean()
    accepted_answers = fields.List(fields.String())
    answer_number = DecimalText(places=None)
    tolerance = DecimalText(places=None)
    language = fields.String(allow_none=True)
    languages = fields.List(fields.String())
    starter_code = fields.String()
    test_cases = fields.Raw()
    rubric = fields.String()
    tags = fields.List(fields.String())
    livemode = fields.Boolean()


platform_case: Show = show(PlatformCase())
detail: Show = show(Case())
