"""What exists, for requests to name: made through the API itself, once for each call or once for all."""

import os
import uuid
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from typing import Any

import httpx
from sqlalchemy import delete, select

import store
from app.instance import settings, wiring
from rules.clock import iso, now
from store.accounts import members, organisations
from store.applying import status_links
from store.applying.applications import Application
from store.assessing.invitations import Invitation
from store.assessing.sessions import CandidateSession
from store.delivering.fanout import fan_out
from store.delivering.inboxes import Inbox
from store.delivering.webhooks import WebhookEndpoint
from tests.contract.people import Ids, a_colleague, a_key, a_sign_in, an_open_invite, organisation_of
from workers.grading import grade

Make = Callable[[], Ids]
PUBLIC, CANDIDATE = "/api/v1/public", "/api/v1/candidate"

http = httpx.Client(
    base_url=os.environ["CONTRACT_URL"],
    headers={"Authorization": f"Bearer {os.environ['CONTRACT_KEY']}"},
    timeout=60,
)
wiring.configure(settings.read())


def call(method: str, path: str, body: Any = None, base: str = PUBLIC) -> Any:
    response = http.request(method, base + path, json=body)
    response.raise_for_status()
    return response.json() if response.content else None


@cache
def shared(make: Make) -> Ids:
    """Return the one that operations share which leave it as it is."""
    return make()


# ------------------------------------------------------------------------------------------- cases, assessments
# A case of each type that a person may answer, in the order in which an assessment of all of them asks.
CONTENTS: dict[str, dict[str, Any]] = {
    "text": {},
    "numeric": {"answer_number": 42},
    "mcq": {
        "allow_multiple": True,
        "options": [{"id": "a", "text": "Yes", "is_correct": True}, {"id": "b", "text": "No"}],
    },
    "coding": {"language": "python", "test_cases": [{"input": "1", "expected_output": "1"}]},
}


def a_case(case_type: str = "text") -> Ids:
    body = {"title": "In your words", "case_type": case_type, **CONTENTS[case_type]}
    return {"id": call("POST", "/cases/create/", body)["id"]}


def a_program() -> Ids:
    return a_case("coding")


def a_case_of_the_catalogue() -> Ids:
    return {"id": call("GET", "/platform-cases/?page_size=1")["results"][0]["id"]}


def a_draft(*case_types: str) -> Ids:
    cases = [{"case_id": a_case(one)["id"], "source": "org"} for one in case_types or ("text", "text")]
    made = call("POST", "/assessments/create/", {"title": "Backend engineer", "cases": cases})
    return {"slug": made["slug"], "assessment_slug": made["slug"], "assessment_id": made["id"]}


def an_assessment(*case_types: str) -> Ids:
    made = a_draft(*case_types)
    call("PATCH", f"/assessments/{made['slug']}/update/", {"status": "active"})
    return made


def an_assessment_of_everything() -> Ids:
    return an_assessment(*CONTENTS)


def a_place() -> Ids:
    made = a_draft()
    rows = call("GET", f"/assessments/{made['slug']}/cases/")["results"]
    return {**made, "assessment_case_id": rows[0]["assessment_case_id"]}


# ----------------------------------------------------------------------------------------- invitations, sittings
def an_invitation(to: Make = an_assessment) -> Ids:
    body = {"email": f"{uuid.uuid4().hex}@example.com"}
    made = call("POST", f"/assessments/{shared(to)['slug']}/invites/", body)
    return {"token": made["invite_token"]}


def an_expired_invitation() -> Ids:
    made = an_invitation()
    with store.transaction() as session:
        row = session.scalars(select(Invitation).where(Invitation.token == made["token"])).one()
        row.expires_at = now() - timedelta(seconds=1)
    return made


def a_sitting() -> Ids:
    """A running session with a case of each type; `assessment_case_id` is the text's."""
    made = an_invitation(an_assessment_of_everything)
    cases = call("POST", f"/invites/{made['token']}/start/", base=CANDIDATE)["cases"]
    places = {one["case_type"]: one["assessment_case_id"] for one in cases}
    return {**made, "assessment_case_id": places["text"], **places}


def a_programming_sitting() -> Ids:
    made = a_sitting()
    return {**made, "assessment_case_id": made["coding"]}


def a_recorded_assessment() -> Ids:
    body = {"title": "Recorded", "webcam_recording_enabled": True}
    slug = call("POST", "/assessments/create/", body)["slug"]
    call("PATCH", f"/assessments/{slug}/update/", {"status": "active"})
    return {"slug": slug}


