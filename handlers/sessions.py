"""What a candidate's browser asks for; the token in the path is the credential."""

import functools
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

import gateways.judging
import gateways.sandbox
import rules.sessions
import schemas.enrollments
import schemas.recordings
import schemas.results
import schemas.sessions
import schemas.settings
import schemas.tongues
from gateways.places import Holder
from rules import consent, recordings
from rules.errors import Invalid, NotFound
from store.advancing import waiting
from store.assessing import answering, assessments, queueing, results, sessions, violations
from store.assessing.sessions import Sitting
from store.branding import settings
from store.database.engine import Change

Body = dict[str, Any]
Begin = Callable[[], AbstractContextManager[Session]]

RUN_SECONDS = 5  # per visible test
TOGETHER_SECONDS = 30  # for all of them, their checks, and for a place to run: less than the request has
RUN_MEMORY_MB = 256


def get_session(session: Session, token: str) -> Body:
    """Show the invitation in whatever state it is."""
    sitting = sessions.look(session, token, schemas.sessions.event)
    if sitting is None:
        raise NotFound
    return view(session, sitting)


def start_session(session: Session, token: str, body: Body) -> Body:
    """Begin, or show what has begun; who begins agrees to the privacy notice where the organisation asks for it."""
    sitting = sessions.hold(session, token, schemas.sessions.event)
    rules.sessions.require_startable(sitting.status)
    if sitting.session is None:
        own, accepted = settings.of(session, sitting.invitation.organisation_id), body["consent_accepted"]
        recorded, days = recordings.asked(sitting.invitation.assessment), settings.recordings_days(own)
        wrong = consent.faults(own, accepted=accepted) + recordings.faults(recorded, body[recordings.FIELD])
        if wrong:
            raise Invalid(fields=wrong)
        agreed = consent.given(own, accepted=accepted, moment=sitting.moment)
        told = recordings.given(sitting.organisation_name, recorded, days, sitting.moment)
        agreed |= schemas.tongues.of(body.get("language")).told(told)
        sessions.start(session, sitting, schemas.sessions.event, agreed)
    return view(session, sitting)


def save_answer(begin: Begin, alone: Change | None, token: str, assessment_case_id: UUID, body: Body) -> Body:
    """Keep an answer while the session runs."""
    if alone:
        return _save(alone, answering.place(alone, token, assessment_case_id), body)
    with begin() as session:
        sitting = sessions.hold(session, token, schemas.sessions.event)
        if sitting.session and sitting.status == "started":
            content, until = _case(session, sitting, assessment_case_id).content, sitting.session.deadline_at
            place = answering.Place(token, assessment_case_id, content, until, sitting.moment)
            return _save(session, place, body)
    # Refused after the commit: a session whose time is up has just been finished, and stays so.
    raise rules.sessions.refusal(sitting.status)


def report_violation(begin: Begin, token: str, body: Body) -> Body:
    """Keep an integrity signal of a running session, and tell the organisation."""
    with begin() as session:
        sitting = sessions.hold(session, token, schemas.sessions.event)
        if sitting.session and sitting.status == "started":
            order = body.get("case_order")
            if order is not None and order > answering.count_cases(session, sitting.session):
                raise Invalid.at("/case_order", "must be the number of a case of this session")
            show = functools.partial(schemas.sessions.violation_event, sitting.session)
            violation = violations.report(session, sitting, body["violation_type"], order, show)
            return schemas.sessions.violation(violation)
    raise rules.sessions.refusal(sitting.status)


def run_code(begin: Begin, token: str, assessment_case_id: UUID, body: Body) -> Body:
    """Run code on the visible tests of its case or an input of one's own; nothing is saved, no transaction is open."""
    with begin() as session:
        sitting = sessions.hold(session, token, schemas.sessions.event)
        case = _case(session, sitting, assessment_case_id) if sitting.status == "started" else None
        organisation = sitting.invitation.organisation_id
    if case is None:
        raise rules.sessions.refusal(sitting.status)
    content = case.content
    if content["case_type"] != "coding":
        raise Invalid.at("/answer", "only the code of a coding case can be run")
    code = rules.sessions.code(body["answer"])
    language = rules.sessions.language(content, body.get("language", case.code_language))
    if not gateways.sandbox.available(language):
        return {"available": False, "results": []}
    own = [{"input": body["input"], "expected_output": None}] if "input" in body else None
    tests = own or schemas.sessions.visible_tests(content)
    holder = Holder(organisation, token)
    until = time.monotonic() + TOGETHER_SECONDS
    runs = gateways.sandbox.run(
        language,
        code,
        [test["input"] for test in tests],
        seconds=RUN_SECONDS,
        together=TOGETHER_SECONDS,
        memory_mb=RUN_MEMORY_MB,
        holder=holder,
    )
    verdicts = gateways.judging.judge(tests, runs, together=until - time.monotonic(), holder=holder)
    return schemas.sessions.run(tests, runs, verdicts)


def get_run(session: Session, token: str) -> Body:
    """Say which place the candidate's program has in the queue."""
    if sessions.look(session, token, schemas.sessions.event) is None:
        raise NotFound
    return schemas.sessions.waiting(queueing.place(token))


def submit_session(begin: Begin, token: str) -> Body:
    """Hand in; again, or after time is up, the answer is the same."""
    with begin() as session:
        held = waiting.hold(session, token)
        sitting = sessions.hold(session, token, schemas.sessions.event)
        if sitting.session and sitting.status == "started":
            sessions.complete(session, sitting.session, sitting.moment, schemas.sessions.event)
            results.grade_or_ask(session, sitting.session, schemas.results)
            waiting.settled(session, held, sitting.session, schemas.enrollments)
        if sitting.session and sitting.status == "completed":
            return {
                "status": "completed",
                "completed_at": schemas.sessions.moment(sitting.session.completed_at),
            }
    raise rules.sessions.refusal(sitting.status)


def view(session: Session, sitting: Sitting) -> Body:
    """Show a sitting, with its cases while it runs, and before the start with what there is to agree to."""
    running = sitting.session if sitting.status == "started" else None
    shown = schemas.sessions.show(sitting, answering.cases(session, running) if running else [])
    for case in shown.get("cases", ()):
        if case.get("language"):
            gateways.sandbox.expect(case["language"])
    if running and running.recording:
        shown["recording"] = schemas.recordings.agreed(running)
    if sitting.status == "pending":
        own = settings.of(session, sitting.invitation.organisation_id)
        assessment, name = sitting.invitation.assessment, sitting.organisation_name
        shown["privacy"] = schemas.settings.privacy(own)
        shown["case_types"] = assessments.case_types(session, assessment)
        if kinds := recordings.asked(assessment):
            shown["recording"] = schemas.recordings.asked(name, kinds, settings.recordings_days(own))
    return shown


def _save(change: Change, place: answering.Place, body: Body) -> Body:
    answer = rules.sessions.answer(_question(place.content), body["answer"])
    given = "language" in body
    language = rules.sessions.language(place.content, body["language"]) if given else None
    answering.save(change, place, answer, language)
    return schemas.sessions.saved(place.moment, place.deadline_at)


def _case(session: Session, sitting: Sitting, place: UUID) -> sessions.SessionCase:
    case = answering.case(session, sitting.session, place) if sitting.session else None
    if case is None:
        raise NotFound
    return case


def _question(content: Body) -> rules.sessions.Question:
    option_ids = [option["id"] for option in content["options"]]
    return rules.sessions.Question(content["case_type"], option_ids, content["allow_multiple"])
