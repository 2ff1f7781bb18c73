"""Organisations and what they have used of their month."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, select, text
from sqlalchemy.orm import Mapped, Session, mapped_column

from rules import slugs, tokens
from rules.caller import Caller
from rules.clock import month
from store.database.base import ANYONE, Base, Identified, Party, Updated
from store.database.engine import Change, Means, Reading
from store.database.prepared import Prepared
from store.database.usage import USED


class Organisation(Base, Identified, Updated):
    """A customer of the service; owns everything else."""

    __tablename__ = "organisations"

    name: Mapped[str]
    slug: Mapped[str] = mapped_column(unique=True)
    plan: Mapped[str]
    notify_on_candidate_completion: Mapped[bool] = mapped_column(default=False)


MOST = 2**31 - 1  # more than a counter holds


def create(session: Session, *, name: str, plan: str) -> Organisation:
    """Make an organisation with a slug of its own."""
    slug = slugs.plain(name) or "organisation"
    if session.scalar(select(Organisation.id).where(Organisation.slug == slug)):
        slug = f"{slug}-{tokens.mark()}"
    organisation = Organisation(name=name, slug=slug, plan=plan)
    session.add(organisation)
    session.flush()
    return organisation


def by_slug(session: Session, slug: str) -> Organisation | None:
    """Find an organisation by its slug."""
    return session.scalar(select(Organisation).where(Organisation.slug == slug))


_OWNER = Prepared(select(Organisation.id).where(Organisation.slug == bindparam("slug")))


def owner(means: Means, slug: str) -> Party | None:
    """Say whose and of which mode the careers site of a slug is; None where there is none."""
    row = _OWNER.first(means, slug=slug)
    return row and (row.id, True)


def everyone(session: Session) -> Sequence[Organisation]:
    """Return every organisation, oldest first: for whoever runs the service."""
    return session.scalars(select(Organisation).order_by(Organisation.id)).all()


def get(session: Session, caller: Caller) -> Organisation:
    """Load the caller's organisation."""
    return session.scalars(select(Organisation).where(Organisation.id == caller.organisation_id)).one()


def lock(session: Session, caller: Caller) -> Organisation:
    """Take the organisation row: whatever counts against a quota is decided one at a time.

    The key stays free: writing an event refers to it while holding the counter that whoever is here will need.
    """
    mine = select(Organisation).where(Organisation.id == caller.organisation_id)
    return session.scalars(mine.with_for_update(key_share=True)).one()


def caller_of(session: Session, row: Any) -> Caller:
    """Return whoever owns a row as a caller without a key: what the service does by itself, it does for them."""
    plan = session.scalars(select(Organisation.plan).where(Organisation.id == row.organisation_id)).one()
    return Caller(row.organisation_id, row.livemode, plan)


_NAME = Prepared(select(Organisation.name).where(Organisation.id == ANYONE.organisation_id))
TAKE = """
    INSERT INTO invite_usage AS usage (organisation_id, month, used)
    SELECT :organisation_id, :month, CAST(:count AS int) WHERE :count <= :limit {where}
    ON CONFLICT (organisation_id, month) DO UPDATE SET used = usage.used + :count
    WHERE usage.used + :count <= :limit
    RETURNING used
"""
_TAKE = Prepared(text(TAKE.format(where="")))
_LOCK = Prepared(
    text("""
    INSERT INTO invite_usage AS usage (organisation_id, month, used) VALUES (:organisation_id, :month, 0)
    ON CONFLICT (organisation_id, month) DO UPDATE SET used = usage.used
    RETURNING used
    """)
)
_CHANGE = Prepared(
    text("""
    UPDATE invite_usage SET used = used + :change WHERE organisation_id = :organisation_id AND month = :month
    """)
)


def name(means: Means, caller: Caller) -> str:
    """Return the name of the caller's organisation."""
    return str(_NAME.first(means, caller).name)


def limit(caller: Caller) -> int:
    """Return how many live invitations the caller's month has; more than can be counted where it has no end."""
    return MOST if caller.plan.invites is None else caller.plan.invites


def take_invites(session: Change, caller: Caller, count: int) -> tuple[int, int]:
    """Take up to `count` of the month's live invitations; test mode costs nothing.

    Returns how many were granted, and how many were used before. The month's row stays locked until the commit, so
    that parallel requests never grant more than there is.
    """
    if not caller.livemode:
        hold_month(session, caller)
        return count, 0
    taken = _TAKE.first(session, caller, month=month(), count=count, limit=limit(caller))
    if taken:
        return count, taken.used - count
    used = _LOCK.first(session, caller, month=month()).used
    granted = max(0, min(count, limit(caller) - used))
    _use(session, caller, granted)
    return granted, used


_HOLD_IN_TEST = Prepared(
    text("SELECT pg_advisory_xact_lock(hashtextextended('month ' || CAST(:organisation_id AS text), 0))")
)


def hold_month(session: Change, caller: Caller) -> None:
    """Take the month's place in the order of locks (store.database.locks), which test mode has without a row."""
    if caller.livemode:
        _LOCK.first(session, caller, month=month())
    else:
        _HOLD_IN_TEST.first(session, caller)


def give_back_invites(session: Change, caller: Caller, count: int) -> None:
    """Give back what was taken in this transaction and not needed after all."""
    if caller.livemode:
        _use(session, caller, -count)


def _use(session: Change, caller: Caller, change: int) -> None:
    if change:
        _CHANGE.run(session, caller, month=month(), change=change)


_USED = Prepared(select(USED))


def invites_used(means: Means, caller: Caller) -> int:
    """Count this month's live invitations."""
    if isinstance(means, Reading) and means.invites_used is not None:
        return means.invites_used
    return int(_USED.first(means, caller).invites_used)


def invites_left(means: Means, caller: Caller) -> int | None:
    """Return how many invitations the caller may still make this month; None where there is no end."""
    if not caller.livemode or caller.plan.invites is None:
        return None
    return max(0, caller.plan.invites - invites_used(means, caller))


def quota(means: Means, caller: Caller) -> dict[str, Any]:
    """Return the quota meta object of the caller's organisation."""
    limit, used = caller.plan.invites, invites_used(means, caller)
    return {
        "plan": caller.plan_name,
        "invite_limit": limit,
        "invites_used": used,
        "invites_remaining": None if limit is None else max(0, limit - used),
    }
