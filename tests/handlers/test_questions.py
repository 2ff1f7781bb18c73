"""What jobs ask, what they rule out, and what they look for, through the API."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest

from tests.api import Api, Tenant
from tests.probes import faults, refusal

CHOICES = [{"value": "de", "label": "German"}, {"value": "en", "label": "English"}]
FIELD: dict[str, Any] = {
    "key": "language", "label": "Which language?", "field_type": "single_select", "placeholder": "…",
    "help_text": "One.", "is_required": True, "sort_order": 7, "is_active": False,
    "options": [{**one, "sort_order": 1} for one in CHOICES],
}  # fmt: skip


@pytest.fixture
def job(tenant: Tenant) -> str:
    return f"/jobs/{tenant.live.job()['slug']}"


def ask(api: Api, job: str, **field: Any) -> dict[str, Any]:
    made = api.post(f"{job}/fields/", {"label": "How many years?", "field_type": "number", **field})
    assert made.status_code == 201, made.text
    return dict(made.json())


def listed(api: Api, path: str) -> list[dict[str, Any]]:
    return list(api.get(f"{path}/").json()["results"])


# --- Questions


def test_a_label_is_enough_for_a_question(tenant: Tenant, job: str) -> None:
    made = tenant.live.post(f"{job}/fields/", {"label": "Wie viele Jahre Übung?"}).json()
    assert made.items() >= {
        "key": "wie_viele_jahre_ubung", "field_type": "short_text", "placeholder": "", "help_text": "",
        "is_required": False, "sort_order": 0, "is_active": True, "options": [],
    }.items()  # fmt: skip
    again = tenant.live.post(f"{job}/fields/", {"label": "Wie viele Jahre Übung?"}).json()
    assert (again["key"], again["sort_order"]) == ("wie_viele_jahre_ubung_2", 1)
    assert listed(tenant.live, f"{job}/fields") == [made, again]
    assert tenant.live.get(f"{job}/").json()["application_fields"] == [made, again]


def test_everything_of_a_question_is_kept_and_can_be_changed(tenant: Tenant, job: str) -> None:
    made = ask(tenant.live, job, **FIELD)
    assert made.items() >= FIELD.items()
    second = ask(tenant.live, job)
    path = f"{job}/fields/{second['id']}/"
    changed = tenant.live.patch(path, {**FIELD, "key": "other"}).json()
    assert changed.items() >= {**FIELD, "key": "other"}.items()
    assert changed["id"] == second["id"]
    ordered = tenant.live.patch(
        path, {"sort_order": 0, "options": [{**CHOICES[0], "sort_order": 9}, CHOICES[1]]}
    ).json()
    assert [one["value"] for one in ordered["options"]] == ["en", "de"]
    assert [one["key"] for one in listed(tenant.live, f"{job}/fields")] == ["other", "language"]


@pytest.mark.parametrize(("field", "pointer"), [
    ({"label": ""}, "/label"), ({"label": "x" * 256}, "/label"), ({"key": "two words"}, "/key"),
    ({"key": "x" * 81}, "/key"),
    ({"key": ""}, "/key"), ({"field_type": "date"}, "/field_type"), ({"field_type": "single_select"}, "/options"),
    ({"field_type": "multi_select", "options": [CHOICES[0], CHOICES[0]]}, "/options"),
    ({"field_type": "number", "options": CHOICES}, "/options"), ({"options": [{"value": "x"}]}, "/options/0/label"),
    ({"sort_order": 32768}, "/sort_order"), ({"sort_order": -1}, "/sort_order"), ({"id": str(uuid4())}, "/id"),
])  # fmt: skip
def test_a_bad_question_is_refused_in_its_place(tenant: Tenant, job: str, field: dict, pointer: str) -> None:
    assert pointer in faults(tenant.live.post(f"{job}/fields/", {"label": "Fine", **field}))
    assert listed(tenant.live, f"{job}/fields") == []


def test_a_key_stands_for_one_question_of_a_job(tenant: Tenant, job: str) -> None:
    ask(tenant.live, job, key="years")
    refusal(tenant.live.post(f"{job}/fields/", {"key": "years", "label": "X"}), 409, "DUPLICATE_KEY")
    other = ask(tenant.live, job, key="months")
    refusal(tenant.live.patch(f"{job}/fields/{other['id']}/", {"key": "years"}), 409, "DUPLICATE_KEY")
    assert tenant.live.patch(f"{job}/fields/{other['id']}/", {"key": "months"}).status_code == 200
    second = f"/jobs/{tenant.live.job()['slug']}"
    assert ask(tenant.live, second, key="years")["key"] == "years"
    refusal(tenant.live.patch(f"{second}/fields/{other['id']}/", {"label": "X"}), 404, "NOT_FOUND")


def test_one_key_many_times_at_once_makes_one_question(tenant: Tenant, job: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(
            pool.map(
                lambda _: tenant.live.post(f"{job}/fields/", {"key": "k", "label": "X"}).status_code, range(8)
            )
        )
    assert sorted(answers) == [201] + [409] * 7


def test_a_job_asks_at_most_a_hundred_questions(tenant: Tenant, job: str) -> None:
    enterprise = tenant.live
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: ask(enterprise, job, key=f"k{number}"), range(100)))
    assert "/label" in faults(enterprise.post(f"{job}/fields/", {"label": "One more"}))
    assert len(enterprise.get(f"{job}/").json()["application_fields"]) == 100


def test_a_deleted_question_takes_its_rules_along(tenant: Tenant, job: str) -> None:
    field = ask(tenant.live, job, key="years")
    kept = ask(tenant.live, job, key="months")
    rules = [{"field_key": key, "operator": "gte", "value": 1} for key in ("years", "months")]
    tenant.live.put(f"{job}/knockout-rules/replace/", {"rules": rules})
    assert tenant.live.delete(f"{job}/fields/{field['id']}/").status_code == 204
    refusal(tenant.live.delete(f"{job}/fields/{field['id']}/"), 404, "NOT_FOUND")
    assert [one["field_key"] for one in listed(tenant.live, f"{job}/knockout-rules")] == ["months"]
    assert listed(tenant.live, f"{job}/fields") == [kept]


# --- Knockout rules


def test_rules_are_replaced_as_a_whole_in_their_order(tenant: Tenant, job: str) -> None:
    ask(tenant.live, job, key="years")
    ask(tenant.live, job, key="language", field_type="single_select", options=CHOICES)
    given = [
        {"field_key": "years", "operator": "gte", "value": 3, "on_fail": "hold", "is_active": False, "sort_order": 5},
        {"field_key": "language", "operator": "in", "value": ["de", "en"]},
        {"field_key": "years", "operator": "truthy"},
    ]  # fmt: skip
    answer = tenant.live.put(f"{job}/knockout-rules/replace/", {"rules": given}).json()
    assert [one["sort_order"] for one in answer] == [1, 2, 5]
    assert answer[2].items() >= given[0].items()
    assert answer[0].items() >= {**given[1], "on_fail": "reject", "is_active": True}.items()
    assert answer[1]["value"] is None
    assert listed(tenant.live, f"{job}/knockout-rules") == answer
    page = tenant.live.get(f"{job}/knockout-rules/?page_size=2").json()
    rest = tenant.live.get(page["next"].partition("/api/v1/public")[2]).json()
    assert page["results"] + rest["results"] == answer
    assert tenant.live.put(f"{job}/knockout-rules/replace/", {"rules": []}).json() == []
    assert listed(tenant.live, f"{job}/knockout-rules") == []


@pytest.mark.parametrize(("rule", "place"), [
    ({"field_key": "nothing", "operator": "eq", "value": 1}, "field_key"),
    ({"operator": "eq", "value": 1}, "field_key"),
    ({"field_key": "years", "operator": "like", "value": 1}, "operator"),
    ({"field_key": "years", "value": 1}, "operator"),
    ({"field_key": "years", "operator": "gte", "value": "many"}, "value"),
    ({"field_key": "years", "operator": "gte"}, "value"),
    ({"field_key": "years", "operator": "in", "value": 3}, "value"),
    ({"field_key": "language", "operator": "gte", "value": "de"}, "operator"),
    ({"field_key": "language", "operator": "eq", "value": "fr"}, "value"),
    ({"field_key": "years", "operator": "eq", "value": 1, "on_fail": "cry"}, "on_fail"),
])  # fmt: skip
def test_a_rule_that_cannot_be_measured_is_refused(tenant: Tenant, job: str, rule: dict, place: str) -> None:
    ask(tenant.live, job, key="years")
    ask(tenant.live, job, key="language", field_type="single_select", options=CHOICES)
    fine = {"field_key": "years", "operator": "gte", "value": 1}
    answer = tenant.live.put(f"{job}/knockout-rules/replace/", {"rules": [fine, rule]})
    assert f"/rules/1/{place}" in faults(answer)
    assert listed(tenant.live, f"{job}/knockout-rules") == []


def test_a_question_keeps_to_its_rules(tenant: Tenant, job: str) -> None:
    field = ask(tenant.live, job, key="years")
    rules = {"rules": [{"field_key": "years", "operator": "gte", "value": 3}]}
    tenant.live.put(f"{job}/knockout-rules/replace/", rules)
    tenant.live.put(
        f"{job}/requirements/replace/",
        {"requirements": [{"kind": "years", "min_years": 1, "field": "years"}]},
    )
    path = f"{job}/fields/{field['id']}/"
    assert "/field_type" in faults(tenant.live.patch(path, {"field_type": "boolean"}))
    assert listed(tenant.live, f"{job}/fields")[0]["field_type"] == "number"
    assert tenant.live.patch(path, {"key": "jahre"}).status_code == 200
    assert listed(tenant.live, f"{job}/knockout-rules")[0]["field_key"] == "jahre"
    assert listed(tenant.live, f"{job}/requirements")[0]["field"] == "jahre"


def test_options_that_a_rule_needs_are_refused_in_their_place(tenant: Tenant, job: str) -> None:
    field = ask(tenant.live, job, key="language", field_type="single_select", options=CHOICES)
    rules = {"rules": [{"field_key": "language", "operator": "eq", "value": "de"}]}
    assert tenant.live.put(f"{job}/knockout-rules/replace/", rules).status_code == 200
    path = f"{job}/fields/{field['id']}/"
    assert set(faults(tenant.live.patch(path, {"options": CHOICES[1:]}))) == {"/options"}
    number = {"field_type": "number", "options": []}
    assert tenant.live.patch(path, {"options": CHOICES[:1]}).status_code == 200
    assert set(faults(tenant.live.patch(path, number))) == {"/field_type"}


# --- Requirements


def test_requirements_are_replaced_as_a_whole_in_both_forms(tenant: Tenant, job: str) -> None:
    ask(tenant.live, job, key="years")
    given = [
        {"kind": "skill", "importance": "should", "key": "python", "label": "Python", "weight": 3, "min_years": 2,
         "values": ["Python", "Django"], "sort_order": 9, "is_active": False},
        {"kind": "must", "field": "education", "label": "A degree", "values": ["bachelor"]},
        {"kind": "years", "field": "years", "min_years": 3, "importance": None},
    ]  # fmt: skip
    answer = tenant.live.put(f"{job}/requirements/replace/", {"requirements": given}).json()
    assert [one["sort_order"] for one in answer] == [1, 2, 9]
    assert answer[2].items() >= given[0].items()
    assert (
        answer[0].items() >= {"kind": "education", "importance": "must", "field": None, "weight": 1}.items()
    )
    assert answer[1].items() >= {"kind": "years", "field": "years", "min_years": 3, "is_active": True}.items()
    assert listed(tenant.live, f"{job}/requirements") == answer
    assert tenant.live.put(f"{job}/requirements/replace/", {"requirements": []}).json() == []
    assert listed(tenant.live, f"{job}/requirements") == []


@pytest.mark.parametrize(("requirement", "pointer"), [
    ({}, "kind"), ({"kind": "magic"}, "kind"), ({"kind": "skill"}, "values"),
    ({"kind": "must", "label": "X"}, "field"), ({"kind": "must", "field": "magic", "label": "X"}, "field"),
    ({"kind": "must", "field": "skill", "importance": "should", "label": "X"}, "importance"),
    ({"kind": "skill", "label": "X", "weight": -1}, "weight"),
    ({"kind": "skill", "label": "X", "weight": 32768}, "weight"),
    ({"kind": "skill", "label": "X", "min_years": 32768}, "min_years"),
    ({"kind": "skill", "label": "X", "key": "a b"}, "key"),
    ({"kind": "skill", "label": "X", "key": "k" * 65}, "key"), ({"kind": "skill", "label": "x" * 201}, "label"),
    ({"kind": "skill", "label": "X", "importance": "could"}, "importance"),
    ({"kind": "skill", "label": "X", "id": "1"}, "id"),
    ({"kind": "custom", "label": "X", "field": "nothing"}, "field"),
    ({"kind": "skill", "key": "fine", "label": "X"}, "key"),
])  # fmt: skip
def test_a_bad_requirement_is_refused_in_its_place(
    tenant: Tenant, job: str, requirement: dict, pointer: str
) -> None:
    fine = {"kind": "skill", "key": "fine", "label": "Fine"}
    answer = tenant.live.put(f"{job}/requirements/replace/", {"requirements": [fine, requirement]})
    assert f"/requirements/1/{pointer}" in faults(answer)
    assert listed(tenant.live, f"{job}/requirements") == []
