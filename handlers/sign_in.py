"""Signing in and out: a code and a link by mail, either of them once, and proof again of who one is."""

import hashlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from sqlalchemy.orm import Session

from rules import networks, tokens
from rules.caller import Caller, Person
from rules.errors import Invalid, RateLimited, SignInFailed
from rules.words import say
from schemas import people as schemas
from schemas.views import Told
from store import outbox
from store.accounts import limits, sign_ins, signed_in
from store.accounts.limits import Limit
from store.accounts.members import Member
from store.auditing import trail
from store.branding import settings

Body = dict[str, Any]
Begin = Callable[[], AbstractContextManager[Session]]

MINUTES = 15
# In so many minutes: mails to one address, and codes tried for it; and of one client for anybody.
OF_ONE, OF_A_CLIENT = 10, 60


def sign_in_by_mail(session: Session, address: str, body: Body) -> Body:
    """Have a code and a link mailed to whoever has an address; the answer is the same where nobody has it."""
    email = body["email"].strip().lower()
    count("mail", email, address)
    # Whether anybody is there is found out later, so that the time it takes here says nothing.
    outbox.add(session, None, "sign_in", email=email)
    return {"message": "If this address belongs to a member, a mail is on its way."}


def sign_in_by_code(begin: Begin, address: str, body: Body, **given: Any) -> Told:
    """Begin a session for whoever has a code or a link that is good; it is used up."""
    by_link = body.get("token")
    if not by_link and not (body.get("email") and body.get("code")):
        raise Invalid.at("/code", say("Give a code with its email, or the token of a link."))
    count("code", body.get("email", ""), address)
    with begin() as session:
        member = _proven(session, by_link, body)
        if member:
            answer = welcome(session, member, address, given.get("User-Agent"))
    if member is None:
        raise SignInFailed
    return answer


def welcome(session: Session, member: Member, address: str, agent: str | None) -> Told:
    """Begin a session for somebody who has shown who they are."""
    trail.about(session, "member", member)
    trail.acting(session, "member", member.user_id)
    made, token = signed_in.begin(session, member.id, address=address, agent=agent or "")
    proof = tokens.page_token(token)
    person = Person(member.id, member.user_id, member.role, made.id, made.proven_at, proof)
    language = settings.of(session, member.organisation_id).language
    return schemas.signed_in(schemas.me(signed_in.me(session, made.id), person, language), token)


def count(deed: str, whose: str, address: str) -> None:
    """Refuse who tries too often: for one address of a member, or from one address of a client."""
    hashed = hashlib.sha256(whose.strip().lower().encode()).hexdigest()
    seconds = MINUTES * 60
    often = [Limit(f"limit:sign-in:{deed}:from:{networks.counts_as(address)}", OF_A_CLIENT, seconds)]
    often += [Limit(f"limit:sign-in:{deed}:{hashed}", OF_ONE, seconds)] if whose else []
    wait = limits.take(often)[1]
    if wait is not None:
        raise RateLimited(retry_after_seconds=wait)


def _proven(session: Session, token: str | None, body: Body) -> Member | None:
    if token:
        return sign_ins.by_link(session, token)
    return sign_ins.by_code(session, body["email"], body["code"])


def confirm_identity(begin: Begin, address: str, caller: Caller, body: Body) -> Body:
    """Note that the person has their mail at hand; keys and members can be changed for a while."""
    person = caller.person
    assert person
    count("confirm", str(person.id), address)
    with begin() as session:
        email = session.get_one(Member, person.id).email
        is_right = sign_ins.by_code(session, email, body["code"]) is not None
        proven_at = signed_in.prove(session, person.session_id) if is_right else person.proven_at
    if not is_right:
        raise SignInFailed
    return schemas.confirmed(proven_at)


def sign_out(session: Session, caller: Caller) -> Told:
    """End the session that asks."""
    assert caller.person
    signed_in.close(session, caller.person.session_id)
    return schemas.signed_out()
