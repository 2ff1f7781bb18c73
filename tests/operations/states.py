"""What has to exist before a request can succeed, made through the API; each returns ids and names of its own."""

import atexit
import contextlib
import functools
import itertools
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import select, update

import schemas.invitations
import store
from gateways import models
from rules.clock import now
from store.accounts import keys, members
from store.accounts.organisations import Organisation
from store.assessing import invitations
from store.assessing.invitations import Invitation
from store.delivering.fanout import fan_out
from store.outbox import OutboxItem
from tests import rooms
from tests.api import Api, address
from tests.operations.rows import Ids
from tests.providers import provider
from tests.receiver import Receiver, running
from tests.trail import seal
from workers import grading, screening

CANDIDATE = "/api/v1/candidate"
CV = b"Ada Lovelace\nada@example.com\n\nSkills: Python, PostgreSQL\n"
_numbers = itertools.count(1)

TEXT = {"case_type": "text"}
NUMBER = {"case_type": "numeric", "answer_number": 42}
CHOICE = {
    "case_type": "mcq",
    "options": [{"id": "a", "text": "Yes", "is_correct": True}, {"id": "b", "text": "No"}],
}
CODE = {"case_type": "coding", "language": "python", "test_cases": [{"input": "1", "expected_output": "1"}]}


def post(api: Api, path: str, body: Any = None, **options: Any) -> Any:
    """Do what cannot fail."""
    answer = api.post(path, body, **options)
    assert answer.is_success, f"{path}: {answer.text}"
    return answer.json()


def title(word: str) -> str:
    """A name that makes a slug of its own in every organisation."""
    return f"{word} engineer {next(_numbers)}"


def candidate(api: Api) -> Api:
    """The candidate's side, which knows no keys."""
    return Api(api.http, None, CANDIDATE)


def a_model(api: Api) -> Ids:
    """A model that is asked, and says what it was asked."""
    models.configure(base_url=provider().url, model="echo", api_key="a-key-of-ours")
    return {}


# --- Assessments and cases


def a_case(api: Api, **content: Any) -> Ids:
    made = post(api, "/cases/create/", {"title": title("Case"), **(content or TEXT)})
    return {"id": made["id"], "case_id": made["id"]}


def a_draft(api: Api, *contents: dict[str, Any]) -> Ids:
    """A draft with cases of the organisation's own, and one more case beside it."""
    cases = [{"case_id": a_case(api, **one)["id"], "source": "org"} for one in contents or (TEXT, NUMBER)]
    made = post(api, "/assessments/create/", {"title": title("Backend"), "cases": cases})
    [row, *_] = api.get(f"/assessments/{made['slug']}/cases/").json()["results"]
    return {
        "slug": made["slug"],
        "assessment_id": made["id"],
        "assessment_case_id": row["assessment_case_id"],
        "case_id": a_case(api)["id"],
    }


def an_assessment(api: Api, *contents: dict[str, Any]) -> Ids:
    made = a_draft(api, *contents)
    assert api.patch(f"/assessments/{made['slug']}/update/", {"status": "active"}).status_code == 200
    return made


# --- Invitations and sittings


def an_invitation(api: Api, *contents: dict[str, Any]) -> Ids:
    made = an_assessment(api, *contents)
    person = {"email": address(), "external_id": f"ats-{next(_numbers)}", "tags": ["spring"]}
    token = post(api, f"/assessments/{made['slug']}/invites/", person)["invite_token"]
    return {**made, "token": token, "person": person["email"], "external": str(person["external_id"])}


def an_expired_invitation(api: Api) -> Ids:
    """An invitation that nobody started in time."""
    made = an_invitation(api)
    past = {"expires_at": now() - timedelta(seconds=1), "updated_at": Invitation.updated_at}
    with store.transaction() as session:
        row = session.execute(
            update(Invitation)
            .where(Invitation.token == made["token"])
            .values(**past)
            .returning(Invitation.id)
        )
        due = invitations.DUE.choose(session, 1_000)
        invitations.expire(session, due, schemas.invitations.event)
        assert row.scalar_one() in {one.id for one in due}
    return made


