"""Enrollments: entered, moved by outcomes and by hand, held, and told of."""

import functools
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import select, text, update

import store
from rules.clock import now
from store.advancing.enrollments import Enrollment
from store.assessing.invitations import Invitation
from store.outbox import OutboxItem
from tests.api import Api, Tenant, address
from tests.operations import states
from tests.pipelines import (
    INTERVIEW,
    MANUAL,
    act,
    archive,
    due,
    enroll,
    measured,
    pipeline,
    shown,
    sit,
    told,
    use,
)
from tests.probes import refusal
from tests.waiting import while_held


def kinds(enrollment: dict[str, Any]) -> list[tuple[str, Any, Any, str]]:
    return [(one["kind"], one["from_stage"], one["to_stage"], one["actor"]) for one in enrollment["history"]]


def names(api: Api) -> list[str]:
    return [one["type"] for one in told(api)]


def mails(to: str) -> list[dict[str, Any]]:
    with store.transaction() as session:
        found = session.scalars(
            select(OutboxItem.arguments).where(OutboxItem.job == "mail").order_by(OutboxItem.id)
        )
        return [one for one in found if one.get("to") == to]


def parked(id: str) -> Any:
    with store.transaction() as session:
        return session.get_one(Enrollment, id).retry_at


# --- Enrolling


def test_enrolling_invites_to_the_first_assessment_and_is_told_of(tenant: Tenant) -> None:
    stage = measured(tenant.live)
    slug = pipeline(tenant.live, stage, MANUAL)
    email = address()
    made = tenant.live.post(f"/pipelines/{slug}/enroll/", {"email": f" {email} ", "name": " Ada Lovelace "})
    assert made.status_code == 201
    found = made.json()
    assert found["message"] == "Candidate enrolled."
    assert found["enrollment_id"] == found["id"]
    assert (found["email"], found["candidate_name"], found["status"]) == (email, "Ada Lovelace", "active")
    assert found["pipeline"] == {
        "slug": slug,
        "title": tenant.live.get(f"/pipelines/{slug}/").json()["title"],
    }
    assert (found["current_stage"], found["waiting_reason"], found["completed_at"]) == (0, None, None)
    assert (found["rejected_at_stage"], found["reject_reason"]) == (None, "")
    assert kinds(found) == [("enrolled", None, 0, "public_api")]
    [invitation] = tenant.live.get("/invites/").json()["results"]
    assert invitation["invite_token"] == found["invite_token"]
    assert (invitation["email"], invitation["name"]) == (email, "Ada Lovelace")
    days = {"created": invitation["created_at"][:10], "expires": invitation["expires_at"][:10]}
    assert days["expires"] == (now() + timedelta(days=7)).date().isoformat()
    enrolled, invited = told(tenant.live)
    assert (enrolled["type"], invited["type"]) == ("pipeline.enrolled", "invitation.created")
    assert enrolled["data"] == {
        "enrollment_id": found["id"], "pipeline_id": enrolled["data"]["pipeline_id"], "pipeline_slug": slug,
        "email": email, "candidate_name": "Ada Lovelace", "status": "active", "current_stage": 0,
        "rejected_at_stage": None, "reject_reason": "",
    }  # fmt: skip
    assert invited["data"]["enrollment_id"] == invited["data"]["pipeline_enrollment_id"] == found["id"]
    [mail] = mails(email)
    assert mail["invite_url"] == invitation["invite_url"]
    assert tenant.live.get("/org/").json()["invites_used"] == 1
    assert shown(tenant.live, found["id"]) == {
        name: one for name, one in found.items() if name not in ("message", "enrollment_id")
    }


def test_who_is_enrolled_is_found_again_in_any_case_and_for_ever(tenant: Tenant) -> None:
    slug = pipeline(tenant.live, MANUAL)
    made = enroll(tenant.live, slug, "ada@example.com")
    again = tenant.live.post(f"/pipelines/{slug}/enroll/", {"email": "ADA@example.com", "name": "Other"})
    assert (again.status_code, again.json()["id"]) == (200, made["id"])
    assert again.json()["candidate_name"] == "Ada"
    act(tenant.live, made["id"], "reject")
    after = tenant.live.post(f"/pipelines/{slug}/enroll/", {"email": "ada@example.com"})
    assert (after.status_code, after.json()["status"]) == (200, "rejected")
    assert names(tenant.live) == ["pipeline.enrolled", "pipeline.rejected"]


