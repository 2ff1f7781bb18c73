"""Signing in by a company's own provider: begun in a browser, and finished in the same one, once."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from sqlalchemy.orm import Session

from gateways import openid
from handlers import sign_in
from rules import links
from rules.errors import SignInFailed, SignInMismatch
from rules.words import say
from schemas import people as schemas
from schemas.views import Told
from store.accounts import sign_ins, starts
from store.auditing import trail

Body = dict[str, Any]
Begin = Callable[[], AbstractContextManager[Session]]
KIND = "company"


def begin_company_sign_in(begin: Begin, address: str, body: Body) -> Told:
    """Return where somebody signs in with their company, and bind what comes of it to their browser."""
    openid.organisation()
    sign_in.count("company", "", address)
    with begin() as session:
        secret = starts.begin(session, KIND, leads_to=body.get("next", ""))
    return schemas.begun({"authorization_url": openid.begin(secret)}, secret)


def sign_in_by_company(
    begin: Begin, address: str, kept: Callable[[str], str | None], body: Body, **given: Any
) -> Told:
    """Begin a session for the member whom the company's provider names, by what the browser comes back with."""
    organisation = openid.organisation()
    sign_in.count("company-code", "", address)
    secret = kept(links.starting_cookie()) or ""
    with begin() as session:
        is_begun = openid.is_state(secret, body["state"]) and starts.use(session, KIND, secret)
    if not is_begun:
        raise SignInFailed(say("This sign-in was not begun here, or is used or too old; sign in again."))
    known = openid.who(secret, body["code"])
    with begin() as session:
        member, is_theirs = sign_ins.by_company(
            session, organisation, known.issuer, known.subject, known.email
        )
        if member and is_theirs:
            answer = sign_in.welcome(session, member, address, given.get("User-Agent"))
        elif member:
            refused = trail.Entry("area", "system", "sign_in_by_company", ip=address)
            refused.status_code, refused.error_code = SignInMismatch.status, SignInMismatch.code
            refused.concerns("member", member)
            trail.note(session, refused)
    if known.email is None and member is None:
        raise SignInFailed(say("The company's sign-in does not say that your address is verified."))
    if member is None:
        raise SignInFailed(say("Your company knows you, and you are no member here; ask to be invited."))
    if not is_theirs:
        raise SignInMismatch
    return answer