def a_recorded_sitting() -> Ids:
    made = an_invitation(a_recorded_assessment)
    call("POST", f"/invites/{made['token']}/start/", {"recording_accepted": ["webcam"]}, base=CANDIDATE)
    return {**made, "track": str(uuid.uuid4()), "number": "0"}


def a_recording() -> Ids:
    made = a_recorded_sitting()
    told = {"kind": "webcam", "media_type": "video/webm", "started_ms": "0", "duration_ms": "5000"}
    place = f"{CANDIDATE}/invites/{made['token']}/recordings/{made['track']}/0/"
    kept = http.put(place, data=told, files={"content": ("chunk", b"a video")})
    kept.raise_for_status()
    call("POST", f"/invites/{made['token']}/submit/", base=CANDIDATE)
    [shown] = call("GET", f"/invites/{made['token']}/result/")["recordings"]
    return {
        "token": shown["url"].rpartition("/")[2],
        "recording_id": kept.json()["recording_id"],
        "number": "0",
    }


def a_submission() -> Ids:
    """A session that is over and graded, as far as a program can: its texts wait for a reviewer."""
    made = an_invitation()
    for one in call("POST", f"/invites/{made['token']}/start/", base=CANDIDATE)["cases"]:
        place = f"/invites/{made['token']}/answers/{one['assessment_case_id']}/"
        call("PUT", place, {"answer": "It depends."}, base=CANDIDATE)
    call("POST", f"/invites/{made['token']}/submit/", base=CANDIDATE)
    with store.transaction() as session:
        sitting = session.scalars(
            select(CandidateSession).join(Invitation).where(Invitation.token == made["token"])
        ).one()
    grade(uuid.uuid4(), {"session_id": str(sitting.id)})
    return made


def a_review() -> Ids:
    """An answer that waits for a reviewer: of the latest start, so on the first page."""
    token = a_submission()["token"]
    found = call("GET", "/reviews/")["results"]
    return {"id": next(one["id"] for one in found if one["invite_token"] == token)}


def a_shared_report() -> Ids:
    """A link to look at a report."""
    return {"token": call("POST", f"/invites/{shared(a_submission)['token']}/report/share/", {})["token"]}


def a_share() -> Ids:
    """The same by its invitation and its id."""
    token = a_submission()["token"]
    return {"token": token, "share_id": call("POST", f"/invites/{token}/report/share/", {})["id"]}


def two_submissions() -> Ids:
    """Sessions of one assessment that are over, which may be compared."""
    return {**shared(an_assessment), **a_submission(), "other_token": a_submission()["token"]}


# --------------------------------------------------------------------------------------------- squads, pipelines
def a_squad() -> Ids:
    return {"team_id": call("POST", "/org/squads/", {"name": "Platform team"})["id"]}


def a_mail_template() -> Ids:
    return {"kind": "rejection", "language": "en"}


def a_pipeline() -> Ids:
    """`slug` is what its path has."""
    made = call(
        "POST", "/pipelines/create/", {"title": "Hiring", "stages": [{"stage_type": "manual_review"}]}
    )
    return {"slug": made["slug"], "pipeline_slug": made["slug"], "pipeline_id": made["id"]}


def an_enrollment() -> Ids:
    body = {"email": f"{uuid.uuid4().hex}@example.com"}
    made = call("POST", f"/pipelines/{shared(a_pipeline)['slug']}/enroll/", body)
    return {"enrollment_id": made["id"]}


def an_enrollment_on_hold() -> Ids:
    made = an_enrollment()
    call("POST", f"/pipelines/enrollments/{made['enrollment_id']}/hold/")
    return made


# ------------------------------------------------------------------------------------------------------ webhooks
def an_address() -> str:
    return f"{os.environ['HOOK_URL']}/{uuid.uuid4().hex}"


def a_webhook() -> Ids:
    return {"id": call("POST", "/webhooks/create/", {"url": an_address(), "events": ["*"]})["id"]}


def a_verified_webhook() -> Ids:
    made = a_webhook()
    call("POST", f"/webhooks/{made['id']}/test/")
    return made


def a_delivery() -> Ids:
    made = a_verified_webhook()
    an_invitation()
    with store.transaction() as session:
        fan_out(session, limit=100_000)
    rows = call("GET", f"/webhooks/{made['id']}/deliveries/")["results"]
    return {**made, "delivery_id": rows[0]["id"]}


