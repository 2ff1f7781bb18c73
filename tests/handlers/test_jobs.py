"""Jobs through the API: made, changed, opened, closed."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from rules.clock import iso, now
from tests.api import Api, Tenant
from tests.api import tenant as make_tenant
from tests.probes import faults, refusal

DEFAULTS: dict[str, Any] = {
    "status": "draft", "livemode": True, "team": None, "position_types": [], "workplace_type": "unspecified",
    "location_text": "", "country_code": "", "region": "", "expires_at": None, "scheduled_publish_at": None,
    "cv_required": False, "auto_invite_assessment": False, "assessment_id": None, "assessment_slug": None,
    "pipeline_id": None, "pipeline_slug": None, "application_count": 0, "rejection_visibility": "delayed",
    "published_at": None, "closed_at": None, "sample_task": None, "description_html": "", "rejection_text": "",
    "cv_analysis_enabled": False, "screen_auto_advance_enabled": False,
    "screen_auto_advance_l3_min": None, "application_fields": [],
}  # fmt: skip
SETTINGS: dict[str, Any] = {
    "title": "Data engineer", "position_types": ["full_time", "contract"], "workplace_type": "hybrid",
    "location_text": "Berlin Mitte", "country_code": "DE", "region": "Berlin", "expires_at": "2099-01-01T00:00:00.000Z",
    "scheduled_publish_at": "2098-01-01T00:00:00.000Z", "cv_required": True, "auto_invite_assessment": True,
    "sample_task": "Model a shop.", "description_html": "<p>Hello</p>", "rejection_visibility": "hidden",
    "rejection_text": "Thank you, {{candidate_name}}.",
    "cv_analysis_enabled": True, "screen_auto_advance_enabled": True, "screen_auto_advance_l3_min": "72.50",
}  # fmt: skip


def seen(api: Api, key: str) -> dict[str, Any]:
    return {name: one for name, one in api.get(f"/jobs/{key}/").json().items() if name != "meta"}


def slugs(api: Api, **query: Any) -> list[str]:
    return [one["slug"] for one in api.get("/jobs/", params=query).json()["results"]]


def change(api: Api, key: str, **body: Any) -> Any:
    return api.patch(f"/jobs/{key}/update/", body)


def told(api: Api, type: str) -> list[dict[str, Any]]:
    return [one["data"] for one in api.get("/events/", params={"type": type}).json()["results"]]


# --- Creating


def test_a_title_is_enough_for_a_draft(tenant: Tenant) -> None:
    made = tenant.live.job()
    assert made.items() >= DEFAULTS.items()
    assert made["slug"] == "senior-backend-engineer"
    assert seen(tenant.live, made["slug"]) == seen(tenant.live, made["id"]) == made
    assert told(tenant.live, "job.created") == [
        {
            "job_id": made["id"], "job_slug": made["slug"], "title": made["title"], "status": "draft", "team_id": None,
            "published_at": None, "closed_at": None,
        }
    ]  # fmt: skip


def test_every_setting_is_kept_and_can_be_changed(tenant: Tenant) -> None:
    made = tenant.live.job(**SETTINGS)
    assert made.items() >= SETTINGS.items()
    plain = tenant.live.job()
    changed = change(tenant.live, plain["slug"], **SETTINGS).json()
    assert changed.items() >= SETTINGS.items()
    assert changed["slug"] == plain["slug"]
    assert seen(tenant.live, plain["slug"]) == changed
    empty = change(
        tenant.live, plain["slug"], expires_at=None, sample_task=None, screen_auto_advance_l3_min=None
    ).json()
    assert (empty["expires_at"], empty["sample_task"], empty["screen_auto_advance_l3_min"]) == (
        None,
        None,
        None,
    )


@pytest.mark.parametrize(("body", "pointer"), [
    ({"title": ""}, "/title"), ({"title": "  "}, "/title"), ({"title": "x" * 201}, "/title"),
    ({"position_types": ["night_shift"]}, "/position_types/0"), ({"workplace_type": "moon"}, "/workplace_type"),
    ({"position_types": ["contract", "contract"]}, "/position_types"), ({"country_code": "DEU"}, "/country_code"),
    ({"country_code": "1!"}, "/country_code"), ({"location_text": "x" * 256}, "/location_text"),
    ({"region": "x" * 101}, "/region"), ({"expires_at": "tomorrow"}, "/expires_at"),
    ({"expires_at": "2027-01-01T00:00:00"}, "/expires_at"),
    ({"rejection_visibility": "never"}, "/rejection_visibility"),
    ({"rejection_text": "Dear {{name}}"}, "/rejection_text"),
    ({"screen_auto_advance_l3_min": "100.01"}, "/screen_auto_advance_l3_min"),
    ({"screen_auto_advance_l3_min": -1}, "/screen_auto_advance_l3_min"),
    ({"screen_auto_advance_l3_min": "12.345"}, "/screen_auto_advance_l3_min"),
    ({"team_id": str(uuid4())}, "/team_id"), ({"squad_id": str(uuid4())}, "/squad_id"),
    ({"pipeline_id": str(uuid4())}, "/pipeline_id"), ({"pipeline_slug": "hiring"}, "/pipeline_slug"),
    ({"assessment_id": str(uuid4())}, "/assessment_id"), ({"assessment_slug": "nothing"}, "/assessment_slug"),
    ({"slug": "mine"}, "/slug"), ({"status": "open"}, "/status"), ({"application_count": 1}, "/application_count"),
])  # fmt: skip
def test_a_bad_setting_is_refused_in_its_place(tenant: Tenant, body: dict, pointer: str) -> None:
    assert pointer in faults(tenant.live.post("/jobs/create/", {"title": "Fine", **body}))
    assert slugs(tenant.live) == []
    made = tenant.live.job()
    assert pointer in faults(change(tenant.live, made["slug"], **body))
    assert seen(tenant.live, made["slug"]) == made


def test_nulls_link_nothing(tenant: Tenant) -> None:
    links = dict.fromkeys(
        ("team_id", "squad_id", "pipeline_id", "pipeline_slug", "assessment_id", "assessment_slug")
    )
    assert tenant.live.job(**links).items() >= DEFAULTS.items()


def test_an_assessment_is_linked_by_id_or_slug(tenant: Tenant, other: Tenant) -> None:
    assessment, second = tenant.live.assessment(), tenant.live.assessment()
    by_id = tenant.live.job(assessment_id=assessment["id"])
    by_slug = tenant.live.job(assessment_slug=assessment["slug"])
    for job in (by_id, by_slug):
        assert (job["assessment_id"], job["assessment_slug"]) == (assessment["id"], assessment["slug"])
    both = {"assessment_id": assessment["id"], "assessment_slug": second["slug"]}
    assert "/assessment_slug" in faults(change(tenant.live, by_id["slug"], **both))
    moved = change(tenant.live, by_id["slug"], assessment_slug=second["slug"]).json()
    assert (moved["assessment_id"], moved["assessment_slug"]) == (second["id"], second["slug"])
    assert change(tenant.live, by_id["slug"], assessment_id=None).json()["assessment_slug"] is None
    for stranger in (other.live, tenant.test):
        answer = stranger.post("/jobs/create/", {"title": "X", "assessment_id": assessment["id"]})
        assert "/assessment_id" in faults(answer)


def test_html_is_made_harmless(tenant: Tenant) -> None:
    html = (
        '<h2>Us</h2><p onclick="x()">Hi <b>you</b></p><script>alert(1)</script><a href="javascript:x()">a</a>'
        '<a href="https://example.com">b</a><img src=x onerror=y><iframe src="//evil"></iframe><style>*{}</style>'
    )
    shown = tenant.live.job(description_html=html)["description_html"]
    assert "<h2>Us</h2><p>Hi <b>you</b></p>" in shown
    assert 'href="https://example.com"' in shown
    for word in ("script", "onclick", "javascript", "img", "iframe", "style", "alert"):
        assert word not in shown


def test_the_ai_brief_needs_the_growth_plan(http: Any) -> None:
    starter = make_tenant(http, "starter")
    for api in (starter.live, starter.test):
        job = api.job(cv_analysis_enabled=False)
        for answer in (
            api.post("/jobs/create/", {"title": "X", "cv_analysis_enabled": True}),
            change(api, job["slug"], cv_analysis_enabled=True),
        ):
            assert refusal(answer, 403, "PLAN_REQUIRED")["details"]["required_plan"] == "growth"


def test_slugs_differ_within_one_organisation_and_mode_alone(tenant: Tenant, other: Tenant) -> None:
    made = [tenant.live.job()["slug"] for _ in range(2)]
    assert made == ["senior-backend-engineer", "senior-backend-engineer-2"]
    assert tenant.test.job()["slug"] == other.live.job()["slug"] == "senior-backend-engineer"
    assert tenant.live.job(title="create")["slug"] == "create-2"
    assert tenant.live.job(title="Инженер")["slug"] == "job"
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: tenant.live.job()["slug"], range(8)))) == 8


# --- Moving


def arrange(api: Api, status: str) -> str:
    job = api.job(published=status != "draft")
    if status == "closed":
        assert api.post(f"/jobs/{job['slug']}/close/").status_code == 200
    return str(job["slug"])


@pytest.mark.parametrize(("status", "action", "target"), [
    ("draft", "publish", "open"), ("draft", "close", None), ("open", "publish", None), ("open", "close", "closed"),
    ("closed", "publish", None), ("closed", "close", None),
])  # fmt: skip
def test_a_job_moves_by_the_table(tenant: Tenant, status: str, action: str, target: str | None) -> None:
    slug = arrange(tenant.live, status)
    before = seen(tenant.live, slug)
    answer = tenant.live.post(f"/jobs/{slug}/{action}/")
    if target is None:
        assert refusal(answer, 400, "VALIDATION_ERROR")["details"]["status"] == status
        assert seen(tenant.live, slug) == before
    else:
        assert (answer.status_code, answer.json()["status"]) == (200, target)
        stamp, event = {"publish": ("published_at", "job.published"), "close": ("closed_at", "job.closed")}[
            action
        ]
        data = told(tenant.live, event)[-1]
        assert data["status"] == target
        assert data[stamp] == answer.json()[stamp] is not None
        assert seen(tenant.live, slug) == answer.json()


def test_what_is_not_fit_is_not_published(tenant: Tenant) -> None:
    past = tenant.live.job(expires_at=iso(now() - timedelta(seconds=1)))["slug"]
    assert "/expires_at" in faults(tenant.live.post(f"/jobs/{past}/publish/"))
    assessment = tenant.live.assessment()["slug"]
    linked = tenant.live.job(assessment_slug=assessment)["slug"]
    tenant.live.patch(f"/assessments/{assessment}/update/", {"status": "archived"})
    assert "/assessment_id" in faults(tenant.live.post(f"/jobs/{linked}/publish/"))
    assert told(tenant.live, "job.published") == []
    change(tenant.live, past, expires_at=None)
    change(tenant.live, linked, assessment_id=None)
    for slug in (past, linked):
        assert tenant.live.post(f"/jobs/{slug}/publish/").status_code == 200


def test_a_plan_has_so_many_open_jobs(http: Any) -> None:
    owner = make_tenant(http, "starter")
    opened = [owner.live.job(published=True)["slug"] for _ in range(5)]
    draft = owner.live.job()["slug"]
    details = refusal(owner.live.post(f"/jobs/{draft}/publish/"), 403, "JOB_LIMIT_REACHED")["details"]
    assert (details["limit"], details["used"]) == (5, 5)
    for _ in range(6):
        owner.test.job(published=True)  # test mode costs nothing
    owner.live.post(f"/jobs/{opened[0]}/close/")
    assert owner.live.post(f"/jobs/{draft}/publish/").status_code == 200


def test_parallel_publishing_never_exceeds_the_plan(http: Any) -> None:
    owner = make_tenant(http, "starter")
    drafts = [owner.live.job()["slug"] for _ in range(10)]
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda slug: owner.live.post(f"/jobs/{slug}/publish/").status_code, drafts))
    assert sorted(answers) == [200] * 5 + [403] * 5
    assert len(told(owner.live, "job.published")) == 5


def test_a_job_published_by_many_at_once_is_published_once(tenant: Tenant) -> None:
    slug = tenant.live.job()["slug"]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: tenant.live.post(f"/jobs/{slug}/publish/").status_code, range(8)))
    assert sorted(answers) == [200] + [400] * 7
    assert len(told(tenant.live, "job.published")) == 1


# --- Lists


def test_lists_are_searched_and_filtered(tenant: Tenant) -> None:
    draft, opened, closed = (arrange(tenant.live, status) for status in ("draft", "open", "closed"))
    assert slugs(tenant.live) == slugs(tenant.live, status="all") == [closed, opened, draft]
    for status, slug in (("draft", draft), ("open", opened), ("closed", closed)):
        assert slugs(tenant.live, status=status) == [slug]
    special = tenant.live.job(title="100% Remote_work")["slug"]
    assert slugs(tenant.live, search="0% rEMOTE_") == [special]
    assert slugs(tenant.live, search="%") == [special]
    assert slugs(tenant.live, team_id="null", status="draft") == [special, draft]
    assert slugs(tenant.live, team_id=str(uuid4())) == []
    item = tenant.live.get("/jobs/").json()["results"][0]
    assert not {"description_html", "application_fields", "screen_auto_advance_enabled"} & set(item)
    assert slugs(tenant.live, updated_after=iso(now() + timedelta(hours=1))) == []


def test_team_filters_need_the_growth_plan(http: Any) -> None:
    answer = make_tenant(http, "starter").live.get("/jobs/", params={"team_id": "null"})
    refusal(answer, 403, "PLAN_REQUIRED")
