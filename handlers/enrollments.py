"""Enrollments: candidates on their way through pipelines."""

from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from rules import enrollments as rules
from rules.caller import Caller
from rules.errors import MissingEmail
from rules.pages import Page
from schemas import emails
from schemas import enrollments as schemas
from store.advancing import engine, enrolling, enrollments, pipelines
from store.database.engine import Means, Reading

Body = dict[str, Any]
ACTOR = "public_api"


def list_enrollments(reading: Reading, caller: Caller, slug: str, **query: Any) -> Page:
    """List a pipeline's enrollments, newest first."""
    query["pipeline_id"] = pipelines.read_id(reading, caller, slug)
    page = enrollments.LIST.page(reading, caller, **query)
    history = enrollments.history(reading, [row.id for row in page.results])
    return page.map(lambda row: schemas.detail(row, history[row.id]))


def get_enrollment(reading: Reading, caller: Caller, enrollment_id: UUID) -> Body:
    """Show one enrollment with its history."""
    return _shown(reading, caller, enrollment_id)


def enroll_candidate(session: Session, caller: Caller, slug: str, body: Body) -> tuple[Body, int]:
    """Enroll a candidate once; a second time answers the enrollment that exists."""
    if not body["email"].strip():
        raise MissingEmail
    person = {"email": emails.normal(body["email"]), "candidate_name": body["name"].strip()}
    pipeline = pipelines.get(session, caller, slug)
    found, new = enrolling.enroll(
        session, caller, pipeline, person, schemas, actor=ACTOR, send_email=body["send_email"]
    )
    shown = _shown(session, caller, found.id)
    if not new:
        return schemas.enrolled(shown, "The candidate is enrolled in this pipeline already."), 200
    return schemas.enrolled(shown, "Candidate enrolled."), 201


def bulk_enroll(session: Session, caller: Caller, slug: str, body: Body) -> Body:
    """Enroll many candidates in one transaction; a row that cannot be enrolled refuses no other."""
    pipeline = pipelines.get(session, caller, slug)
    rules.check_enrolling(pipeline.archived_at)
    wanted, skipped, errors = rules.sift(body["candidates"], emails.normal_or_none)
    known = enrolling.known(session, pipeline, [one["email"].casefold() for one in wanted])
    fresh = [one for one in wanted if one["email"].casefold() not in known]
    made, without = enrolling.enroll_all(
        session, caller, pipeline, fresh, schemas, actor=ACTOR, send_email=body["send_email"]
    )
    errors += [rules.error(one["email"], "quota_exhausted") for one in without]
    dealt_with = {one.email for one in made} | {one["email"] for one in without}
    skipped += [rules.skip(one["email"]) for one in wanted if one["email"] not in dealt_with]
    return {"enrolled": [schemas.bulk_row(one) for one in made], "skipped": skipped, "errors": errors}


def advance_enrollment(session: Session, caller: Caller, enrollment_id: UUID) -> Body:
    """Bring to the next stage; past the last one it has passed."""
    return _moved(session, caller, enrollment_id, "advance")


def reject_enrollment(session: Session, caller: Caller, enrollment_id: UUID, body: Body) -> Body:
    """Reject at the present stage."""
    return _moved(session, caller, enrollment_id, "reject", body["reason"])


def hold_enrollment(session: Session, caller: Caller, enrollment_id: UUID) -> Body:
    """Put on hold."""
    return _moved(session, caller, enrollment_id, "hold")


def unhold_enrollment(session: Session, caller: Caller, enrollment_id: UUID) -> Body:
    """Take off hold, and apply what was missed meanwhile."""
    return _moved(session, caller, enrollment_id, "unhold")


def list_enrollment_notes(reading: Reading, caller: Caller, enrollment_id: UUID, **query: Any) -> Page:
    """List what was written about an enrollment, newest first."""
    query["enrollment_id"] = enrollments.read(reading, caller, enrollment_id).id
    return enrollments.NOTES.page(reading, caller, **query).map(schemas.note)


def create_enrollment_note(session: Session, caller: Caller, enrollment_id: UUID, body: Body) -> Body:
    """Write a note on an enrollment."""
    id = enrollments.read(session, caller, enrollment_id).id
    return schemas.note(enrollments.note(session, caller, id, body["body"], ACTOR))


def _moved(session: Session, caller: Caller, id: UUID, signal: str, reason: str = "") -> Body:
    engine.by_hand(session, caller, id, signal, schemas, actor=ACTOR, reason=reason)
    return _shown(session, caller, id)


def _shown(means: Means, caller: Caller, id: UUID) -> Body:
    return schemas.detail(enrollments.read(means, caller, id), enrollments.history(means, [id])[id])
