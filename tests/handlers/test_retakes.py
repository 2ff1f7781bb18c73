"""Assessments that are taken again."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.api import Tenant, address
from tests.handlers.test_invitations_again import (
    completed,
    expire,
    invited,
    mails,
    refused,
    reopen,
    seen,
    told,
)
from tests.operations import states
from tests.pipelines import MANUAL, act, due, enroll, measured, pipeline, shown, sit, use
from tests.probes import refusal


def retake(api: Any, token: str, **body: Any) -> Any:
    return api.post(f"/invites/{token}/retake/", body)


def again(api: Any, token: str, **body: Any) -> str:
    """Have somebody take an assessment again; return the new token."""
    made = retake(api, token, **body)
    assert made.status_code == 201, made.text
    return str(made.json()["invite_token"])


def test_a_retake_is_a_new_invitation_of_the_same_person(tenant: Tenant) -> None:
    api, same = tenant.live, {"name": "Ada", "role": "Engineer", "external_id": "ats-1", "tags": ["berlin"]}
    token = completed(api, **same, extra_time_percent=25)
    before = seen(api, token)
    made = retake(api, token, expires_days=3).json()
    assert made["retake_of"] == token
    assert before["retake_of"] is None
    kept = ("email", *same, "extra_time_percent", "assessment", "candidate_id")
    assert {name: made[name] for name in kept} == {name: before[name] for name in kept}
    assert (made["status"], made["started_at"]) == ("pending", None)
    assert seen(api, made["invite_token"]) | {"meta": None} == made | {"meta": None}
    assert seen(api, token) == before | {"meta": seen(api, token)["meta"]}
    assert api.get("/org/").json()["invites_used"] == 2
    [_, event] = told(tenant, "invitation.created")
    assert (event["invite_token"], event["retake_of"]) == (made["invite_token"], token)
    assert "retake_of" not in told(tenant, "invitation.created")[0]
    listed = api.get("/invites/", params={"external_id": "ats-1"}).json()["results"]
    assert [one["retake_of"] for one in listed] == [token, None]
    sit(api, made["invite_token"])
    assert [api.get(f"/invites/{one}/result/").json()["passed"] for one in (token, made["invite_token"])] == [
        False,
        True,
    ]


def test_a_retake_is_mailed_where_that_is_asked_for(tenant: Tenant) -> None:
    quiet = again(tenant.live, completed(tenant.live))
    loud = again(tenant.live, completed(tenant.live), send_email=True)
    assert (mails(quiet, "invitation"), mails(loud, "invitation")) == (0, 1)


def test_only_what_is_completed_is_taken_again(tenant: Tenant) -> None:
    token = invited(tenant.live)
    refused(retake(tenant.live, token), "pending")
    states.post(states.candidate(tenant.live), f"/invites/{token}/start/")
    refused(retake(tenant.live, token), "started")
    late = invited(tenant.live)
    expire(late)
    refused(retake(tenant.live, late), "expired")


def test_only_the_newest_is_taken_again(tenant: Tenant) -> None:
    api, first = tenant.live, completed(tenant.live)
    second = again(api, first)
    for status in ("pending", "completed"):
        answer = retake(api, first)
        refused(answer, "completed")
        assert answer.json()["error"]["details"]["retaken_as"] == second
        if status == "pending":
            refused(retake(api, second), "pending")
            sit(api, second)
    assert seen(api, again(api, second))["retake_of"] == second


def test_an_archived_assessment_takes_nobody_back(tenant: Tenant) -> None:
    late, done = invited(tenant.live), completed(tenant.live)
    expire(late)
    for token, ask in ((late, reopen), (done, retake)):
        slug = seen(tenant.live, token)["assessment"]["slug"]
        tenant.live.patch(f"/assessments/{slug}/update/", {"status": "archived"})
        assert ask(tenant.live, token).json()["error"]["code"] == "ASSESSMENT_NOT_ACTIVE"


def test_an_expired_retake_is_reopened(tenant: Tenant) -> None:
    token = again(tenant.live, completed(tenant.live))
    expire(token)
    assert told(tenant, "invitation.expired")[0]["retake_of"]
    assert reopen(tenant.live, token).json()["status"] == "pending"


def test_inviting_again_answers_the_newest(tenant: Tenant) -> None:
    api, first = tenant.live, completed(tenant.live, external_id="ats-1")
    second, before = again(api, first), seen(api, first)
    at = f"/assessments/{before['assessment']['slug']}/invites"
    for person in ({"email": before["email"].upper()}, {"email": address(), "external_id": "ats-1"}):
        answer = api.post(f"{at}/", person)
        assert (answer.status_code, answer.json()["invite_token"]) == (200, second)
    bulk = api.post(f"{at}/bulk/", {"candidates": [{"email": before["email"]}]})
    assert bulk.json()["skipped"] == [{"email": before["email"], "reason": "already_invited"}]
    assert api.get("/org/").json()["invites_used"] == 2


def test_a_cancelled_retake_leaves_the_attempt_before_it(tenant: Tenant) -> None:
    api, first = tenant.live, completed(tenant.live)
    second, before = again(api, first), seen(api, first)
    assert api.delete(f"/invites/{second}/").status_code == 204
    answer = api.post(f"/assessments/{before['assessment']['slug']}/invites/", {"email": before["email"]})
    assert (answer.status_code, answer.json()["invite_token"]) == (200, first)
    assert again(api, first) != second


def test_a_retake_costs_one_of_the_month(tenant: Tenant) -> None:
    api, token = tenant.live, completed(tenant.live)
    use(tenant, 1000)
    answer = retake(api, token)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "INVITE_QUOTA_EXCEEDED")
    use(tenant, 999)
    again(api, token)
    assert api.get("/org/").json()["invites_remaining"] == 0
    again(tenant.test, completed(tenant.test))
    assert api.get("/org/").json()["invites_used"] == 1000


def test_of_two_hundred_retakes_at_once_one_is_made(tenant: Tenant) -> None:
    token = completed(tenant.live)
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: retake(tenant.live, token), range(200)))
    assert sorted({answer.status_code for answer in answers}) == [201, 400]
    assert [answer.status_code for answer in answers].count(201) == 1
    assert tenant.live.get("/org/").json()["invites_used"] == 2
    assert len(told(tenant, "invitation.created")) == 2


def test_an_erased_person_is_not_invited_again(tenant: Tenant) -> None:
    api, token = tenant.live, completed(tenant.live)
    late = invited(api, email=seen(api, token)["email"])
    expire(late)
    again(api, token)
    candidate_id = seen(api, token)["candidate_id"]
    exported = api.get(f"/candidates/{candidate_id}/export/")
    assert token not in exported.text
    states.post(api, f"/candidates/{candidate_id}/erase/")
    rows = api.get("/invites/").json()["results"]
    assert len(rows) == 3
    assert {one["retake_of"] for one in rows} == {None}
    for one in rows:
        act = reopen if one["status"] == "expired" else retake
        remind = api.post(f"/invites/{one['invite_token']}/remind/")
        for answer in (act(api, one["invite_token"]), remind):
            assert refusal(answer, 400)["message"].startswith("The candidate was erased")
    assert api.get("/candidates/").json()["results"] == []


# --- What came of the invitation before


def test_an_application_names_the_newest_invitation(tenant: Tenant) -> None:
    api = tenant.live
    slug = states.an_assessment(api, states.NUMBER)["slug"]
    job = api.job(published=True, assessment_slug=slug)
    one = api.application(job["slug"])
    states.post(api, f"/applications/{one['id']}/advance/", {})

    def named() -> str:
        return str(api.get(f"/applications/{one['id']}/").json()["invitation_id"])

    [first] = api.get("/invites/").json()["results"]
    before = named()
    sit(api, first["invite_token"], answer=1)
    second = again(api, first["invite_token"])
    assert named() != before
    assert named() == told(tenant, "invitation.created")[-1]["invitation_id"]
    api.delete(f"/invites/{second}/")
    assert named() == before


def test_a_stage_that_waits_for_a_review_waits_for_the_retake_instead(tenant: Tenant) -> None:
    api = tenant.live
    made = enroll(api, pipeline(api, measured(api, states.TEXT), MANUAL))
    first = made["invite_token"]
    sit(api, first, answer="It depends.")
    second = again(api, first)
    assert told(tenant, "invitation.created")[-1]["pipeline_enrollment_id"] == made["id"]
    waiting = shown(api, made["id"])
    assert (waiting["invite_token"], waiting["history"][-1]["kind"]) == (second, "invitation_retaken")
    review = {"cases": [{"case_order": 1, "score": 0}]}
    states.post(api, f"/invites/{first}/result/review/", review)
    assert shown(api, made["id"])["status"] == "active"
    sit(api, second, answer="It depends on the reads.")
    states.post(api, f"/invites/{second}/result/review/", {"cases": [{"case_order": 1, "score": 10}]})
    assert shown(api, made["id"])["current_stage"] == 1


def test_on_hold_the_outcome_before_a_retake_is_forgotten(tenant: Tenant) -> None:
    api = tenant.live
    made = enroll(api, pipeline(api, measured(api), MANUAL))
    act(api, made["id"], "hold")
    sit(api, made["invite_token"], answer=1)
    second = again(api, made["invite_token"])
    assert act(api, made["id"], "unhold").json()["status"] == "active"
    sit(api, second)
    assert shown(api, made["id"])["current_stage"] == 1


@pytest.mark.parametrize("held", [False, True])
def test_a_stage_whose_retake_is_cancelled_takes_the_outcome_before_it(tenant: Tenant, held: bool) -> None:
    api = tenant.live
    made = enroll(api, pipeline(api, measured(api), MANUAL))
    act(api, made["id"], "hold")
    sit(api, made["invite_token"])
    second = again(api, made["invite_token"])
    if not held:
        act(api, made["id"], "unhold")
    assert api.delete(f"/invites/{second}/").status_code == 204
    assert shown(api, made["id"])["invite_token"] == made["invite_token"]
    if held:
        act(api, made["id"], "unhold")
    due(made["id"])
    assert shown(api, made["id"])["current_stage"] == 1


def test_an_enrollment_that_has_ended_stays_as_it_ended(tenant: Tenant) -> None:
    api = tenant.live
    made = enroll(api, pipeline(api, measured(api), MANUAL))
    sit(api, made["invite_token"], answer=1)
    ended = shown(api, made["id"])
    sit(api, again(api, made["invite_token"]))
    assert ended["status"] == "rejected"
    assert shown(api, made["id"]) == ended


@pytest.mark.parametrize("many", [False, True])
def test_whoever_is_enrolled_later_enters_with_the_newest(tenant: Tenant, many: bool) -> None:
    api, first = tenant.live, completed(tenant.live)
    second, before = again(api, first), seen(api, first)
    stage = {"stage_type": "assessment", "assessment_slug": before["assessment"]["slug"]}
    slug = pipeline(api, stage, MANUAL)
    if many:
        rows = {"candidates": [{"email": before["email"]}]}
        [row] = states.post(api, f"/pipelines/{slug}/enroll/bulk/", rows)["enrolled"]
        id = row["enrollment_id"]
    else:
        id = enroll(api, slug, before["email"])["id"]
    assert (shown(api, id)["status"], shown(api, id)["invite_token"]) == ("active", second)
    sit(api, second)
    assert shown(api, id)["current_stage"] == 1


def test_a_retake_while_its_stage_is_being_reviewed_moves_the_enrollment_once(tenant: Tenant) -> None:
    api = tenant.live
    made = enroll(api, pipeline(api, measured(api, states.TEXT), MANUAL))
    first = made["invite_token"]
    sit(api, first, answer="It depends.")
    review = {"cases": [{"case_order": 1, "score": 10}]}

    def ask(number: int) -> int:
        if number % 2:
            return int(retake(api, first).status_code)
        return int(api.post(f"/invites/{first}/result/review/", review).status_code)

    with ThreadPoolExecutor(8) as pool:
        codes = list(pool.map(ask, range(40)))
    assert set(codes) <= {200, 201, 400}
    assert codes.count(201) == 1
    now = shown(api, made["id"])
    assert now["status"] == "active"
    assert [one["kind"] for one in now["history"]].count("advanced") == now["current_stage"] <= 1
