"""What jobs look for."""

from typing import Any

from sqlalchemy.orm import Session

from rules import requirements as rules
from rules.caller import Caller
from rules.pages import Page
from schemas import jobs as schemas
from store.auditing import trail
from store.hiring import fields, jobs, requirements

Body = dict[str, Any]


def list_requirements(session: Session, caller: Caller, key: str, **query: Any) -> Page:
    """List a job's requirements in their order."""
    query["job_id"] = jobs.get(session, caller, key).id
    return requirements.LIST.page(session, caller, **query).map(schemas.requirement)


def replace_requirements(session: Session, caller: Caller, key: str, body: Body) -> list[Body]:
    """Make the given requirements the full set."""
    job = jobs.get(session, caller, key, for_update=True)
    trail.about(session, "job", job)
    keys = {one.key for one in fields.all_of(session, job)}
    plain = rules.normalise(body["requirements"], keys)
    return [schemas.requirement(one) for one in requirements.replace(session, job, plain)]
