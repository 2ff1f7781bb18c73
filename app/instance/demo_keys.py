"""The demo organisation's keys: shown at every start, so they are kept in the data folder."""

import json
from typing import TYPE_CHECKING

from app.instance import places
from app.instance.places import Places

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

SLUG = "demo"
FILE = "demo.json"


def prepare(where: Places, database_url: str) -> dict[str, str]:
    """Bring the database up to date and return `organisation`, `live_key` and `test_key`, made once."""
    import store  # slow to load, and most starts need none of it
    from store.accounts import keys, members, organisations
    from store.auditing import trail
    from store.database import engine
    from store.operating import migrate

    migrate.upgrade(database_url)
    engine.configure(database_url, pool_size=1)
    try:
        known = kept(where)
        with store.transaction() as session:
            if known and all(_works(session, known[name]) for name in ("live_key", "test_key")):
                return known
            organisation = organisations.by_slug(session, SLUG)
            if organisation is None:
                organisation = organisations.create(session, name="Demo", plan="growth")
                person = {"email": "grace@example.com", "name": "Grace Hopper", "role": "owner"}
                members.add(session, organisation=organisation, **person)
            made = {"organisation": organisation.slug}
            for mode in ("live", "test"):
                row, made[f"{mode}_key"] = keys.create(
                    session, organisation=organisation, name=f"Demo ({mode})", livemode=mode == "live"
                )
                entry = trail.Entry("cli", "cli", "up", organisation_id=organisation.id)
                entry.resource_type, entry.resource_id = "key", str(row.id)
                trail.note(session, entry)
        places.write_private(where.data / FILE, json.dumps(made))
        return made
    finally:
        engine.engine().dispose()


def sign_in_link(database_url: str, base_url: str) -> str | None:
    """Make a link with which somebody of the demo organisation signs in, once; its owner, where it has one."""
    import store
    from rules import links
    from rules.members import ROLES
    from store.accounts import members, organisations, sign_ins
    from store.database import engine

    engine.configure(database_url, pool_size=1)
    try:
        with store.transaction() as session:
            organisation = organisations.by_slug(session, SLUG)
            people = members.of(session, organisation) if organisation else []
            first = min(people, key=lambda one: ROLES.index(one.role), default=None)
            made = first and sign_ins.make(session, first)
        links.configure(base_url)
        return links.sign_in(made[2]) if made else None
    finally:
        engine.engine().dispose()


def _works(session: "Session", key: str) -> bool:
    from store.accounts import keys

    found = keys.find(session, key)
    return found is not None and found.revoked_at is None


def kept(where: Places) -> dict[str, str] | None:
    """Return the keys of the last start, if there was one."""
    try:
        read: dict[str, str] = json.loads((where.data / FILE).read_text())
    except (OSError, ValueError):
        return None
    return read if {"organisation", "live_key", "test_key"} <= set(read) else None