def an_inbox() -> Ids:
    """An inbox of the test world, to which a ping came."""
    made = call("POST", "/test/inboxes/", {})
    endpoint = call("POST", "/webhooks/create/", {"url": made["url"], "events": ["*"]})
    call("POST", f"/webhooks/{endpoint['id']}/test/")
    return {"inbox_id": made["id"]}


def room_for_an_inbox() -> None:
    """Forget the oldest inboxes and endpoints before there are as many as an organisation may have."""
    with store.transaction() as session:
        for table in (Inbox, WebhookEndpoint):
            mine = table.organisation_id == organisation_of(session).id
            newest = select(table.id).where(mine).order_by(table.id.desc()).limit(20)
            session.execute(delete(table).where(mine, table.id.not_in(newest)))
    shared.cache_clear()


# -------------------------------------------------------------------------------------------- jobs, applications
def a_job() -> Ids:
    made = call("POST", "/jobs/create/", {"title": "Backend engineer"})
    return {"key": made["slug"], "job_slug": made["slug"], "job_id": made["id"]}


def a_field() -> Ids:
    made = a_job()
    body = {"label": "Years of Python", "field_type": "number", "key": "years"}
    return {**made, "field_id": call("POST", f"/jobs/{made['key']}/fields/", body)["id"]}


def an_open_job() -> Ids:
    """A job that takes applications and asks one question."""
    made = a_field()
    call("POST", f"/jobs/{made['key']}/publish/")
    return made


def a_number_question(key: str) -> str:
    """The key of a question for a number that a job asks; asked from now on if it did not."""
    path = f"/jobs/{key}/fields/"
    asked = http.get(PUBLIC + path, params={"page_size": 100})
    if asked.status_code == 404:
        return "years"  # whatever is asked of a job that is not there is refused for that
    for one in asked.json()["results"]:
        if one["field_type"] == "number" and one["is_active"]:
            return str(one["key"])
    return str(call("POST", path, {"label": "Years of Python", "field_type": "number"})["key"])


def a_career() -> Ids:
    """What the world sees: an organisation by its slug, and an open job of the live mode."""
    return {"org_slug": call("GET", "/org/")["slug"], "job_slug": an_open_job()["key"]}


def an_application(**files: Any) -> Ids:
    person = {
        "job_slug": shared(an_open_job)["key"],
        "email": f"{uuid.uuid4().hex}@example.com",
        "full_name": "Ada Lovelace",
    }
    found = http.post(f"{PUBLIC}/applications/create/", data=person, files=files)
    found.raise_for_status()
    shown = found.json()
    return {
        "application_id": shown["id"],
        **({"attachment_id": shown["attachments"][0]["id"]} if files else {}),
    }


def an_own_application() -> Ids:
    """An application with the token of a link that its applicant was mailed."""
    made = an_application()
    with store.transaction() as session:
        application = session.get_one(Application, uuid.UUID(made["application_id"]))
        return {"token": status_links.make(session, application, "receipt")}


def an_application_after(step: str) -> Make:
    def make() -> Ids:
        made = an_application()
        call("POST", f"/applications/{made['application_id']}/{step}/", {})
        return made

    return make


def an_application_with_a_file() -> Ids:
    return an_application(cv=("cv.txt", b"Ada Lovelace, engineer", "text/plain"))


# -------------------------------------------------------------------------------------------------------- offers
def an_offer() -> Ids:
    """A draft that could be sent."""
    letter = {"title": "Engineer at Northwind", "body_html": "<p>We would like you to join us.</p>"}
    return {"offer_id": call("POST", "/offers/", {**an_application(), **letter})["id"]}


def a_sent_offer() -> Ids:
    made = an_offer()
    sent = call("POST", f"/offers/{made['offer_id']}/send/")
    return {**made, "token": sent["respond_url"].rpartition("/")[2]}


# ------------------------------------------------------------------------------------------------ people, squads
def a_candidate() -> Ids:
    made = an_application()
    found = call("GET", f"/applications/{made['application_id']}/")
    return {**made, "candidate_id": found["candidate_id"]}


def a_member() -> Ids:
    """A member of the organisation, whom a command makes."""
    with store.transaction() as session:
        organisation = organisations.by_slug(session, call("GET", "/org/")["slug"])
        assert organisation
        made = members.add(
            session,
            organisation=organisation,
            email=f"{uuid.uuid4().hex}@example.com",
            name="Ada",
            role="member",
        )
        return {"user_id": str(made.user_id)}


