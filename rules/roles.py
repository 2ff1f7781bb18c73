"""What the people of an organisation may do: each role is a set of scopes, in one table."""

from collections.abc import Collection, Set
from dataclasses import dataclass
from datetime import datetime, timedelta

from rules.caller import Caller
from rules.errors import ConfirmationRequired, Invalid
from rules.scopes import SCOPES
from rules.words import say

# What a person may do and no key: the scopes of the area's own document.
PEOPLE = ("keys:manage", "members:manage")
PROVEN_FOR = timedelta(minutes=10)  # that somebody has shown who they are lets them change keys and members

_READS = frozenset(one for one in SCOPES if one.endswith(":read"))
_EVERYTHING = frozenset((*SCOPES, *PEOPLE))
_OFTEN = frozenset(one for one in SCOPES if not one.startswith(("organisation:", "webhooks:", "test:")))


@dataclass(frozen=True)
class Role:
    """What a role is for, and what it opens."""

    description: str
    scopes: frozenset[str]
    sees_all: bool = False  # whatever squads its people are in


ROLES = {
    str(say("owner")): Role(
        str(say("Everything; an organisation has one at least.")), _EVERYTHING, sees_all=True
    ),
    str(say("admin")): Role(str(say("Everything.")), _EVERYTHING, sees_all=True),
    str(say("developer")): Role(
        str(say("Keys, webhooks and whatever a key may do, but the organisation's own settings.")),
        _EVERYTHING - {"organisation:write", "members:manage"},
    ),
    str(say("recruiter")): Role(
        str(say("Jobs, applications, assessments, invitations, candidates, interviews and offers.")),
        _OFTEN | {"organisation:read"},
    ),
    str(say("reviewer")): Role(
        str(say("Results of assessments, and the answers that wait for a person.")),
        frozenset({"candidates:read", "assessments:read", "assessments:write", "invitations:read"}),
    ),
    str(say("member")): Role(str(say("Reads and changes nothing.")), _READS),
}
assert all(role.scopes for role in ROLES.values())  # none at all would be a key's everything


def may_see_all(role: str) -> bool:
    """Say whether a role sees the rows of every squad."""
    return ROLES[role].sees_all


def scopes(role: str) -> Set[str]:
    """Return the scopes of a role, those that only people have among them."""
    return ROLES[role].scopes


def check_proven(caller: Caller, moment: datetime) -> None:
    """Refuse whoever has not shown for a while that they are who signed in."""
    if caller.person is None or caller.person.proven_at <= moment - PROVEN_FOR:
        raise ConfirmationRequired


def check_may_open(caller: Caller, wanted: Collection[str]) -> None:
    """Refuse a key that may do more than who makes it; one without scopes may do everything."""
    beyond = [scope for scope in wanted or SCOPES if scope not in caller.scopes]
    if beyond and not wanted:
        raise Invalid.at("/scopes", say("Name what the key may do: without scopes it may do more than you."))
    if beyond:
        raise Invalid.at(
            "/scopes",
            say("A key may do no more than who makes it: not %(scopes)s.", scopes=", ".join(beyond)),
        )


def check_may_give(caller: Caller, role: str) -> None:
    """Refuse whoever is no owner to make one, or to change one."""
    if role == "owner" and caller.person and caller.person.role != "owner":
        raise Invalid.at("/role", say("Only an owner makes, changes and removes owners."))
