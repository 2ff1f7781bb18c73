"""The people of the organisation, as those manage them who may: invited, given a role, taken out."""

from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from rules import members as rules
from rules import roles
from rules.caller import Caller
from rules.clock import now
from schemas import people as schemas
from schemas import team
from store import outbox
from store.accounts import members, organisations

Body = dict[str, Any]


def list_roles() -> Body:
    """List the roles that members can have, with the scopes of each."""
    return {"roles": [schemas.role(one) for one in roles.ROLES]}


def invite_member(session: Session, caller: Caller, body: Body) -> Body:
    """Invite somebody by mail, in a seat of the plan."""
    roles.check_proven(caller, now())
    roles.check_may_give(caller, body["role"])
    organisation = organisations.get(session, caller)
    assert caller.person
    made, token = members.invite(
        session,
        organisation=organisation,
        email=body["email"],
        role=body["role"],
        invited_by=caller.person.user_id,
    )
    outbox.add(session, caller, "mail", **team.invite_mail(made, token, organisation.name))
    return schemas.invite(made)


def revoke_member_invite(session: Session, caller: Caller, invite_id: UUID) -> None:
    """Take an open invite back; its link says so."""
    roles.check_proven(caller, now())
    members.take_back(session, caller, invite_id)


def change_member(session: Session, caller: Caller, user_id: UUID, body: Body) -> Body:
    """Give a member another role, which counts from their next request on."""
    roles.check_proven(caller, now())
    found, owners = members.get(session, caller, user_id)
    for role in (found.role, body["role"]):
        roles.check_may_give(caller, role)
    if body["role"] != "owner":
        rules.check_owner_stays(found.role, owners)
    found.role = body["role"]
    session.flush()
    return team.member(members.read(session, found.user_id))


def remove_member(session: Session, caller: Caller, user_id: UUID) -> None:
    """Take a member out; they are signed out everywhere at once."""
    roles.check_proven(caller, now())
    found, owners = members.get(session, caller, user_id)
    roles.check_may_give(caller, found.role)
    rules.check_owner_stays(found.role, owners)
    session.delete(found)


def unbind_company_sign_in(session: Session, caller: Caller, user_id: UUID) -> None:
    """Let the next person whom the company's provider names for a member's address be them."""
    roles.check_proven(caller, now())
    found, _ = members.get(session, caller, user_id)
    roles.check_may_give(caller, found.role)
    found.company_issuer = found.company_subject = None
