"""The catalogue and the organisation's own cases through the API."""

from typing import Any
from uuid import uuid4

import pytest

from gateways import sandbox
from gateways.languages import LANGUAGES
from tests.api import Api, Tenant
from tests.probes import faults, refusal

MCQ: dict[str, Any] = {
    "case_type": "mcq",
    "options": [{"id": "a", "text": "Yes", "is_correct": True}, {"id": "b", "text": "No"}],
}
NUMERIC: dict[str, Any] = {"case_type": "numeric", "answer_number": "42.50"}
CODING: dict[str, Any] = {
    "case_type": "coding",
    "language": "python",
    "test_cases": [{"expected_output": "1"}],
}
TEXT: dict[str, Any] = {"case_type": "text"}
KINDS = {"mcq": MCQ, "numeric": NUMERIC, "coding": CODING, "text": TEXT}


def create(api: Api, **body: Any) -> Any:
    return api.post("/cases/create/", {"title": "A case", **body})


def made(api: Api, **body: Any) -> dict[str, Any]:
    answer = create(api, **body)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def change(api: Api, id: str, **body: Any) -> Any:
    return api.patch(f"/cases/{id}/update/", body)


def seen(api: Api, id: str) -> dict[str, Any]:
    return {name: one for name, one in api.get(f"/cases/{id}/").json().items() if name != "meta"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_case_of_each_type_is_kept_with_its_defaults(tenant: Tenant, kind: str) -> None:
    case = made(tenant.live, **KINDS[kind])
    assert seen(tenant.live, case["id"]) == case
    assert case.items() >= {
        "case_type": kind, "difficulty": "medium", "points": 10, "time_limit_minutes": None, "description": "",
        "allow_multiple": False, "tags": [], "rubric": "", "livemode": True, "accepted_answers": [],
    }.items()  # fmt: skip
    if kind == "mcq":
        assert case["options"][1] == {"id": "b", "text": "No", "is_correct": False}
    if kind == "coding":
        assert case["test_cases"] == [
            {"input": "", "expected_output": "1", "weight": 1, "hidden": False, "check": ""}
        ]


@pytest.mark.parametrize(("kind", "body", "pointer"), [
    ("mcq", {"options": []}, "/options"), ("mcq", {"options": MCQ["options"][:1]}, "/options"),
    ("mcq", {"options": [{"id": "a", "text": "x"}, {"id": "b", "text": "y"}]}, "/options"),
    ("mcq", {"options": [{"id": "a", "text": "x", "is_correct": True}, {"id": "a", "text": "y"}]}, "/options"),
    ("mcq", {"options": [{"id": n, "text": "x", "is_correct": True} for n in "ab"]}, "/allow_multiple"),
    ("mcq", {"options": [{"id": "a"}, {"id": "b", "text": "x"}]}, "/options/0/text"),
    ("numeric", {"answer_number": None}, "/answer_number"), ("numeric", {"answer_number": "x"}, "/answer_number"),
    ("numeric", {"answer_number": 1e13}, "/answer_number"), ("numeric", {"answer_number": "1e3"}, "/answer_number"),
    ("numeric", {"tolerance": -1}, "/tolerance"), ("numeric", {"tolerance": "-0.5"}, "/tolerance"),
    ("coding", {"language": None}, "/language"), ("coding", {"language": "cobol"}, "/language"),
    ("coding", {"languages": ["javascript"]}, "/languages"), ("coding", {"languages": ["cobol"]}, "/languages/0"),
    ("coding", {"languages": ["python", "python"]}, "/languages"), ("text", {"languages": ["python"]}, "/languages"),
    ("coding", {"test_cases": []}, "/test_cases"), ("coding", {"test_cases": [{"weight": 0}]}, "/test_cases"),
    ("coding", {"test_cases": [{"check": "def check(a, b):\n  return True"}]}, "/test_cases/0/check"),
    ("coding", {"test_cases": [{}, {"check": "def check(:"}]}, "/test_cases/1/check"),
    ("coding", {"test_cases": [{"check": "lambda input, output, expected: True"}]}, "/test_cases/0/check"),
    ("coding", {"test_cases": [{"check": "(" * 9000}]}, "/test_cases/0/check"),
    ("coding", {"test_cases": [{"check": "x" * 20001}]}, "/test_cases/0/check"),
    ("coding", {"test_cases": [{"check": f"x = {n}{' ' * 10000}"} for n in range(2)]}, "/test_cases"),
    ("coding", {"test_cases": [{"weight": 1001}]}, "/test_cases/0/weight"), ("text", {"title": " "}, "/title"),
    ("text", {"title": "x" * 501}, "/title"), ("text", {"points": -1}, "/points"), ("text", {"points": 1001},
    "/points"),
    ("text", {"difficulty": "nightmare"}, "/difficulty"), ("text", {"case_type": "essay"}, "/case_type"),
    ("text", {"time_limit_minutes": 0}, "/time_limit_minutes"), ("text", {"tags": ["x"] * 21}, "/tags"),
    ("text", {"tags": ["x" * 65]}, "/tags/0"), ("text", {"case_number": 1}, "/case_number"),
])  # fmt: skip
def test_a_case_that_could_not_be_graded_is_refused(
    tenant: Tenant, kind: str, body: dict, pointer: str
) -> None:
    assert pointer in faults(create(tenant.live, **KINDS[kind] | body))
    case = made(tenant.live, **KINDS[kind])
    assert pointer in faults(change(tenant.live, case["id"], **body))
    assert seen(tenant.live, case["id"]) == case


def test_a_title_and_a_type_are_required(tenant: Tenant) -> None:
    assert set(faults(tenant.live.post("/cases/create/", {}))) == {"/title", "/case_type"}


@pytest.mark.parametrize(("given", "shown"), [
    ("42.50", "42.50"), (42.5, "42.5"), (-1, "-1"), ("0", "0"), (0.1 + 0.2, "0.300000000"), (1e-300, "0.000000000"),
    (1e12, "1000000000000.0"), ("123456789012.123456789", "123456789012.123456789"), (5e-324, "0.000000000"),
])  # fmt: skip
def test_a_number_is_kept_as_it_was_written(tenant: Tenant, given: Any, shown: str) -> None:
    case = made(tenant.live, **NUMERIC | {"answer_number": given, "tolerance": 0})
    assert case["answer_number"] == shown
    assert seen(tenant.live, case["id"])["answer_number"] == shown


def test_only_what_is_sent_changes_and_what_it_becomes_must_be_a_case(tenant: Tenant) -> None:
    case = made(tenant.live, **MCQ, tags=["a"])
    changed = change(tenant.live, case["id"], points=3, tags=[]).json()
    assert {k: v for k, v in changed.items() if k != "updated_at"} == {
        **{k: v for k, v in case.items() if k != "updated_at"}, "points": 3, "tags": [],
    }  # fmt: skip
    assert changed["updated_at"] > case["updated_at"]
    assert "/answer_number" in faults(change(tenant.live, case["id"], case_type="numeric"))
    assert (
        change(tenant.live, case["id"], case_type="numeric", answer_number=1).json()["case_type"] == "numeric"
    )
    refusal(change(tenant.live, str(uuid4()), points=1), 404, "NOT_FOUND")


@pytest.mark.parametrize(("given", "shown"), [("0.5", 0.5), ("1000.00", 1000.0), (2, 2.0), (0.25, 0.25)])
def test_a_tests_weight_may_be_a_number_or_a_decimal_string(tenant: Tenant, given: Any, shown: float) -> None:
    test = {"input": "", "expected_output": "1", "weight": given}
    body = {"title": "Sum", "case_type": "coding", "language": "python", "test_cases": [test]}
    made = tenant.live.post("/cases/create/", body).json()
    assert made["test_cases"][0]["weight"] == shown
    changed = tenant.live.patch(f"/cases/{made['id']}/update/", {"test_cases": [test]}).json()
    assert changed["test_cases"] == made["test_cases"]


def test_a_check_function_is_kept_and_shown(tenant: Tenant) -> None:
    check = "def check(input, output, expected_output):\n    return True\n"
    tests = [{"expected_output": "1", "check": check}, {"expected_output": "2"}]
    case = made(tenant.live, title="Any", case_type="coding", language="python", test_cases=tests)
    assert [one["check"] for one in case["test_cases"]] == [check, ""]
    assert seen(tenant.live, case["id"]) == case


def test_a_deleted_case_is_gone_from_everywhere_but_what_has_it(tenant: Tenant) -> None:
    kept, gone = made(tenant.live, **TEXT), made(tenant.live, **TEXT)
    assert tenant.live.delete(f"/cases/{gone['id']}/").status_code == 204
    assert [one["id"] for one in tenant.live.get("/cases/").json()["results"]] == [kept["id"]]
    for answer in (tenant.live.get(f"/cases/{gone['id']}/"), tenant.live.delete(f"/cases/{gone['id']}/"),
                   change(tenant.live, gone["id"], points=1)):  # fmt: skip
        refusal(answer, 404, "NOT_FOUND")


def test_the_platforms_cases_are_nobodys_to_read_with_answers_or_change(tenant: Tenant) -> None:
    listed = tenant.live.get("/platform-cases/").json()["results"]
    assert set(listed[0]) == {
        "id",
        "case_number",
        "title",
        "difficulty",
        "case_type",
        "points",
        "track",
        "language",
    }
    for method in ("get", "delete"):
        refusal(getattr(tenant.live, method)(f"/cases/{listed[0]['id']}/"), 404, "NOT_FOUND")
    refusal(change(tenant.live, listed[0]["id"], points=1), 404, "NOT_FOUND")


def catalogue(api: Api, **query: Any) -> list[dict[str, Any]]:
    page, found = api.get("/platform-cases/", params={"page_size": 7, **query}).json(), []
    while True:
        found += page["results"]
        if page["next"] is None:
            return found
        page = api.get(page["next"].partition("/api/v1/public")[2]).json()


def test_the_catalogue_comes_by_number_in_pages_and_by_each_filter(tenant: Tenant) -> None:
    everything = catalogue(tenant.live)
    assert len(everything) >= 40
    assert len({one["track"] for one in everything}) >= 6
    assert [one["case_number"] for one in everything] == sorted(one["case_number"] for one in everything)
    for name in ("difficulty", "case_type", "track"):
        values = {one[name] for one in everything}
        parts = [catalogue(tenant.live, **{name: value}) for value in sorted(values)]
        assert all(len({one[name] for one in part}) == 1 for part in parts)
        assert sorted(one["case_number"] for part in parts for one in part) == [
            one["case_number"] for one in everything
        ]
    word = everything[0]["title"].split()[-1]
    assert catalogue(tenant.live, search=word.upper()) == [
        one for one in everything if word.lower() in one["title"].lower()
    ]
    assert catalogue(tenant.live, search="%") == [one for one in everything if "%" in one["title"]]
    assert catalogue(tenant.live, track="nothing") == []
    both = catalogue(tenant.live, case_type="mcq", difficulty="easy")
    assert both == [one for one in everything if (one["case_type"], one["difficulty"]) == ("mcq", "easy")]
    assert tenant.test.get("/platform-cases/?page_size=100").json()["results"] == everything[:100]


def test_the_catalogue_names_the_languages_that_run_here(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert set(tenant.live.get("/platform-cases/").json()["languages"]) <= set(LANGUAGES)
    monkeypatch.setattr(sandbox, "missing", lambda: tuple(LANGUAGES.keys() - {"sql", "python"}))
    assert tenant.live.get("/platform-cases/").json()["languages"] == ["python", "sql"]


def test_own_cases_come_newest_first_and_by_change(tenant: Tenant) -> None:
    first, second = made(tenant.live, **TEXT), made(tenant.live, **MCQ)
    assert [one["id"] for one in tenant.live.get("/cases/").json()["results"]] == [second["id"], first["id"]]
    changed = change(tenant.live, first["id"], points=1).json()
    found = tenant.live.get("/cases/", params={"updated_after": second["updated_at"]}).json()["results"]
    assert [one["id"] for one in found] == [changed["id"]]
    later = tenant.live.get("/cases/", params={"updated_after": "2100-01-01T00:00:00+05:30"}).json()
    assert later["results"] == []
