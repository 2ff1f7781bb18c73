"""The funnel: every stage by a journey that leads to it, over the days that are asked for, and whose it is."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import text
from starlette.testclient import TestClient

import store
from rules.clock import now
from tests import interviews as rooms
from tests.api import Api, Tenant, address
from tests.api import tenant as make_tenant
from tests.handlers.test_application_moves import act
from tests.operations.states import LETTER, TEXT, candidate, graded, screened
from tests.pipelines import INTERVIEW, MANUAL, enroll, measured, pipeline, sit
from tests.pipelines import act as act_on_enrollment
from tests.probes import refusal

STAGES = ("applied", "passed_knockouts", "screened", "advanced", "assessed", "passed_assessment", "interviewed",
          "offered", "accepted", "hired")  # fmt: skip


def funnel(api: Api, **query: str) -> dict[str, Any]:
    answer = api.get("/insights/funnel/", params=query)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def counts(api: Api, **query: str) -> dict[str, int]:
    """How many reached each stage; stages that nobody reached are left out."""
    stages = funnel(api, **query)["stages"]
    assert tuple(one["stage"] for one in stages) == STAGES
    return {one["stage"]: one["count"] for one in stages if one["count"]}


def stage(api: Api, name: str) -> dict[str, Any]:
    [found] = [one for one in funnel(api)["stages"] if one["stage"] == name]
    return found


def aged(table: str, column: str, id: str, hours: int) -> None:
    with store.transaction() as session:
        session.execute(
            text(f"UPDATE {table} SET {column} = {column} - make_interval(hours => :hours) WHERE id = :id"),
            {"hours": hours, "id": id},
        )


def linked(api: Api, **settings: Any) -> str:
    """An open job that leads to an assessment or a pipeline."""
    return str(api.job(published=True, **settings)["slug"])


def advanced(api: Api, job: str, email: str | None = None) -> dict[str, Any]:
    made = api.application(job, email)
    answer = act(api, made["id"], "advance")
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def token_of(api: Api, email: str) -> str:
    [found] = api.get("/invites/", params={"email": email}).json()["results"]
    return str(found["invite_token"])


def offered(api: Api, application_id: str) -> str:
    made = api.post("/offers/", {"application_id": application_id, **LETTER}).json()
    sent = api.post(f"/offers/{made['id']}/send/")
    assert sent.status_code == 200, sent.text
    return str(sent.json()["respond_url"].rpartition("/")[2])


def test_a_funnel_of_nobody_is_zeros(tenant: Tenant) -> None:
    found = funnel(tenant.live)
    assert [(one["stage"], one["count"]) for one in found["stages"]] == [(name, 0) for name in STAGES]
    assert {one["conversion_from_previous"] for one in found["stages"]} == {None}
    assert {one["median_hours_from_previous"] for one in found["stages"]} == {None}
    assert (found["by_source"], found["by_origin"], found["by_job"]) == ([], [], [])


def test_who_applies_for_a_job_without_rules_passes_its_knockouts(tenant: Tenant) -> None:
    tenant.live.application(linked(tenant.live))
    assert counts(tenant.live) == {"applied": 1, "passed_knockouts": 1}


@pytest.mark.parametrize("on_fail", ["reject", "hold"])
def test_whom_a_rule_stops_passes_no_knockouts_even_once_advanced(tenant: Tenant, on_fail: str) -> None:
    job = linked(tenant.live)
    tenant.live.post(f"/jobs/{job}/fields/", {"key": "fit", "label": "Fit?", "field_type": "boolean"})
    rules = {"rules": [{"field_key": "fit", "operator": "truthy", "on_fail": on_fail}]}
    tenant.live.put(f"/jobs/{job}/knockout-rules/replace/", rules)
    made = advanced(tenant.live, job)
    assert counts(tenant.live) == {"applied": 1, "advanced": 1}
    tenant.live.application(job, answers={"fit": True})
    assert counts(tenant.live) == {"applied": 2, "passed_knockouts": 1, "advanced": 1}
    screened(made["id"])
    assert counts(tenant.live)["screened"] == 1
    assert stage(tenant.live, "screened")["conversion_from_previous"] == "0.0000"  # of those that passed


@pytest.mark.parametrize("after", [(), ("reject",), ("withdraw",), ("hold",), ("hold", "unhold")])
def test_a_stage_counts_whoever_ever_reached_it(tenant: Tenant, after: tuple[str, ...]) -> None:
    made = advanced(tenant.live, linked(tenant.live))
    screened(made["id"])
    for action in after:
        assert act(tenant.live, made["id"], action).status_code == 200
    assert counts(tenant.live) == {"applied": 1, "passed_knockouts": 1, "screened": 1, "advanced": 1}


@pytest.mark.parametrize(("answer", "passes"), [(42, True), (41, False)])
def test_who_is_advanced_to_an_assessment_is_assessed_once_it_is_completed(
    tenant: Tenant, answer: int, passes: bool
) -> None:
    slug = measured(tenant.live)["assessment_slug"]
    made = advanced(tenant.live, linked(tenant.live, assessment_slug=slug))
    reached = {"applied": 1, "passed_knockouts": 1, "advanced": 1}
    assert counts(tenant.live) == reached
    sit(tenant.live, token_of(tenant.live, made["email"]), answer)
    graded(tenant.live)
    assert counts(tenant.live) == reached | {"assessed": 1} | ({"passed_assessment": 1} if passes else {})


def test_what_waits_for_review_is_not_passed(tenant: Tenant) -> None:
    slug = measured(tenant.live, TEXT)["assessment_slug"]
    made = advanced(tenant.live, linked(tenant.live, assessment_slug=slug))
    sit(tenant.live, token_of(tenant.live, made["email"]), "It depends.")
    graded(tenant.live)
    assert counts(tenant.live) == {"applied": 1, "passed_knockouts": 1, "advanced": 1, "assessed": 1}


def test_an_assessment_of_no_application_counts_nowhere(tenant: Tenant) -> None:
    slug = measured(tenant.live)["assessment_slug"]
    made = advanced(tenant.live, linked(tenant.live))
    sit(tenant.live, tenant.live.invitation(slug, made["email"])["invite_token"])
    graded(tenant.live)
    assert counts(tenant.live) == {"applied": 1, "passed_knockouts": 1, "advanced": 1}


def test_a_retake_takes_nothing_back(tenant: Tenant) -> None:
    slug = measured(tenant.live)["assessment_slug"]
    made = advanced(tenant.live, linked(tenant.live, assessment_slug=slug))
    token = token_of(tenant.live, made["email"])
    sit(tenant.live, token, 41)
    graded(tenant.live)
    again = tenant.live.post(f"/invites/{token}/retake/", {})
    assert again.status_code == 201
    reached = {"applied": 1, "passed_knockouts": 1, "advanced": 1, "assessed": 1}
    assert counts(tenant.live) == reached
    sit(tenant.live, again.json()["invite_token"], 42)
    graded(tenant.live)
    assert counts(tenant.live) == reached | {"passed_assessment": 1}


def test_every_assessment_of_a_pipeline_that_was_come_to_counts(tenant: Tenant) -> None:
    first, last = measured(tenant.live), measured(tenant.live)
    slug = pipeline(tenant.live, MANUAL, first, MANUAL, last)
    made = advanced(tenant.live, linked(tenant.live, pipeline_slug=slug))
    sit(tenant.live, tenant.live.invitation(last["assessment_slug"], made["email"])["invite_token"])
    graded(tenant.live)
    reached = {"applied": 1, "passed_knockouts": 1, "advanced": 1}
    assert counts(tenant.live) == reached  # its stage has not been come to
    assert act_on_enrollment(tenant.live, made["enrollment_id"], "advance").status_code == 200
    assert counts(tenant.live) == reached
    for _ in range(2):  # past an assessment that was not taken, to the one that was
        assert act_on_enrollment(tenant.live, made["enrollment_id"], "advance").status_code == 200
    assert counts(tenant.live) == reached | {"assessed": 1, "passed_assessment": 1}


def test_who_was_enrolled_before_brings_the_results_along(tenant: Tenant) -> None:
    stage_of = measured(tenant.live)
    slug, email = pipeline(tenant.live, stage_of, MANUAL), address()
    enroll(tenant.live, slug, email)
    sit(tenant.live, token_of(tenant.live, email))
    graded(tenant.live)
    advanced(tenant.live, linked(tenant.live, pipeline_slug=slug), email)
    assert counts(tenant.live)["passed_assessment"] == 1
    assert stage(tenant.live, "assessed")["median_hours_from_previous"] == "0.00"  # it was there before


def test_an_interview_of_the_pipeline_counts_once_it_has_ended(tenant: Tenant) -> None:
    made = advanced(tenant.live, linked(tenant.live, pipeline_slug=pipeline(tenant.live, INTERVIEW)))
    room = rooms.make(tenant.live, candidate_email=made["email"])  # of no enrollment
    rooms.moved(room["id"], "wait", "start", "end")
    reached = {"applied": 1, "passed_knockouts": 1, "advanced": 1}
    assert counts(tenant.live) == reached
    [mine] = tenant.live.get("/interviews/", params={"status": "prepared"}).json()["results"]
    rooms.moved(mine["id"], "wait", "start", "end")
    assert counts(tenant.live) == reached | {"interviewed": 1}


def test_an_offer_counts_once_it_is_sent_and_accepting_it_hires(tenant: Tenant) -> None:
    made = tenant.live.application(linked(tenant.live))
    draft = tenant.live.post("/offers/", {"application_id": made["id"], **LETTER}).json()
    reached = {"applied": 1, "passed_knockouts": 1}
    assert counts(tenant.live) == reached
    tenant.live.post(f"/offers/{draft['id']}/send/")
    assert counts(tenant.live) == reached | {"offered": 1}
    tenant.live.post(f"/offers/{draft['id']}/withdraw/")
    assert counts(tenant.live) == reached | {"offered": 1}
    candidate(tenant.live).post(f"/offers/{offered(tenant.live, made['id'])}/decline/", {"reason": ""})
    assert counts(tenant.live) == reached | {"offered": 1}
    candidate(tenant.live).post(f"/offers/{offered(tenant.live, made['id'])}/accept/")
    assert counts(tenant.live) == reached | {"offered": 1, "accepted": 1, "hired": 1}


def test_part_and_time_are_of_those_who_reached_the_stage_before(tenant: Tenant) -> None:
    job = linked(tenant.live)
    made = [tenant.live.application(job) for _ in range(3)]
    for one, hours in zip(made, (5, 2, 3), strict=True):
        aged("applications", "submitted_at", one["id"], hours)
        screened(one["id"])
    assert stage(tenant.live, "screened") == {
        "stage": "screened",
        "count": 3,
        "conversion_from_previous": "1.0000",
        "median_hours_from_previous": "3.00",
    }
    act(tenant.live, made[0]["id"], "advance")
    assert stage(tenant.live, "advanced")["conversion_from_previous"] == "0.3333"
    act(tenant.live, made[0]["id"], "hire")
    last = stage(tenant.live, "hired")  # without an offer
    assert (last["count"], last["conversion_from_previous"], last["median_hours_from_previous"]) == (
        1,
        None,
        None,
    )


def test_figures_stand_by_source_and_by_job(tenant: Tenant) -> None:
    first, second = (tenant.live.job(published=True, title=title) for title in ("First", "Second"))
    for job, source in ((first, "manual"), (second, "manual"), (second, "public_api")):
        made = tenant.live.application(job["slug"], source=source)
    act(tenant.live, made["id"], "advance")
    act(tenant.live, made["id"], "hire")
    found = funnel(tenant.live)
    assert found["by_source"] == [
        {"source": "manual", "applied": 2, "hired": 0},
        {"source": "public_api", "applied": 1, "hired": 1},
    ]
    assert found["by_job"] == [
        {"job_id": second["id"], "job_slug": second["slug"], "title": "Second", "applied": 2, "hired": 1},
        {"job_id": first["id"], "job_slug": first["slug"], "title": "First", "applied": 1, "hired": 0},
    ]
    assert counts(tenant.live, job_id=first["id"]) == {"applied": 1, "passed_knockouts": 1}
    assert len(funnel(tenant.live, job_id=first["id"])["by_job"]) == 1


def test_only_twenty_jobs_stand_there(http: TestClient) -> None:
    tenant = make_tenant(http, "enterprise")
    for _ in range(21):
        tenant.live.application(linked(tenant.live))
    found = funnel(tenant.live)
    assert (len(found["by_job"]), found["stages"][0]["count"]) == (20, 21)


def test_a_squads_funnel_is_that_of_its_jobs(tenant: Tenant) -> None:
    squad = tenant.live.squad()["id"]
    for settings in ({"team_id": squad}, {"team_id": squad}, {}):
        tenant.live.application(linked(tenant.live, **settings))
    assert counts(tenant.live, team_id=squad)["applied"] == 2
    assert counts(tenant.live, team_id="null")["applied"] == 1


def test_what_is_not_there_has_zeros(tenant: Tenant, other: Tenant) -> None:
    theirs = other.live.job(published=True)
    other.live.application(theirs["slug"])
    tenant.live.application(linked(tenant.live))
    for query in (
        {"job_id": str(uuid4())},
        {"job_id": theirs["id"]},
        {"team_id": str(uuid4())},
        {"team_id": other.live.squad()["id"]},
    ):
        assert counts(tenant.live, **query) == {}
        assert funnel(tenant.live, **query)["by_job"] == []


def test_an_organisation_and_a_mode_see_their_own(tenant: Tenant, other: Tenant) -> None:
    for api in (tenant.live, tenant.live, tenant.test, other.live):
        advanced(api, linked(api))
    assert [counts(api)["advanced"] for api in (tenant.live, tenant.test, other.live)] == [2, 1, 1]
    assert counts(other.test) == {}


def test_erasing_and_merging_people_change_no_figure(tenant: Tenant) -> None:
    slug = measured(tenant.live)["assessment_slug"]
    job = linked(tenant.live, pipeline_slug=pipeline(tenant.live, measured(tenant.live), MANUAL))
    straight = advanced(tenant.live, linked(tenant.live, assessment_slug=slug))
    people = [straight, advanced(tenant.live, job), advanced(tenant.live, job)]
    for one in people:
        sit(tenant.live, token_of(tenant.live, one["email"]))
    graded(tenant.live)
    candidate(tenant.live).post(f"/offers/{offered(tenant.live, straight['id'])}/accept/")
    before = funnel(tenant.live)
    ids = [one["candidate_id"] for one in people]
    assert tenant.live.post(f"/candidates/{ids[1]}/merge/", {"source_id": ids[2]}).status_code == 200
    for id in ids[:2]:
        assert tenant.live.post(f"/candidates/{id}/erase/", {}).status_code == 200
    assert funnel(tenant.live) | {"generated_at": None} == before | {"generated_at": None}
    assert counts(tenant.live)["passed_assessment"] == 3


def test_both_ends_of_the_days_are_in(tenant: Tenant) -> None:
    made = tenant.live.application(linked(tenant.live))
    for moment, day in (
        (datetime(2026, 3, 1, 0, 0, tzinfo=UTC), "2026-03-01"),
        (datetime(2026, 3, 1, 23, 59, 59, 999_999, tzinfo=UTC), "2026-03-01"),
        (datetime(2026, 3, 2, 0, 0, tzinfo=UTC), "2026-03-02"),
    ):
        with store.transaction() as session:
            values = {"moment": moment, "id": made["id"]}
            session.execute(text("UPDATE applications SET submitted_at = :moment WHERE id = :id"), values)
        seen = [
            one
            for one in ("2026-02-28", "2026-03-01", "2026-03-02", "2026-03-03")
            if counts(tenant.live, date_from=one, date_to=one)
        ]
        assert seen == [day]
        assert counts(tenant.live, date_from="0001-01-01", date_to="9999-12-31")


def test_ninety_days_are_looked_at_where_nothing_is_said(tenant: Tenant) -> None:
    made = tenant.live.application(linked(tenant.live))
    today = datetime.combine(now().date(), datetime.min.time(), UTC)
    for days, found in ((89, True), (90, False)):
        with store.transaction() as session:
            values = {"moment": today - timedelta(days=days), "id": made["id"]}
            session.execute(text("UPDATE applications SET submitted_at = :moment WHERE id = :id"), values)
        assert bool(counts(tenant.live)) is found


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ({"date_from": "2026-02-02", "date_to": "2026-02-01"}, "date_from"),
        ({"date_from": "2999-01-01"}, "date_from"),
        ({"date_from": "yesterday"}, "date_from"),
        ({"date_to": "2026-02-30"}, "date_to"),
        ({"job_id": "engineer"}, "job_id"),
        ({"team_id": "platform"}, "team_id"),
        ({"days": "3"}, "days"),
    ],
)
def test_a_question_that_is_none_is_refused_in_its_place(
    tenant: Tenant, query: dict[str, str], pointer: str
) -> None:
    found = refusal(tenant.live.get("/insights/funnel/", params=query), 400, "VALIDATION_ERROR")
    assert pointer in found["details"]["fields"][0]["pointer"]


def test_the_funnel_is_of_the_growth_plan(http: TestClient) -> None:
    small = make_tenant(http, "starter")
    found = refusal(small.live.get("/insights/funnel/"), 403, "PLAN_REQUIRED")
    assert found["details"]["required_plan"] == "growth"
    refusal(small.live.get("/insights/funnel/", params={"date_to": "tomorrow"}), 400, "VALIDATION_ERROR")
