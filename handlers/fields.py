"""The questions that jobs ask, and show: a job changes with them."""

from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from rules import fields as rules
from rules.caller import Caller
from rules.clock import now
from rules.pages import Page
from schemas import jobs as schemas
from store.hiring import fields, jobs, knockouts

Body = dict[str, Any]


def list_fields(session: Session, caller: Caller, key: str, **query: Any) -> Page:
    """List a job's questions in their order."""
    query["job_id"] = jobs.get(session, caller, key).id
    return fields.LIST.page(session, caller, **query).map(schemas.question)


def create_field(session: Session, caller: Caller, key: str, body: Body) -> Body:
    """Add a question."""
    rules.check_options(body["field_type"], body["options"])
    job = jobs.get(session, caller, key, for_update=True)
    there = fields.all_of(session, job)
    rules.check_room(len(there))
    named = rules.key(body.get("key"), body["label"], {one.key for one in there})
    content = body | {"key": named, "options": rules.ordered(body["options"])}
    job.updated_at = now()
    last = max((one.sort_order for one in there), default=-1)
    return schemas.question(fields.create(session, job, content, last=last))


def update_field(session: Session, caller: Caller, key: str, field_id: UUID, body: Body) -> Body:
    """Change a question; rules and requirements follow a new key."""
    job = jobs.get(session, caller, key, for_update=True)
    field = fields.get(session, job, field_id)
    there = fields.all_of(session, job)
    old = field.key
    if "key" in body:
        rules.key(body["key"], "", {one.key for one in there if one is not field})
    field.change(body | {name: rules.ordered(body[name]) for name in ("options",) if name in body})
    rules.check_options(field.field_type, field.options)
    if session.is_modified(field):
        job.updated_at = now()
    if field.key != old:
        fields.rename(session, job, old, field.key)
    session.flush()
    rules.check_rules(
        [rule.as_rules_see_it() for rule in knockouts.all_of(session, job)],
        [one.as_rules_see_it() for one in there],
        changed=body,
    )
    return schemas.question(field)


def delete_field(session: Session, caller: Caller, key: str, field_id: UUID) -> None:
    """Take a question out of a job; answers that were given stay."""
    job = jobs.get(session, caller, key, for_update=True)
    job.updated_at = now()
    fields.remove(session, fields.get(session, job, field_id))
