"""Every path: its methods, the headers of its pages, and the way from page to page of its lists."""

import dataclasses
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from app.http.application import create_app
from app.instance.settings import Settings
from tests import seen
from tests.api import Tenant, owner_session
from tests.client import Client
from tests.documents import Documented
from tests.operations.rows import PLACE, Row, ask
from tests.operations.table.every import each

PROTECTING = ("Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy", "X-Frame-Options")


def is_a_page(operation: Documented) -> bool:
    return any("text/html" in one.get("content", {}) for one in operation.definition["responses"].values())


@each(is_a_page)
def test_a_page_protects_who_reads_it(operation: Documented, row: Row, tenant: Tenant) -> None:
    page = ask(tenant.live, operation, row, row.state(tenant.live))
    lacks = [name for name in PROTECTING if name not in page.headers]
    # Other sites may put it into a frame: nothing can be sent from it.
    assert lacks == (["X-Frame-Options"] if operation.id == "show_embedded_jobs" else [])


def is_list(operation: Documented) -> bool:
    named = {one["name"] for one in operation.parameters}
    return "cursor" in named and not any(one["in"] == "path" for one in operation.parameters)


@each(is_list)
def test_a_list_is_walked_from_page_to_page_and_back(operation: Documented, row: Row, tenant: Tenant) -> None:
    for _ in range(2):
        row.state(tenant.live)
    key = {"Authorization": f"Bearer {tenant.live.key}"}
    headers = owner_session(tenant.live) if operation.by_session else key
    plain = dataclasses.replace(row, query={})
    whole = ask(tenant.live, operation, plain, {}, params={"page_size": 100}).json()["results"][:3]
    page = ask(tenant.live, operation, plain, {}, params={"page_size": 1}).json()
    walked = page["results"]
    while page["next"] and len(walked) < len(whole):
        page = tenant.live.http.get(page["next"], headers=headers).json()
        walked += page["results"]
    assert walked == whole
    assert len(whole) > 1
    back = tenant.live.http.get(page["previous"], headers=headers).json()
    assert back["results"] == [whole[-2]]


def has_a_bound(operation: Documented) -> bool:
    pages = operation.is_page
    return pages and "400" in operation.definition["responses"] and "{" in operation.path


@each(has_a_bound)
def test_a_page_whose_address_cannot_be_is_refused(operation: Documented, row: Row, tenant: Tenant) -> None:
    ids = dict.fromkeys(PLACE.findall(operation.path), "a" * 5000)
    plain = dataclasses.replace(row, query={})
    assert ask(tenant.live, operation, plain, ids).status_code == 400


@pytest.fixture(scope="module")
def hurried(settings: Settings) -> Iterator[TestClient]:
    """A service that gives a request no time at all."""
    app = create_app(dataclasses.replace(settings, request_seconds=-1.0))
    with Client(app, base_url=settings.base_url, raise_server_exceptions=False) as http:
        http.event_hooks["response"] = [seen.answer]
        yield http


@each(lambda operation: "503" in operation.definition["responses"] and operation.id != "get_readiness")
def test_what_is_not_begun_in_time_is_told_so(
    operation: Documented, row: Row, tenant: Tenant, hurried: TestClient
) -> None:
    ids = row.state(tenant.live)
    late = ask(dataclasses.replace(tenant.live, http=hurried, checked=False), operation, row, ids)
    assert late.status_code == 503
    assert int(late.headers["Retry-After"]) > 0
    assert ask(tenant.live, operation, row, ids).status_code == row.status
