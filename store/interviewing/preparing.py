"""How rooms are prepared: many in a few statements, each with its questions frozen into it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from rules import interviews as rules
from rules.caller import Caller
from rules.candidates import SOURCES
from rules.clock import now
from rules.errors import CaseNotFound, Invalid
from store.accounts.members import Member
from store.assessing.cases import Case
from store.database.ids import new_id
from store.database.prepared import Prepared, rows
from store.interviewing import moves
from store.interviewing.rooms import Interview
from store.people import candidates

SOURCE = SOURCES["interview"]
# What of a room's settings is a column of it.
COLUMNS = tuple(
    name for name in rules.OF_TEMPLATES if name not in ("coding_case_ids", "questions", "interviewers")
)


class Shows(moves.Shows, Protocol):
    """How rooms look outside, and how cases and one's own words become questions: the module `schemas.interviews`."""

    def question_of_case(self, case: Any, /, *, language: str) -> dict[str, Any]:
        """Return the columns of a question that a case is."""

    def question_in_words(self, question: Mapping[str, Any], /, *, language: str) -> dict[str, Any]:
        """Return the columns of a question in one's own words."""


@dataclass(frozen=True)
class Person:
    """For whom a room is: an address in its usual form, or nothing; and what leads to it."""

    email: str = ""
    name: str = ""
    resume_text: str = ""
    candidate_id: UUID | None = None  # where it is known already
    enrollment_id: UUID | None = None
    enrolled_as: str | None = None  # the enrollment's address
    stage: int | None = None


@dataclass(frozen=True)
class Plan:
    """What rooms are made of."""

    title: str
    settings: Mapping[str, Any]
    questions: Sequence[Mapping[str, Any]] = ()
    interviewers: Sequence[UUID] = ()
    template_id: UUID | None = None
    scheduled_at: datetime | None = None
    send_invite: bool = False
    case_types: Sequence[str] = field(default=())


def plan(
    session: Session,
    caller: Caller,
    title: str,
    settings: Mapping[str, Any],
    given: Mapping[str, Any],
    shows: Shows,
    **more: Any,
) -> Plan:
    """Say what rooms are made of, with the cases and members that are named; refuse those that `given` alone names.

    A template's cases stand even where they were deleted since; its members who have left are left out.
    """
    known = _cases(session, caller, settings["coding_case_ids"])
    wanted = [UUID(str(id)) for id in settings["coding_case_ids"]]
    named = {UUID(str(id)) for id in given.get("coding_case_ids", ())}
    for id in wanted:
        if id in named and (id not in known or known[id].deleted_at is not None):
            raise CaseNotFound(case_id=str(id))
    chosen = [known[id] for id in dict.fromkeys(wanted) if id in known]
    language = settings["active_language"]
    questions = [shows.question_of_case(case, language=language) for case in chosen]
    questions += [shows.question_in_words(one, language=language) for one in settings["questions"]]
    return Plan(
        title=title,
        settings=settings,
        questions=questions,
        interviewers=_members(session, caller, settings["interviewers"], given.get("interviewers", ())),
        case_types=[case.case_type for case in chosen],
        **more,
    )


def check_named(session: Session, caller: Caller, given: Mapping[str, Any]) -> None:
    """Refuse cases and members that there are none of."""
    known = _cases(session, caller, given.get("coding_case_ids", ()))
    for id in given.get("coding_case_ids", ()):
        found = known.get(UUID(str(id)))
        if found is None or found.deleted_at is not None:
            raise CaseNotFound(case_id=str(id))
    members = given.get("interviewers", ())
    _members(session, caller, members, members)


def _cases(session: Session, caller: Caller, ids: Sequence[Any]) -> dict[UUID, Case]:
    if not ids:
        return {}
    mine = (Case.organisation_id == caller.organisation_id) & (Case.livemode == caller.livemode)
    found = select(Case).where(
        Case.id.in_([UUID(str(id)) for id in ids]), mine | Case.organisation_id.is_(None)
    )
    return {case.id: case for case in session.scalars(found)}


def _members(session: Session, caller: Caller, ids: Sequence[Any], given: Sequence[Any]) -> list[UUID]:
    wanted = list(dict.fromkeys(UUID(str(id)) for id in ids))
    if not wanted:
        return []
    found = select(Member.user_id).where(
        Member.organisation_id == caller.organisation_id, Member.user_id.in_(wanted)
    )
    known = set(session.scalars(found))
    faults = [
        {"pointer": f"/interviewers/{number}", "message": "There is no such member."}
        for number, id in enumerate(given)
        if UUID(str(id)) not in known
    ]
    if faults:
        raise Invalid(fields=faults)
    return [id for id in wanted if id in known]


