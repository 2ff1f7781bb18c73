"""The cases of an assessment: attach, replace, remove."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest
from starlette.testclient import TestClient

from tests.api import Api, Tenant, tenant
from tests.probes import faults, refusal


@pytest.fixture
def platform(tenant: Tenant) -> list[str]:
    """The ids of the catalogue's first cases."""
    return catalogue(tenant.live, 40)


def catalogue(api: Api, count: int) -> list[str]:
    return [one["id"] for one in api.get(f"/platform-cases/?page_size={count}").json()["results"]]


def own(api: Api, title: str = "A text") -> str:
    return str(api.post("/cases/create/", {"title": title, "case_type": "text"}).json()["id"])


def attach(api: Api, slug: str, *cases: Any) -> Any:
    return api.post(f"/assessments/{slug}/cases/attach/", {"cases": [as_place(one) for one in cases]})


def replace(api: Api, slug: str, *cases: Any) -> Any:
    return api.put(f"/assessments/{slug}/cases/replace/", {"cases": [as_place(one) for one in cases]})


def as_place(case: Any) -> dict[str, Any]:
    return {"case_id": case} if isinstance(case, str) else case


def listed(api: Api, slug: str) -> list[dict[str, Any]]:
    shown = api.get(f"/assessments/{slug}/cases/?page_size=100").json()["results"]
    assert api.get(f"/assessments/{slug}/").json()["case_count"] == len(shown)
    return list(shown)


def ids(rows: list[dict[str, Any]]) -> list[str]:
    return [row["id"] for row in rows]


def test_a_case_is_attached_with_its_place(tenant: Tenant, platform: list[str]) -> None:
    slug = tenant.live.assessment()["slug"]
    [row] = attach(
        tenant.live, slug, {"case_id": platform[0], "order": 3, "weight": 1.5, "time_limit_minutes": 9}
    ).json()
    assert (row["id"], row["order"], row["weight"], row["time_limit_minutes"]) == (platform[0], 3, 1.5, 9)
    assert row["source"] == "platform"
    assert listed(tenant.live, slug) == [row]


@pytest.mark.parametrize(("given", "kept"), [("2.5", 2.5), (2, 2), ("1000", 1000), (0.126, 0.13)])
def test_a_weight_may_be_a_number_or_a_decimal_string(
    tenant: Tenant, platform: list[str], given: object, kept: float
) -> None:
    slug = tenant.live.assessment()["slug"]
    [row] = attach(tenant.live, slug, {"case_id": platform[0], "weight": given}).json()
    assert row["weight"] == kept
    assert listed(tenant.live, slug) == [row]


@pytest.mark.parametrize("given", ["1001", "-1", "a", "1e2", 1000.5, None, True, "1.255"])
def test_any_other_weight_is_refused(tenant: Tenant, platform: list[str], given: object) -> None:
    at = f"/assessments/{tenant.live.assessment()['slug']}/cases/attach/"
    error = refusal(tenant.live.post(at, {"case_id": platform[0], "weight": given}), 400, "VALIDATION_ERROR")
    assert {one["pointer"] for one in error["details"]["fields"]} == {"/weight"}


def test_one_case_may_stand_at_the_top_level(tenant: Tenant, platform: list[str]) -> None:
    slug = tenant.live.assessment()["slug"]
    at = f"/assessments/{slug}/cases/attach/"
    [row] = tenant.live.post(at, {"case_id": platform[0], "weight": 2}).json()
    assert (row["order"], row["weight"]) == (0, 2)
    mine = own(tenant.live)
    # Platform is the default here too.
    refusal(tenant.live.post(at, {"case_id": mine}), 404, "CASE_NOT_FOUND")
    [row] = tenant.live.post(at, {"case_id": mine, "source": "org"}).json()
    assert (row["source"], row["order"]) == ("org", 1)


@pytest.mark.parametrize("body", [{}, {"cases": []}, {"order": 1}, {"cases": [], "case_id": str(uuid4())},
                                  {"cases": [{"case_id": str(uuid4())}], "case_id": str(uuid4())}])  # fmt: skip
def test_neither_or_both_forms_are_refused(tenant: Tenant, body: dict) -> None:
    slug = tenant.live.assessment()["slug"]
    assert faults(tenant.live.post(f"/assessments/{slug}/cases/attach/", body))