def a_sitting(api: Api, *contents: dict[str, Any]) -> Ids:
    """A running session; `assessment_case_id` is its first case."""
    made = an_invitation(api, *contents)
    shown = post(candidate(api), f"/invites/{made['token']}/start/")
    return {**made, "assessment_case_id": shown["cases"][0]["assessment_case_id"]}


def a_programming_sitting(api: Api) -> Ids:
    return a_sitting(api, CODE)


def two_submissions(api: Api) -> Ids:
    """Two sessions of one assessment that are over."""
    made = a_submission(api)
    other = post(api, f"/assessments/{made['slug']}/invites/", {"email": address()})
    post(candidate(api), f"/invites/{other['invite_token']}/start/")
    post(candidate(api), f"/invites/{other['invite_token']}/submit/")
    graded(api)
    return {**made, "other_token": other["invite_token"]}


def a_submission(api: Api) -> Ids:
    """A session that is over: the number is graded, the text waits for a reviewer."""
    made = a_sitting(api)
    place = f"/invites/{made['token']}"
    saved = candidate(api).put(
        f"{place}/answers/{made['assessment_case_id']}/", {"answer": "It depends on the reads."}
    )
    assert saved.status_code == 200
    post(candidate(api), f"{place}/violations/", {"violation_type": "focus_loss"})
    post(candidate(api), f"{place}/submit/")
    graded(api)
    return made


def a_review(api: Api) -> Ids:
    """An answer that waits for a reviewer; `id` is the review's."""
    made = a_submission(api)
    [waits] = api.get("/reviews/", params={"assessment": made["slug"]}).json()["results"]
    return {**made, "id": waits["id"]}


def a_claimed_review(api: Api) -> Ids:
    """The same in hand."""
    made = a_review(api)
    post(api, f"/reviews/{made['id']}/claim/")
    return made


def a_shared_report(api: Api) -> Ids:
    """A link to look at a report."""
    made = a_submission(api)
    return {**made, "token": post(api, f"/invites/{made['token']}/report/share/", {})["token"]}


def a_share(api: Api) -> Ids:
    """The same by the invitation and the link's id."""
    made = a_submission(api)
    return {**made, "share_id": post(api, f"/invites/{made['token']}/report/share/", {})["id"]}


def a_pass(api: Api) -> Ids:
    """A session that is over and passed."""
    made = a_sitting(api, NUMBER)
    place = f"/invites/{made['token']}"
    candidate(api).put(f"{place}/answers/{made['assessment_case_id']}/", {"answer": 42})
    post(candidate(api), f"{place}/submit/")
    graded(api)
    return made


# --- Squads and pipelines


def a_squad(api: Api) -> Ids:
    made = post(api, "/org/squads/", {"name": title("Platform")})
    return {"team_id": made["id"], "team_slug": made["slug"]}


def a_member(api: Api) -> Ids:
    """One of the organisation's people, made by its operator."""
    with store.transaction() as session:
        organisation = session.get_one(Organisation, UUID(api.get("/org/").json()["id"]))
        made = members.add(session, organisation=organisation, email=address(), name="Ada", role="recruiter")
        return {"user_id": str(made.user_id)}


def a_member_of_a_squad(api: Api) -> Ids:
    made = a_squad(api) | a_member(api)
    post(api, f"/org/squads/{made['team_id']}/members/", {"user_id": made["user_id"]})
    return made


def a_squad_beside_a_member(api: Api) -> Ids:
    return a_squad(api) | a_member(api)


def a_member_invite(api: Api) -> Ids:
    """An open invite, made by the organisation's operator, with the token of its link."""
    with store.transaction() as session:
        organisation = session.get_one(Organisation, UUID(api.get("/org/").json()["id"]))
        made, token = members.invite(session, organisation=organisation, email=address(), role="reviewer")
        return {"invite_id": str(made.id), "token": token}


def a_pipeline(api: Api) -> Ids:
    """An assessment, then the judgement of a person; `slug` is the assessment's."""
    made = an_assessment(api)
    stages = [
        {"stage_type": "assessment", "label": "Coding", "assessment_slug": made["slug"]},
        {"stage_type": "manual_review", "label": "The team decides"},
    ]
    pipeline = post(api, "/pipelines/create/", {"title": title("Engineering"), "stages": stages})
    return {**made, "pipeline_id": pipeline["id"], "pipeline_slug": pipeline["slug"]}


