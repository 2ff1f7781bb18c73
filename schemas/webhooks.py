"""What endpoints and deliveries look like outside."""

from marshmallow import fields

from rules.events import public_id
from schemas.fields import Moment, Resource, Show, Stamped
from schemas.showing import show


class Endpoint(Stamped):
    """A webhook endpoint without its secret."""

    name = fields.String()
    description = fields.String()
    url = fields.String()
    events = fields.List(fields.String())
    is_active = fields.Boolean()
    is_verified = fields.Boolean()
    livemode = fields.Boolean()
    last_triggered_at = Moment()
    failure_count = fields.Integer()
    disabled_reason = fields.String(allow_none=True)
    pending_delivery_count = fields.Integer()


class Delivery(Resource):
    """One event's way to one endpoint."""

    event_id = fields.Function(lambda delivery: public_id(delivery.event_id))
    event_type = fields.String()
    status = fields.String()
    attempts = fields.Integer()
    next_attempt_at = Moment()
    created_at = Moment()
    delivered_at = Moment()
    response_status_code = fields.Integer(allow_none=True)
    response_time_ms = fields.Integer(allow_none=True)
    response_body = fields.Function(lambda delivery: delivery.response_body or "")
    last_error = fields.Function(lambda delivery: delivery.last_error or "")
    payload = fields.Raw()


endpoint: Show = show(Endpoint())
delivery: Show = show(Delivery())
