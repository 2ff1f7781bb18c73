"""The organisation's API keys, as its people manage them: of both modes, each shown once."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from rules import keys as rules
from rules import roles
from rules.caller import Caller
from rules.clock import now
from rules.pages import Page
from schemas import people as schemas
from store.accounts import keys, organisations
from store.database.engine import Reading

Body = dict[str, Any]


def list_keys(reading: Reading, caller: Caller, **query: Any) -> Page:
    """List the keys of both modes, the newest first, also those that work no more."""
    return keys.LIST.page(reading, caller, **query).map(schemas.key)


def create_key(session: Session, caller: Caller, body: Body) -> Body:
    """Make a key; only this answer has the key itself."""
    roles.check_proven(caller, now())
    roles.check_may_open(caller, body["scopes"])
    cidrs = rules.check_new(body["cidrs"], body["expires_at"], now())
    made, key = keys.create(
        session,
        organisation=organisations.get(session, caller),
        name=body["name"].strip(),
        livemode=body["livemode"],
        scopes=list(dict.fromkeys(body["scopes"])),
        cidrs=cidrs,
        expires_at=body["expires_at"],
    )
    return schemas.key(made) | {"key": key}


def update_key(session: Session, caller: Caller, key_id: UUID, body: Body) -> Body:
    """Change what a key is called, what it may do, from where and until when; felt within a second."""
    roles.check_proven(caller, now())
    found = keys.get(session, caller, key_id)
    rules.check_works(found.revoked_at, found.expires_at, now())
    for scopes in (found.scopes, body.get("scopes", found.scopes)):
        roles.check_may_open(caller, scopes)
    changed = dict(body)
    if "name" in body:
        changed["name"] = body["name"].strip()
    if "scopes" in body:
        changed["scopes"] = list(dict.fromkeys(body["scopes"]))
    cidrs = rules.check_new(body.get("cidrs", ()), body.get("expires_at"), now())
    if "cidrs" in body:
        changed["cidrs"] = cidrs
    if "expires_at" in body:
        found.expire(changed.pop("expires_at"))
    found.change(changed)
    return schemas.key(found)


def revoke_key(session: Session, caller: Caller, key_id: UUID) -> Body:
    """Revoke a key for good; requests with it fail within a second."""
    roles.check_proven(caller, now())
    found = keys.get(session, caller, key_id)
    keys.revoke(session, found.id)
    return schemas.key(found)


def rotate_key(session: Session, caller: Caller, key_id: UUID, body: Body) -> Body:
    """Make a key that may do what another may, which goes on for a while."""
    roles.check_proven(caller, now())
    old = keys.get(session, caller, key_id)
    roles.check_may_open(caller, old.scopes)
    rules.check_works(old.revoked_at, old.expires_at, now())
    made, key = keys.create(
        session,
        organisation=organisations.get(session, caller),
        name=old.name,
        livemode=old.livemode,
        scopes=old.scopes,
        cidrs=old.cidrs,
        expires_at=old.expires_at,
    )
    end = now() + timedelta(hours=body["overlap_hours"])
    old.expire(min(end, old.expires_at or end))
    return schemas.key(made) | {"key": key}
