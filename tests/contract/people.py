"""The people of the organisation, who ask for what only people may, and what only they see."""

import os
import uuid

import httpx
from sqlalchemy.orm import Session

import store
from rules import links, tokens
from store.accounts import keys, members, sign_ins, signed_in
from store.accounts.members import Member
from store.accounts.organisations import Organisation

Ids = dict[str, str]
KEY = os.environ["CONTRACT_KEY"]
MODE = str(KEY.startswith("ct_live_")).lower()


def an_email() -> str:
    return f"{uuid.uuid4().hex}@example.com"


def organisation_of(session: Session) -> Organisation:
    """Whose key this is."""
    found = keys.find(session, KEY)
    assert found
    return session.get_one(Organisation, found.organisation_id)


def a_person(session: Session, role: str = "owner") -> Member:
    whose = organisation_of(session)
    return members.add(session, organisation=whose, email=an_email(), name="Grace", role=role)


# ------------------------------------------------------------------------------------------------------ sessions
def a_session() -> str:
    """The token of a session that an owner has just begun, who does nothing else: no limit of theirs is met."""
    with store.transaction() as session:
        return signed_in.begin(session, a_person(session).id, address="198.51.100.7", agent="a browser")[1]


_chains: dict[str, uuid.UUID] = {}


def a_session_of_a_chain() -> str:
    """The same of one owner for all steps, who may ask for what a step before has shown them."""
    with store.transaction() as session:
        found = session.get(Member, _chains["owner"]) if _chains else None
        if found is None or found.role != "owner":  # what a step has made of them
            found = a_person(session)
        _chains["owner"] = found.id
        return signed_in.begin(session, found.id, address="198.51.100.7", agent="a browser")[1]


def cookies(token: str) -> dict[str, str]:
    return {links.cookie(): token, "area-livemode": MODE}


def headers(token: str) -> dict[str, str]:
    return {"X-CSRF-Token": tokens.page_token(token), "X-Livemode": MODE}


def browser() -> httpx.Client:
    """Somebody who is signed in."""
    token = a_session()
    return httpx.Client(
        base_url=os.environ["CONTRACT_URL"], cookies=cookies(token), headers=headers(token), timeout=60
    )


def another_session(token: str) -> Ids:
    """Another session of the person whose session this is."""
    with store.transaction() as session, store.reading() as reading:
        found = signed_in.find(reading, token)
        assert found
        made, _ = signed_in.begin(session, found.member_id, address="198.51.100.8", agent="another browser")
        return {"session_id": str(made.id)}


def a_code(token: str) -> str:
    """The code of a mail to whose session this is."""
    with store.transaction() as session, store.reading() as reading:
        found = signed_in.find(reading, token)
        assert found
        made = sign_ins.make(session, session.get_one(Member, found.member_id))
        assert made
        return made[1]


# ------------------------------------------------------------------------------------------------------- signing in
def a_sign_in() -> Ids:
    """What a mail to sign in says."""
    with store.transaction() as session:
        person = a_person(session)
        made = sign_ins.make(session, person)
        assert made
        return {"email": person.email, "code": made[1], "token": made[2]}


# ------------------------------------------------------------------------------------------------ keys, members
def a_key() -> Ids:
    with store.transaction() as session:
        made, _ = keys.create(
            session, organisation=organisation_of(session), name="Of a test", livemode=MODE == "true"
        )
        return {"key_id": str(made.id)}


def a_colleague() -> Ids:
    with store.transaction() as session:
        return {"user_id": str(a_person(session, "member").user_id)}


def an_open_invite() -> Ids:
    with store.transaction() as session:
        organisation = organisation_of(session)
        made, _ = members.invite(session, organisation=organisation, email=an_email(), role="member")
        return {"invite_id": str(made.id)}
