"""The test world: what would take weeks or a candidate, at once and in test mode alone."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

import rules.events
import rules.interviews
from gateways.cv import written
from handlers import applications
from rules import crowd, playing, recordings
from rules.caller import Caller
from rules.clock import now
from rules.errors import Invalid
from schemas import sessions as session_schemas
from schemas import test_world as schemas
from schemas.views import Call, Called
from store import events, outbox
from store.assessing import answering, invitations, sessions
from store.delivering import inboxes
from store.hiring import fields, jobs, knockouts, requirements
from store.interviewing import rooms, tidying
from store.offering import offers
from store.operating import clocks, resetting
from workers import advancing, mail

Body = dict[str, Any]
Begin = Callable[[], AbstractContextManager[Session]]


def get_test_clock(session: Session, caller: Caller) -> Body:
    """Show by how much time was let pass, and when something becomes due next."""
    return schemas.clock(*advancing.standing(session, caller.organisation_id))


def advance_test_clock(caller: Caller, body: Body) -> Body:
    """Let time pass; the steps are transactions of their own."""
    return schemas.advanced(advancing.advance(caller.organisation_id, body.get("seconds")))


def take_test_invitation(begin: Begin, caller: Caller, token: str, body: Body, call: Call) -> Body:
    """Play a candidate, who does what candidates do; a person's grades are given too."""
    with begin() as session:
        invitation = invitations.get(session, caller, token)
        if invitation.status != "pending":
            raise Invalid("The invitation was begun, or has expired.", status=invitation.status)
        agreed = {"consent_accepted": True, recordings.FIELD: list(recordings.asked(invitation.assessment))}
    at: Body = {"token": token}
    _did(call("start_session", **at, body=agreed))
    for violation in body["violations"]:
        _did(call("report_violation", **at, body={"violation_type": violation}))
    with begin() as session:
        sitting = sessions.look(session, token, session_schemas.event)
        assert sitting is not None
        assert sitting.session is not None
        cases = answering.cases(session, sitting.session)
    played = playing.play(cases, playing.percentage(body)) | playing.given(body["answers"])
    abandons = body.get("outcome") == "abandon"
    for case in cases[: len(cases) // 2] if abandons else cases:
        if said := played[case.case_order].said():
            place: Body = at | {"assessment_case_id": str(case.assessment_case_id)}
            _did(call("save_answer", **place, body=said))
    if body["minutes"]:
        advancing.advance(caller.organisation_id, 60 * body["minutes"])
    if not abandons:
        _did(call("submit_session", **at))
    advancing.catch_up(caller.organisation_id)
    if _did(call("get_invitation", **at))["status"] != "completed":
        return schemas.taken(token, {"status": "started"})
    result = _did(call("get_result", **at))
    if waiting := playing.reviews(result["cases"], played):
        result = _did(call("review_result", **at, body={"cases": waiting}))
        advancing.catch_up(caller.organisation_id)
    return schemas.taken(token, result)


def make_test_applications(begin: Begin, caller: Caller, key: str, body: Body) -> tuple[Body, int]:
    """Have people apply who are made up, with their CVs; who has applied already is not made again."""
    with begin() as session:
        job = jobs.get(session, caller, key)
        asked = crowd.people(
            body["count"],
            body["quality"],
            body["seed"],
            year=now().year,
            fields=[one.as_rules_see_it() for one in fields.all_of(session, job)],
            rules=[one.as_rules_see_it() for one in knockouts.all_of(session, job)],
            requirements=[one.as_rules_see_it() for one in requirements.all_of(session, job)],
        )
    made = []
    for one in asked:
        cv = written.write(one.cv, as_word=one.as_word)
        sent = {
            "email": one.email,
            "full_name": one.full_name,
            "phone": one.phone,
            "answers": one.answers,
            "cv": cv,
        }
        shown, is_new = applications.apply(
            begin, begin, caller, [str(job.id)], sent, source="public_api", actor=applications.ACTOR
        )
        made.append(schemas.applied(shown, one.quality, is_new=is_new))
    advancing.catch_up(caller.organisation_id)
    return {"applications": made}, 201


def answer_test_offer(begin: Begin, caller: Caller, offer_id: UUID, body: Body, call: Call) -> Body:
    """Answer an offer as its candidate would, by the link that went out."""
    with begin() as session:
        offer = offers.get(session, caller, offer_id)
        if offer.sent_at is None:
            raise Invalid("An offer is answered once it was sent.", status=offer.status)
        at: Body = {"token": offer.token}
    reason = {"reason": body["reason"]} if body["reply"] == "decline" else None
    _did(call(f"{body['reply']}_offer", **at, body=reason))
    return _did(call("get_offer", offer_id=str(offer_id)))


def send_test_event(session: Session, caller: Caller, body: Body) -> Body:
    """Tell of an event that did not happen: the documented example, marked as such."""
    type = body["type"]
    if type == rules.events.PING:
        raise Invalid.at("/type", "Is sent by `test_webhook` alone.")
    data = schemas.example(type)
    events.record(session, type, caller, data)
    return {"type": type, "data": data}


def play_test_interview(begin: Begin, caller: Caller, room_id: UUID, body: Body, call: Call) -> Body:
    """Play an interview: both sides come in, speak about each question, and the room ends."""
    with begin() as session:
        room = rooms.get(session, caller, room_id)
        if room.status in rules.interviews.CLOSED:
            raise Invalid("The interview is over.", status=room.status)
        questions = [one.title for one in tidying.questions(session, room)]
        sides: Body = {"candidate": room.candidate_token, "interviewer": room.interviewer_token}
    if room.interviewer_mode == rules.interviews.ALONE:
        del sides["interviewer"]
    for role, token in sides.items():
        name = (room.candidate_name or "Ada Lovelace") if role == "candidate" else "Grace Hopper"
        _did(call("join_room", token=token, body={"name": name, "consent_accepted": True}))
    for title in questions or ["Tell us about your last project."]:
        for role, token in sides.items():
            said = title if role == "interviewer" else playing.WORDS
            _did(call("post_room_message", token=token, body={"content": said}))
    if body["minutes"]:
        advancing.advance(caller.organisation_id, 60 * body["minutes"])
    _did(call("end_room", token=room.candidate_token))
    advancing.catch_up(caller.organisation_id)
    at: Body = {"room_id": str(room_id)}
    if "recommendation" in body:
        _did(call("settle_interview", **at, body={"recommendation": body["recommendation"]}))
        advancing.catch_up(caller.organisation_id)
    return _did(call("get_interview", **at))


def create_test_inbox(session: Session, caller: Caller, body: Body) -> Body:
    """Make an address for test endpoints; what is delivered there is kept."""
    made = inboxes.create(session, caller, name=body["name"], answers=body["answers"])
    return schemas.inbox(made, [])


def get_test_inbox(session: Session, caller: Caller, inbox_id: UUID) -> Body:
    """Show an inbox and what came."""
    inbox = inboxes.get(session, caller, inbox_id)
    return schemas.inbox(inbox, inboxes.requests(session, inbox))


def list_test_mails(session: Session, caller: Caller, to: str) -> Body:
    """Show the mails to somebody, with their links."""
    rows = outbox.test_mails(session, caller.organisation_id, to)
    return {"mails": [schemas.mail(row, mail.written(row.id, row.arguments)) for row in rows]}


def reset_test_mode(finish: Begin, caller: Caller) -> Body:
    """Leave an empty test mode, with a clock that was never moved."""
    with clocks.alone(caller.organisation_id), finish() as session:
        return {"deleted_rows": resetting.reset(session, caller)}


def _did(called: Called) -> Body:
    """Return what an operation answered; where it refused, the simulation is refused for the same reason."""
    if called.error:
        fields = called.error["details"].get("fields")
        refused = {"status": called.error["code"]} | ({"fields": fields} if fields else {})
        raise Invalid(called.error["message"], **refused)
    return {name: value for name, value in (called.body or {}).items() if name != "meta"}