def test_cases_come_after_the_last_one_unless_told_otherwise(tenant: Tenant, platform: list[str]) -> None:
    slug, [a, b, c, d, e, f, *_] = tenant.live.assessment()["slug"], platform
    attach(tenant.live, slug, a, {"case_id": b, "order": 10}, c)
    attach(tenant.live, slug, d, {"case_id": e, "order": 0})
    assert [(row["id"], row["order"]) for row in listed(tenant.live, slug)] == [
        (a, 0),
        (e, 0),
        (b, 10),
        (c, 11),
        (d, 12),
    ]
    attach(tenant.live, slug, {"case_id": f, "order": 32_767}, platform[6])
    assert ids(listed(tenant.live, slug))[-2:] == [f, platform[6]]


def test_what_is_attached_already_is_skipped(tenant: Tenant, platform: list[str]) -> None:
    slug, [a, b, c, *_] = tenant.live.assessment()["slug"], platform
    attach(tenant.live, slug, a)
    answer = attach(tenant.live, slug, b, a, {"case_id": b, "weight": 9}, c, b)
    assert answer.status_code == 201
    assert [(row["id"], row["weight"]) for row in answer.json()] == [(b, 1), (c, 1)]
    again = attach(tenant.live, slug, a, b, c)
    assert (again.status_code, again.json()) == (201, [])
    assert ids(listed(tenant.live, slug)) == [a, b, c]


def test_a_case_that_is_not_there_refuses_them_all(
    tenant: Tenant, other: Tenant, platform: list[str]
) -> None:
    slug = tenant.live.assessment()["slug"]
    deleted = own(tenant.live)
    tenant.live.delete(f"/cases/{deleted}/")
    strangers = [own(other.live), own(tenant.test), deleted, str(uuid4())]
    for stranger in strangers:
        for ask in (attach, replace):
            answer = ask(tenant.live, slug, platform[0], {"case_id": stranger, "source": "org"})
            assert refusal(answer, 404, "CASE_NOT_FOUND")["details"]["case_id"] == stranger
    for case, source in ((platform[0], "org"), (own(tenant.live), "platform")):
        refusal(attach(tenant.live, slug, {"case_id": case, "source": source}), 404, "CASE_NOT_FOUND")
    assert listed(tenant.live, slug) == []


def test_replacing_makes_the_full_set(tenant: Tenant, platform: list[str]) -> None:
    slug, [a, b, c, d, *_] = tenant.live.assessment()["slug"], platform
    attach(tenant.live, slug, a, b, c)
    answer = replace(tenant.live, slug, c, {"case_id": d, "weight": 2}, a, c)
    assert (answer.status_code, ids(answer.json())) == (200, [c, d, a])
    assert listed(tenant.live, slug) == answer.json()
    assert replace(tenant.live, slug).json() == listed(tenant.live, slug) == []
    changed = tenant.live.patch(f"/assessments/{slug}/update/", {"cases": [{"case_id": b}]}).json()
    assert changed["case_count"] == 1
    assert ids(listed(tenant.live, slug)) == [b]


def test_the_full_set_may_be_one_case_at_the_top_level(tenant: Tenant, platform: list[str]) -> None:
    slug = tenant.live.assessment()["slug"]
    attach(tenant.live, slug, *platform[:2])
    answer = tenant.live.put(f"/assessments/{slug}/cases/replace/", {"case_id": platform[5], "weight": 2})
    assert [(row["id"], row["weight"]) for row in answer.json()] == [(platform[5], 2.0)]
    assert ids(listed(tenant.live, slug)) == [platform[5]]


def test_one_case_is_removed(tenant: Tenant, platform: list[str]) -> None:
    slug, second = tenant.live.assessment()["slug"], tenant.live.assessment()["slug"]
    rows = attach(tenant.live, slug, *platform[:3]).json()
    at = f"/cases/{rows[1]['assessment_case_id']}/"
    refusal(tenant.live.delete(f"/assessments/{second}{at}"), 404, "NOT_FOUND")
    assert tenant.live.delete(f"/assessments/{slug}{at}").status_code == 204
    assert ids(listed(tenant.live, slug)) == [platform[0], platform[2]]
    refusal(tenant.live.delete(f"/assessments/{slug}{at}"), 404, "NOT_FOUND")
    [back] = attach(tenant.live, slug, platform[1]).json()
    assert back["order"] == 3