def test_mails_go_out_unless_nobody_wants_them(tenant: Tenant) -> None:
    slug = pipeline(tenant.live, MANUAL, measured(tenant.live))
    made = enroll(tenant.live, slug, send_email=False)
    act(tenant.live, made["id"], "advance")
    assert mails(made["email"]) == []


@pytest.mark.parametrize(
    ("body", "code"),
    [({"email": "  "}, "MISSING_EMAIL"), ({"email": "nobody"}, "VALIDATION_ERROR"), ({}, "VALIDATION_ERROR")],
)
def test_who_has_no_address_is_not_enrolled(tenant: Tenant, body: dict[str, Any], code: str) -> None:
    refusal(tenant.live.post(f"/pipelines/{pipeline(tenant.live, MANUAL)}/enroll/", body), 400, code)


def test_an_archived_pipeline_takes_nobody(tenant: Tenant) -> None:
    slug = pipeline(tenant.live, MANUAL)
    made = enroll(tenant.live, slug)
    archive(tenant.live, slug)
    for path, body in (
        ("enroll", {"email": made["email"]}),
        ("enroll/bulk", {"candidates": [{"email": "ada@example.com"}]}),
    ):
        refused = refusal(tenant.live.post(f"/pipelines/{slug}/{path}/", body), 400, "VALIDATION_ERROR")
        assert refused["details"]["status"] == "archived"
    assert act(tenant.live, made["id"], "advance").json()["status"] == "passed"  # who is in it goes on


def test_without_an_active_assessment_nobody_begins(tenant: Tenant) -> None:
    stage = measured(tenant.live)
    slug = pipeline(tenant.live, stage)
    tenant.live.patch(f"/assessments/{stage['assessment_slug']}/update/", {"status": "archived"})
    refusal(
        tenant.live.post(f"/pipelines/{slug}/enroll/", {"email": address()}), 400, "ASSESSMENT_NOT_ACTIVE"
    )
    rows = {"candidates": [{"email": address()}]}
    refusal(tenant.live.post(f"/pipelines/{slug}/enroll/bulk/", rows), 400, "ASSESSMENT_NOT_ACTIVE")
    assert tenant.live.get(f"/pipelines/{slug}/enrollments/").json()["results"] == []
    assert names(tenant.live) == []


def test_without_an_invitation_left_nobody_begins(tenant: Tenant) -> None:
    slug = pipeline(tenant.live, measured(tenant.live))
    use(tenant, 1000)
    refused = refusal(
        tenant.live.post(f"/pipelines/{slug}/enroll/", {"email": address()}), 403, "INVITE_QUOTA_EXCEEDED"
    )
    assert (refused["details"]["limit"], refused["details"]["used"]) == (1000, 1000)
    assert tenant.live.get(f"/pipelines/{slug}/enrollments/").json()["results"] == []
    assert names(tenant.live) == []
    in_test = pipeline(tenant.test, measured(tenant.test))
    assert enroll(tenant.test, in_test)["invite_token"]


def test_who_enrolls_twice_at_once_is_enrolled_and_invited_once(tenant: Tenant) -> None:
    for api in (tenant.live, tenant.test):
        slug, email = pipeline(api, measured(api)), address()
        with ThreadPoolExecutor(4) as pool:
            made = list(
                pool.map(lambda _: api.post(f"/pipelines/{slug}/enroll/", {"email": email}), range(4))  # noqa: B023
            )
        assert sorted(one.status_code for one in made) == [200, 200, 200, 201]
        assert len({one.json()["id"] for one in made}) == 1
        assert names(api) == ["pipeline.enrolled", "invitation.created"]
    assert tenant.live.get("/org/").json()["invites_used"] == 1


# --- Outcomes


