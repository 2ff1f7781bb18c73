"""What is done with applications: every status by every action, and what each move brings along."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import select

import store
from store.outbox import OutboxItem
from tests.api import Api, Tenant, address
from tests.api import tenant as make_tenant
from tests.pipelines import MANUAL, archive, enroll, measured, pipeline
from tests.probes import refusal

STATUSES = ("submitted", "knockout_failed", "on_hold", "withdrawn", "advanced", "rejected", "hired")
# status -> action -> where it leads; what is not here is refused.
TABLE: dict[str, dict[str, str]] = {
    "submitted": {"advance": "advanced", "reject": "rejected", "hold": "on_hold", "withdraw": "withdrawn"},
    "knockout_failed": {"advance": "advanced", "reject": "rejected", "hold": "on_hold", "withdraw": "withdrawn"},
    "on_hold": {
        "advance": "advanced", "reject": "rejected", "hold": "on_hold", "unhold": "submitted",
        "withdraw": "withdrawn",
    },
    "withdrawn": {"hold": "on_hold"},
    "advanced": {"reject": "rejected", "hold": "on_hold", "withdraw": "withdrawn", "hire": "hired"},
    "rejected": {"reject": "rejected", "hold": "on_hold"},
    "hired": {"hold": "on_hold"},
}  # fmt: skip
ACTIONS = ("advance", "reject", "hold", "unhold", "withdraw", "hire")
EVENTS = {
    "advance": "application.advanced", "reject": "application.rejected", "hold": "application.held",
    "unhold": "application.unheld", "withdraw": "application.withdrawn", "hire": "application.hired",
}  # fmt: skip
WAYS = {"knockout_failed": [], "submitted": [], "on_hold": ["hold"], "withdrawn": ["withdraw"], "advanced": ["advance"],
        "rejected": ["reject"], "hired": ["advance", "hire"]}  # fmt: skip
STATEMENTS = {action: {"advance": "advanced", "reject": "rejected", "hold": "held", "unhold": "unheld",
                       "withdraw": "withdrawn", "hire": "hired"}[action] for action in ACTIONS}  # fmt: skip


def act(api: Api, id: str, action: str, **body: Any) -> Any:
    return api.post(f"/applications/{id}/{action}/", *([body] if body else []))


def seen(api: Api, id: str) -> dict[str, Any]:
    return {name: one for name, one in api.get(f"/applications/{id}/").json().items() if name != "meta"}


def arrange(api: Api, status: str, **settings: Any) -> dict[str, Any]:
    """An application in a status, reached as the contract has it."""
    job = api.job(published=True, **settings)["slug"]
    if status == "knockout_failed":
        api.post(f"/jobs/{job}/fields/", {"key": "fit", "label": "Fit?", "field_type": "boolean"})
        rules = {"rules": [{"field_key": "fit", "operator": "truthy"}]}
        api.put(f"/jobs/{job}/knockout-rules/replace/", rules)
    made = api.application(job)
    for action in WAYS[status]:
        assert act(api, made["id"], action).status_code == 200
    found = seen(api, made["id"])
    assert found["status"] == status
    return found


def told(api: Api) -> list[dict[str, Any]]:
    return list(api.get("/events/", params={"page_size": 100}).json()["results"])


def mails(template: str, to: str) -> list[dict[str, Any]]:
    with store.transaction() as session:
        found = session.scalars(select(OutboxItem).where(OutboxItem.job == "mail").order_by(OutboxItem.id))
        return [
            one.arguments
            for one in found
            if one.arguments.get("template") == template and one.arguments.get("to") == to
        ]


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("status", STATUSES)
def test_an_application_moves_by_the_table(tenant: Tenant, status: str, action: str) -> None:
    before = arrange(tenant.live, status)
    events = told(tenant.live)
    answer = act(tenant.live, before["id"], action)
    new = told(tenant.live)[len(events) :]
    target = TABLE[status].get(action)
    if target is None:
        assert refusal(answer, 400, "VALIDATION_ERROR")["details"]["status"] == status
        assert (seen(tenant.live, before["id"]), new) == (before, [])
        return
    assert (answer.status_code, answer.json()["status"]) == (200, target)
    assert seen(tenant.live, before["id"]) == answer.json()
    if status == target:  # again: nothing new
        assert (answer.json(), new) == (before, [])
        return
    last = answer.json()["events"][-1]
    assert (last["type"], last["from_status"], last["to_status"]) == (STATEMENTS[action], status, target)
    assert last["actor"] == "public_api"
    assert [one["type"] for one in new] == [EVENTS[action]]
    assert all(one["data"]["status"] == target for one in new)


@pytest.mark.parametrize("status", [one for one in STATUSES if one != "on_hold"])
def test_a_hold_remembers_where_from(tenant: Tenant, status: str) -> None:
    made = arrange(tenant.live, status)
    assert act(tenant.live, made["id"], "hold").json()["status"] == "on_hold"
    assert act(tenant.live, made["id"], "hold").json()["status"] == "on_hold"
    assert act(tenant.live, made["id"], "unhold").json()["status"] == status
    refusal(act(tenant.live, made["id"], "unhold"), 400, "VALIDATION_ERROR")


@pytest.mark.parametrize("status", STATUSES)
def test_only_who_withdrew_may_apply_again(tenant: Tenant, status: str) -> None:
    made = arrange(tenant.live, status)
    person = {"job_id": made["job_id"], "email": made["email"].upper(), "full_name": "Ada"}
    again = tenant.live.post("/applications/create/", person)
    assert again.status_code == (201 if status == "withdrawn" else 200)
    assert (again.json()["id"] == made["id"]) == (status != "withdrawn")
    if status != "withdrawn":
        assert again.json() == made


@pytest.mark.parametrize("action", ["advance", "reject", "withdraw", "hire"])
@pytest.mark.parametrize("status", [one for one in STATUSES if one != "on_hold"])
def test_a_hold_opens_no_way_that_was_closed(tenant: Tenant, status: str, action: str) -> None:
    made = arrange(tenant.live, status)
    before = act(tenant.live, made["id"], "hold").json()
    answer = act(tenant.live, made["id"], action)
    target = TABLE[status].get(action)
    if target in (None, status):
        assert refusal(answer, 400, "VALIDATION_ERROR")["details"]["status"] == "on_hold"
        assert seen(tenant.live, made["id"]) == before
        assert act(tenant.live, made["id"], "unhold").json()["status"] == status
    else:
        assert (answer.status_code, answer.json()["status"]) == (200, target)


@pytest.mark.parametrize("action", ["advance", "reject", "hold", "withdraw"])
def test_a_move_made_by_many_at_once_is_made_once(tenant: Tenant, action: str) -> None:
    made = arrange(tenant.live, "submitted")
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: act(tenant.live, made["id"], action).status_code, range(6)))
    again = 200 if action in ("reject", "hold") else 400
    assert sorted(answers) == sorted([200] + [again] * 5)
    assert [one["type"] for one in told(tenant.live)].count(EVENTS[action]) == 1


# --- Advancing


def test_advancing_invites_to_the_linked_assessment(tenant: Tenant) -> None:
    assessment = tenant.live.assessment()
    made = arrange(tenant.live, "submitted", assessment_id=assessment["id"])
    advanced = act(tenant.live, made["id"], "advance").json()
    [invitation] = tenant.live.get("/invites/").json()["results"]
    assert (invitation["email"], invitation["name"], invitation["role"]) == (
        made["email"], "Ada Lovelace", "Senior backend engineer",
    )  # fmt: skip
    assert advanced["invitation_id"] is not None
    assert advanced["events"][-1]["details"] == {"invitation_id": advanced["invitation_id"]}
    assert [one["type"] for one in told(tenant.live)][-2:] == ["invitation.created", "application.advanced"]
    [mail] = mails("invitation", made["email"])
    assert mail["invite_url"] == invitation["invite_url"]
    assert tenant.live.get("/org/").json()["invites_used"] == 1
    tenant.live.delete(f"/invites/{invitation['invite_token']}/")
    assert seen(tenant.live, made["id"])["invitation_id"] is None


def test_advancing_mails_only_when_asked_to(tenant: Tenant) -> None:
    made = arrange(tenant.live, "submitted", assessment_id=tenant.live.assessment()["id"])
    act(tenant.live, made["id"], "advance", send_email=False)
    assert mails("invitation", made["email"]) == []


def test_who_was_invited_before_is_not_invited_again(tenant: Tenant) -> None:
    assessment = tenant.live.assessment()
    made = arrange(tenant.live, "submitted", assessment_id=assessment["id"])
    tenant.live.invitation(assessment["slug"], made["email"])
    assert act(tenant.live, made["id"], "advance").json()["invitation_id"]
    assert len(tenant.live.get("/invites/").json()["results"]) == 1
    assert tenant.live.get("/org/").json()["invites_used"] == 1


def test_without_an_active_assessment_nothing_advances(tenant: Tenant) -> None:
    assessment = tenant.live.assessment(active=False)
    made = arrange(tenant.live, "submitted", assessment_id=assessment["id"])
    refusal(act(tenant.live, made["id"], "advance"), 400, "ASSESSMENT_NOT_ACTIVE")
    assert seen(tenant.live, made["id"]) == made


def test_without_an_invitation_left_nothing_advances(http: Any) -> None:
    owner = make_tenant(http, "starter")
    assessment = owner.live.assessment()
    candidates = [{"email": f"c{number}@example.com"} for number in range(500)]
    owner.live.post(f"/assessments/{assessment['slug']}/invites/bulk/", {"candidates": candidates})
    made = arrange(owner.live, "submitted", assessment_id=assessment["id"])
    details = refusal(act(owner.live, made["id"], "advance"), 403, "INVITE_QUOTA_EXCEEDED")["details"]
    assert (details["limit"], details["used"]) == (500, 500)
    assert seen(owner.live, made["id"]) == made
    in_test = arrange(owner.test, "submitted", assessment_id=owner.test.assessment()["id"])
    assert act(owner.test, in_test["id"], "advance").status_code == 200


# --- Advancing into a pipeline


def test_advancing_enrolls_in_the_linked_pipeline(tenant: Tenant) -> None:
    stage, email = measured(tenant.live), address()
    slug = pipeline(tenant.live, stage, MANUAL)
    job = tenant.live.job(published=True, pipeline_slug=slug, assessment_slug=stage["assessment_slug"])[
        "slug"
    ]
    made = tenant.live.application(job, email)
    advanced = act(tenant.live, made["id"], "advance").json()
    [enrollment] = tenant.live.get(f"/pipelines/{slug}/enrollments/").json()["results"]
    assert (enrollment["email"], enrollment["candidate_name"]) == (email, "Ada Lovelace")
    assert advanced["enrollment_id"] == enrollment["id"]
    assert advanced["events"][-1]["details"] == {
        "enrollment_id": enrollment["id"], "invitation_id": advanced["invitation_id"],
    }  # fmt: skip
    [invitation] = tenant.live.get("/invites/").json()["results"]
    assert invitation["invite_token"] == enrollment["invite_token"]
    assert [one["type"] for one in told(tenant.live)][-3:] == [
        "pipeline.enrolled", "invitation.created", "application.advanced",
    ]  # fmt: skip
    assert len(mails("invitation", email)) == 1


def test_who_is_in_the_pipeline_already_is_linked(tenant: Tenant) -> None:
    slug = pipeline(tenant.live, MANUAL)
    before = enroll(tenant.live, slug, "ada@example.com")
    job = tenant.live.job(published=True, pipeline_slug=slug)["slug"]
    made = tenant.live.application(job, "ADA@example.com")
    advanced = act(tenant.live, made["id"], "advance").json()
    assert (advanced["enrollment_id"], advanced["invitation_id"]) == (before["id"], None)
    assert len(tenant.live.get(f"/pipelines/{slug}/enrollments/").json()["results"]) == 1


def test_an_enrollment_mails_only_when_the_advance_is_asked_to(tenant: Tenant) -> None:
    slug = pipeline(tenant.live, MANUAL, measured(tenant.live))
    made = tenant.live.application(tenant.live.job(published=True, pipeline_slug=slug)["slug"])
    advanced = act(tenant.live, made["id"], "advance", send_email=False).json()
    tenant.live.post(f"/pipelines/enrollments/{advanced['enrollment_id']}/advance/")
    assert mails("invitation", made["email"]) == []


def test_into_an_archived_pipeline_nothing_advances(tenant: Tenant) -> None:
    slug = pipeline(tenant.live, MANUAL)
    made = tenant.live.application(tenant.live.job(published=True, pipeline_slug=slug)["slug"])
    archive(tenant.live, slug)
    refused = refusal(act(tenant.live, made["id"], "advance"), 400, "VALIDATION_ERROR")
    assert refused["details"]["status"] == "archived"
    assert seen(tenant.live, made["id"]) == made


# --- Rejecting


def test_a_rejection_keeps_its_reason(tenant: Tenant) -> None:
    made = arrange(tenant.live, "submitted")
    rejected = act(tenant.live, made["id"], "reject", reason="Too little SQL.").json()
    assert rejected["reject_reason"] == "Too little SQL."
    [event] = [one for one in told(tenant.live) if one["type"] == "application.rejected"]
    assert event["data"]["reject_reason"] == "Too little SQL."
    again = act(tenant.live, made["id"], "reject", reason="Another").json()
    assert again == rejected
    refusal(act(tenant.live, made["id"], "reject", reason="x" * 2001), 400)


@pytest.mark.parametrize(("visibility", "count"), [("immediate", 1), ("delayed", 0), ("hidden", 0)])
def test_a_rejection_is_mailed_at_once_only_where_the_job_says_so(
    tenant: Tenant, visibility: str, count: int
) -> None:
    made = arrange(tenant.live, "submitted", rejection_visibility=visibility)
    act(tenant.live, made["id"], "reject", reason="internal")
    found = mails("rejection", made["email"])
    assert len(found) == count
    assert all("internal" not in str(one) and one["livemode"] for one in found)
