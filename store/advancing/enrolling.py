"""How candidates are enrolled: each once in a pipeline, for ever."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import select, text, update
from sqlalchemy.orm import Session

from rules import enrollments as rules
from rules import interviews as interview_rules
from rules import sessions as session_rules
from rules.caller import Caller
from rules.candidates import SOURCES
from rules.clock import iso, now
from rules.invitations import check_active, check_quota
from store import events
from store.accounts import organisations
from store.advancing import engine, enrollments
from store.advancing.engine import Shows, Way
from store.advancing.enrollments import Enrollment
from store.advancing.pipelines import Pipeline, Stage
from store.assessing import inviting
from store.assessing.assessments import Assessment
from store.assessing.invitations import Invitation
from store.database.ids import new_id
from store.database.prepared import Prepared, rows
from store.interviewing import quota
from store.people import candidates

SOURCE = SOURCES["enrollment"]

# email in its usual form, candidate_name, and where they are known candidate_id, language
Person = Mapping[str, Any]


def enroll(
    session: Session,
    caller: Caller,
    pipeline: Pipeline,
    person: Person,
    shows: Shows,
    *,
    actor: str,
    send_email: bool,
) -> tuple[Enrollment, bool]:
    """Enroll somebody in the first stage, or refuse; who was enrolled before, and is it for ever, is found again."""
    rules.check_enrolling(pipeline.archived_at)
    named = select(Enrollment).where(
        Enrollment.pipeline_id == pipeline.id, Enrollment.email_key == person["email"].casefold()
    )
    found = session.scalars(named).first()
    if found is not None:
        return found, False
    stages, people = _open(session, caller, pipeline, [person])
    _check(session, caller, stages[0], person["email"])
    made = _create(session, caller, pipeline, people, stages[0], shows, actor=actor, send_email=send_email)
    if not made:  # somebody else was faster
        return session.scalars(named).one(), False
    [one] = enrollments.lock(session, Enrollment.id == made[0].id)
    way = Way(session, caller, one, stages, shows)
    engine.outcome(way, engine.enter(way))
    session.flush()
    return one, True


def known(session: Session, pipeline: Pipeline, emails: Collection[str]) -> set[str]:
    """Return which addresses (case-folded) are enrolled."""
    mine = select(Enrollment.email_key).where(Enrollment.pipeline_id == pipeline.id)
    return set(session.scalars(mine.where(Enrollment.email_key.in_(emails))))


def enroll_all(
    session: Session,
    caller: Caller,
    pipeline: Pipeline,
    people: Sequence[Person],
    shows: Shows,
    *,
    actor: str,
    send_email: bool,
) -> tuple[list[Any], list[Person]]:
    """Enroll many who are not enrolled yet; return the enrollments, and those whom the month has no invitation for.

    Those whom somebody else enrolled meanwhile are left out. Whoever needs no more than an invitation is enrolled with
    all others like it; the engine sees to the rest.
    """
    stages, people = _open(session, caller, pipeline, people)
    how: dict[str, Any] = {"actor": actor, "send_email": send_email}
    assessment = stages[0].assessment if stages[0].stage_type == "assessment" else None
    if stages[0].stage_type == "interview":
        granted, _ = quota.take(session, caller, len(people))
        made = _create(session, caller, pipeline, people[:granted], stages[0], shows, **how)
        quota.give_back(session, caller, granted - len(made))
        engine.prepare_all(session, caller, stages[0], made, shows, send_email=send_email)
        session.flush()
        return made, list(people[granted:])
    if assessment is None:
        return _create(session, caller, pipeline, people, stages[0], shows, **how), []
    check_active(assessment.status)
    before = _invited(session, assessment, [one["email"].casefold() for one in people])
    fresh = [one for one in people if one["email"].casefold() not in before]
    granted, _ = organisations.take_invites(session, caller, len(fresh))
    left_out = fresh[granted:]
    without = {one["email"] for one in left_out}
    people = [one for one in people if one["email"] not in without]
    made = _create(session, caller, pipeline, people, stages[0], shows, **how)
    invited = _invite(
        session, caller, assessment, [one for one in made if one.email_key not in before], shows
    )
    organisations.give_back_invites(session, caller, granted - len(invited))
    if send_email:
        inviting.mail(session, caller, list(invited.values()), shows)
    waiting = _kept(session, [before[one.email_key] for one in made if one.email_key in before])
    _link(session, made, invited | waiting, again=set(waiting))
    rest = [one.id for one in made if one.email_key not in invited and one.email_key not in waiting]
    for one in enrollments.lock(session, Enrollment.id.in_(rest)) if rest else ():
        way = Way(session, caller, one, stages, shows)
        engine.outcome(way, engine.enter(way))
    session.flush()
    return made, left_out


def _open(
    session: Session, caller: Caller, pipeline: Pipeline, people: Sequence[Person]
) -> tuple[Sequence[Stage], Sequence[Person]]:
    """Take what enrolling needs, in order, with the people's profiles; from now on the stages stand."""
    engine.hold_month(session, caller, pipeline.id)
    strangers = [one for one in people if not one.get("candidate_id")]
    met = candidates.meet_all(
        session,
        caller,
        [{"email": one["email"], "name": one["candidate_name"], "source": SOURCE} for one in strangers],
    )
    known = [{"candidate_id": met.get(one["email"].casefold()), **one} for one in people]
    if not pipeline.stages_locked:  # whoever changes the stages holds this row. No edit: updated_at stays
        mine = update(Pipeline).where(Pipeline.id == pipeline.id)
        session.execute(mine.values(stages_locked=True, updated_at=Pipeline.updated_at))
    return engine.stages(session, pipeline.id), known