def test_passing_every_stage_passes_the_pipeline(tenant: Tenant) -> None:
    slug = pipeline(tenant.live, measured(tenant.live), measured(tenant.live))
    made = enroll(tenant.live, slug)
    sit(tenant.live, made["invite_token"])
    second = shown(tenant.live, made["id"])
    assert (second["status"], second["current_stage"]) == ("active", 1)
    assert second["invite_token"] not in (None, made["invite_token"])
    sit(tenant.live, second["invite_token"])
    done = shown(tenant.live, made["id"])
    assert (done["status"], done["current_stage"]) == ("passed", 1)
    assert done["completed_at"] is not None
    assert kinds(done)[1:] == [("advanced", 0, 1, "system"), ("completed", 1, None, "system")]
    assert names(tenant.live) == [
        "pipeline.enrolled", "invitation.created", "pipeline.advanced", "invitation.created", "pipeline.completed",
    ]  # fmt: skip
    [advanced] = told(tenant.live, "pipeline.advanced")
    steps = ("from_stage", "to_stage", "next_stage_type", "current_stage", "status")
    assert [advanced["data"][name] for name in steps] == [0, 1, "assessment", 1, "active"]
    [completed] = told(tenant.live, "pipeline.completed")
    assert (completed["data"]["status"], completed["data"]["current_stage"]) == ("passed", 1)
    assert tenant.live.get("/org/").json()["invites_used"] == 2


def test_failing_a_stage_rejects(tenant: Tenant) -> None:
    made = enroll(tenant.live, pipeline(tenant.live, MANUAL, measured(tenant.live), MANUAL))
    token = act(tenant.live, made["id"], "advance").json()["invite_token"]
    sit(tenant.live, token, 41)
    found = shown(tenant.live, made["id"])
    assert (found["status"], found["current_stage"], found["rejected_at_stage"]) == ("rejected", 1, 1)
    assert found["reject_reason"] == "The score is below what the stage asks for."
    [event] = told(tenant.live, "pipeline.rejected")
    assert (event["data"]["rejected_at_stage"], event["data"]["reject_reason"]) == (1, found["reject_reason"])
    assert (found["history"][-1]["kind"], found["history"][-1]["reason"]) == (
        "rejected",
        found["reject_reason"],
    )


def test_a_reviewers_word_is_an_outcome_and_a_programs_is_too(tenant: Tenant) -> None:
    slug = pipeline(
        tenant.live, measured(tenant.live, states.TEXT), measured(tenant.live, states.CODE), MANUAL
    )
    made = enroll(tenant.live, slug)
    sit(tenant.live, made["invite_token"], "Writes are slower.")
    assert shown(tenant.live, made["id"])["current_stage"] == 0
    review = {"cases": [{"case_order": 1, "score": "10.00"}]}
    tenant.live.post(f"/invites/{made['invite_token']}/result/review/", review)
    second = shown(tenant.live, made["id"])
    assert second["current_stage"] == 1
    sit(tenant.live, second["invite_token"], "print(input())")
    assert shown(tenant.live, made["id"])["current_stage"] == 1
    states.graded(tenant.live)
    assert shown(tenant.live, made["id"])["current_stage"] == 2


@pytest.mark.parametrize(
    ("override", "status"),
    [("66.66", "passed"), ("66.67", "rejected"), ("70.00", "rejected"), ("50.00", "passed")],
)
def test_a_stage_may_ask_for_a_score_of_its_own_which_the_exact_figure_has_to_reach(
    tenant: Tenant, override: str, status: str
) -> None:
    """Two of three points: 66.666… % are shown as 66.67, and are less."""
    cases = [{**states.NUMBER, "points": 1}] * 3
    made = enroll(tenant.live, pipeline(tenant.live, measured(tenant.live, *cases, override=override)))
    side, place = states.candidate(tenant.live), f"/invites/{made['invite_token']}"
    for number, case in enumerate(states.post(side, f"{place}/start/")["cases"]):
        side.put(f"{place}/answers/{case['assessment_case_id']}/", {"answer": 42 if number else 41})
    states.post(side, f"{place}/submit/")
    assert shown(tenant.live, made["id"])["status"] == status


def test_without_a_verdict_a_person_decides(tenant: Tenant) -> None:
    empty = tenant.live.assessment()
    stage = {"stage_type": "assessment", "assessment_id": empty["id"], "pass_score_override": "0"}
    made = enroll(tenant.live, pipeline(tenant.live, stage))
    side = states.candidate(tenant.live)
    for step in ("start", "submit"):
        states.post(side, f"/invites/{made['invite_token']}/{step}/")
    assert shown(tenant.live, made["id"])["status"] == "active"
    assert act(tenant.live, made["id"], "advance").json()["status"] == "passed"


