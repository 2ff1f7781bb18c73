"""Assessments through the API."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import update
from starlette.testclient import TestClient

import store
from store.accounts.organisations import Organisation
from tests.api import Api, Tenant
from tests.api import tenant as make_tenant
from tests.probes import faults, refusal

DEFAULTS = {
    "description": "", "status": "draft", "case_count": 0, "time_limit_minutes": None, "passing_score": 70,
    "invitation_count": 0, "enforce_fullscreen": False, "copy_paste_disabled": False, "livemode": True, "team": None,
    "session_recording_enabled": False, "screen_recording_enabled": False, "webcam_recording_enabled": False,
    "notify_on_completion": False, "violation_review_threshold": None, "pool_mode": False, "assignment_size": None,
    "shuffle_strategy": "random",
}  # fmt: skip
SETTINGS: dict[str, Any] = {
    "title": "Data engineer", "description": "Pipelines", "time_limit_minutes": 90, "passing_score": 55,
    "enforce_fullscreen": True, "copy_paste_disabled": True, "session_recording_enabled": True,
    "screen_recording_enabled": True, "webcam_recording_enabled": True, "notify_on_completion": True,
    "violation_review_threshold": 3, "pool_mode": True, "assignment_size": 2, "shuffle_strategy": "balanced",
}  # fmt: skip


def create(api: Api, **body: Any) -> dict[str, Any]:
    made = api.post("/assessments/create/", {"title": "Backend engineer", **body})
    assert made.status_code == 201, made.text
    return dict(made.json())


def change(api: Api, slug: str, **body: Any) -> Any:
    return api.patch(f"/assessments/{slug}/update/", body)


def seen(api: Api, slug: str) -> dict[str, Any]:
    return {name: one for name, one in api.get(f"/assessments/{slug}/").json().items() if name != "meta"}


def slugs(api: Api, **query: Any) -> list[str]:
    return [one["slug"] for one in api.get("/assessments/", params=query).json()["results"]]


# --- Creating


def test_a_title_is_enough_for_a_draft(tenant: Tenant) -> None:
    made = create(tenant.live)
    assert made.items() >= DEFAULTS.items()
    assert made["slug"] == "backend-engineer"
    assert made["created_at"] == made["updated_at"]
    assert seen(tenant.live, made["slug"]) == seen(tenant.live, made["id"]) == made


def test_every_setting_is_kept(tenant: Tenant) -> None:
    made = create(tenant.live, **SETTINGS)
    assert made.items() >= SETTINGS.items()
    assert seen(tenant.live, made["slug"]) == made


@pytest.mark.parametrize(("body", "pointer"), [
    ({"title": ""}, "/title"), ({"title": "  "}, "/title"), ({"title": "x" * 201}, "/title"), ({"title": None},
    "/title"),
    ({"time_limit_minutes": 0}, "/time_limit_minutes"), ({"time_limit_minutes": 1441}, "/time_limit_minutes"),
    ({"passing_score": -1}, "/passing_score"), ({"passing_score": 101}, "/passing_score"),
    ({"violation_review_threshold": 0}, "/violation_review_threshold"),
    ({"violation_review_threshold": 100}, "/violation_review_threshold"),
    ({"assignment_size": 0}, "/assignment_size"), ({"shuffle_strategy": "none"}, "/shuffle_strategy"),
    ({"description": "x" * 10_001}, "/description"), ({"team_id": str(uuid4())}, "/team_id"),
    ({"team_id": "x"}, "/team_id"),
    ({"status": "active"}, "/status"), ({"slug": "mine"}, "/slug"), ({"livemode": False}, "/livemode"),
    ({"cases": [{}]}, "/cases/0/case_id"), ({"cases": [{"case_id": "x"}]}, "/cases/0/case_id"),
    ({"cases": [{"case_id": str(uuid4()), "weight": -1}]}, "/cases/0/weight"),
    ({"cases": [{"case_id": str(uuid4()), "order": 32768}]}, "/cases/0/order"),
])  # fmt: skip
def test_a_bad_setting_is_refused_in_its_place(tenant: Tenant, body: dict, pointer: str) -> None:
    assert pointer in faults(tenant.live.post("/assessments/create/", {"title": "Fine", **body}))
    assert slugs(tenant.live) == []


def test_every_fault_is_told_at_once(tenant: Tenant) -> None:
    body = {"title": "", "passing_score": 101, "nothing": 1, "cases": [{"case_id": "x", "order": -1}]}
    found = faults(tenant.live.post("/assessments/create/", body))
    assert set(found) == {"/title", "/passing_score", "/nothing", "/cases/0/case_id", "/cases/0/order"}


@pytest.mark.parametrize(("title", "slug"), [
    ("Backend Engineer (Python, 3.11)", "backend-engineer-python-3-11"), ("Élève — Zürich", "eleve-zurich"),
    ("Инженер", "assessment"), ("🦄🦄", "assessment"), ("!!!", "assessment"), ("create", "create-2"), ("CREATE!",
    "create-2"),
    ("ﬁnance ①", "finance-1"), ("a" * 200, "a" * 80), ("x" * 79 + " yz", "x" * 79), ("-- a --", "a"),
    ("../etc", "etc"),
])  # fmt: skip
def test_a_slug_is_made_of_the_title(tenant: Tenant, title: str, slug: str) -> None:
    made = create(tenant.live, title=title)
    assert made["slug"] == slug
    assert seen(tenant.live, slug)["title"] == title


def test_slugs_differ_within_one_organisation_and_mode_alone(tenant: Tenant, other: Tenant) -> None:
    first = [create(tenant.live)["slug"] for _ in range(3)]
    assert first == ["backend-engineer", "backend-engineer-2", "backend-engineer-3"]
    assert create(tenant.test)["slug"] == create(other.live)["slug"] == "backend-engineer"
    assert create(tenant.live, title="Backend engineer 2")["slug"] == "backend-engineer-2-2"


def test_the_same_title_at_once_makes_different_slugs(tenant: Tenant) -> None:
    with ThreadPoolExecutor(10) as pool:
        made = list(pool.map(lambda _: create(tenant.live)["slug"], range(10)))
    assert len(set(made)) == 10


def test_no_slug_is_somebodys_id(tenant: Tenant) -> None:
    first = create(tenant.live)
    for title in (first["id"], first["id"].replace("-", ""), f"{{{first['id'].upper()}}}"):
        assert create(tenant.live, title=title)["slug"].startswith("assessment-")
    assert seen(tenant.live, first["id"])["slug"] == first["slug"]


# --- Plans


@pytest.mark.parametrize(("setting", "feature"), [
    ({"screen_recording_enabled": True}, "screen_recording"), ({"webcam_recording_enabled": True},
    "webcam_recording"),
    ({"pool_mode": True, "assignment_size": 1}, "pool_mode"),
])  # fmt: skip
def test_what_the_plan_lacks_is_refused(http: TestClient, setting: dict, feature: str) -> None:
    owner = make_tenant(http, "starter")
    for api in (owner.live, owner.test):
        slug = create(api, **dict.fromkeys(setting, False) if feature != "pool_mode" else {})["slug"]
        for answer in (
            api.post("/assessments/create/", {"title": "X", **setting}),
            change(api, slug, **setting),
        ):
            details = refusal(answer, 403, "PLAN_REQUIRED")["details"]
            assert (details["required_plan"], details["feature"]) == ("growth", feature)
    assert create(make_tenant(http, "growth").live, **setting).items() >= setting.items()


def test_what_a_smaller_plan_lacks_is_not_copied(http: TestClient) -> None:
    owner = make_tenant(http, "growth")
    slug = create(owner.live, screen_recording_enabled=True)["slug"]
    with store.transaction() as session:
        mine = update(Organisation).where(Organisation.id == owner.organisation.id)
        session.execute(mine.values(plan="starter"))
    answer = owner.key().post(f"/assessments/{slug}/duplicate/", {})  # a new key knows the plan at once
    details = refusal(answer, 403, "PLAN_REQUIRED")["details"]
    assert (details["required_plan"], details["feature"]) == ("growth", "screen_recording")


def test_a_plan_has_so_many_assessments_that_are_not_archived(http: TestClient) -> None:
    owner = make_tenant(http, "starter")
    made = [create(owner.live)["slug"] for _ in range(15)]
    duplicate = f"/assessments/{made[0]}/duplicate/"
    for answer in (owner.live.post("/assessments/create/", {"title": "X"}), owner.live.post(duplicate, {})):
        details = refusal(answer, 403, "ASSESSMENT_LIMIT_REACHED")["details"]
        assert (details["limit"], details["used"]) == (15, 15)
    create(owner.test)  # test mode costs nothing
    change(owner.live, made[0], status="archived")
    again = create(owner.live)["slug"]
    refusal(change(owner.live, made[0], status="active"), 403, "ASSESSMENT_LIMIT_REACHED")
    change(owner.live, again, status="archived")
    assert change(owner.live, made[0], status="active").status_code == 200


def test_parallel_drafts_never_exceed_the_plan(http: TestClient) -> None:
    owner = make_tenant(http, "starter")
    for _ in range(12):
        create(owner.live)
    with ThreadPoolExecutor(12) as pool:
        answers = list(
            pool.map(lambda _: owner.live.post("/assessments/create/", {"title": "X"}).status_code, range(12))
        )
    assert sorted(answers) == [201] * 3 + [403] * 9


# --- Changing

MOVES = {("draft", "active"), ("active", "archived"), ("draft", "archived"), ("archived", "active")}


@pytest.mark.parametrize(
    ("status", "wanted"), list(itertools.product(("draft", "active", "archived"), repeat=2))
)
def test_an_assessment_moves_by_the_table(tenant: Tenant, status: str, wanted: str) -> None:
    slug = create(tenant.live)["slug"]
    if status != "draft":
        change(tenant.live, slug, status=status)
    answer = change(tenant.live, slug, status=wanted, description="changed")
    if status == wanted or (status, wanted) in MOVES:
        assert (answer.status_code, answer.json()["status"], answer.json()["description"]) == (
            200,
            wanted,
            "changed",
        )
    else:
        assert refusal(answer, 400, "VALIDATION_ERROR")["details"]["status"] == status
        assert seen(tenant.live, slug).items() >= {"status": status, "description": ""}.items()


def test_only_what_is_sent_changes(tenant: Tenant) -> None:
    made = create(tenant.live, **SETTINGS)
    for name, value in (
        ("title", "New"),
        ("time_limit_minutes", None),
        ("pool_mode", False),
        ("passing_score", 0),
    ):
        before = seen(tenant.live, made["slug"])
        answer = change(tenant.live, made["slug"], **{name: value}).json()
        assert answer.pop("updated_at") > before.pop("updated_at")
        assert answer == before | {name: value}
    assert change(tenant.live, made["slug"]).status_code == 200
    refusal(change(tenant.live, "nothing", title="X"), 404, "NOT_FOUND")


@pytest.mark.parametrize(
    "name", ["id", "slug", "case_count", "invitation_count", "livemode", "created_at", "team"]
)
def test_what_the_service_keeps_cannot_be_sent(tenant: Tenant, name: str) -> None:
    made = create(tenant.live)
    answer = tenant.live.patch(f"/assessments/{made['slug']}/update/", {name: made[name]})
    assert f"/{name}" in faults(answer)


def test_an_invitation_moves_the_count_of_its_assessment(tenant: Tenant) -> None:
    made = tenant.live.assessment()
    tenant.live.invitation(made["slug"])
    after = seen(tenant.live, made["slug"])
    assert after["invitation_count"] == 1
    assert after["updated_at"] > made["updated_at"]


# --- Duplicating


def test_a_copy_has_the_settings_and_the_cases_and_nothing_else(tenant: Tenant) -> None:
    cases = [one["id"] for one in tenant.live.get("/platform-cases/?page_size=3").json()["results"]]
    places = [
        {"case_id": cases[0], "order": 5, "weight": 2.5, "time_limit_minutes": 7},
        {"case_id": cases[1], "order": 1},
        {"case_id": cases[2]},
    ]
    made = create(tenant.live, **SETTINGS, cases=places)
    change(tenant.live, made["slug"], status="active")
    tenant.live.invitation(made["slug"])
    copy = tenant.live.post(f"/assessments/{made['slug']}/duplicate/", {}).json()
    own = {"id", "slug", "title", "created_at", "updated_at"}
    assert {k: v for k, v in copy.items() if k not in own} == {k: v for k, v in made.items() if k not in own}
    assert (copy["title"], copy["slug"]) == ("Data engineer (copy)", "data-engineer-copy")
    rows = [tenant.live.get(f"/assessments/{one['slug']}/cases/").json()["results"] for one in (made, copy)]
    kept = ("id", "order", "weight", "time_limit_minutes")
    assert [[row[name] for name in kept] for row in rows[0]] == [
        [row[name] for name in kept] for row in rows[1]
    ]
    assert [row["id"] for row in rows[0]] == [cases[1], cases[0], cases[2]]
    assert not {row["assessment_case_id"] for row in rows[0]} & {row["assessment_case_id"] for row in rows[1]}


def test_a_copys_title_may_be_given_and_never_grows_too_long(tenant: Tenant) -> None:
    slug = create(tenant.live, title="x" * 200)["slug"]
    assert tenant.live.post(f"/assessments/{slug}/duplicate/", {"title": "Mine"}).json()["title"] == "Mine"
    copy = tenant.live.post(f"/assessments/{slug}/duplicate/").json()
    assert copy["title"].endswith("x (copy)")
    assert len(copy["title"]) <= 200
    refusal(tenant.live.post("/assessments/nothing/duplicate/"), 404, "NOT_FOUND")


# --- Lists


def test_a_search_takes_its_text_as_it_stands_in_any_case(tenant: Tenant) -> None:
    titles = [
        "100% Backend",
        "100 Backend",
        "snake_case",
        "snakeXcase",
        "back\\slash",
        "École Supérieure",
        "o'clock /x",
    ]
    made = {title: create(tenant.live, title=title)["slug"] for title in titles}
    for text, found in {
        "%": ["100% Backend"], "0% b": ["100% Backend"], "_": ["snake_case"], "E_C": ["snake_case"],
        "\\": ["back\\slash"],
        "BACKEND": ["100 Backend", "100% Backend"], "école s": ["École Supérieure"], "ÉCOLE": ["École Supérieure"],
        "'": ["o'clock /x"], "/": ["o'clock /x"], "nothing": [], "  ": [],
    }.items():  # fmt: skip
        assert slugs(tenant.live, search=text) == [made[title] for title in found], text


def test_lists_are_filtered_by_status_and_by_change(tenant: Tenant) -> None:
    draft, active, archived = (create(tenant.live)["slug"] for _ in range(3))
    change(tenant.live, active, status="active")
    moment = change(tenant.live, archived, status="archived").json()["updated_at"]
    assert slugs(tenant.live) == slugs(tenant.live, status="all") == [archived, active, draft]
    for status, slug in (("draft", draft), ("active", active), ("archived", archived)):
        assert slugs(tenant.live, status=status) == [slug]
    change(tenant.live, draft, description="later")
    assert slugs(tenant.live, updated_after=moment) == [draft]
    assert slugs(tenant.live, status="active", search="nothing") == []
    assert slugs(tenant.live, search="") == slugs(tenant.live)
    naive = {"updated_after": "2026-11-01T00:00:00"}
    for query in ({"status": "open"}, naive, {"team_id": "x"}, {"cursor": "x"}):
        assert f"/query/{next(iter(query))}" in faults(tenant.live.get("/assessments/", params=query))


def test_team_filters_need_the_growth_plan(http: TestClient, tenant: Tenant) -> None:
    slug = create(tenant.live)["slug"]
    assert slugs(tenant.live, team_id="null") == [slug]
    assert slugs(tenant.live, team_id=str(uuid4())) == slugs(tenant.live, team_slug="nobody") == []
    starter = make_tenant(http, "starter")
    for query in ({"team_id": "null"}, {"team_slug": "x"}):
        answer = starter.live.get("/assessments/", params=query)
        assert refusal(answer, 403, "PLAN_REQUIRED")["details"]["required_plan"] == "growth"


def test_a_page_keeps_its_filters(tenant: Tenant) -> None:
    for number in range(5):
        create(tenant.live, title=f"Find & me? ü {number}")
        create(tenant.live, title="Something else")
    page, found = (
        tenant.live.get("/assessments/", params={"search": "find & ME? Ü", "page_size": 2}).json(),
        [],
    )
    while True:
        found += [one["title"] for one in page["results"]]
        assert page["meta"]["plan"] == "growth"
        if not page["next"]:
            break
        page = tenant.live.get(page["next"].partition("/api/v1/public")[2]).json()
    assert found == [f"Find & me? ü {number}" for number in range(4, -1, -1)]