# ---------------------------------------------------------------------------------------------------- interviews
def an_interview() -> Ids:
    """A room with a time."""
    room = {
        "title": "Interview",
        "candidate_email": "ada@example.com",
        "scheduled_at": iso(now() + timedelta(days=3)),
    }
    return {"room_id": call("POST", "/interviews/create/", room)["id"]}


def a_meeting() -> Ids:
    """An interview that both sides are in; the token is the candidate's."""
    asked = {"title": "Interview", "questions": [{"title": "A slow page"}], "voice_mode": True}
    made = call("POST", "/interviews/create/", asked)
    inside = made["interviewer_url"].rpartition("/")[2]
    for token in (made["candidate_token"], inside):
        call("POST", f"/interviews/{token}/join/", {"consent_accepted": True}, base=CANDIDATE)
    return {
        "room_id": made["id"],
        "token": made["candidate_token"],
        "inside": inside,
        "question_id": made["questions"][0]["id"],
    }


def a_room_from_inside() -> Ids:
    """The same for its interviewer, who chooses the question."""
    made = shared(a_meeting)
    return {**made, "token": made["inside"]}


def a_shared_room() -> Ids:
    """A link to look at an interview."""
    link = call("POST", f"/interviews/{shared(a_meeting)['room_id']}/share/", {})
    return {"token": link["token"]}


def an_interview_template() -> Ids:
    return {"template_id": call("POST", "/interviews/templates/create/", {"title": "Interview"})["id"]}


def a_member_invite() -> Ids:
    """Somebody who is invited to join, which a command does too."""
    with store.transaction() as session:
        organisation = organisations.by_slug(session, call("GET", "/org/")["slug"])
        assert organisation
        email = f"{uuid.uuid4().hex}@example.com"
        _, token = members.invite(session, organisation=organisation, email=email, role="member")
        return {"token": token}


def a_squad_with_a_member() -> Ids:
    made = {**a_squad(), **a_member()}
    call("POST", f"/org/squads/{made['team_id']}/members/", {"user_id": made["user_id"]})
    return made


LOGO = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(64)


def a_brand() -> Ids:
    """An organisation that looks like itself."""
    http.post(f"{PUBLIC}/org/settings/logo/", files={"logo": ("logo", LOGO)}).raise_for_status()
    return {"org_slug": call("GET", "/org/")["slug"]}


