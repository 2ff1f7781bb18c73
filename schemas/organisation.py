"""What an organisation looks like outside."""

from marshmallow import fields

from schemas.fields import Resource, Show
from schemas.showing import show


class Organisation(Resource):
    """The organisation without its quota, which the handler adds."""

    name = fields.String()
    slug = fields.String()
    plan = fields.String()
    notify_on_candidate_completion = fields.Boolean()


detail: Show = show(Organisation())