def _check(session: Session, caller: Caller, first: Stage, email: str) -> None:
    """Refuse who could not begin the first stage, before anything is made: a refusal need not end the transaction."""
    if first.stage_type == "interview":
        room = quota.left(session, caller)
        interview_rules.check_quota(
            caller.plan.interviews, quota.used(session, caller), 1 if room is None else room
        )
    if first.assessment is None:
        return
    found = inviting.existing(session, caller, first.assessment, email=email, external_id=None)
    if found is not None and _is_open(found):
        return
    check_active(first.assessment.status)
    left = organisations.invites_left(session, caller)
    if found is None and left is not None:
        check_quota(caller.plan.invites, organisations.invites_used(session, caller), left)


def _is_open(invitation: Any) -> bool:
    """Say whether an invitation is good for more than being opened again."""
    over = {"expires_at": invitation.expires_at, "deadline_at": None, "moment": now()}
    return session_rules.status(invitation.status, **over) != "expired"


_COLUMNS = ", ".join(f"made.{column.name}" for column in Enrollment.__table__.columns)
_CREATE = Prepared(
    text(f"""
    WITH person AS (
        SELECT * FROM jsonb_to_recordset(CAST(:people AS jsonb)) AS person (
            id uuid, line uuid, email text, email_key text, candidate_name text, candidate_id uuid, language text
        )
    ), made AS (
        INSERT INTO enrollments (
            id, created_at, updated_at, enrolled_at, organisation_id, livemode, pipeline_id, email, email_key,
            candidate_name, candidate_id, language, send_email, status, current_stage, reject_reason, waiting_reason
        )
        SELECT id, :moment, :moment, :moment, :organisation_id, :livemode, :pipeline_id, email, email_key,
               candidate_name, candidate_id, language, :send_email, 'active', 0, '', :waiting_reason
        FROM person
        ON CONFLICT (pipeline_id, email_key) DO NOTHING
        RETURNING *
    ), told AS (
        INSERT INTO enrollment_events (id, created_at, enrollment_id, kind, to_stage, actor, reason)
        SELECT person.line, :moment, made.id, 'enrolled', 0, :actor, '' FROM person JOIN made ON made.id = person.id
    )
    SELECT {_COLUMNS}, pipelines.slug AS "pipeline.slug"
    FROM made JOIN pipelines ON pipelines.id = made.pipeline_id
    ORDER BY made.id
    """)  # noqa: S608 - names of our own
)


