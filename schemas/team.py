"""What the people of an organisation look like outside, and those who are invited to join it."""

from typing import Any

from marshmallow import Schema, fields

from rules import links
from rules.clock import iso
from schemas.fields import Moment, Resource, Show
from schemas.showing import show


class Member(Schema):
    """A member, of the organisation or of one of its squads."""

    user_id = fields.UUID()
    name = fields.String()
    email = fields.String()
    role = fields.String()
    joined_at = Moment()
    is_bound_to_company = fields.Boolean()
    squads = fields.Raw()


class Invite(Resource):
    """An invite without its token."""

    email = fields.String()
    role = fields.String()
    status = fields.String()
    invited_by = fields.UUID(allow_none=True)
    created_at = Moment()
    expires_at = Moment()


member: Show = show(Member())
invite: Show = show(Invite())


def invite_mail(one: Any, token: str, organisation_name: str) -> dict[str, Any]:
    """Tell the mail of an invite what it says."""
    return {
        "template": "member-invite",
        "to": one.email,
        "livemode": True,  # members belong to both modes, and their mail goes out
        "organisation_name": organisation_name,
        "role": one.role,
        "join_url": links.join(token),
        "expires_at": iso(one.expires_at),
    }
