"""The area: signing in, sessions, keys and members."""

from uuid import UUID

import store
from store.accounts import members, sign_ins
from store.accounts.members import Member
from tests.api import Api, owner_session
from tests.operations import states
from tests.operations.rows import Ids, Row


def a_person(api: Api) -> Member:
    """The owner whose sessions the rows are asked with."""
    owner_session(api)
    with store.transaction() as session:
        organisation = UUID(api.get("/org/").json()["id"])
        found = members.of(session, session.get_one(members.Organisation, organisation))
        return next(one for one in found if one.name == "Grace Hopper")


def a_code(api: Api) -> Ids:
    """A code and a link that somebody was mailed."""
    person = a_person(api)
    with store.transaction() as session:
        made = sign_ins.make(session, session.get_one(Member, person.id))
        assert made
        return {"owner": person.email, "code": made[1], "link": made[2]}


def a_session(api: Api) -> Ids:
    """Another session of the person who asks."""
    owner_session(api)
    headers = owner_session(api)
    shown = api.http.get("/api/v1/area/me/", headers=headers).json()
    return {"session_id": shown["session"]["id"]}


def a_key(api: Api) -> Ids:
    made = {"name": "To be changed", "livemode": False}
    answer = api.http.post("/api/v1/area/keys/", json=made, headers=owner_session(api))
    return {"key_id": answer.json()["id"]}


KEY = {
    "name": "Applicant tracking system",
    "livemode": True,
    "scopes": ["jobs:read", "applications:write"],
    "cidrs": ["203.0.113.0/24"],
    "expires_at": "2031-01-01T12:00:00.000Z",
}
ROWS = {
    "sign_in_by_mail": Row(body={"email": "{email}"}, status=202),
    "sign_in_by_code": Row(
        a_code, {"email": "{owner}", "code": "{code}"}, also=(Row(a_code, {"token": "{link}"}),)
    ),
    "sign_out": Row(status=204, answers=None),
    "confirm": Row(a_code, {"code": "{code}"}),
    "get_me": Row(),
    "list_sessions": Row(a_session),
    "end_session": Row(a_session, status=204, answers=None),
    "end_other_sessions": Row(a_session),
    "list_keys": Row(a_key),
    "create_key": Row(body=KEY, status=201),
    "revoke_key": Row(a_key),
    "rotate_key": Row(a_key, {"overlap_hours": 2}, status=201),
    "list_roles": Row(),
    "invite_member": Row(body={"email": "{email}", "role": "developer"}, status=201),
    "revoke_member_invite": Row(states.a_member_invite, status=204, answers=None),
    "change_member": Row(states.a_member, {"role": "reviewer"}),
    "remove_member": Row(states.a_member, status=204, answers=None),
}
