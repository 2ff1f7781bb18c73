"""What the world may see and do: open jobs, and applying for them."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from sqlalchemy.orm import Session

from handlers import applications
from rules import consent, sources
from rules.clock import now
from rules.pages import Page
from schemas import careers as schemas
from store.branding import settings
from store.hiring import careers, fields

Body = dict[str, Any]
Begin = Callable[[], AbstractContextManager[Session]]


def list_open_jobs(session: Session, org_slug: str, **query: Any) -> Page:
    """List an organisation's open jobs, newest first."""
    organisation, caller = careers.visit(session, org_slug)
    return careers.LIST.page(session, caller, **query).map(lambda job: schemas.item(job, organisation))


def get_open_job(session: Session, org_slug: str, job_slug: str) -> Body:
    """Show an open job with its questions."""
    organisation, caller = careers.visit(session, org_slug)
    job = careers.get(session, caller, job_slug)
    own = settings.read(session, caller)
    return schemas.detail(job, organisation, fields.all_of(session, job), own)


def apply_for_job(begin: Begin, finish: Begin, org_slug: str, job_slug: str, body: Body) -> Body:
    """Apply; the answer is the same whatever becomes of it, and for who has applied before."""
    with begin() as session:
        _, caller = careers.visit(session, org_slug)
        job = careers.get(session, caller, job_slug)
        own = settings.read(session, caller)
    accepted = body["consent_accepted"]
    applications.apply(
        begin,
        finish,
        caller,
        [str(job.id)],
        body,
        source="public_careers",
        actor="candidate",
        faults=consent.faults(own, accepted=accepted),
        also=consent.given(own, accepted=accepted, moment=now())
        | {"source_detail": sources.detail(body) if own.source_tracking else None},
    )
    return {"status": "submitted"}
