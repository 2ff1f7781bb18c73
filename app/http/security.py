"""From an API key to a caller: 401 and 403."""

import logging
import math
import queue
import re
import threading
import time
from collections.abc import Callable, Hashable
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy.exc import SQLAlchemyError

import store
from app.http.context import Request
from rules import networks, scopes
from rules.caller import Caller
from rules.clock import now
from rules.errors import ExpiredApiKey, InsufficientScope, InvalidApiKey, IpNotAllowed, RateLimited, Refusal
from store.accounts import keys

log = logging.getLogger("hiring.keys")

_NOTING = "key-uses"
_one_starts = threading.Lock()
_FORM = re.compile(r"ct_(?:live|test)_[A-Za-z0-9_-]{32,128}")
# A key is looked up every half second in each process. Whoever finds it older looks again, and for a quarter of a
# second more the others go on with what is known: they would all look at once. So a change is felt within a second.
_FRESH_SECONDS, _WHILE_ONE_LOOKS = 0.5, 0.25
_KEPT_KEYS = 10_000
_UNKNOWN_SECONDS = 1.0  # a key that is not there is not looked for again
_UNKNOWN_A_MINUTE = 600  # of one address; beyond it no key is looked up for it that is not known
_NOTED_EVERY = timedelta(minutes=1)  # that a key is used


class _Kept(NamedTuple):
    until: float
    row: Any
    one_looks: bool = False


_kept: dict[str, _Kept] = {}


_unknown: dict[str, float] = {}  # by key: until when
_missed: dict[str, tuple[float, int]] = {}  # by address: since when, and how many
_used: queue.SimpleQueue[Any] = queue.SimpleQueue()  # keys to note the use of


def forget() -> None:
    """Empty the cache (a test changed a key and will not wait)."""
    for cache in (_kept, _unknown, _missed):
        cache.clear()


def _look_up(key: str, address: str) -> Any:
    """Return a key's row, None where there is none; RateLimited for an address that guesses."""
    moment = time.monotonic()
    known = _kept.get(key)
    if known and known.until > moment:
        return known.row
    if _unknown.get(key, 0.0) > moment:
        return None
    if known and not known.one_looks and moment < known.until + _WHILE_ONE_LOOKS:
        _kept[key] = _Kept(known.until + _WHILE_ONE_LOOKS, known.row, one_looks=True)
    since, missed = _missed.get(address, (moment, 0))
    if not known and missed >= _UNKNOWN_A_MINUTE and moment < since + 60:
        raise RateLimited(math.ceil(since + 60 - moment))
    with store.reading() as reading:
        row = keys.find(reading, key)
    if row is None:
        _kept.pop(key, None)
        _keep(_unknown, key, moment + _UNKNOWN_SECONDS)
        _keep(_missed, address, (since, missed + 1) if moment < since + 60 else (moment, 1))
        return None
    if row.last_used_at is None or row.last_used_at < now() - _NOTED_EVERY:
        _note_use(row.id)
    _keep(_kept, key, _Kept(moment + _FRESH_SECONDS, row))
    return row


def _keep(cache: dict[str, Any], name: str, value: Any) -> None:
    if len(cache) >= _KEPT_KEYS:
        cache.clear()
    cache[name] = value


def _note_use(id: UUID) -> None:
    """Have a key's use written by a thread of its own: no request waits for it."""
    _used.put(id)
    with _one_starts:
        if not any(thread.name == _NOTING for thread in threading.enumerate()):
            threading.Thread(target=_write_uses, name=_NOTING, daemon=True).start()


def _write_uses() -> None:
    while True:
        id = _used.get()
        try:
            with store.transaction() as session:
                keys.touch(session, id)
        except SQLAlchemyError as fault:  # the next request a minute later notes it
            log.warning("The use of a key could not be noted: %s", fault)


def party(request: Request) -> Hashable:
    """Say whose turn a request takes before its key is looked at: whoever's this key was a while ago, or its address's.

    So organisations that come from one address, a proxy's or an office's, do not wait for each other.
    """
    known = _kept.get(request.head.get("authorization", "").partition(" ")[2].strip())
    return (known.row.organisation_id, known.row.livemode) if known else request.address


def bearer(request: Request, required: list[str]) -> Caller:
    """Return whose API key a request carries, or refuse: key, expiry, address, scope, in this order."""
    scheme, _, key = request.head.get("authorization", "").partition(" ")
    key = key.strip()
    if scheme.lower() != "bearer" or not _FORM.fullmatch(key):
        raise InvalidApiKey
    row = _look_up(key, request.address)
    if row is None:
        raise InvalidApiKey
    granted = frozenset(row.scopes)
    request.known = Caller(row.organisation_id, row.livemode, row.plan, granted, row.id)
    if row.revoked_at is not None:
        raise InvalidApiKey
    if row.expires_at and row.expires_at <= now():
        raise ExpiredApiKey
    if row.cidrs and not networks.within(request.address, row.cidrs):
        raise IpNotAllowed(ip=request.address)
    if missing := scopes.missing(granted, required):
        raise InsufficientScope(required_scope=missing[0])
    return request.known


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
