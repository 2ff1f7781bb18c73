"""What API keys look like outside; the key itself is never shown again."""

from marshmallow import fields

from schemas.fields import Moment, Resource, Show
from schemas.showing import show


class Owner(Resource):
    """Whose a key is."""

    slug = fields.String()
    plan = fields.String()


class Key(Resource):
    """A key with what limits it."""

    name = fields.String()
    livemode = fields.Boolean()
    scopes = fields.List(fields.String())
    expires_at = Moment()
    cidrs = fields.List(fields.String())
    organisation = fields.Nested(Owner)


detail: Show = show(Key())
