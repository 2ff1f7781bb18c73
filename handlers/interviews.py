"""Interviews: their templates, their rooms, and what comes of them."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from rules import interview_rows as rows
from rules import interviews as rules
from rules.caller import Caller
from rules.clock import now
from rules.pages import Page
from rules.tokens import new_token
from schemas import emails
from schemas import enrollments as enrollment_schemas
from schemas import interviews as schemas
from store.advancing import outcomes
from store.auditing import trail
from store.database.engine import Reading
from store.interviewing import contents, moves, preparing, quota, rooms, tasks, templates
from store.interviewing.preparing import Person, Plan
from store.interviewing.rooms import Interview

Body = dict[str, Any]
ACTOR = "public_api"


def list_interviews(reading: Reading, caller: Caller, **query: Any) -> Page:
    """List rooms, newest first."""
    return contents.LIST.page(reading, caller, **query).map(schemas.item)


def get_interview(session: Session, caller: Caller, room_id: UUID) -> Body:
    """Show one room with all that is in it."""
    return _shown(session, rooms.get(session, caller, room_id))


def create_interview(session: Session, caller: Caller, body: Body) -> Body:
    """Prepare a room; with a moment it is scheduled."""
    email = body["candidate_email"].strip()
    person = {
        "email": emails.normal(email) if email else "",
        "name": body["candidate_name"].strip(),
        "resume_text": body["resume_text"],
    }
    enrollment = outcomes.enrolled(session, caller, body.get("pipeline_enrollment_id"))
    plan = _plan(session, caller, body)
    _check(plan, person["resume_text"])
    granted, used = quota.take(session, caller, 1)
    rules.check_quota(caller.plan.interviews, used, granted)
    [room] = preparing.prepare(session, caller, plan, [_person(person, enrollment)], schemas)
    return _shown(session, room)


def bulk_interview(session: Session, caller: Caller, body: Body) -> Body:
    """Prepare rooms for many candidates in one transaction; a row that gets none refuses no other."""
    plan = _plan(session, caller, body)
    wanted, errors = rows.sift(
        body["candidates"],
        emails.normal_or_none,
        needs_resume=plan.settings["interviewer_mode"] == rules.ALONE,
    )
    _check(plan, "of each candidate")
    granted, used = quota.take(session, caller, len(wanted))
    if wanted:
        rules.check_quota(caller.plan.interviews, used, granted)
    errors += [rows.error(one["email"], "quota_exhausted") for one in wanted[granted:]]
    people = [Person(**one) for one in wanted[:granted]]
    made = preparing.prepare(session, caller, plan, people, schemas)
    created = [{"email": one.candidate_email, "room_id": str(one.id)} for one in made]
    return {"created": created, "errors": errors}


def cancel_interview(session: Session, caller: Caller, room_id: UUID) -> Body:
    """Cancel an interview that has not begun."""
    room = rooms.get(session, caller, room_id, for_update=True)
    moves.cancel(session, caller, room, schemas)
    return _shown(session, room)


def reschedule_interview(session: Session, caller: Caller, room_id: UUID, body: Body) -> Body:
    """Give an interview that has not begun a moment, or another one."""
    room = rooms.get(session, caller, room_id, for_update=True)
    moves.reschedule(session, caller, room, body["scheduled_at"], schemas)
    return _shown(session, room)


def share_interview(session: Session, caller: Caller, room_id: UUID, body: Body) -> tuple[Body, int]:
    """Make a link to look at a room, for some days."""
    room, token = rooms.get(session, caller, room_id), new_token()
    trail.about(session, "interview", room)
    link = rooms.share(session, room, token, now() + timedelta(days=body["expires_days"]))
    return schemas.share(room, token, link), 201


def settle_interview(session: Session, caller: Caller, room_id: UUID, body: Body) -> Body:
    """Say what an interview leads to; the enrollment that it is of moves with it."""
    room, _ = outcomes.settle(
        session, caller, room_id, body["recommendation"], body["comment"], enrollment_schemas, actor=ACTOR
    )
    return _shown(session, room)


def get_analysis(session: Session, caller: Caller, room_id: UUID) -> Body:
    """Show what was made of an interview."""
    return schemas.analysis(rooms.get(session, caller, room_id))


def get_replay(session: Session, caller: Caller, room_id: UUID) -> Body:
    """Show what happened in a room, in order."""
    room = rooms.get(session, caller, room_id)
    return schemas.replay(room, contents.happened(session, room))


def list_org_tasks(reading: Reading, caller: Caller, **query: Any) -> Page:
    """List what questions may be taken from."""
    return tasks.LIST.page(reading, caller, **query).map(schemas.task)


def list_interview_templates(reading: Reading, caller: Caller, **query: Any) -> Page:
    """List templates, newest first."""
    return templates.LIST.page(reading, caller, **query).map(schemas.template)


def get_interview_template(session: Session, caller: Caller, template_id: UUID) -> Body:
    """Show one template."""
    return schemas.template(templates.get(session, caller, template_id))


def create_interview_template(session: Session, caller: Caller, body: Body) -> Body:
    """Keep what rooms are to be made of."""
    settings = _template(session, caller, body)
    rules.check_template(rules.settings({}, settings))
    return schemas.template(templates.create(session, caller, body["title"], settings))


def update_interview_template(session: Session, caller: Caller, template_id: UUID, body: Body) -> Body:
    """Change what is sent."""
    row = templates.get(session, caller, template_id, for_update=True)
    settings = {**row.settings, **_template(session, caller, body)}
    rules.check_template(rules.settings({}, settings))
    row.change({"settings": settings, "title": body.get("title", row.title)})
    session.flush()
    return schemas.template(row)


def delete_interview_template(session: Session, caller: Caller, template_id: UUID) -> None:
    """Delete a template; rooms, and stages that name it, stay as they are."""
    row = templates.get(session, caller, template_id, for_update=True)
    row.deleted_at = now()


def _template(session: Session, caller: Caller, body: Body) -> Body:
    """Return what of a body is a template's, ready to be kept, or refuse what there is not."""
    settings = {name: rules.kept(body[name]) for name in rules.OF_TEMPLATES if name in body}
    rules.check_plan(caller.plan, settings.get("interviewer_mode", ""))
    preparing.check_named(session, caller, settings)
    return settings