def test_an_outcome_counts_for_the_stage_that_waits_for_it_alone(tenant: Tenant) -> None:
    made = enroll(tenant.live, pipeline(tenant.live, measured(tenant.live), MANUAL, MANUAL))
    act(tenant.live, made["id"], "advance")
    sit(tenant.live, made["invite_token"], 41)
    found = shown(tenant.live, made["id"])
    assert (found["status"], found["current_stage"], found["invite_token"]) == ("active", 1, None)


def test_two_pipelines_with_one_assessment_wait_for_one_invitation(tenant: Tenant) -> None:
    stage, email = measured(tenant.live), address()
    first = enroll(tenant.live, pipeline(tenant.live, stage, MANUAL), email)
    second = enroll(tenant.live, pipeline(tenant.live, stage), email)
    assert first["invite_token"] == second["invite_token"]
    assert tenant.live.get("/org/").json()["invites_used"] == 1
    sit(tenant.live, first["invite_token"])
    assert shown(tenant.live, first["id"])["current_stage"] == 1
    assert shown(tenant.live, second["id"])["status"] == "passed"
    moved = [
        one["data"]["enrollment_id"] for one in told(tenant.live, "pipeline.advanced", "pipeline.completed")
    ]
    assert moved == [first["id"], second["id"]]


def test_what_is_settled_counts_at_once_through_several_stages(tenant: Tenant) -> None:
    first, second, email = measured(tenant.live), measured(tenant.live), address()
    for stage in (first, second):
        sit(tenant.live, tenant.live.invitation(stage["assessment_slug"], email)["invite_token"])
    made = enroll(tenant.live, pipeline(tenant.live, first, second, INTERVIEW), email)
    assert (made["current_stage"], made["waiting_reason"]) == (2, None)
    assert tenant.live.get("/org/").json()["invites_used"] == 2
    assert [one for one in names(tenant.live) if one.startswith("pipeline.")] == [
        "pipeline.enrolled", "pipeline.advanced", "pipeline.advanced",
    ]  # fmt: skip
    assert [one["actor"] for one in made["history"]] == ["public_api", "system", "system"]


def test_who_failed_before_is_rejected_at_once(tenant: Tenant) -> None:
    stage, email = measured(tenant.live), address()
    sit(tenant.live, tenant.live.invitation(stage["assessment_slug"], email)["invite_token"], 1)
    made = enroll(tenant.live, pipeline(tenant.live, stage), email)
    assert (made["status"], made["rejected_at_stage"]) == ("rejected", 0)


@pytest.mark.parametrize("noticed", [True, False])
def test_an_invitation_that_expired_is_opened_again(tenant: Tenant, noticed: bool) -> None:
    stage, email = measured(tenant.live), address()
    token = tenant.live.invitation(stage["assessment_slug"], email)["invite_token"]
    with store.transaction() as session:
        gone = {"expires_at": now() - timedelta(days=1), **({"status": "expired"} if noticed else {})}
        session.execute(update(Invitation).where(Invitation.token == token).values(**gone))
    made = enroll(tenant.live, pipeline(tenant.live, stage), email)
    assert made["invite_token"] == token
    found = tenant.live.get(f"/invites/{token}/").json()
    assert (found["status"], found["expires_at"][:10]) == (
        "pending",
        (now() + timedelta(days=7)).date().isoformat(),
    )
    assert len(mails(email)) == 1
    assert tenant.live.get("/org/").json()["invites_used"] == 1
    sit(tenant.live, token)
    assert shown(tenant.live, made["id"])["status"] == "passed"


def test_an_outcome_that_was_settled_while_its_invitation_was_linked_is_found(tenant: Tenant) -> None:
    stage, email = measured(tenant.live), address()
    token = tenant.live.invitation(stage["assessment_slug"], email)["invite_token"]
    made = enroll(tenant.live, pipeline(tenant.live, stage), email)
    assert parked(made["id"]) is not None
    with store.transaction() as session:
        session.execute(update(Enrollment).where(Enrollment.id == made["id"]).values(invitation_id=None))
    sit(tenant.live, token)  # whoever settles it sees nobody who waits
    with store.transaction() as session:
        mine = select(Invitation.id).where(Invitation.token == token).scalar_subquery()
        session.execute(update(Enrollment).where(Enrollment.id == made["id"]).values(invitation_id=mine))
    due(made["id"])
    assert shown(tenant.live, made["id"])["status"] == "passed"


