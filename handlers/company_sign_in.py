"""Signing in by a company's own provider: begun in a browser, and finished in the same one, once."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from sqlalchemy.orm import Session

from gateways import openid
from handlers import sign_in
from rules import links
from rules.errors import SignInFailed
from rules.words import say
from schemas import people as schemas
from schemas.views import Told
from store.accounts import sign_ins, starts

Body = dict[str, Any]
Begin = Callable[[], AbstractContextManager[Session]]
KIND = "company"


def begin_company_sign_in(begin: Begin, address: str) -> Told:
    """Return where somebody signs in with their company, and bind what comes of it to their browser."""
    openid.organisation()
    sign_in.count("company", "", address)
    with begin() as session:
        secret = starts.begin(session, KIND)
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
    email = openid.email(secret, body["code"])
    with begin() as session:
        member = sign_ins.member_of(session, organisation, email)
        if member:
            answer = sign_in.welcome(session, member, address, given.get("User-Agent"))
    if member is None:
        raise SignInFailed(say("Your company knows you, and you are no member here; ask to be invited."))
    return answer
