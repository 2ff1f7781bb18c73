"""Jobs: made, changed, opened and closed."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from rules import jobs as rules
from rules import mail_templates, plans
from rules.caller import Caller
from rules.errors import Invalid
from rules.pages import Page
from schemas import html
from schemas import jobs as schemas
from store import events
from store.accounts import organisations, squads
from store.advancing import pipelines
from store.assessing import assessments
from store.database.engine import Means, Reading
from store.database.named import NIL
from store.hiring import fields, jobs

Body = dict[str, Any]


def list_jobs(reading: Reading, caller: Caller, **query: Any) -> Page:
    """List jobs, newest first."""
    if query["team_id"] is not None:
        plans.require(caller.plan_name, "team_filters")
    return jobs.LIST.page(reading, caller, **query).map(schemas.item)


def get_job(reading: Reading, caller: Caller, key: str) -> Body:
    """Show one job."""
    return _shown(reading, jobs.read(reading, caller, key))


def create_job(session: Session, caller: Caller, body: Body) -> Body:
    """Make a draft."""
    rules.check_plan(caller.plan, body)
    _hold_squads(session, caller, body)
    settings = _settings(session, caller, body)
    organisations.lock(session, caller)
    job = jobs.create(session, caller, settings)
    events.record(session, "job.created", job, schemas.event(job))
    return _shown(session, jobs.get(session, caller, str(job.id)))


def update_job(session: Session, caller: Caller, key: str, body: Body) -> Body:
    """Change settings."""
    rules.check_plan(caller.plan, body)
    _hold_squads(session, caller, body)
    job = jobs.get(session, caller, key, for_update=True)
    job.change(_settings(session, caller, body))
    job.publish_error = None  # what stood in the way may be out of it
    session.flush()
    session.expire(job, jobs.LINKS)
    return _shown(session, jobs.get(session, caller, str(job.id)))


def publish_job(session: Session, caller: Caller, key: str) -> Body:
    """Open a draft."""
    organisations.lock(session, caller)
    job = jobs.get(session, caller, key, for_update=True)
    jobs.publish(session, caller, job, schemas.event)
    return _shown(session, job)


def close_job(session: Session, caller: Caller, key: str) -> Body:
    """Close an open job."""
    job = jobs.get(session, caller, key, for_update=True)
    events.apply(session, job, rules.close(job.status), schemas.event)
    return _shown(session, job)


def _shown(means: Means, job: Any) -> Body:
    return schemas.detail(job, fields.read_all(means, job))


# What a job is linked to, by either of two names; the first is the column's.
_LINKS = (
    ("squad", ("team_id", "squad_id"), squads.find_id),
    ("assessment", ("assessment_id", "assessment_slug"), assessments.find_id),
    ("pipeline", ("pipeline_id", "pipeline_slug"), pipelines.find_id),
)
_LINK_NAMES = {name for _, names, _ in _LINKS for name in names}


def _hold_squads(session: Session, caller: Caller, body: Body) -> None:
    squads.hold(session, caller, *(body.get(name) for name in ("team_id", "squad_id")))


def _settings(session: Session, caller: Caller, body: Body) -> Body:
    """Return what a body says as the columns have it."""
    settings = {name: value for name, value in body.items() if name not in _LINK_NAMES}
    if "description_html" in body:
        settings["description_html"] = html.clean(body["description_html"])
    if "rejection_text" in body:
        mail_templates.check(mail_templates.KINDS["rejection"], {"rejection_text": body["rejection_text"]})
    if "country_code" in body:
        settings["country_code"] = body["country_code"].upper()
    for what, names, find in _LINKS:
        found = {name: _linked(session, caller, body, name, what, find) for name in names if name in body}
        if len(set(found.values())) > 1:
            raise Invalid.at(f"/{names[1]}", f"Names another {what} than `{names[0]}` does.")
        if found:
            settings[names[0]] = next(iter(found.values()))
    return settings


def _linked(
    session: Session, caller: Caller, body: Body, name: str, what: str, find: Callable[..., UUID]
) -> UUID | None:
    if body[name] is None:
        return None
    found = find(session, caller, str(body[name]))
    if found == NIL:
        raise Invalid.at(f"/{name}", f"There is no such {what}.")
    return found