def test_cancelling_the_stages_invitation_leaves_the_stage_to_people(tenant: Tenant) -> None:
    made = enroll(tenant.live, pipeline(tenant.live, measured(tenant.live), MANUAL))
    assert tenant.live.delete(f"/invites/{made['invite_token']}/").status_code == 204
    found = shown(tenant.live, made["id"])
    assert (found["status"], found["invite_token"]) == ("active", None)
    assert kinds(found)[-1] == ("invitation_cancelled", 0, 0, "public_api")
    assert act(tenant.live, made["id"], "advance").json()["current_stage"] == 1


# --- By hand

STATUSES = {"active": [], "on_hold": ["hold"], "passed": ["advance"], "rejected": ["reject"]}
LEADS = {
    "active": {"advance": "passed", "reject": "rejected", "hold": "on_hold"},
    "on_hold": {"reject": "rejected", "hold": "on_hold", "unhold": "active"},
    "passed": {},
    "rejected": {},
}
EVENTS = {
    "advance": "pipeline.completed", "reject": "pipeline.rejected", "hold": "pipeline.held",
    "unhold": "pipeline.unheld",
}  # fmt: skip


@pytest.mark.parametrize("action", EVENTS)
@pytest.mark.parametrize("status", STATUSES)
def test_an_enrollment_moves_by_the_table(tenant: Tenant, status: str, action: str) -> None:
    made = enroll(tenant.live, pipeline(tenant.live, MANUAL))
    for step in STATUSES[status]:
        act(tenant.live, made["id"], step)
    before, events = shown(tenant.live, made["id"]), names(tenant.live)
    answer = act(tenant.live, made["id"], action)
    target = LEADS[status].get(action)
    after, new = shown(tenant.live, made["id"]), names(tenant.live)[len(events) :]
    if target is None:
        assert refusal(answer, 400, "VALIDATION_ERROR")["details"]["status"] == status
        assert (after, new) == (before, [])
    elif target == status:
        assert (answer.status_code, after, new) == (200, before, [])
    else:
        assert (answer.status_code, answer.json()) == (200, after)
        assert (after["status"], new) == (target, [EVENTS[action]])
        assert told(tenant.live)[-1]["data"]["status"] == target


def test_a_rejection_keeps_its_reason_and_its_stage(tenant: Tenant) -> None:
    made = enroll(tenant.live, pipeline(tenant.live, MANUAL, MANUAL))
    act(tenant.live, made["id"], "advance")
    found = act(tenant.live, made["id"], "reject", reason="Another was ahead.").json()
    assert (found["rejected_at_stage"], found["reject_reason"]) == (1, "Another was ahead.")
    assert kinds(found)[-1] == ("rejected", 1, None, "public_api")


def test_two_who_advance_at_once_advance_by_one_stage(tenant: Tenant, database_url: str) -> None:
    made = enroll(tenant.live, pipeline(tenant.live, MANUAL, MANUAL, measured(tenant.live), MANUAL))
    advance = functools.partial(act, tenant.live, made["id"], "advance")
    hold = "SELECT FROM enrollments WHERE id = %s FOR UPDATE"
    answers = while_held(database_url, hold, made["id"], [advance, advance])
    assert [(one.status_code, one.json()["current_stage"]) for one in answers] == [(200, 1), (200, 1)]
    assert names(tenant.live) == ["pipeline.enrolled", "pipeline.advanced"]


@pytest.mark.parametrize("mode", ["live", "test"])
def test_outcomes_and_hands_that_cross_fail_neither(tenant: Tenant, mode: str) -> None:
    """Whichever comes first, an enrollment is where the moves that were told of have brought it."""
    api: Api = getattr(tenant, mode)
    first, second = measured(api), measured(api)
    slugs = [pipeline(api, first, second, MANUAL), pipeline(api, first, MANUAL)]
    with ThreadPoolExecutor(5) as pool:
        for _ in range(5):
            email = address()
            one = enroll(api, slugs[0], email)
            asked = [
                pool.submit(sit, api, one["invite_token"]),
                pool.submit(api.post, f"/pipelines/{slugs[1]}/enroll/", {"email": email}),
                *(pool.submit(act, api, one["id"], action) for action in ("hold", "unhold", "advance")),
            ]
            answers = [each.result() for each in asked][1:]
            assert {each.status_code for each in answers} <= {200, 201, 400}
            act(api, one["id"], "unhold")
            due(answers[0].json()["id"])
            moves = [each for each in told(api, "pipeline.advanced") if each["data"]["email"] == email]
            found = [shown(api, id) for id in (one["id"], answers[0].json()["id"])]
            assert sum(each["current_stage"] for each in found) == len(moves)
            assert found[1]["current_stage"] == 1  # what it was linked to has passed
            assert found[0]["current_stage"] in (1, 2)