def a_pipeline_of_a_squad(api: Api) -> Ids:
    """`slug` is the pipeline's, `assessment_slug` its assessment's."""
    made, squad = a_pipeline(api), a_squad(api)
    at = f"/pipelines/{made['pipeline_slug']}/"
    assert api.patch(at, {"team_id": squad["team_id"]}).status_code == 200
    return {**made, **squad, "assessment_slug": made["slug"], "slug": made["pipeline_slug"]}


# --- Jobs and applications


def a_told_change(api: Api) -> Ids:
    """A change that the audit log tells of."""
    made = a_job(api)
    seal()
    return made


def a_job(api: Api) -> Ids:
    """A draft with a question and an assessment to go with it."""
    made = post(api, "/jobs/create/", {"title": title("Senior")})
    asked = {"key": "years", "label": "Years of Python", "field_type": "number"}
    return {
        "key": made["slug"],
        "job_id": made["id"],
        "field_id": post(api, f"/jobs/{made['slug']}/fields/", asked)["id"],
        **{name: one for name, one in an_assessment(api).items() if name in ("slug", "assessment_id")},
    }


def a_job_beside_a_pipeline(api: Api) -> Ids:
    return a_job(api) | a_pipeline(api)


def a_full_job(api: Api) -> Ids:
    """A draft with a rule and a requirement."""
    made = a_job(api)
    rule = {"field_key": "years", "operator": "gte", "value": 2}
    api.put(f"/jobs/{made['key']}/knockout-rules/replace/", {"rules": [rule]})
    wanted = {"kind": "skill", "label": "Python", "importance": "must"}
    api.put(f"/jobs/{made['key']}/requirements/replace/", {"requirements": [wanted]})
    return made


def an_open_job(api: Api) -> Ids:
    """An open job, and where the world finds it."""
    made = a_full_job(api)
    post(api, f"/jobs/{made['key']}/publish/")
    return {**made, "job_slug": made["key"], "org_slug": api.get("/org/").json()["slug"]}


def an_open_job_in_capitals(api: Api) -> Ids:
    """The same, as somebody types it."""
    made = an_open_job(api)
    return {**made, "org_slug": made["org_slug"].upper()}


def an_application(api: Api, **files: tuple[str, bytes]) -> Ids:
    """An application; with files, `attachment_id` is the first of them."""
    made = an_open_job(api)
    person = {"job_slug": made["job_slug"], "email": address(), "full_name": "Ada", "answers": '{"years": 5}'}
    shown = post(api, "/applications/create/", data=person, files=files)
    kept = {"attachment_id": shown["attachments"][0]["id"]} if files else {}
    return {**made, **kept, "application_id": shown["id"], "person": person["email"]}


def an_own_application(api: Api) -> Ids:
    """An application with the token of the link that its applicant was mailed."""
    assert api.patch("/org/settings/", {"receipt_mail": True}).status_code == 200
    made = an_application(api)
    with store.transaction() as session:
        sent = select(OutboxItem.arguments["status_url"].astext).where(
            OutboxItem.job == "mail", OutboxItem.arguments["to"].astext == made["person"]
        )
        return {**made, "token": (session.scalars(sent).one() or "").rpartition("/")[2]}


def an_application_after(step: str) -> Any:
    def make(api: Api) -> Ids:
        made = an_application(api)
        post(api, f"/applications/{made['application_id']}/{step}/", {})
        return made

    return make


def a_screened_application(api: Api) -> Ids:
    """An application that was screened by its answers alone: reading a CV takes a process."""
    made = an_application(api)
    screened(made["application_id"])
    return made


@functools.cache
def files() -> dict[str, tuple[str, bytes]]:
    """A CV of each kind that is taken."""
    from tests.cvs import makers  # noqa: PLC0415 - its libraries take a second

    lines = CV.decode().splitlines()
    word = makers.word(lambda document: makers.paragraphs(document, lines))
    return {"txt": ("cv.txt", CV), "pdf": ("cv.pdf", makers.pdf(lines)), "docx": ("cv.docx", word)}


