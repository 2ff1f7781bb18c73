"""From an API key, or the cookie of a member's session, to a caller: 401 and 403."""

import hmac
import math
import re
import time
from collections.abc import Callable, Hashable
from datetime import timedelta
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from starlette.requests import cookie_parser

import store
from app.http.context import Request
from app.http.threads.uses import Uses
from rules import links, networks, roles, scopes, tokens
from rules.caller import Caller, Person
from rules.clock import now
from rules.errors import (
    CsrfFailed,
    ExpiredApiKey,
    InsufficientScope,
    Invalid,
    InvalidApiKey,
    InvalidSession,
    IpNotAllowed,
    RateLimited,
)
from rules.refusal import Refusal
from store.accounts import keys, signed_in

_FORM = re.compile(r"ct_(?:live|test)_[A-Za-z0-9_-]{32,128}")
# A key is looked up every half second in each process. Whoever finds it older looks again, and for a quarter of a
# second more the others go on with what is known: they would all look at once. So a change is felt within a second.
_FRESH_SECONDS, _WHILE_ONE_LOOKS = 0.5, 0.25
_KEPT_KEYS = 10_000
_UNKNOWN_SECONDS = 1.0  # a key that is not there is not looked for again
_UNKNOWN_A_MINUTE = 600  # of one address; beyond it no key is looked up for it that is not known
_NOTED_EVERY = timedelta(minutes=1)  # that a key or a session is used
_MODES = {"true": True, "false": False}  # of the header X-Livemode
MODE_COOKIE = "area-livemode"  # in which mode somebody looks at the pages
SAFE = ("GET", "HEAD", "OPTIONS")


class _Kept(NamedTuple):
    until: float
    row: Any
    caller: Caller
    one_looks: bool = False


_kept: dict[str, _Kept] = {}


_unknown: dict[str, float] = {}  # by key: until when
_missed: dict[str, tuple[float, int]] = {}  # by address: since when, and how many
_uses = Uses()


def forget() -> None:
    """Empty the cache (a test changed a key and will not wait)."""
    for cache in (_kept, _unknown, _missed):
        cache.clear()


def _look_up(key: str, request: Request) -> _Kept | None:
    """Return what is known of a key, None where there is none; RateLimited for an address that guesses."""
    moment = time.monotonic()
    known = _kept.get(key)
    if known and known.until > moment:
        return known
    if _unknown.get(key, 0.0) > moment:
        return None
    if known and not known.one_looks and moment < known.until + _WHILE_ONE_LOOKS:
        _kept[key] = known._replace(until=known.until + _WHILE_ONE_LOOKS, one_looks=True)
    since, missed = _missed.get(request.counts_as, (moment, 0))
    if not known and missed >= _UNKNOWN_A_MINUTE and moment < since + 60:
        raise RateLimited(retry_after_seconds=math.ceil(since + 60 - moment))
    with store.reading() as reading:
        row = keys.find(reading, key)
    if row is None:
        _kept.pop(key, None)
        _keep(_unknown, key, moment + _UNKNOWN_SECONDS)
        _keep(_missed, request.counts_as, (since, missed + 1) if moment < since + 60 else (moment, 1))
        return None
    if row.last_used_at is None or row.last_used_at < now() - _NOTED_EVERY:
        _uses.add(keys.touch, row.id, request.address)
    caller = Caller(row.organisation_id, row.livemode, row.plan, frozenset(row.scopes), row.id)
    found = _Kept(moment + _FRESH_SECONDS, row, caller)
    _keep(_kept, key, found)
    return found


def _keep(cache: dict[str, Any], name: str, value: Any) -> None:
    if len(cache) >= _KEPT_KEYS:
        cache.clear()
    cache[name] = value


def party(request: Request) -> Hashable:
    """Say whose turn a request takes before its key is looked at: whoever's this key was a while ago, or its address's.

    So organisations that come from one address, a proxy's or an office's, do not wait for each other.
    """
    known = _kept.get(request.head.get("authorization", "").partition(" ")[2].strip())
    return (known.row.organisation_id, known.row.livemode) if known else request.counts_as