# --- On hold


@pytest.mark.parametrize(("answer", "status", "stage"), [(42, "active", 1), (41, "rejected", 0)])
def test_what_came_while_on_hold_is_caught_up(tenant: Tenant, answer: int, status: str, stage: int) -> None:
    made = enroll(tenant.live, pipeline(tenant.live, measured(tenant.live), MANUAL))
    act(tenant.live, made["id"], "hold")
    sit(tenant.live, made["invite_token"], answer)
    held = shown(tenant.live, made["id"])
    assert (held["status"], held["current_stage"]) == ("on_hold", 0)
    found = act(tenant.live, made["id"], "unhold").json()
    assert (found["status"], found["current_stage"]) == (status, stage)
    moved = "pipeline.advanced" if answer == 42 else "pipeline.rejected"
    assert names(tenant.live)[-2:] == ["pipeline.unheld", moved]
    unheld = told(tenant.live)[-2]["data"]
    assert (unheld["status"], unheld["current_stage"]) == (status, stage)
    assert [one["actor"] for one in found["history"][-2:]] == ["public_api", "system"]


def test_catching_up_may_pass_the_pipeline(tenant: Tenant) -> None:
    made = enroll(tenant.live, pipeline(tenant.live, measured(tenant.live)))
    act(tenant.live, made["id"], "hold")
    sit(tenant.live, made["invite_token"])
    assert act(tenant.live, made["id"], "unhold").json()["status"] == "passed"
    assert [one["data"]["status"] for one in told(tenant.live)[-2:]] == ["passed", "passed"]


def test_nothing_missed_leads_nowhere(tenant: Tenant) -> None:
    made = enroll(tenant.live, pipeline(tenant.live, measured(tenant.live)))
    act(tenant.live, made["id"], "hold")
    assert act(tenant.live, made["id"], "unhold").json()["status"] == "active"
    sit(tenant.live, made["invite_token"])
    assert shown(tenant.live, made["id"])["status"] == "passed"


# --- Waiting for the month


def test_a_later_stage_waits_for_the_months_invitations_and_goes_on(tenant: Tenant) -> None:
    made = enroll(tenant.live, pipeline(tenant.live, MANUAL, measured(tenant.live)))
    use(tenant, 1000)
    found = act(tenant.live, made["id"], "advance").json()
    assert (found["current_stage"], found["status"]) == (1, "active")
    assert (found["waiting_reason"], found["invite_token"]) == ("invite_quota", None)
    assert kinds(found)[-1] == ("waiting", 1, 1, "public_api")
    due(made["id"])
    assert shown(tenant.live, made["id"]) == found  # put off, and not told again
    assert now() < parked(made["id"]) <= now() + timedelta(hours=1)
    use(tenant, 999)
    due(made["id"])
    after = shown(tenant.live, made["id"])
    assert (after["waiting_reason"], after["status"]) == (None, "active")
    assert parked(made["id"]) is None
    assert len(mails(made["email"])) == 1
    sit(tenant.live, after["invite_token"])
    assert shown(tenant.live, made["id"])["status"] == "passed"


def test_what_is_on_hold_does_not_go_on_when_the_month_turns(tenant: Tenant) -> None:
    made = enroll(tenant.live, pipeline(tenant.live, MANUAL, measured(tenant.live)))
    use(tenant, 1000)
    act(tenant.live, made["id"], "advance")
    act(tenant.live, made["id"], "hold")
    use(tenant, 0)
    due(made["id"])
    assert shown(tenant.live, made["id"])["invite_token"] is None
    act(tenant.live, made["id"], "unhold")
    due(made["id"])
    assert shown(tenant.live, made["id"])["invite_token"] is not None


