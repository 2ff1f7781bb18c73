"""The pages and what they are made of, as a browser asks for them."""

import gzip

import pytest
from starlette.testclient import TestClient

from handlers.pages import HEADERS
from schemas import static
from tests import asgi
from tests.api import Tenant
from tests.documents import Documented
from tests.operations import states
from tests.operations.rows import Row, ask
from tests.operations.table.every import each

ASKED = "utm_source=newsletter&fbclid=%E9&x=1&x=2"


def is_page(operation: Documented) -> bool:
    return operation.method == "GET" and operation.shows


@each(is_page)
def test_a_page_ignores_what_it_does_not_know(operation: Documented, row: Row, tenant: Tenant) -> None:
    ids = row.state(tenant.live)
    plain = ask(tenant.live, operation, row, ids)
    counted = ask(tenant.live, operation, row, ids, params=ASKED)
    assert (counted.status_code, plain.status_code) == (200, 200)


@each(is_page)
def test_a_page_is_compressed_for_who_takes_it(operation: Documented, row: Row, tenant: Tenant) -> None:
    answer = ask(
        tenant.live, operation, row, row.state(tenant.live), headers={"Accept-Encoding": "br, gzip;q=0.5"}
    )
    assert (answer.headers["content-encoding"], answer.headers["vary"]) == (
        "gzip",
        "Accept-Encoding, Accept-Language",
    )
    assert "<!doctype html>" in answer.text


@pytest.mark.parametrize(
    "path", ["/static/style.css", "/static/built-swagger-ui.js", "/api/v1/public/openapi.json"]
)
@pytest.mark.parametrize(
    ("taken", "compressed"),
    [
        ("gzip", True),
        ("*", True),
        ("deflate, gzip;q=0.1", True),
        ("identity", False),
        ("gzip;q=0", False),
        ("", False),
    ],
)
def test_what_is_the_same_for_everybody_is_compressed_for_who_takes_it(
    http: TestClient, path: str, taken: str, compressed: bool
) -> None:
    answer = asgi.send(http, "GET", path, ("Accept-Encoding", taken))
    assert answer.headers.get("content-encoding") == ("gzip" if compressed else None)
    assert answer.headers["vary"] == "Accept-Encoding"
    assert int(answer.headers["content-length"]) == len(answer.body)
    if compressed:
        assert len(answer.body) < len(gzip.decompress(answer.body)) / 2
    again = http.get(path, headers={"Accept-Encoding": taken, "If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_answers_of_the_api_are_not_compressed(tenant: Tenant) -> None:
    # Beside a secret they may hold what a stranger chose, whose length then tells of the secret.
    answer = tenant.live.get("/platform-cases/", headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in answer.headers


def test_everything_that_pages_are_made_of_is_served(http: TestClient) -> None:
    for address in static._files():
        answer = http.get(address)
        assert (answer.status_code, answer.headers["x-content-type-options"]) == (200, "nosniff")
        head = http.head(address)
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-length"] == answer.headers["content-length"]


def test_the_first_page_leads_to_reference_guides_and_careers(http: TestClient, tenant: Tenant) -> None:
    slug = tenant.organisation.slug
    assert f"/careers/{slug}/" not in http.get("/").text
    tenant.test.job(published=True)
    assert f"/careers/{slug}/" not in http.get("/").text
    tenant.live.job(published=True)
    page = http.get("/").text
    for address in ("/docs/", "/docs/guides/", "/docs/api-changelog/", f"/careers/{slug}/"):
        assert f'href="{address}"' in page
        assert http.get(address).status_code == 200


def test_an_offers_page_is_held_to_the_policy_of_the_others_in_each_state(tenant: Tenant) -> None:
    ids = states.a_sent_offer(tenant.live)
    http, path = tenant.http, f"/offer/{ids['token']}"
    told = {
        "read": http.get(path),
        "asked": http.get(path, params={"answer": "decline"}),
        "declined": http.post(path, data={"answer": "decline", "reason": "a\r\nb"}),
        "too late": http.post(path, data={"answer": "accept"}),
        "unknown": http.get("/offer/unknown"),
    }
    assert {name: one.status_code for name, one in told.items()} == {
        "read": 200, "asked": 200, "declined": 200, "too late": 400, "unknown": 404,
    }  # fmt: skip
    for answer in told.values():
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
        assert "<script" not in answer.text
    shown = tenant.live.get(f"/offers/{ids['offer_id']}/").json()
    assert (shown["status"], shown["decline_reason"]) == ("declined", "a\nb")


def test_a_form_that_is_refused_is_answered_with_a_page_also_to_who_takes_anything(tenant: Tenant) -> None:
    path = f"/offer/{states.a_sent_offer(tenant.live)['token']}"
    for body in ({"answer": ""}, {"answer": "maybe"}, {"answer": "accept", "colour": "blue"}):
        answer = tenant.http.post(path, data=body, headers={"Accept": "*/*"})
        assert (answer.status_code, "<h1>" in answer.text) == (400, True)
