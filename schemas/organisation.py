"""What an organisation looks like outside."""

from datetime import datetime
from typing import Any

from marshmallow import Schema, fields

from rules.clock import iso
from schemas.fields import DecimalText, Resource, Show
from schemas.showing import show


class Organisation(Resource):
    """The organisation without its quota, which the handler adds."""

    name = fields.String()
    slug = fields.String()
    plan = fields.String()
    notify_on_candidate_completion = fields.Boolean()


class Stats(Schema):
    """Figures over the organisation's assessments."""

    total_invites = fields.Integer()
    total_candidates = fields.Integer()
    completed_assessments = fields.Integer()
    passed_candidates = fields.Integer()
    pass_rate = DecimalText(places=4)
    average_score_percentage = DecimalText()
    active_assessments = fields.Integer()


detail: Show = show(Organisation())
stats: Show = show(Stats())


def integration(provider: str, kind: str, is_active: bool, synced: datetime | None = None) -> dict[str, Any]:  # noqa: FBT001
    """Show one thing that the organisation is connected with."""
    moment = iso(synced) if synced else None
    return {"provider": provider, "kind": kind, "is_active": is_active, "last_synced_at": moment}
