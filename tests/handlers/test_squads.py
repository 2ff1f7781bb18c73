"""Squads through the API, and what belongs to them."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from sqlalchemy import update
from starlette.testclient import TestClient

import store
from store.accounts import members
from store.assessing.assessments import Assessment
from tests.api import Api, Tenant, address
from tests.api import tenant as make_tenant
from tests.probes import faults, refusal
from tests.waiting import while_changing


def shown(api: Api, path: str) -> dict[str, Any]:
    return {name: one for name, one in api.get(path).json().items() if name != "meta"}


def listed(api: Api, path: str, **query: Any) -> list[str]:
    return [one["slug"] for one in api.get(path, params=query).json()["results"]]


def as_team(squad: dict[str, Any]) -> dict[str, Any]:
    return {name: squad[name] for name in ("id", "name", "slug")}


def test_a_name_is_enough_and_both_modes_see_the_squad(tenant: Tenant, other: Tenant) -> None:
    made = tenant.live.squad()
    assert made.items() >= {"name": "Platform team", "slug": "platform-team", "member_count": 0}.items()
    assert set(made) == {"id", "name", "slug", "member_count", "created_at"}
    for api in (tenant.live, tenant.test):
        assert shown(api, f"/org/squads/{made['id']}/") == made
        assert api.get("/org/squads/").json()["results"] == [made]
    second = tenant.test.squad()
    assert second["slug"] == "platform-team-2"
    assert listed(tenant.live, "/org/squads/") == ["platform-team-2", "platform-team"]
    assert other.live.squad()["slug"] == "platform-team"


def a_member(owner: Tenant, name: str = "ada") -> str:
    with store.transaction() as session:
        email = address()
        made = members.add(session, organisation=owner.organisation, email=email, name=name, role="member")
        return str(made.user_id)


def join(api: Api, squad: dict[str, Any], user_id: str) -> httpx.Response:
    return api.post(f"/org/squads/{squad['id']}/members/", {"user_id": user_id})


def leave(api: Api, squad: dict[str, Any], user_id: str) -> httpx.Response:
    return api.delete(f"/org/squads/{squad['id']}/members/", params={"user_id": user_id})


def names(api: Api, squad: dict[str, Any]) -> list[str]:
    return [one["name"] for one in api.get(f"/org/squads/{squad['id']}/members/").json()["results"]]


def test_members_are_counted(tenant: Tenant) -> None:
    squad, empty = tenant.live.squad(), tenant.live.squad()
    for name in ("ada", "grace"):
        join(tenant.live, squad, a_member(tenant, name))
    assert shown(tenant.live, f"/org/squads/{squad['id']}/")["member_count"] == 2
    counts = [one["member_count"] for one in tenant.live.get("/org/squads/").json()["results"]]
    assert counts == [0, 2]
    assert shown(tenant.live, f"/org/squads/{empty['id']}/") == empty


def test_a_member_joins_once_and_leaves_once(tenant: Tenant) -> None:
    squad, second = tenant.live.squad(), tenant.live.squad("Second")
    user = a_member(tenant)
    join(tenant.live, second, user)
    made = join(tenant.live, squad, user)
    again = join(tenant.test, squad, user)
    assert (made.status_code, again.status_code) == (201, 200)
    assert made.json() == again.json()
    assert made.json()["user_id"] == user
    assert made.json()["squads"] == [as_team(squad), as_team(second)]
    assert tenant.live.get(f"/org/squads/{squad['id']}/members/").json()["results"] == [made.json()]
    assert leave(tenant.live, squad, user).json() == {"removed": user}
    refusal(leave(tenant.live, squad, user), 404, "NOT_FOUND")
    assert (names(tenant.live, squad), names(tenant.live, second)) == ([], ["ada"])


def test_members_come_newest_first(tenant: Tenant) -> None:
    squad = tenant.live.squad()
    people = [a_member(tenant, name) for name in ("ada", "grace", "mary")]
    for user in (people[1], people[0], people[2]):
        join(tenant.live, squad, user)
    assert names(tenant.live, squad) == ["mary", "grace", "ada"]


def test_nobody_of_another_organisation_joins(tenant: Tenant, other: Tenant) -> None:
    squad, theirs = tenant.live.squad(), other.live.squad()
    stranger = a_member(other)
    for user in (stranger, str(uuid4())):
        assert faults(join(tenant.live, squad, user)) == {"/user_id": "There is no such member."}
        refusal(leave(tenant.live, squad, user), 404, "NOT_FOUND")
    join(other.live, theirs, stranger)
    refusal(join(tenant.live, theirs, a_member(tenant)), 404, "NOT_FOUND")
    refusal(leave(tenant.live, theirs, stranger), 404, "NOT_FOUND")
    assert names(other.live, theirs) == ["ada"]


@pytest.mark.parametrize("query", [{}, {"user_id": "ada"}, {"user_id": ""}])
def test_leaving_names_one_member(tenant: Tenant, query: dict[str, str]) -> None:
    squad = tenant.live.squad()
    answer = tenant.live.delete(f"/org/squads/{squad['id']}/members/", params=query)
    assert list(faults(answer)) == ["/query/user_id"]


def test_joining_at_once_is_joining_once(tenant: Tenant) -> None:
    squad, user = tenant.live.squad(), a_member(tenant)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda api: join(api, squad, user).status_code, [tenant.live, tenant.test] * 3))
    assert sorted(found) == [200] * 5 + [201]


def test_a_squad_is_renamed_and_keeps_its_slug(tenant: Tenant) -> None:
    squad = tenant.live.squad()
    renamed = tenant.test.patch(f"/org/squads/{squad['id']}/", {"name": "Tools"}).json()
    assert renamed == squad | {"name": "Tools"}
    assert shown(tenant.live, f"/org/squads/{squad['id']}/") == renamed
    assert "/name" in faults(tenant.live.patch(f"/org/squads/{squad['id']}/", {"name": " "}))
    assert "/slug" in faults(tenant.live.patch(f"/org/squads/{squad['id']}/", {"name": "x", "slug": "y"}))


def test_what_a_deleted_squad_owned_belongs_to_none(tenant: Tenant) -> None:
    squad, kept = tenant.live.squad(), tenant.live.squad()
    join(tenant.live, squad, a_member(tenant))
    made = []
    for api in (tenant.live, tenant.test):
        closed = api.job(published=True, team_id=squad["id"])
        assert api.post(f"/jobs/{closed['slug']}/close/").status_code == 200
        for kind in CREATE:
            slug = create(api, kind, team_id=squad["id"]).json()["slug"]
            made.append((api, f"/{kind}/{slug}/", shown(api, f"/{kind}/{slug}/")["updated_at"]))
        made.append((api, f"/jobs/{closed['slug']}/", shown(api, f"/jobs/{closed['slug']}/")["updated_at"]))
    others = create(tenant.live, "jobs", team_id=kept["id"]).json()["slug"]
    assert tenant.live.delete(f"/org/squads/{squad['id']}/").json() == {"deleted": squad["id"]}
    for api, path, before in made:
        now = shown(api, path)
        assert now.get("team", now.get("team_id")) is None
        assert now["updated_at"] > before
    assert shown(tenant.live, f"/jobs/{others}/")["team"] == as_team(kept)
    refusal(tenant.live.get(f"/org/squads/{squad['id']}/"), 404, "NOT_FOUND")
    refusal(tenant.live.delete(f"/org/squads/{squad['id']}/"), 404, "NOT_FOUND")
    assert listed(tenant.live, "/org/squads/") == [kept["slug"]]


@pytest.mark.parametrize("mode", ["live", "test"])
def test_a_squad_with_an_open_job_of_either_mode_stays(tenant: Tenant, mode: str) -> None:
    squad = tenant.live.squad()
    api: Api = getattr(tenant, mode)
    job = api.job(published=True, team_id=squad["id"])
    for asking in (tenant.live, tenant.test):
        refusal(asking.delete(f"/org/squads/{squad['id']}/"), 409, "SQUAD_IN_USE")
    assert shown(api, f"/jobs/{job['slug']}/")["team"] == as_team(squad)
    assert change(api, "jobs", job["slug"], team_id=None).status_code == 200
    assert tenant.live.delete(f"/org/squads/{squad['id']}/").status_code == 200


def test_a_squad_is_deleted_beside_what_is_given_to_it(tenant: Tenant) -> None:
    """Whoever comes first: nothing fails, and no open job loses its squad."""
    api = tenant.live
    with ThreadPoolExecutor(4) as pool:
        for _ in range(8):
            squad = api.squad()
            job, draft = api.job(published=True)["slug"], api.job(team_id=squad["id"])["slug"]
            asked = [
                pool.submit(api.delete, f"/org/squads/{squad['id']}/"),
                pool.submit(change, api, "jobs", job, team_id=squad["id"]),
                pool.submit(api.post, f"/jobs/{draft}/publish/"),
                pool.submit(create, api, "assessments", team_id=squad["id"]),
            ]
            deleted, moved, opened, made = [one.result() for one in asked]
            assert opened.status_code == 200
            assert moved.status_code in (200, 400)
            assert made.status_code in (201, 400)
            assert deleted.status_code in (200, 409)
            teams = [shown(api, f"/jobs/{one}/")["team"] for one in (job, draft)]
            if deleted.status_code == 200:
                assert teams == [None, None]
            else:
                assert as_team(squad) in teams
            for one in (job, draft):
                api.post(f"/jobs/{one}/close/")


@pytest.mark.parametrize("name", ["", "   ", "x" * 121, None])
def test_a_name_that_is_none_is_refused(tenant: Tenant, name: str | None) -> None:
    assert "/name" in faults(tenant.live.post("/org/squads/", {"name": name}))
    assert listed(tenant.live, "/org/squads/") == []


def test_slugs_differ_and_none_is_the_word_for_no_squad(tenant: Tenant) -> None:
    assert tenant.live.squad("Null")["slug"] == "null-2"
    assert tenant.live.squad("Команда")["slug"] == "squad"
    assert tenant.live.squad("x" * 120)["slug"] == "x" * 80
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda api: api.squad()["slug"], [tenant.live, tenant.test] * 3))
    assert len(set(made)) == 6


def test_squads_need_the_growth_plan(http: TestClient) -> None:
    starter = make_tenant(http, "starter")
    for answer in (
        starter.live.get("/org/squads/"),
        starter.test.post("/org/squads/", {"name": "Platform team"}),
        starter.live.get(f"/org/squads/{uuid4()}/"),
    ):
        details = refusal(answer, 403, "PLAN_REQUIRED")["details"]
        assert (details["required_plan"], details["feature"]) == ("growth", "squads")


# --- What belongs to a squad

STAGES = [{"stage_type": "manual_review"}]
CREATE: dict[str, dict[str, Any]] = {"jobs": {}, "assessments": {}, "pipelines": {"stages": STAGES}}


def create(api: Api, kind: str, **settings: Any) -> Any:
    return api.post(f"/{kind}/create/", {"title": "Backend", **CREATE[kind], **settings})


def change(api: Api, kind: str, slug: str, **settings: Any) -> Any:
    return api.patch(f"/{kind}/{slug}/" + ("" if kind == "pipelines" else "update/"), settings)


def team_of(resource: dict[str, Any]) -> Any:
    """Its squad as jobs and assessments show it; pipelines show id and slug."""
    if "team" in resource:
        return resource["team"]
    return resource["team_id"] and {"id": resource["team_id"], "slug": resource["team_slug"]}


@pytest.mark.parametrize("kind", CREATE)
def test_what_belongs_to_a_squad_shows_it_and_is_found_by_it(tenant: Tenant, kind: str) -> None:
    for api in (tenant.live, tenant.test):
        squad, second = api.squad(), api.squad("Data")
        made, free = create(api, kind, team_id=squad["id"]).json(), create(api, kind).json()
        expected = {"id": squad["id"], "slug": squad["slug"]}
        expected |= {} if kind == "pipelines" else {"name": squad["name"]}
        assert (team_of(made), team_of(free)) == (expected, None)
        assert shown(api, f"/{kind}/{made['slug']}/") == made
        rows = {one["slug"]: team_of(one) for one in api.get(f"/{kind}/").json()["results"]}
        assert rows == {made["slug"]: expected, free["slug"]: None}
        ways = [{"team_id": squad["id"]}] + [{"team_slug": squad["slug"]}] * (kind != "jobs")
        for query in ways:
            assert listed(api, f"/{kind}/", **query) == [made["slug"]]
        for query in [{"team_id": "null"}] + [{"team_slug": "null"}] * (kind != "jobs"):
            assert listed(api, f"/{kind}/", **query) == [free["slug"]]
        if kind != "jobs":
            assert listed(api, f"/{kind}/", team_id=second["id"], team_slug=squad["slug"]) == []
            assert listed(api, f"/{kind}/", team_slug="nobody") == []
        moved = change(api, kind, made["slug"], team_id=second["id"]).json()
        assert team_of(moved)["id"] == second["id"]
        assert change(api, kind, made["slug"], title="Frontend").json().items() >= {
            "title": "Frontend", **{name: moved[name] for name in ("team", "team_id") if name in moved}
        }.items()  # fmt: skip
        assert listed(api, f"/{kind}/", team_id=second["id"]) == [made["slug"]]
        assert team_of(change(api, kind, made["slug"], team_id=None).json()) is None
        assert listed(api, f"/{kind}/", team_id=second["id"]) == []


@pytest.mark.parametrize("kind", CREATE)
def test_nothing_belongs_to_a_squad_of_others(tenant: Tenant, other: Tenant, kind: str) -> None:
    made = create(tenant.live, kind).json()
    for id in (other.live.squad()["id"], str(uuid4())):
        for answer in (
            create(tenant.live, kind, team_id=id),
            change(tenant.live, kind, made["slug"], team_id=id),
        ):
            assert faults(answer) == {"/team_id": "There is no such squad."}
        assert listed(tenant.live, f"/{kind}/", team_id=id) == []
    assert listed(tenant.live, f"/{kind}/") == [made["slug"]]
    assert shown(tenant.live, f"/{kind}/{made['slug']}/") == made


@pytest.mark.parametrize("kind", CREATE)
def test_belonging_to_a_squad_needs_the_growth_plan(http: TestClient, kind: str) -> None:
    starter = make_tenant(http, "starter")
    if kind != "pipelines":
        made = create(starter.live, kind, team_id=None).json()
        refusal(change(starter.live, kind, made["slug"], team_id=str(uuid4())), 403, "PLAN_REQUIRED")
        assert change(starter.live, kind, made["slug"], team_id=None).status_code == 200
    refusal(create(starter.live, kind, team_id=str(uuid4())), 403, "PLAN_REQUIRED")
    refusal(change(starter.live, kind, "nothing", team_id=str(uuid4())), 403, "PLAN_REQUIRED")
    refusal(starter.live.get(f"/{kind}/", params={"team_id": "null"}), 403, "PLAN_REQUIRED")


def test_a_job_takes_its_squad_by_either_name(tenant: Tenant) -> None:
    squad, second = tenant.live.squad(), tenant.live.squad()
    job = tenant.live.job(squad_id=squad["id"])
    assert job["team"] == as_team(squad)
    assert tenant.live.job(squad_id=squad["id"], team_id=squad["id"])["team"] == as_team(squad)
    both = {"team_id": squad["id"], "squad_id": second["id"]}
    assert "/squad_id" in faults(change(tenant.live, "jobs", job["slug"], **both))
    assert "/squad_id" in faults(change(tenant.live, "jobs", job["slug"], team_id=None, squad_id=squad["id"]))
    assert change(tenant.live, "jobs", job["slug"], squad_id=None).json()["team"] is None


def test_the_squad_of_a_job_is_told_of_with_it_and_its_applications(tenant: Tenant) -> None:
    squad = tenant.live.squad()
    job = tenant.live.job(published=True, team_id=squad["id"])
    tenant.live.application(job["slug"])
    told = tenant.live.get("/events/").json()["results"]
    about = {one["type"]: one["data"]["team_id"] for one in told if "team_id" in one["data"]}
    assert about.keys() >= {"job.created", "job.published", "application.submitted"}
    assert set(about.values()) == {squad["id"]}


def test_a_copy_belongs_to_the_squad_of_its_original(tenant: Tenant) -> None:
    squad = tenant.live.squad()
    original = tenant.live.assessment(team_id=squad["id"])
    copy = tenant.live.post(f"/assessments/{original['slug']}/duplicate/", {}).json()
    assert copy["team"] == original["team"] == as_team(squad)
    assert shown(tenant.live, f"/assessments/{copy['slug']}/") == copy


def test_a_squad_that_an_assessment_got_a_moment_ago_can_be_taken_from_it(tenant: Tenant) -> None:
    squad, made = tenant.live.squad(), tenant.live.assessment()
    given = update(Assessment).where(Assessment.id == UUID(made["id"])).values(team_id=UUID(squad["id"]))
    taken = while_changing(given, lambda: change(tenant.live, "assessments", made["slug"], team_id=None))
    assert taken.json()["team"] is shown(tenant.live, f"/assessments/{made['slug']}/")["team"] is None
    kept = while_changing(given, lambda: change(tenant.live, "assessments", made["slug"], title="Data"))
    assert kept.json()["team"] == as_team(squad)