def bearer(request: Request, required: list[str]) -> Caller:
    """Return whose API key a request carries, or refuse: key, expiry, address, scope, in this order.

    Where it carries none, a member's session may ask instead.
    """
    given = request.head.get("authorization")
    if given is None and cookie(request):
        return member(request, required)
    scheme, _, key = (given or "").partition(" ")
    key = key.strip()
    if scheme.lower() != "bearer" or not _FORM.fullmatch(key):
        raise InvalidApiKey
    found = _look_up(key, request)
    if found is None:
        raise InvalidApiKey
    row = found.row
    caller = request.known = found.caller
    if row.revoked_at is not None:
        raise InvalidApiKey
    if row.expires_at and row.expires_at <= now():
        raise ExpiredApiKey
    if row.cidrs and not networks.within(request.address, row.cidrs):
        raise IpNotAllowed(ip=request.address)
    if missing := scopes.missing(caller.scopes, required):
        raise InsufficientScope(required_scope=missing[0])
    return caller


def cookie(request: Request) -> str | None:
    """Return the token of the session that a browser sends."""
    return _cookies(request).get(links.cookie())


def member(request: Request, required: list[str]) -> Caller:
    """Return whose session a request carries, or refuse: session, mode, where a change comes from, scope."""
    return _signed_in(request, required, request.head.get("x-livemode", "false"), is_page=False)


def visitor(request: Request, required: list[str]) -> Caller:
    """Return whose session a page is asked for with: its mode is kept by the browser, its forms show the token."""
    kept = _cookies(request).get(MODE_COOKIE, "false")
    return _signed_in(request, required, kept if kept in _MODES else "false", is_page=True)


def kept(request: Request, name: str) -> str | None:
    """Return what a browser keeps under a name, for a handler that has put it there."""
    return _cookies(request).get(name)


def _cookies(request: Request) -> dict[str, str]:
    given = request.head.get("cookie")
    return cookie_parser(given) if given else {}


def _signed_in(request: Request, required: list[str], mode: str, *, is_page: bool) -> Caller:
    token = cookie(request)
    if token is None:
        raise InvalidSession
    with store.reading() as reading:
        row = signed_in.find(reading, token)
    if row is None:
        raise InvalidSession
    if row.seen_at < now() - _NOTED_EVERY:
        _uses.add(signed_in.touch, row.id, request.address)
    proof = tokens.page_token(token)
    person = Person(row.member_id, row.user_id, row.role, row.id, row.proven_at, proof)
    squads = None if roles.may_see_all(row.role) else frozenset(row.squads or ())
    request.known = Caller(
        row.organisation_id,
        _MODES.get(mode.lower(), False),
        row.plan,
        frozenset(roles.scopes(row.role)),
        person=person,
        squads=squads,
    )
    if mode.lower() not in _MODES:
        raise Invalid.at("/header/X-Livemode", "Must be true or false.")
    given = request.head.get("x-csrf-token", "").encode()
    if not is_page and request.method not in SAFE and not hmac.compare_digest(proof.encode(), given):
        raise CsrfFailed
    if missing := scopes.missing(request.known.scopes, required):
        raise InsufficientScope("The role does not include what this needs.", required_scope=missing[0])
    return request.known


def check_session(request: Request, alternatives: "Alternatives", token: str) -> None:
    """Refuse what the session of a page's visitor may not do, or what did not come from a form of its own."""
    caller = request.caller
    if caller is None or caller.person is None:
        raise InvalidSession
    if request.method not in SAFE and not hmac.compare_digest(caller.person.token.encode(), token.encode()):
        raise CsrfFailed
    missing = [scopes.missing(caller.scopes, each) for need in alternatives for each in need.values()]
    if all(missing):
        raise InsufficientScope("The role does not include what this needs.", required_scope=missing[0][0])


def check_origin(request: Request) -> None:
    """Refuse what another site has a browser send to the area: signing in has no session's token to show."""
    origin = request.head.get("origin")
    if (
        origin is not None
        and origin != links.origin()
        and urlsplit(origin).netloc != request.head.get("host")
    ):
        raise CsrfFailed


Scheme = Callable[[Request, list[str]], Caller]
# By its name in the documents.
SCHEMES: dict[str, Scheme] = {"bearer": bearer, "session": member, "page": visitor}
Alternatives = list[dict[str, list[str]]]  # a document's `security`: any of them, each of all its schemes


def identify(request: Request, alternatives: Alternatives) -> Caller | None:
    """Return who asks by the first alternative that lets them in; None where nobody has to be known.

    Where none does, the refusal that says most is raised: of what is known and may not (403), of nothing known (401).
    """
    refused: list[Refusal] = []
    for alternative in alternatives:
        try:
            callers = [SCHEMES[name](request, scopes) for name, scopes in alternative.items()]
        except Refusal as refusal:
            refused.append(refusal)
        else:
            return callers[0] if callers else None
    if refused:
        raise max(refused, key=lambda one: one.status)
    return None