def _create(
    session: Session,
    caller: Caller,
    pipeline: Pipeline,
    people: Sequence[Person],
    first: Stage,
    shows: Shows,
    *,
    actor: str,
    send_email: bool,
) -> list[Any]:
    """Make enrollments with their events in one statement, in the order of the people."""
    # In the order of addresses, so that two of these never wait for each other in a circle.
    made = _CREATE.all(
        session,
        caller,
        pipeline_id=pipeline.id,
        moment=now(),
        send_email=send_email,
        waiting_reason=None,
        actor=actor,
        people=rows(
            [
                {"id": new_id(), "line": new_id(), "email_key": one["email"].casefold(), **one}
                for one in sorted(people, key=lambda one: str(one["email"]).casefold())
            ]
        ),
    )
    order = {one["email"].casefold(): place for place, one in enumerate(people)}
    made.sort(key=lambda one: order[one.email_key])
    for one in made:
        events.record(session, "pipeline.enrolled", one, shows.enrollment_event(one))
    return made


def _invited(session: Session, assessment: Assessment, emails: Collection[str]) -> dict[str, UUID]:
    """Return which addresses were invited before, with their newest invitations."""
    found = select(Invitation.email_key, Invitation.id).where(
        Invitation.organisation_id == assessment.organisation_id,
        Invitation.livemode == assessment.livemode,
        Invitation.assessment_id == assessment.id,
        Invitation.email_key.in_(emails),
    )
    return {one.email_key: one.id for one in session.execute(found.order_by(Invitation.attempt))}


def _invite(
    session: Session, caller: Caller, assessment: Assessment, made: Sequence[Any], shows: Shows
) -> dict[str, Any]:
    terms = inviting.terms()
    people = [
        terms
        | {
            "email": one.email,
            "name": one.candidate_name,
            "enrollment_id": one.id,
            "candidate_id": one.candidate_id,
        }
        for one in made
    ]
    invited = inviting.create_all(session, caller, assessment, people)
    for invitation in invited:
        events.record(session, "invitation.created", invitation, shows.invitation_event(invitation))
    return {invitation.email_key: invitation for invitation in invited}


def _kept(session: Session, ids: Sequence[UUID]) -> dict[str, Any]:
    """Keep those invitations from being cancelled that their candidates may still use, and return them."""
    if not ids:
        return {}
    mine = select(Invitation.id, Invitation.email_key, Invitation.status, Invitation.expires_at)
    found = session.execute(
        mine.where(Invitation.id.in_(ids))
        .order_by(Invitation.id)
        .with_for_update(of=Invitation, read=True, key_share=True)
    )
    return {one.email_key: one for one in found if one.status != "completed" and _is_open(one)}


_LINK = Prepared(
    text("""
    UPDATE enrollments SET invitation_id = link.invitation_id, retry_at = link.retry_at
    FROM jsonb_to_recordset(CAST(:links AS jsonb)) AS link (id uuid, invitation_id uuid, retry_at timestamptz)
    WHERE enrollments.id = link.id
    """)
)


def _link(
    session: Session, made: Sequence[Any], invited: Mapping[str, Any], *, again: Collection[str]
) -> None:
    soon = iso(now() + rules.LOOK_AGAIN_AFTER)
    links = [
        {
            "id": one.id,
            "invitation_id": invited[one.email_key].id,
            "retry_at": soon if one.email_key in again else None,
        }
        for one in made
        if one.email_key in invited
    ]
    if links:
        _LINK.run(session, links=rows(links))