def _plan(session: Session, caller: Caller, body: Body) -> Plan:
    """Say what rooms a body asks for, or refuse what the plan does not include and what there is not."""
    template = None
    if (id := body.get("template_id")) is not None:
        template = templates.get(session, caller, id)
    settings = rules.settings(body, template.settings if template else None)
    rules.check_plan(caller.plan, settings["interviewer_mode"])
    return preparing.plan(
        session,
        caller,
        body["title"],
        settings,
        body,
        schemas,
        template_id=template and template.id,
        scheduled_at=body.get("scheduled_at"),
        send_invite=body["send_invite"],
    )


def _check(plan: Plan, resume_text: str) -> None:
    rules.check(
        plan.settings,
        resume_text=resume_text,
        case_types=plan.case_types,
        scheduled_at=plan.scheduled_at,
        now=now(),
    )


def _person(given: Body, enrollment: Any | None) -> Person:
    """Return whom a room is for; who is enrolled is known by the enrollment, but for what is given."""
    if enrollment is None:
        return Person(**given)
    return Person(
        email=given["email"] or enrollment.email,
        name=given["name"] or enrollment.candidate_name,
        resume_text=given["resume_text"],
        enrollment_id=enrollment.id,
        enrolled_as=enrollment.email,
        stage=enrollment.current_stage if enrollment.stage_type == "interview" else None,
    )


def _shown(session: Session, room: Interview) -> Body:
    session.flush()
    found: dict[str, Sequence[Any]] = {
        "questions": contents.questions(session, room),
        "messages": contents.messages(session, room),
        "interviewers": contents.interviewers(session, room),
    }
    return schemas.detail(room, linked=contents.linked(session, room), **found)
