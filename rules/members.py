"""The people of an organisation: their roles, and the seats that the plan has for them."""

from datetime import datetime, timedelta
from typing import Protocol

from rules.errors import Invalid, LimitReached
from rules.plans import Plan
from rules.roles import ROLES as _ROLES
from rules.words import say

ROLES = tuple(_ROLES)
NOTIFIED = ("owner", "admin", "recruiter")  # who is mailed about candidates

INVITED_FOR = timedelta(days=14)
LONGEST_NAME = 200


class Invite(Protocol):
    """An invite, as far as it says how it stands."""

    @property
    def accepted_at(self) -> datetime | None: ...  # noqa: D102
    @property
    def revoked_at(self) -> datetime | None: ...  # noqa: D102
    @property
    def expires_at(self) -> datetime: ...  # noqa: D102


def invite_status(invite: Invite, moment: datetime) -> str:
    """Say how an invite stands: accepted, revoked, expired or pending."""
    if invite.accepted_at:
        return "accepted"
    if invite.revoked_at:
        return "revoked"
    return "pending" if moment < invite.expires_at else "expired"


def name_fault(name: str) -> str | None:
    """Say what is wrong with the name of who joins."""
    if not name:
        return say("Please write your name.")
    return (
        say("Please write at most %(count)s characters.", count=LONGEST_NAME)
        if len(name) > LONGEST_NAME
        else None
    )


def check_seat(plan: Plan, used: int) -> None:
    """Refuse one more where members and open invites take every seat of the plan."""
    if plan.seats is not None and used >= plan.seats:
        raise LimitReached("Every seat of the plan is taken.", limit=plan.seats, used=used)


def check_owner_stays(role: str, owners: int) -> None:
    """Refuse to take an organisation its last owner."""
    if role == "owner" and owners <= 1:
        raise Invalid.at("/role", say("An organisation has one owner at least."))
