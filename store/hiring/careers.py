"""What the world may see of an organisation: its open jobs of the live mode."""

from collections.abc import Sequence

from sqlalchemy import Select, func, or_, select
from sqlalchemy.orm import Session

from rules.caller import Caller
from rules.errors import NotFound
from store.accounts import organisations
from store.accounts.organisations import Organisation
from store.database import listing
from store.database.base import ANYONE, Anyone, visible
from store.hiring.jobs import Job

# The schedule closes what has expired a moment later.
_OPEN = (Job.status == "open", or_(Job.expires_at.is_(None), Job.expires_at > func.now()))


def visit(session: Session, slug: str) -> tuple[Organisation, Caller]:
    """Return an organisation and itself as a caller without a key, or raise NotFound."""
    found = organisations.by_slug(session, slug)
    if found is None:
        raise NotFound("There is no such organisation.")
    return found, Caller(found.id, livemode=True, plan_name=found.plan)


def hiring(session: Session, *, limit: int) -> Sequence[Organisation]:
    """Return organisations that have an open job, the newest first."""
    job = select(Job.id).where(Job.organisation_id == Organisation.id, Job.livemode, *_OPEN)
    found = select(Organisation).where(job.exists()).order_by(Organisation.id.desc()).limit(limit)
    return session.scalars(found).all()


def _open(caller: Caller | Anyone) -> Select[Job]:
    return visible(caller, Job).where(*_OPEN)


LIST = listing.Listing(_open(ANYONE), {"-id": (Job.id,)})


def get(session: Session, caller: Caller, slug: str) -> Job:
    """Load one open job, or raise NotFound."""
    row: Job | None = session.scalars(_open(caller).where(Job.slug == slug)).first()
    if row is None:
        raise NotFound("There is no such open job.")
    return row