# The newest session of each address that was completed, whatever the assessment.
_SITTINGS = Prepared(
    text("""
    SELECT DISTINCT ON (invitation.email_key) invitation.email_key, sitting.id
    FROM invitations AS invitation JOIN sessions AS sitting ON sitting.invitation_id = invitation.id
    WHERE invitation.organisation_id = :organisation_id AND invitation.livemode = :livemode
      AND invitation.email_key = ANY (:emails) AND sitting.completed_at IS NOT NULL
    ORDER BY invitation.email_key, sitting.completed_at DESC, sitting.id DESC
    """)
)


_ASK = Prepared(
    text("""
    INSERT INTO interview_questions (
        id, created_at, interview_id, position, is_active, title, platform_case_id, source, question_type, body,
        starter_code, solution, expected_answer, hints, difficulty, current_code, current_language
    )
    SELECT gen_random_uuid(), :moment, room.id, one.position, one.position = 0, one.title, one.platform_case_id,
           one.source, one.question_type, one.body, one.starter_code, one.solution, one.expected_answer, one.hints,
           one.difficulty, one.current_code, one.current_language
    FROM unnest(CAST(:ids AS uuid[])) AS room (id)
    CROSS JOIN jsonb_to_recordset(CAST(:questions AS jsonb)) AS one (
        position int, title text, platform_case_id uuid, source text, question_type text, body text,
        starter_code text, solution text, expected_answer text, hints jsonb, difficulty text, current_code text,
        current_language text
    )
    """)
)
_LET_IN = Prepared(
    text("""
    INSERT INTO interview_interviewers (interview_id, user_id)
    SELECT room.id, member.user_id
    FROM unnest(CAST(:ids AS uuid[])) AS room (id)
    CROSS JOIN unnest(CAST(:user_ids AS uuid[])) AS member (user_id)
    """)
)


def prepare(
    session: Session, caller: Caller, plan: Plan, people: Sequence[Person], shows: Shows
) -> list[Interview]:
    """Prepare a room for each of these, in their order; their units of the month are taken already.

    Those with a moment are scheduled, with their event; mails go out as the plan says.
    """
    strangers = {one.email.casefold(): one for one in people if one.email and one.candidate_id is None}
    met = candidates.meet_all(
        session,
        caller,
        [{"email": one.email, "name": one.name, "source": SOURCE} for _, one in sorted(strangers.items())],
    )
    emails = [one.email.casefold() for one in people if one.email]
    sittings = {one.email_key: one.id for one in _SITTINGS.all(session, caller, emails=emails)}
    made = [_room(caller, plan, one, met, sittings) for one in people]
    session.add_all(made)
    session.flush()
    ids = [room.id for room in made]
    questions = [{**one, "position": place} for place, one in enumerate(plan.questions)]
    _ASK.run(session, ids=ids, moment=now(), questions=rows(questions))
    _LET_IN.run(session, ids=ids, user_ids=list(plan.interviewers))
    for room in made:
        if plan.scheduled_at is not None:
            moves.move(session, room, "schedule", shows)
    session.flush()
    moves.mail(session, caller, made, "invited", shows)
    return made


def _room(
    caller: Caller,
    plan: Plan,
    person: Person,
    met: Mapping[str, UUID],
    sittings: Mapping[str, UUID],
) -> Interview:
    key, moment = person.email.casefold(), now()
    sitting = sittings.get(key) if person.email else None
    match = rules.identity(sitting, email=person.email, enrolled_as=person.enrolled_as)
    room = Interview(
        id=new_id(),
        created_at=moment,
        updated_at=moment,
        organisation_id=caller.organisation_id,
        livemode=caller.livemode,
        title=plan.title,
        status="prepared",
        candidate_id=person.candidate_id or met.get(key),
        candidate_email=person.email,
        candidate_name=person.name,
        resume_text=person.resume_text,
        identity_match=match,
        candidate_session_id=sitting if match == "linked" else None,
        pipeline_enrollment_id=person.enrollment_id,
        stage=person.stage,
        template_id=plan.template_id,
        scheduled_at=plan.scheduled_at,
        send_invite=plan.send_invite and bool(person.email),
        **{name: plan.settings[name] for name in COLUMNS},
    )
    room.due_at = moves.due_at(room)
    return room
