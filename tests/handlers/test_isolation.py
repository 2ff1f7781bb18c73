"""Whatever belongs to another organisation or to the other mode is not there: every id of every operation."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.api import Api, Tenant, address
from tests.documents import Documented, operations

WITH_IDS = [one for one in operations("openapi").values() if "{" in one.path]


def an_assessment(api: Api) -> dict[str, str]:
    return {"slug": api.assessment()["slug"]}


def an_attached_case(api: Api) -> dict[str, str]:
    slug = api.assessment(cases=1)["slug"]
    row = api.get(f"/assessments/{slug}/cases/").json()["results"][0]
    return {"slug": slug, "assessment_case_id": row["assessment_case_id"]}


def an_invitation(api: Api) -> dict[str, str]:
    return {"token": api.invitation(api.assessment()["slug"])["invite_token"]}


def a_case(api: Api) -> dict[str, str]:
    return {"id": api.post("/cases/create/", {"title": "A text", "case_type": "text"}).json()["id"]}


def a_webhook(api: Api) -> dict[str, str]:
    hook = {"url": f"https://hooks.example.com/{address()}", "events": ["*"]}
    return {"id": api.post("/webhooks/create/", hook).json()["id"]}


def a_delivery(api: Api) -> dict[str, str]:
    return {**a_webhook(api), "delivery_id": "019a9b1e-7c1d-7a42-9f4e-5d0c8a3b2f10"}


def a_job(api: Api) -> dict[str, str]:
    return {"key": api.job()["slug"]}


def a_field(api: Api) -> dict[str, str]:
    key = a_job(api)["key"]
    asked = {"key": "years_python", "label": "How many years?", "field_type": "number"}
    return {"key": key, "field_id": api.post(f"/jobs/{key}/fields/", asked).json()["id"]}


def an_application(api: Api) -> dict[str, str]:
    return {"application_id": api.application(api.job(published=True)["slug"])["id"]}


def an_attachment(api: Api) -> dict[str, str]:
    form = {"job_slug": api.job(published=True)["slug"], "email": address(), "full_name": "Ada"}
    made = api.post("/applications/create/", data=form, files={"cv": ("cv.txt", b"Ada Lovelace, Python")})
    return {"application_id": made.json()["id"], "attachment_id": made.json()["attachments"][0]["id"]}


# What makes the ids of a path, by the path's first word and its parameters.
MAKERS: dict[tuple[str, frozenset[str]], Callable[[Api], dict[str, str]]] = {
    ("assessments", frozenset({"slug"})): an_assessment,
    ("assessments", frozenset({"slug", "assessment_case_id"})): an_attached_case,
    ("invites", frozenset({"token"})): an_invitation,
    ("cases", frozenset({"id"})): a_case,
    ("jobs", frozenset({"key"})): a_job,
    ("applications", frozenset({"application_id"})): an_application,
    ("applications", frozenset({"application_id", "attachment_id"})): an_attachment,
    ("jobs", frozenset({"key", "field_id"})): a_field,
    ("webhooks", frozenset({"id"})): a_webhook,
    ("webhooks", frozenset({"id", "delivery_id"})): a_delivery,
}


def maker(operation: Documented) -> Callable[[Api], dict[str, str]]:
    names = frozenset(one["name"] for one in operation.parameters if one["in"] == "path")
    return MAKERS[operation.path.split("/")[4], names]


def body(operation: Documented) -> dict[str, Any]:
    """The document's own example of the body, where there is one."""
    content = operation.definition.get("requestBody", {}).get("content", {}).get("application/json", {})
    return next((example["value"] for example in content.get("examples", {}).values()), {})


@pytest.mark.parametrize("operation", WITH_IDS, ids=lambda operation: operation.id)
def test_another_organisation_and_the_other_mode_see_404(
    operation: Documented, tenant: Tenant, other: Tenant
) -> None:
    ids = maker(operation)(tenant.live)
    path = operation.path.format(**ids).removeprefix("/api/v1/public")
    options = {"json": body(operation)} if "requestBody" in operation.definition else {}
    for stranger in (other.live, other.test, tenant.test):
        answer = stranger.request(operation.method, path, **options)
        assert answer.status_code == 404, answer.text
        assert answer.json()["error"]["code"] == "NOT_FOUND"


LISTS = [
    one
    for one in operations("openapi").values()
    if one.method == "GET" and "{" not in one.path and any(p["name"] == "cursor" for p in one.parameters)
]
SHARED = {"list_platform_cases"}  # the catalogue is everybody's


@pytest.mark.parametrize("operation", LISTS, ids=lambda operation: operation.id)
def test_lists_hold_nothing_of_others(operation: Documented, tenant: Tenant, other: Tenant) -> None:
    for make in MAKERS.values():
        make(tenant.live)
    path = operation.path.removeprefix("/api/v1/public")
    assert tenant.live.get(path).json()["results"]
    for stranger in (other.live, other.test, tenant.test):
        found = stranger.get(path).json()["results"]
        assert bool(found) == (operation.id in SHARED)
