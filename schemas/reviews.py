"""What answers look like that wait for a person."""

from marshmallow import Schema, fields

from schemas.fields import Moment, Resource, Show
from schemas.showing import show


class _Assessment(Schema):
    slug = fields.String()
    title = fields.String()


class Item(Resource):
    """An answer that waits."""

    id = fields.UUID(attribute="review_id")
    invite_token = fields.String(attribute="invitation.token")
    assessment = fields.Nested(_Assessment)
    case_order = fields.Integer()
    case_title = fields.String()
    answered_at = Moment(attribute="saved_at")
    claimed_by = fields.Raw()
    claimed_until = Moment()


item: Show = show(Item())
