"""Passkeys: added by who has just shown who they are, used to sign in and to show it again, removed."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from handlers import sign_in
from rules import links, roles
from rules.caller import Caller
from rules.clock import now
from rules.errors import SignInFailed
from rules.words import say
from schemas import passkeys as schemas
from schemas import people
from schemas.views import Told
from store.accounts import passkeys, signed_in, starts
from store.accounts.members import Member
from store.accounts.passkeys import Passkey
from store.database.engine import Reading

Body = dict[str, Any]
Begin = Callable[[], AbstractContextManager[Session]]
Kept = Callable[[str], str | None]
NEW, SIGN_IN, CONFIRM = "passkey", "passkey-sign-in", "passkey-confirm"


def list_passkeys(reading: Reading, caller: Caller) -> Body:
    """List the person's passkeys, the newest first."""
    assert caller.person
    return {"passkeys": [schemas.passkey(one) for one in passkeys.of(reading, caller.person)]}


def begin_passkey(session: Session, caller: Caller) -> Told:
    """Return what the browser needs to make a passkey, and bind what it makes to it."""
    roles.check_proven(caller, now())
    assert caller.person
    member = session.get_one(Member, caller.person.id)
    secret = starts.begin(session, NEW, member.id)
    there = [one.credential_id for one in passkeys.of(session, caller.person)]
    options = schemas.options_of_new(secret, member.id, member.email, member.name, there)
    return people.begun({"options": options}, secret)


def create_passkey(session: Session, caller: Caller, kept: Kept, body: Body) -> Body:
    """Add the passkey that a browser has made."""
    roles.check_proven(caller, now())
    assert caller.person
    secret = kept(links.starting_cookie()) or ""
    if not starts.use(session, NEW, secret, caller.person.id):
        raise _not_begun()
    facts = schemas.new(secret, body["credential"])
    return schemas.passkey(passkeys.add(session, caller.person, name=body["name"].strip(), **facts))


def delete_passkey(session: Session, caller: Caller, passkey_id: UUID) -> None:
    """Remove a passkey; nobody signs in with it any more."""
    roles.check_proven(caller, now())
    assert caller.person
    passkeys.remove(session, caller.person, passkey_id)


def begin_passkey_sign_in(session: Session, address: str) -> Told:
    """Return what the browser needs to sign in with a passkey; the same for everybody."""
    sign_in.count("passkey", "", address)
    secret = starts.begin(session, SIGN_IN)
    return people.begun({"options": schemas.options_of_sign_in(secret)}, secret)


def sign_in_by_passkey(begin: Begin, address: str, kept: Kept, body: Body, **given: Any) -> Told:
    """Begin a session for whose passkey it is."""
    sign_in.count("passkey-answer", "", address)
    secret = _begun(begin, SIGN_IN, kept)
    with begin() as session:
        found = _used(session, secret, body["credential"])
        member = session.get_one(Member, found.member_id)
        return sign_in.welcome(session, member, address, given.get("User-Agent"))


def begin_passkey_confirmation(session: Session, caller: Caller, address: str) -> Told:
    """Return what the browser needs to use one of the person's passkeys once more."""
    assert caller.person
    sign_in.count("confirm-passkey", str(caller.person.id), address)
    secret = starts.begin(session, CONFIRM, caller.person.id)
    theirs = [one.credential_id for one in passkeys.of(session, caller.person)]
    return people.begun({"options": schemas.options_of_sign_in(secret, theirs)}, secret)


def confirm_by_passkey(begin: Begin, address: str, caller: Caller, kept: Kept, body: Body) -> Body:
    """Note that the person has a device of theirs at hand; keys and members can be changed for a while."""
    person = caller.person
    assert person
    sign_in.count("confirm-passkey-answer", str(person.id), address)
    secret = _begun(begin, CONFIRM, kept, person.id)
    with begin() as session:
        if _used(session, secret, body["credential"]).member_id != person.id:
            raise schemas.nothing()
        return people.confirmed(signed_in.prove(session, person.session_id))


def _begun(begin: Begin, kind: str, kept: Kept, member_id: UUID | None = None) -> str:
    """Use up what the browser has begun, and return its secret."""
    secret = kept(links.starting_cookie()) or ""
    with begin() as session:
        is_begun = starts.use(session, kind, secret, member_id)
    if not is_begun:
        raise _not_begun()
    return secret


def _used(session: Session, secret: str, credential: Body) -> Passkey:
    """Return the passkey that has signed what the browser was asked, and note its use."""
    found = passkeys.find(session, str(credential.get("id", "")))
    if found is None:  # said as of one that proves nothing
        raise schemas.nothing()
    found.sign_count = schemas.count(secret, credential, found.public_key, found.sign_count)
    found.last_used_at = now()
    return found


def _not_begun() -> SignInFailed:
    return SignInFailed(say("This was not begun here, or is used or too old; begin again."))
