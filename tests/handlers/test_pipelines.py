"""Pipelines through the API: made, changed, put away, and linked to jobs."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import update
from starlette.testclient import TestClient

import store
from rules.clock import iso, now
from store.advancing.pipelines import Pipeline
from store.hiring.jobs import Job
from tests.api import Api, Tenant
from tests.api import tenant as make_tenant
from tests.probes import faults, refusal
from tests.waiting import while_changing

REVIEW = {"stage_type": "manual_review", "label": "The team decides"}
INTERVIEW = {"stage_type": "interview", "label": "Meet the founders"}


def shown(api: Api, key: str) -> dict[str, Any]:
    return {name: one for name, one in api.get(f"/pipelines/{key}/").json().items() if name != "meta"}


def listed(api: Api, **query: Any) -> list[str]:
    return [one["slug"] for one in api.get("/pipelines/", params=query).json()["results"]]


def change(api: Api, key: str, **body: Any) -> Any:
    return api.patch(f"/pipelines/{key}/", body)


def coding(assessment: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"stage_type": "assessment", "label": "Coding", "assessment_slug": assessment["slug"], **more}


def labels(pipeline: dict[str, Any]) -> list[str]:
    return [one["label"] for one in pipeline["stages"]]


def enrolled(pipeline: dict[str, Any]) -> None:
    """What the first enrollment leaves behind."""
    locked = {"stages_locked": True, "updated_at": Pipeline.updated_at}
    with store.transaction() as session:
        session.execute(update(Pipeline).where(Pipeline.id == UUID(pipeline["id"])).values(locked))


# --- Creating


def test_a_pipeline_is_shown_with_its_stages(tenant: Tenant) -> None:
    assessment, squad = tenant.live.assessment(), tenant.live.squad()
    made = tenant.live.pipeline(
        coding(assessment, pass_score_override=75), INTERVIEW, REVIEW, description="Why.", team_id=squad["id"]
    )
    first, second, third = made["stages"]
    assert {name: one for name, one in first.items() if name != "id"} == {
        "stage_type": "assessment", "label": "Coding", "assessment_slug": assessment["slug"],
        "assessment_id": assessment["id"], "interview_template_id": None, "pass_score_override": "75.00", "order": 0,
    }  # fmt: skip
    nothing = dict.fromkeys(
        ("assessment_slug", "assessment_id", "interview_template_id", "pass_score_override")
    )
    assert second.items() >= {**INTERVIEW, **nothing, "order": 1}.items()
    assert third.items() >= {**REVIEW, **nothing, "order": 2}.items()
    assert made.items() >= {
        "title": "Engineering", "slug": "engineering", "description": "Why.", "stage_count": 3,
        "team_id": squad["id"], "team_slug": squad["slug"], "livemode": True, "archived": False,
    }.items()  # fmt: skip
    assert shown(tenant.live, made["slug"]) == shown(tenant.live, made["id"]) == made
    [item] = tenant.live.get("/pipelines/").json()["results"]
    assert item == {name: made[name] for name in made if name not in ("archived", "stages")}


def test_stages_stand_in_their_order(tenant: Tenant) -> None:
    def made(*orders: int | None) -> list[str]:
        stages = [
            {**REVIEW, "label": str(place)} | ({} if order is None else {"order": order})
            for place, order in enumerate(orders)
        ]
        pipeline = tenant.live.pipeline(*stages)
        assert [one["order"] for one in pipeline["stages"]] == list(range(len(orders)))
        return labels(pipeline)

    assert made(None, None, None) == ["0", "1", "2"]
    assert made(30, 10, 20) == ["1", "2", "0"]
    assert made(5, None) == ["1", "0"]
    assert made(1, None) == ["0", "1"]
    answer = tenant.live.post(
        "/pipelines/create/", {"title": "X", "stages": [{**REVIEW, "order": 7}, {**REVIEW, "order": 7}]}
    )
    assert faults(answer) == {"/stages/1/order": "Another stage has this order."}


@pytest.mark.parametrize(("body", "pointer"), [
    ({"title": ""}, "/title"), ({"title": " "}, "/title"), ({"title": "x" * 201}, "/title"),
    ({"description": "x" * 10_001}, "/description"), ({"stages": []}, "/stages"),
    ({"stages": [REVIEW] * 21}, "/stages"), ({"stages": [{"label": "X"}]}, "/stages/0/stage_type"),
    ({"stages": [{"stage_type": "phone_call"}]}, "/stages/0/stage_type"),
    ({"stages": [{**REVIEW, "label": "x" * 201}]}, "/stages/0/label"),
    ({"stages": [REVIEW, {"stage_type": "assessment"}]}, "/stages/1/assessment_slug"),
    ({"stages": [{"stage_type": "assessment", "assessment_slug": None}]}, "/stages/0/assessment_slug"),
    ({"stages": [{"stage_type": "assessment", "assessment_slug": "nothing"}]}, "/stages/0/assessment_slug"),
    ({"stages": [{"stage_type": "assessment", "assessment_id": str(uuid4())}]}, "/stages/0/assessment_id"),
    ({"stages": [{**REVIEW, "assessment_slug": "backend"}]}, "/stages/0/assessment_slug"),
    ({"stages": [{**INTERVIEW, "assessment_id": str(uuid4())}]}, "/stages/0/assessment_id"),
    ({"stages": [{**INTERVIEW, "pass_score_override": 50}]}, "/stages/0/pass_score_override"),
    ({"stages": [{**REVIEW, "pass_score_override": "100.01"}]}, "/stages/0/pass_score_override"),
    ({"stages": [{**INTERVIEW, "interview_template_id": str(uuid4())}]}, "/stages/0/interview_template_id"),
    ({"stages": [{**REVIEW, "order": -1}]}, "/stages/0/order"),
    ({"stages": [{**REVIEW, "id": str(uuid4())}]}, "/stages/0/id"),
    ({"team_id": str(uuid4())}, "/team_id"), ({"slug": "mine"}, "/slug"), ({"stage_count": 1}, "/stage_count"),
])  # fmt: skip
def test_a_bad_pipeline_is_refused_in_its_place(tenant: Tenant, body: dict, pointer: str) -> None:
    answer = tenant.live.post("/pipelines/create/", {"title": "Fine", "stages": [REVIEW], **body})
    assert list(faults(answer)) == [pointer]
    assert listed(tenant.live) == []
    made = tenant.live.pipeline()
    assert list(faults(change(tenant.live, made["slug"], **body))) == [pointer]
    assert shown(tenant.live, made["slug"]) == made


def test_every_fault_of_the_stages_is_told_at_once(tenant: Tenant) -> None:
    stages = [{"stage_type": "assessment"}, {**INTERVIEW, "interview_template_id": str(uuid4())}]
    answer = tenant.live.post("/pipelines/create/", {"title": "X", "stages": stages})
    assert faults(answer) == {
        "/stages/0/assessment_slug": "An assessment stage names its assessment.",
        "/stages/1/interview_template_id": "There is no such interview template.",
    }


def test_a_stage_names_its_assessment_by_slug_id_or_both(tenant: Tenant) -> None:
    one, two = tenant.live.assessment(), tenant.live.assessment(active=False)
    ways: list[dict[str, Any]] = [
        {"assessment_slug": one["slug"]}, {"assessment_slug": one["id"]}, {"assessment_id": one["id"]},
        {"assessment_slug": one["slug"], "assessment_id": one["id"]},
    ]  # fmt: skip
    for way in ways:
        [stage] = tenant.live.pipeline({"stage_type": "assessment", **way})["stages"]
        assert (stage["assessment_slug"], stage["assessment_id"]) == (one["slug"], one["id"])
    [draft] = tenant.live.pipeline(coding(two))["stages"]
    assert draft["assessment_slug"] == two["slug"]
    both = {"stage_type": "assessment", "assessment_slug": two["slug"], "assessment_id": one["id"]}
    answer = tenant.live.post("/pipelines/create/", {"title": "X", "stages": [both]})
    assert "/stages/0/assessment_slug" in faults(answer)


def test_an_assessment_of_others_or_an_archived_one_is_refused(tenant: Tenant, other: Tenant) -> None:
    mine, archived = tenant.live.assessment(), tenant.live.assessment()
    tenant.live.patch(f"/assessments/{archived['slug']}/update/", {"status": "archived"})
    answer = tenant.live.post("/pipelines/create/", {"title": "X", "stages": [coding(archived)]})
    assert faults(answer) == {"/stages/0/assessment_slug": "The assessment is archived."}
    for stranger in (other.live, tenant.test):
        for way in ({"assessment_slug": mine["slug"]}, {"assessment_id": mine["id"]}):
            answer = stranger.post(
                "/pipelines/create/", {"title": "X", "stages": [{"stage_type": "assessment", **way}]}
            )
            assert list(faults(answer).values()) == ["There is no such assessment."]


def test_slugs_differ_within_one_organisation_and_mode_and_hide_no_path(
    tenant: Tenant, other: Tenant
) -> None:
    assert [tenant.live.pipeline()["slug"] for _ in range(2)] == ["engineering", "engineering-2"]
    assert tenant.test.pipeline()["slug"] == other.live.pipeline()["slug"] == "engineering"
    assert tenant.live.pipeline(title="Create")["slug"] == "create-2"
    assert tenant.live.pipeline(title="Enrollments")["slug"] == "enrollments-2"
    with ThreadPoolExecutor(6) as pool:
        assert len(set(pool.map(lambda _: tenant.live.pipeline()["slug"], range(6)))) == 6


def test_creating_needs_the_growth_plan_and_reading_none(http: TestClient) -> None:
    starter = make_tenant(http, "starter")
    answer = starter.live.post("/pipelines/create/", {"title": "X", "stages": [REVIEW]})
    details = refusal(answer, 403, "PLAN_REQUIRED")["details"]
    assert (details["required_plan"], details["feature"]) == ("growth", "pipelines")
    assert listed(starter.live) == []
    for query in ({"team_id": "null"}, {"team_slug": "null"}, {"team_slug": "data"}):
        refusal(starter.live.get("/pipelines/", params=query), 403, "PLAN_REQUIRED")


# --- Changing


def test_only_what_is_sent_changes(tenant: Tenant) -> None:
    made = tenant.live.pipeline(INTERVIEW, REVIEW, description="Why.")
    assert change(tenant.live, made["slug"]).json() == made
    changed = change(tenant.live, made["slug"], title="Sales").json()
    assert changed == {**made, "title": "Sales", "updated_at": changed["updated_at"]}
    assert changed["updated_at"] > made["updated_at"]
    assert shown(tenant.live, made["id"]) == changed


def test_what_was_read_can_be_sent_back_and_changes_nothing(tenant: Tenant) -> None:
    assessment = tenant.live.assessment()
    made = tenant.live.pipeline(coding(assessment, pass_score_override="66.5"), INTERVIEW, REVIEW)
    tenant.live.patch(f"/assessments/{assessment['slug']}/update/", {"status": "archived"})
    writable = ("title", "description", "team_id", "archived", "stages")
    for _ in range(2):
        assert change(tenant.live, made["slug"], **{name: made[name] for name in writable}).json() == made
        enrolled(made)


def test_stages_that_stay_keep_their_ids(tenant: Tenant) -> None:
    made = tenant.live.pipeline(INTERVIEW, REVIEW)
    interview, review = made["stages"]
    changed = change(tenant.live, made["slug"], stages=[interview, {**review, "label": "We decide"}]).json()
    assert changed["stages"] == [interview, {**review, "label": "We decide"}]
    assert changed["updated_at"] > made["updated_at"]
    turned = [
        {name: one for name, one in stage.items() if name != "order"} for stage in changed["stages"][::-1]
    ]
    moved = change(tenant.live, made["slug"], stages=turned).json()
    assert [one["id"] for one in moved["stages"]] == [review["id"], interview["id"]]
    assert labels(moved) == ["We decide", INTERVIEW["label"]]
    fewer = change(tenant.live, made["slug"], stages=[REVIEW]).json()
    assert (fewer["stage_count"], labels(fewer)) == (1, [REVIEW["label"]])
    assert fewer["stages"][0]["id"] not in {review["id"], interview["id"]}
    assert shown(tenant.live, made["slug"]) == fewer
    twice = change(tenant.live, made["slug"], stages=fewer["stages"] * 2)
    assert faults(twice)["/stages/1/id"] == "Another stage has this id."
    stolen = change(tenant.live, tenant.live.pipeline()["slug"], stages=fewer["stages"])
    assert faults(stolen) == {"/stages/0/id": "The pipeline has no such stage."}


def test_an_assessment_that_was_archived_since_stays_where_it_is_and_comes_nowhere_new(
    tenant: Tenant,
) -> None:
    assessment = tenant.live.assessment()
    made = tenant.live.pipeline(coding(assessment), REVIEW)
    tenant.live.patch(f"/assessments/{assessment['slug']}/update/", {"status": "archived"})
    renamed = [{**made["stages"][0], "label": "Programming"}, made["stages"][1]]
    assert labels(change(tenant.live, made["slug"], stages=renamed).json()) == [
        "Programming",
        REVIEW["label"],
    ]
    more = change(tenant.live, made["slug"], stages=[*renamed, coding(assessment)])
    assert faults(more) == {"/stages/2/assessment_slug": "The assessment is archived."}


def test_once_somebody_is_enrolled_stages_only_follow(tenant: Tenant) -> None:
    assessment = tenant.live.assessment()
    made = tenant.live.pipeline(coding(assessment, pass_score_override=70), REVIEW)
    enrolled(made)
    first, second = made["stages"]
    wrong: list[list[dict[str, Any]]] = [
        [first], [second], [REVIEW, first, second], [{**second, "order": 0}, {**first, "order": 1}],
        [{**first, "label": "Other"}, second], [{**first, "pass_score_override": 71}, second],
        [{**first, "pass_score_override": None}, second], [coding(tenant.live.assessment()), second],
        [first, INTERVIEW], [first, INTERVIEW, second],
    ]  # fmt: skip
    for stages in wrong:
        refusal(change(tenant.live, made["slug"], stages=stages), 409, "STAGES_LOCKED")
    assert shown(tenant.live, made["slug"]) == made
    longer = change(
        tenant.live, made["slug"], stages=[coding(assessment, pass_score_override="70.0"), REVIEW, INTERVIEW]
    ).json()
    assert longer["stages"][:2] == made["stages"]
    assert (longer["stage_count"], labels(longer)[2]) == (3, INTERVIEW["label"])
    assert change(tenant.live, made["slug"], title="Still mine").status_code == 200


def test_an_archived_pipeline_is_in_no_list_and_comes_back(tenant: Tenant) -> None:
    kept, made = tenant.live.pipeline(), tenant.live.pipeline()
    away = change(tenant.live, made["slug"], archived=True).json()
    assert away["archived"] is True
    assert listed(tenant.live) == listed(tenant.live, team_id="null") == [kept["slug"]]
    assert shown(tenant.live, made["slug"]) == away
    assert change(tenant.live, made["slug"], archived=True).json() == away
    back = change(tenant.live, made["slug"], archived=False).json()
    assert back == {**made, "updated_at": back["updated_at"]}
    assert listed(tenant.live) == [made["slug"], kept["slug"]]
    assert listed(tenant.live, updated_after=away["updated_at"]) == [made["slug"]]


def test_changes_at_once_leave_one_of_them_whole(tenant: Tenant) -> None:
    slug = tenant.live.pipeline()["slug"]

    def replace(turn: int) -> int:
        stages = [{**REVIEW, "label": f"{turn}-{place}"} for place in range(3 + turn % 2)]
        return int(change(tenant.live, slug, stages=stages).status_code)

    with ThreadPoolExecutor(6) as pool:
        assert set(pool.map(replace, range(12))) == {200}
    left = shown(tenant.live, slug)
    [turn] = {label.partition("-")[0] for label in labels(left)}
    assert labels(left) == [f"{turn}-{place}" for place in range(left["stage_count"])]


# --- Jobs with a pipeline


def test_a_pipeline_is_linked_to_a_job_by_id_or_slug(tenant: Tenant, other: Tenant) -> None:
    one, two = tenant.live.pipeline(), tenant.live.pipeline()
    by_id, by_slug = tenant.live.job(pipeline_id=one["id"]), tenant.live.job(pipeline_slug=one["slug"])
    for job in (by_id, by_slug, *tenant.live.get("/jobs/").json()["results"]):
        assert (job["pipeline_id"], job["pipeline_slug"]) == (one["id"], one["slug"])
    at = f"/jobs/{by_id['slug']}/update/"
    both = {"pipeline_id": one["id"], "pipeline_slug": two["slug"]}
    assert faults(tenant.live.patch(at, both)) == {
        "/pipeline_slug": "Names another pipeline than `pipeline_id` does."
    }
    moved = tenant.live.patch(at, {"pipeline_slug": two["slug"], "pipeline_id": two["id"]}).json()
    assert (moved["pipeline_id"], moved["pipeline_slug"]) == (two["id"], two["slug"])
    assert tenant.live.patch(at, {"title": "Other"}).json()["pipeline_slug"] == two["slug"]
    assert tenant.live.patch(at, {"pipeline_slug": None}).json()["pipeline_id"] is None
    for stranger in (other.live, tenant.test):
        for way in ({"pipeline_id": one["id"]}, {"pipeline_slug": two["slug"]}):
            answer = stranger.post("/jobs/create/", {"title": "X", **way})
            assert list(faults(answer).values()) == ["There is no such pipeline."]


def test_a_job_with_an_archived_pipeline_is_not_published(tenant: Tenant) -> None:
    pipeline = tenant.live.pipeline()
    job = tenant.live.job(pipeline_slug=pipeline["slug"])
    change(tenant.live, pipeline["slug"], archived=True)
    assert faults(tenant.live.post(f"/jobs/{job['slug']}/publish/")) == {
        "/pipeline_id": "The linked pipeline is archived."
    }
    assert tenant.live.get(f"/jobs/{job['slug']}/").json()["status"] == "draft"
    change(tenant.live, pipeline["slug"], archived=False)
    opened = tenant.live.post(f"/jobs/{job['slug']}/publish/").json()
    assert (opened["status"], opened["pipeline_slug"]) == ("open", pipeline["slug"])
    change(tenant.live, pipeline["slug"], archived=True)
    assert tenant.live.get(f"/jobs/{job['slug']}/").json()["pipeline_id"] == pipeline["id"]


def test_a_job_that_got_an_archived_pipeline_a_moment_ago_is_not_published(tenant: Tenant) -> None:
    job, pipeline = tenant.live.job(), tenant.live.pipeline()
    change(tenant.live, pipeline["slug"], archived=True)
    linked = update(Job).where(Job.id == UUID(job["id"])).values(pipeline_id=UUID(pipeline["id"]))
    answer = while_changing(linked, lambda: tenant.live.post(f"/jobs/{job['slug']}/publish/"))
    assert list(faults(answer)) == ["/pipeline_id"]


def test_lists_keep_to_what_changed_lately(tenant: Tenant) -> None:
    tenant.live.pipeline()
    assert listed(tenant.live, updated_after=iso(now() + timedelta(hours=1))) == []
    assert "/query/team_id" in faults(tenant.live.get("/pipelines/", params={"team_id": "x"}))
