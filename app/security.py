"""From an API key to a caller: 401 and 403."""

import re
import time
from typing import Any

from connexion.lifecycle import ConnexionRequest
from connexion.security import BearerSecurityHandler
from starlette.concurrency import run_in_threadpool

import store
from app import addresses, context
from rules import scopes
from rules.caller import Caller
from rules.clock import now
from rules.errors import ExpiredApiKey, InsufficientScope, InvalidApiKey, IpNotAllowed
from store import keys

_FORM = re.compile(r"ct_(?:live|test)_[A-Za-z0-9_-]{32,128}")
# A key is looked up at most twice a second in each process, and its revocation is felt within that time.
_KEPT_SECONDS = 0.5
_KEPT_KEYS = 10_000
_kept: dict[str, tuple[float, Any]] = {}


def forget() -> None:
    """Empty the cache (a test changed a key and will not wait)."""
    _kept.clear()


def _look_up(key: str) -> Any:
    moment = time.monotonic()
    known = _kept.get(key)
    if known and known[0] > moment:
        return known[1]
    with store.transaction() as session:
        found = keys.find(session, key)
        if found:
            keys.touch(session, found[0].id)
    if found:
        if len(_kept) >= _KEPT_KEYS:
            _kept.clear()
        _kept[key] = (moment + _KEPT_SECONDS, found)
    return found


def identify(authorization: str | None, address: str, required: list[str]) -> Caller:
    """Return the caller of a request, or refuse: key, expiry, address, scope, in this order."""
    scheme, _, key = (authorization or "").partition(" ")
    key = key.strip()
    if scheme.lower() != "bearer" or not _FORM.fullmatch(key):
        raise InvalidApiKey
    found = _look_up(key)
    if found is None or found[0].revoked_at is not None:
        raise InvalidApiKey
    row, plan = found
    if row.expires_at and row.expires_at <= now():
        raise ExpiredApiKey
    if row.cidrs and not addresses.within(address, row.cidrs):
        raise IpNotAllowed(ip=address)
    granted = frozenset(row.scopes)
    if missing := scopes.missing(granted, required):
        raise InsufficientScope(required_scope=missing[0])
    return Caller(row.organisation_id, row.livemode, plan, granted, row.id)


class ScopedBearer(BearerSecurityHandler):  # type: ignore[misc]
    """Connexion's bearer handler, which drops the scopes that an operation's `security` names, with them kept."""

    def get_fn(self, security_scheme: dict[str, Any], required_scopes: list[str]) -> Any:
        """Return the check of one operation."""

        async def verify(request: ConnexionRequest) -> dict[str, Any]:
            scope = request.scope
            caller = await run_in_threadpool(
                identify, request.headers.get("authorization"), context.of(scope).address, required_scopes
            )
            return {"caller": caller}

        return verify