# -------------------------------------------------------------------------------- which operation is given which
# What stands in the path of an operation; by default what its parameters are named for, shared.
FRESH: dict[str, Make] = {
    "update_assessment": a_draft,
    "attach_cases": a_draft,
    "replace_cases": a_draft,
    "remove_case": a_place,
    "cancel_invitation": an_invitation,
    "remind_invitation": an_invitation,
    "update_invitation": an_invitation,
    "reopen_invitation": an_expired_invitation,
    "retake_invitation": a_submission,
    "review_result": a_submission,
    "claim_review": a_review,
    "release_review": a_review,
    "show_report_page": lambda: shared(a_shared_report),
    "compare_results": lambda: shared(two_submissions),
    "delete_case": a_case,
    "update_job": a_job,
    "publish_job": a_job,
    "close_job": an_open_job,
    "create_field": a_job,
    "update_field": a_field,
    "delete_field": a_field,
    "replace_knockouts": a_job,
    "replace_requirements": a_job,
    "advance_application": an_application,
    "reject_application": an_application,
    "hold_application": an_application,
    "withdraw_application": an_application,
    "unhold_application": an_application_after("hold"),
    "hire_application": an_application_after("advance"),
    "upload_attachment": an_application,
    "download_attachment": an_application_with_a_file,
    "update_offer": an_offer,
    "send_offer": an_offer,
    "withdraw_offer": a_sent_offer,
    "accept_offer": a_sent_offer,
    "decline_offer": a_sent_offer,
    "answer_on_offer_page": a_sent_offer,
    "take_test_invitation": an_invitation,
    "make_test_applications": an_open_job,
    "answer_test_offer": a_sent_offer,
    "play_test_interview": an_interview,
    "get_test_inbox": lambda: shared(an_inbox),
    "cancel_interview": an_interview,
    "reschedule_interview": an_interview,
    "end_room": a_meeting,
    "show_room_question": a_room_from_inside,
    "settle_room": a_room_from_inside,
    "get_shared_replay": lambda: shared(a_shared_room),
    "show_shared_interview_page": lambda: shared(a_shared_room),
    "update_interview_template": an_interview_template,
    "delete_interview_template": an_interview_template,
    "show_join_page": a_member_invite,
    "join_on_page": a_member_invite,
    "update_case": a_case,
    "update_pipeline": a_pipeline,
    "update_squad": a_squad,
    "delete_squad": a_squad,
    "add_squad_member": a_squad,
    "remove_squad_member": a_squad_with_a_member,
    "merge_candidates": a_candidate,
    "erase_candidate": a_candidate,
    "get_logo": a_brand,
    "get_brand_style": a_brand,
    "get_mail_template": a_mail_template,
    "update_mail_template": a_mail_template,
    "advance_enrollment": an_enrollment,
    "reject_enrollment": an_enrollment,
    "hold_enrollment": an_enrollment,
    "unhold_enrollment": an_enrollment_on_hold,
    "delete_webhook": a_webhook,
    "update_webhook": a_verified_webhook,
    "retry_delivery": a_delivery,
    "start_session": an_invitation,
    "save_answer": a_sitting,
    "save_recording_chunk": a_recorded_sitting,
    "get_recording_chunk": a_recording,
    "show_recordings_page": a_recording,
    "run_code": a_programming_sitting,
    "report_violation": a_sitting,
    "submit_session": a_sitting,
    "correct_own_application": an_own_application,
    "withdraw_own_application": an_own_application,
    "change_on_application_page": an_own_application,
    "sign_in_by_link_on_page": a_sign_in,
    "revoke_key": a_key,
    "rotate_key": a_key,
    "update_key": a_key,
    "revoke_member_invite": an_open_invite,
    "change_member": a_colleague,
    "remove_member": a_colleague,
    "unbind_company_sign_in": a_colleague,
    "change_webhook_on_page": a_delivery,
    "revoke_shared_report": a_share,
    "get_review": lambda: shared(a_review),
    "show_comparison_page": lambda: shared(two_submissions),
    "show_result_page": lambda: shared(a_submission),
    "download_report": lambda: shared(a_submission),
    "change_result_on_page": a_share,
    "show_review_page": lambda: shared(a_review),
    "change_review_on_page": a_review,
    "show_invitation_page": lambda: shared(an_invitation),
    "change_invitation_on_page": an_invitation,
}
SHARED: dict[tuple[str, str], Make] = {
    ("assessments", "slug"): an_assessment,
    ("invites", "token"): a_submission,
    ("take", "token"): an_invitation,
    ("cases", "id"): a_case,
    ("webhooks", "id"): a_verified_webhook,
    ("jobs", "key"): a_job,
    ("org", "team_id"): a_squad,
    ("pipelines", "slug"): a_pipeline,
    ("pipelines", "enrollment_id"): an_enrollment,
    ("api", "org_slug"): a_career,
    ("careers", "org_slug"): a_career,
    ("applications", "application_id"): an_application,
    ("applications", "token"): an_own_application,
    ("application", "token"): an_own_application,
    ("candidates", "candidate_id"): a_candidate,
    ("offers", "offer_id"): an_offer,
    ("offers", "token"): a_sent_offer,
    ("offer", "token"): a_sent_offer,
    ("interviews", "room_id"): an_interview,
    ("interviews", "token"): a_meeting,
    ("interview", "token"): a_meeting,
    ("interviews", "template_id"): an_interview_template,
    ("area", "token"): a_sign_in,
    ("area", "id"): a_verified_webhook,
    ("area", "slug"): an_assessment,
    ("area", "team_id"): a_squad,
    ("area", "kind"): lambda: {"kind": "invitation", "language": "en"},
    ("area", "language"): lambda: {"kind": "invitation", "language": "en"},
    ("docs", "name"): lambda: {"name": "quickstart"},
    ("docs", "code"): lambda: {"code": "NOT_FOUND"},
}


def ids(operation_id: str, path: str) -> Ids:
    """Return what the parameters of a path may name; what has no maker yet is reported as missing test data."""
    if operation_id in FRESH:
        return FRESH[operation_id]()
    words = path.removeprefix(CANDIDATE).strip("/").split("/")
    make = SHARED.get((words[0], next(word for word in words if word.startswith("{")).strip("{}")))
    return shared(make) if make else {}
