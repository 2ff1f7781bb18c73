"""What an organisation looks like outside."""

from datetime import datetime
from typing import Any

from marshmallow import fields

from rules.clock import iso
from schemas.fields import Resource, Show
from schemas.showing import show


class Organisation(Resource):
    """The organisation without its quota, which the handler adds."""

    name = fields.String()
    slug = fields.String()
    plan = fields.String()
    notify_on_candidate_completion = fields.Boolean()


detail: Show = show(Organisation())


def integration(provider: str, kind: str, is_active: bool, synced: datetime | None = None) -> dict[str, Any]:  # noqa: FBT001
    """Show one thing that the organisation is connected with."""
    moment = iso(synced) if synced else None
    return {"provider": provider, "kind": kind, "is_active": is_active, "last_synced_at": moment}
