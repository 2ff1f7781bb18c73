"""What squads look like outside."""

from typing import Any

from marshmallow import fields

from schemas.fields import Moment, Resource, Show
from schemas.showing import show


class Squad(Resource):
    """A squad with the number of its members."""

    name = fields.String()
    slug = fields.String()
    member_count = fields.Integer()
    created_at = Moment()


detail: Show = show(Squad())


def team(one: Any) -> dict[str, Any] | None:
    """Show the squad that something belongs to; a list's row without one has one without an id."""
    squad = one.team
    return {"id": str(squad.id), "name": squad.name, "slug": squad.slug} if squad and squad.id else None
