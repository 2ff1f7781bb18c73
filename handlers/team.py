"""The people of an organisation, and those who are invited to join it."""

from typing import Any

from rules.caller import Caller
from rules.pages import Page
from schemas import team as schemas
from store.accounts import members
from store.database.engine import Reading


def list_team(reading: Reading, caller: Caller, **query: Any) -> Page:
    """List members, newest first."""
    return members.LIST.page(reading, caller, **query).map(schemas.member)


def list_member_invites(reading: Reading, caller: Caller, **query: Any) -> Page:
    """List invites, newest first."""
    return members.INVITES.page(reading, caller, **query).map(schemas.invite)
