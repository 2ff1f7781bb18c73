"""From an API key to a caller: 401 and 403."""

import re
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple

import store
from app.http import addresses
from app.http.context import Request
from rules import scopes
from rules.caller import Caller
from rules.clock import now
from rules.errors import ExpiredApiKey, InsufficientScope, InvalidApiKey, IpNotAllowed, Refusal
from store.accounts import keys

_FORM = re.compile(r"ct_(?:live|test)_[A-Za-z0-9_-]{32,128}")
# A key is looked up every half second in each process. Whoever finds it older looks again, and for a quarter of a
# second more the others go on with what is known: they would all look at once. So a change is felt within a second.
_FRESH_SECONDS, _WHILE_ONE_LOOKS = 0.5, 0.25
_KEPT_KEYS = 10_000
_NOTED_EVERY = timedelta(minutes=1)  # that a key is used


class _Kept(NamedTuple):
    until: float
    row: Any
    one_looks: bool = False


_kept: dict[str, _Kept] = {}


def forget() -> None:
    """Empty the cache (a test changed a key and will not wait)."""
    _kept.clear()


def _look_up(key: str) -> Any:
    moment = time.monotonic()
    known = _kept.get(key)
    if known and known.until > moment:
        return known.row
    if known and not known.one_looks and moment < known.until + _WHILE_ONE_LOOKS:
        _kept[key] = _Kept(known.until + _WHILE_ONE_LOOKS, known.row, one_looks=True)
    with store.reading() as reading:
        row = keys.find(reading, key)
    if row is None:
        _kept.pop(key, None)
        return None
    if row.last_used_at is None or row.last_used_at < now() - _NOTED_EVERY:
        with store.transaction() as session:
            keys.touch(session, row.id)
    if len(_kept) >= _KEPT_KEYS:
        _kept.clear()
    _kept[key] = _Kept(moment + _FRESH_SECONDS, row)
    return row


def bearer(request: Request, required: list[str]) -> Caller:
    """Return whose API key a request carries, or refuse: key, expiry, address, scope, in this order."""
    scheme, _, key = request.head.get("authorization", "").partition(" ")
    key = key.strip()
    if scheme.lower() != "bearer" or not _FORM.fullmatch(key):
        raise InvalidApiKey
    row = _look_up(key)
    if row is None or row.revoked_at is not None:
        raise InvalidApiKey
    if row.expires_at and row.expires_at <= now():
        raise ExpiredApiKey
    if row.cidrs and not addresses.within(request.address, row.cidrs):
        raise IpNotAllowed(ip=request.address)
    granted = frozenset(row.scopes)
    if missing := scopes.missing(granted, required):
        raise InsufficientScope(required_scope=missing[0])
    return Caller(row.organisation_id, row.livemode, row.plan, granted, row.id)


Scheme = Callable[[Request, list[str]], Caller]
SCHEMES: dict[str, Scheme] = {"bearer": bearer}  # by its name in the documents
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
