"""Knockout rules of jobs."""

from typing import Any

from sqlalchemy.orm import Session

from rules import knockouts as rules
from rules.caller import Caller
from rules.pages import Page
from schemas import jobs as schemas
from store.auditing import trail
from store.hiring import fields, jobs, knockouts

Body = dict[str, Any]


def list_knockouts(session: Session, caller: Caller, key: str, **query: Any) -> Page:
    """List a job's rules in their order."""
    query["job_id"] = jobs.get(session, caller, key).id
    return knockouts.LIST.page(session, caller, **query).map(schemas.knockout)


def replace_knockouts(session: Session, caller: Caller, key: str, body: Body) -> list[Body]:
    """Make the given rules the full set."""
    job = jobs.get(session, caller, key, for_update=True)
    trail.about(session, "job", job)
    rules.check(body["rules"], [one.as_rules_see_it() for one in fields.all_of(session, job)])
    return [schemas.knockout(rule) for rule in knockouts.replace(session, job, body["rules"])]