def test_once_a_candidate_has_started_the_cases_stand(tenant: Tenant, platform: list[str]) -> None:
    slug = tenant.live.assessment()["slug"]
    [row] = attach(tenant.live, slug, platform[0]).json()
    token = tenant.live.invitation(slug)["invite_token"]
    assert tenant.http.post(f"/api/v1/candidate/invites/{token}/start/").status_code == 200
    for answer in (
        attach(tenant.live, slug, platform[1]),
        attach(tenant.live, slug, platform[0]),
        replace(tenant.live, slug, platform[1]),
        replace(tenant.live, slug),
        tenant.live.patch(f"/assessments/{slug}/update/", {"cases": [], "title": "Changed"}),
        tenant.live.delete(f"/assessments/{slug}/cases/{row['assessment_case_id']}/"),
    ):
        refusal(answer, 409, "CASES_LOCKED")
    assert tenant.live.get(f"/assessments/{slug}/").json()["title"] == "Backend engineer"
    assert listed(tenant.live, slug) == [row]
    assert tenant.live.patch(f"/assessments/{slug}/update/", {"title": "Changed"}).status_code == 200
    # What does not exist is told before what may not change.
    refusal(attach(tenant.live, slug, str(uuid4())), 404, "CASE_NOT_FOUND")
    refusal(replace(tenant.live, slug, str(uuid4())), 404, "CASE_NOT_FOUND")
    refusal(tenant.live.delete(f"/assessments/{slug}/cases/{uuid4()}/"), 404, "NOT_FOUND")


def test_a_plan_has_so_many_cases_in_one_assessment(http: TestClient) -> None:
    owner = tenant(http, "starter")
    everything = catalogue(owner.live, 40)
    body = {"title": "X", "cases": [{"case_id": one} for one in everything[:31]]}
    details = refusal(owner.live.post("/assessments/create/", body), 403, "LIMIT_REACHED")["details"]
    assert (details["limit"], details["used"]) == (30, 0)
    slug = owner.live.assessment()["slug"]
    assert attach(owner.live, slug, *everything[:29]).status_code == 201
    changed = owner.live.patch(f"/assessments/{slug}/update/", {"cases": body["cases"]})
    for answer in (
        attach(owner.live, slug, *everything[29:31]),
        replace(owner.live, slug, *everything[:31]),
        changed,
    ):
        details = refusal(answer, 403, "LIMIT_REACHED")["details"]
        assert (details["limit"], details["used"]) == (30, 29)
    assert attach(owner.live, slug, *everything[:30]).status_code == 201  # those that are there cost nothing
    refusal(attach(owner.live, slug, everything[30]), 403, "LIMIT_REACHED")
    assert len(listed(owner.live, slug)) == 30


def test_parallel_attaches_of_the_same_cases_attach_each_once(tenant: Tenant, platform: list[str]) -> None:
    slug = tenant.live.assessment()["slug"]

    def turn(number: int) -> list[str]:
        answer = attach(tenant.live, slug, *(platform[:5] if number % 2 else platform[4::-1]))
        assert answer.status_code == 201, answer.text
        return ids(answer.json())

    with ThreadPoolExecutor(8) as pool:
        made = [one for rows in pool.map(turn, range(8)) for one in rows]
    assert sorted(made) == sorted(platform[:5])
    assert sorted(ids(listed(tenant.live, slug))) == sorted(platform[:5])


def test_parallel_replacements_leave_one_whole_set(tenant: Tenant, platform: list[str]) -> None:
    slug = tenant.live.assessment()["slug"]
    sets = [platform[:3], platform[2:7], platform[5:6]]
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda number: replace(tenant.live, slug, *sets[number % 3]), range(6)))
    assert {answer.status_code for answer in answers} == {200}
    assert ids(listed(tenant.live, slug)) in sets


def test_pages_of_cases_come_in_their_order(tenant: Tenant, platform: list[str]) -> None:
    slug = tenant.live.assessment()["slug"]
    places = [{"case_id": one, "order": number // 3} for number, one in enumerate(reversed(platform[:10]))]
    attach(tenant.live, slug, *places)
    at, seen = f"/assessments/{slug}/cases/?page_size=4", []
    while at:
        page = tenant.live.get(at).json()
        seen += page["results"]
        at = page["next"] and page["next"].partition("/api/v1/public")[2]
    assert seen == listed(tenant.live, slug)
    assert [row["order"] for row in seen] == sorted(row["order"] for row in seen)
    assert len(seen) == 10


def test_a_deleted_case_stays_where_it_is(tenant: Tenant) -> None:
    slug, case = tenant.live.assessment()["slug"], own(tenant.live, "Kept")
    attach(tenant.live, slug, {"case_id": case, "source": "org"})
    tenant.live.delete(f"/cases/{case}/")
    assert [row["title"] for row in listed(tenant.live, slug)] == ["Kept"]