def test_a_later_stage_waits_for_its_assessment_too(tenant: Tenant) -> None:
    stage = measured(tenant.live)
    made = enroll(tenant.live, pipeline(tenant.live, MANUAL, stage))
    with store.transaction() as session:
        session.execute(
            text("UPDATE assessments SET status = 'draft' WHERE slug = :slug"),
            {"slug": stage["assessment_slug"]},
        )
    found = act(tenant.live, made["id"], "advance").json()
    assert (found["waiting_reason"], found["invite_token"], found["status"]) == (None, None, "active")
    assert found["history"][-1]["kind"] == "waiting"
    assert "not active" in found["history"][-1]["reason"]
    tenant.live.patch(f"/assessments/{stage['assessment_slug']}/update/", {"status": "active"})
    due(made["id"])
    assert shown(tenant.live, made["id"])["invite_token"] is not None


def test_who_waits_may_be_moved_by_hand(tenant: Tenant) -> None:
    made = enroll(tenant.live, pipeline(tenant.live, MANUAL, measured(tenant.live), MANUAL))
    use(tenant, 1000)
    act(tenant.live, made["id"], "advance")
    found = act(tenant.live, made["id"], "advance").json()
    assert (found["current_stage"], found["waiting_reason"]) == (2, None)
    assert parked(made["id"]) is None


# --- Many at once


def bulk(api: Api, slug: str, *emails: Any, **more: Any) -> Any:
    rows = [{"email": one, "name": "Ada"} if one is not ... else {"name": "Ada"} for one in emails]
    return api.post(f"/pipelines/{slug}/enroll/bulk/", {"candidates": rows, **more})


def test_many_are_enrolled_and_each_who_is_not_hears_why(tenant: Tenant) -> None:
    stage = measured(tenant.live)
    slug = pipeline(tenant.live, stage, MANUAL)
    before = enroll(tenant.live, slug, "before@example.com")
    invited = tenant.live.invitation(stage["assessment_slug"], "invited@example.com")["invite_token"]
    passed = tenant.live.invitation(stage["assessment_slug"], "passed@example.com")["invite_token"]
    sit(tenant.live, passed)
    answer = bulk(
        tenant.live, slug,
        "z@example.com", "BEFORE@example.com", "invited@example.com", "passed@example.com", "Z@example.com", "",
        "nobody", ..., "a@example.com",
    )  # fmt: skip
    assert answer.status_code == 201
    found = answer.json()
    assert [one["email"] for one in found["enrolled"]] == [
        "z@example.com", "invited@example.com", "passed@example.com", "a@example.com",
    ]  # fmt: skip
    assert found["skipped"] == [
        {"email": "Z@example.com", "reason": "already_enrolled"},
        {"email": "BEFORE@example.com", "reason": "already_enrolled"},
    ]
    assert [(one["email"], one["code"]) for one in found["errors"]] == [
        ("", "missing_email"), ("nobody", "invalid_email"), (None, "missing_email"),
    ]  # fmt: skip
    rows = {one["email"]: shown(tenant.live, one["enrollment_id"]) for one in found["enrolled"]}
    assert rows["invited@example.com"]["invite_token"] == invited
    assert rows["passed@example.com"]["current_stage"] == 1
    assert {one["current_stage"] for one in rows.values()} == {0, 1}
    assert kinds(rows["z@example.com"]) == [("enrolled", None, 0, "public_api")]
    assert tenant.live.get("/org/").json()["invites_used"] == 5
    assert len(mails("z@example.com")) == 1
    sit(tenant.live, rows["z@example.com"]["invite_token"])
    sit(tenant.live, invited)
    assert shown(tenant.live, rows["z@example.com"]["id"])["current_stage"] == 1
    assert shown(tenant.live, rows["invited@example.com"]["id"])["current_stage"] == 1
    assert shown(tenant.live, before["id"])["current_stage"] == 0
    types = [one["type"] for one in told(tenant.live, "pipeline.enrolled", "invitation.created")]
    assert (types.count("pipeline.enrolled"), types.count("invitation.created")) == (5, 5)


