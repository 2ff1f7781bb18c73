"""What endpoints and deliveries look like outside."""

from datetime import datetime
from typing import Any

from marshmallow import Schema, fields

from rules.clock import iso
from rules.events import public_id


class Moment(fields.Field[datetime]):
    """A moment in ISO 8601 UTC, or null."""

    def _serialize(self, value: datetime | None, attr: str | None, obj: Any, **kwargs: Any) -> str | None:
        return None if value is None else iso(value)


class Endpoint(Schema):
    """A webhook endpoint without its secret."""

    id = fields.UUID()
    name = fields.String()
    description = fields.String()
    url = fields.String()
    events = fields.List(fields.String())
    is_active = fields.Boolean()
    is_verified = fields.Boolean()
    livemode = fields.Boolean()
    created_at = Moment()
    updated_at = Moment()
    last_triggered_at = Moment()
    failure_count = fields.Integer()
    disabled_reason = fields.String(allow_none=True)
    pending_delivery_count = fields.Integer()


class Delivery(Schema):
    """One event's way to one endpoint."""

    id = fields.UUID()
    event_id = fields.Function(lambda delivery: public_id(delivery.event_id))
    event_type = fields.String()
    status = fields.String()
    attempts = fields.Integer()
    next_attempt_at = Moment()
    created_at = Moment()
    delivered_at = Moment()
    response_status_code = fields.Integer(allow_none=True)
    response_time_ms = fields.Integer(allow_none=True)
    response_body = fields.String(allow_none=True)
    last_error = fields.String(allow_none=True)
    payload = fields.Raw()


_endpoint, _delivery = Endpoint(), Delivery()


def endpoint(row: Any) -> dict[str, Any]:
    """Show an endpoint."""
    shown: dict[str, Any] = _endpoint.dump(row)
    return shown


def delivery(row: Any) -> dict[str, Any]:
    """Show a delivery."""
    shown: dict[str, Any] = _delivery.dump(row)
    return shown