def an_attachment(kind: str) -> Any:
    return lambda api: an_application(api, cv=files()[kind])


# --- Candidates


def a_candidate(api: Api) -> Ids:
    """Somebody who applied."""
    made = an_application(api)
    shown = api.get(f"/applications/{made['application_id']}/").json()
    return {**made, "candidate_id": shown["candidate_id"]}


def a_candidate_with_notes(api: Api) -> Ids:
    """Somebody with a note, tags and a scorecard."""
    made = a_candidate(api)
    place = f"/candidates/{made['candidate_id']}"
    post(api, f"{place}/notes/", {"body": "Would like to start in May."})
    post(api, f"{place}/scorecards/", {"total": 7})
    assert api.put(f"{place}/tags/", {"tags": ["berlin"]}).status_code == 200
    return made


def two_candidates(api: Api) -> Ids:
    """One person under two addresses."""
    return {**a_candidate(api), "source_id": a_candidate_with_notes(api)["candidate_id"]}


# --- Enrollments


def an_enrollment(api: Api) -> Ids:
    """Somebody at a pipeline's first stage, an assessment; `slug` is the pipeline's."""
    made = a_pipeline(api)
    person = {"email": address(), "name": "Ada Lovelace"}
    shown = post(api, f"/pipelines/{made['pipeline_slug']}/enroll/", person)
    kept = {"enrollment_id": shown["id"], "person": person["email"]}
    return {**kept, "slug": made["pipeline_slug"], "pipeline_slug": made["pipeline_slug"]}


def an_enrollment_after(step: str) -> Any:
    def make(api: Api) -> Ids:
        made = an_enrollment(api)
        post(api, f"/pipelines/enrollments/{made['enrollment_id']}/{step}/")
        return made

    return make


def a_note_of_an_enrollment(api: Api) -> Ids:
    made = an_enrollment(api)
    post(api, f"/pipelines/enrollments/{made['enrollment_id']}/notes/", {"body": "Asked for a later start."})
    return made


# --- Interviews


def an_interview_template(api: Api) -> Ids:
    made = post(api, "/interviews/templates/create/", {"title": title("Interview")})
    return {"template_id": made["id"]}


def an_interview(api: Api) -> Ids:
    """A room with a time, a candidate and a question."""
    room = {
        "title": title("Interview"),
        "candidate_email": address(),
        "candidate_name": "Ada Lovelace",
        "scheduled_at": "2031-01-01T09:00:00Z",
        "questions": [{"title": "A slow page"}],
    }
    made = post(api, "/interviews/create/", room)
    return {"room_id": made["id"], "interview_token": made["candidate_token"]}


def what_an_interview_needs(api: Api) -> Ids:
    """A template, a coding case, a member and an enrollment."""
    enrolled = an_enrollment(api)
    return {
        **a_case(api, **CODE),
        **a_member(api),
        **an_interview_template(api),
        "enrollment_id": enrolled["enrollment_id"],
    }


# --- Offers

LETTER = {
    "title": "Senior engineer at Northwind",
    "body_html": "<p>Dear Ada,</p><p>we would like you to join us.</p>",
}


def an_offer(api: Api) -> Ids:
    """A draft that could be sent."""
    made = an_application(api)
    drafted = post(api, "/offers/", {"application_id": made["application_id"], **LETTER})
    return {**made, "offer_id": drafted["id"]}


def a_sent_offer(api: Api) -> Ids:
    """An offer that waits for its answer, with the token of its link."""
    made = an_offer(api)
    sent = post(api, f"/offers/{made['offer_id']}/send/")
    return {**made, "token": sent["respond_url"].rpartition("/")[2]}


# --- Rooms of interviews


def a_room(api: Api) -> Ids:
    """An interview that nobody has joined."""
    assert api.key is not None
    with store.reading() as reading:
        key = keys.find(reading, api.key)
    made = rooms.prepare(organisation_id=key.organisation_id, livemode=key.livemode)
    return {"token": made.candidate, "question_id": made.questions[0], "room_id": str(made.id)}