def test_the_months_last_invitations_go_to_the_first_rows(tenant: Tenant) -> None:
    slug = pipeline(tenant.live, measured(tenant.live))
    use(tenant, 998)
    emails = [f"{number}@example.com" for number in (3, 1, 2, 4)]
    found = bulk(tenant.live, slug, *emails).json()
    assert [one["email"] for one in found["enrolled"]] == emails[:2]
    assert [(one["email"], one["code"]) for one in found["errors"]] == [
        (one, "quota_exhausted") for one in emails[2:]
    ]
    assert tenant.live.get("/org/").json()["invites_used"] == 1000
    none = bulk(tenant.live, slug, "5@example.com").json()
    assert [one["code"] for one in none["errors"]] == ["quota_exhausted"]
    assert len(tenant.live.get(f"/pipelines/{slug}/enrollments/").json()["results"]) == 2


@pytest.mark.parametrize("stage", [MANUAL, INTERVIEW])
def test_many_may_begin_with_what_is_no_assessment(tenant: Tenant, stage: Any) -> None:
    slug = pipeline(tenant.live, stage)
    found = bulk(tenant.live, slug, "a@example.com", "b@example.com").json()
    for one in found["enrolled"]:
        assert shown(tenant.live, one["enrollment_id"])["waiting_reason"] is None
    assert tenant.live.get("/org/").json()["invites_used"] == 0


def test_many_that_cross_are_enrolled_once_each(tenant: Tenant) -> None:
    for api in (tenant.live, tenant.test):
        slug = pipeline(api, measured(api))
        emails = [f"{number:03}@example.com" for number in range(60)]
        with ThreadPoolExecutor(2) as pool:
            both = [pool.submit(bulk, api, slug, *emails), pool.submit(bulk, api, slug, *emails[::-1])]
            answers = [one.result() for one in both]
        assert [one.status_code for one in answers] == [201, 201]
        assert sum(len(one.json()["enrolled"]) for one in answers) == 60
        assert sum(len(one.json()["skipped"]) for one in answers) == 60
    assert tenant.live.get("/org/").json()["invites_used"] == 60


# --- Reading


def test_a_pipelines_enrollments_are_listed_newest_first_with_their_history(tenant: Tenant) -> None:
    slug = pipeline(tenant.live, MANUAL)
    made = [enroll(tenant.live, slug)["id"] for _ in range(3)]
    enroll(tenant.live, pipeline(tenant.live, MANUAL))
    act(tenant.live, made[1], "hold")
    found = tenant.live.get(f"/pipelines/{slug}/enrollments/").json()["results"]
    assert [one["id"] for one in found] == made[::-1]
    assert found == [shown(tenant.live, id) for id in made[::-1]]
    held = tenant.live.get(f"/pipelines/{slug}/enrollments/", params={"status": "on_hold"}).json()["results"]
    assert [one["id"] for one in held] == [made[1]]
    refusal(tenant.live.get("/pipelines/nowhere/enrollments/"), 404, "NOT_FOUND")


def test_a_history_shows_its_last_lines(tenant: Tenant) -> None:
    made = enroll(tenant.live, pipeline(tenant.live, MANUAL))
    with store.transaction() as session:
        session.execute(
            text("""
            INSERT INTO enrollment_events (id, created_at, enrollment_id, kind, actor, reason)
            SELECT gen_random_uuid(), now(), :id, 'held', 'public_api', '' FROM generate_series(1, 250)
            """),
            {"id": made["id"]},
        )
    assert len(shown(tenant.live, made["id"])["history"]) == 200


def test_notes_are_kept_newest_first(tenant: Tenant) -> None:
    made = enroll(tenant.live, pipeline(tenant.live, MANUAL))
    path = f"/pipelines/enrollments/{made['id']}/notes/"
    for body in ("First.", "Second."):
        answer = tenant.live.post(path, {"body": body})
        assert answer.status_code == 201
        assert (answer.json()["body"], answer.json()["author"]) == (body, "public_api")
    assert [one["body"] for one in tenant.live.get(path).json()["results"]] == ["Second.", "First."]
    refusal(tenant.live.post(path, {"body": " \n"}), 400, "VALIDATION_ERROR")
    refusal(tenant.live.get(f"/pipelines/enrollments/{uuid4()}/notes/"), 404, "NOT_FOUND")


def test_the_word_enrollments_is_no_pipeline(tenant: Tenant) -> None:
    refusal(tenant.live.get(f"/pipelines/enrollments/{uuid4()}/"), 404, "NOT_FOUND")
    refusal(tenant.live.get("/pipelines/enrollments/enrollments/"), 400, "VALIDATION_ERROR")