def a_joined_room(api: Api) -> Ids:
    """An interview that its candidate and an interviewer are in; the token is the candidate's."""
    made = a_room(api)
    inside = _interviewer(made)
    for token in (made["token"], inside):
        post(candidate(api), f"/interviews/{token}/join/", {})
    return made


def a_joined_room_inside(api: Api) -> Ids:
    """The same; the token is the interviewer's."""
    made = a_joined_room(api)
    return {**made, "token": _interviewer(made)}


def a_shared_room(api: Api) -> Ids:
    """An interview with a link to look at it."""
    made = a_joined_room(api)
    room = rooms.Prepared(UUID(made["room_id"]), made["token"], "")
    return {**made, "token": room.share()}


def _interviewer(made: Ids) -> str:
    return rooms.Prepared(UUID(made["room_id"]), "", "").row().interviewer_token


# --- What an organisation looks like

LOGO = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(64)
COLOUR = "#1f5eff"


def a_mail_template(api: Api) -> Ids:
    return {"kind": "invitation", "language": "en"}


def a_logo(api: Api, content: bytes = LOGO) -> Ids:
    post(api, "/org/settings/logo/", files={"logo": ("logo", content)})
    return {}


def a_branded_career(api: Api, content: bytes = LOGO) -> Ids:
    """An open job of an organisation with a logo and a colour."""
    assert api.patch("/org/settings/", {"colour": COLOUR}).status_code == 200
    return a_logo(api, content) | an_open_job(api)


def a_career_with_a_jpeg(api: Api) -> Ids:
    return a_branded_career(api, b"\xff\xd8\xff\xe0\x00\x10JFIF")


def a_career_with_a_webp(api: Api) -> Ids:
    return a_branded_career(api, b"RIFF\x1a\x00\x00\x00WEBPVP8 ")


# --- Webhooks


@functools.cache
def receiver() -> Receiver:
    """A customer's server, which answers 200 until the tests are over."""
    servers = contextlib.ExitStack()
    atexit.register(servers.close)
    return servers.enter_context(running())


def a_webhook(api: Api) -> Ids:
    hook = {"url": f"{receiver().url}/{next(_numbers)}", "events": ["*"], "name": "ATS"}
    return {"id": post(api, "/webhooks/create/", hook)["id"]}


def an_inbox(api: Api) -> Ids:
    return {"inbox_id": post(api, "/test/inboxes/")["id"]}


def a_mail(api: Api) -> Ids:
    """An invitation that was mailed."""
    email = address()
    slug = an_assessment(api)["slug"]
    post(api, f"/assessments/{slug}/invites/", {"email": email, "send_email": True})
    return {"email": email}


def a_verified_webhook(api: Api) -> Ids:
    made = a_webhook(api)
    post(api, f"/webhooks/{made['id']}/test/")
    return made


def a_delivery(api: Api) -> Ids:
    """A delivery that waits to be sent."""
    made = a_verified_webhook(api)
    post(api, "/jobs/create/", {"title": title("Junior")})
    fanned_out()
    [row, *_] = api.get(f"/webhooks/{made['id']}/deliveries/").json()["results"]
    return {**made, "delivery_id": row["id"]}


# --- What workers do


def fanned_out() -> None:
    """Make deliveries of what happened."""
    with store.transaction() as session:
        fan_out(session, limit=100_000)


def graded(api: Api) -> None:
    """Grade what an organisation's candidates handed in."""
    for event in api.get("/events/", params={"type": "assessment.completed"}).json()["results"]:
        grading.grade(UUID(int=0), {"session_id": event["data"]["session_id"]})
    api.get("/events/")  # what came of it is seen


def screened(application_id: str) -> None:
    """Screen an application as its arrival asked for."""
    with store.transaction() as session:
        due = select(OutboxItem.arguments).where(OutboxItem.job == "screen").order_by(OutboxItem.id)
        asked = session.scalars(due).all()
    for arguments in asked:
        if arguments["application_id"] == application_id:
            screening.screen(UUID(int=0), arguments)
