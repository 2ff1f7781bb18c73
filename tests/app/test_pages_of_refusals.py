"""Refusals as people and programs see them: one rule for every path."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from app.instance.settings import Settings
from store.database import engine
from store.database.waits import Waits

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
TOKEN = "x" * 43
PEOPLE = [
    f"/take/{TOKEN}",
    "/careers/nobody/",
    "/careers/nobody/nothing/",
    "/docs/errors/NOTHING/",
    "/nothing",
]
PROGRAMS = [
    "/api/v1/public/org/",
    f"/api/v1/candidate/invites/{TOKEN}/",
    "/api/nothing",
    "/api/v1/careers/nobody/jobs/",
]


@pytest.fixture(params=["well", "outage"])
def state(request: pytest.FixtureRequest, http: TestClient, settings: Settings) -> Iterator[str]:
    """The service as it should be, and without its database."""
    if request.param == "outage":
        engine.configure("postgresql://nobody@127.0.0.1:1/nothing")
    yield request.param
    engine.configure(
        settings.database_url, pool_size=settings.threads + 4, limits=Waits(statement=5, lock=2, idle=60)
    )


@pytest.mark.parametrize("path", [*PEOPLE, f"/join/{TOKEN}", f"/offer/{TOKEN}", f"/interview/{TOKEN}"])
def test_a_browser_gets_a_page(http: TestClient, state: str, path: str) -> None:
    for method in ("GET", "DELETE"):
        answer = http.request(method, path, headers={"Accept": BROWSER})
        assert answer.status_code in (404, 405, 503)
        assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
        assert "<h1>" in answer.text
        assert (answer.status_code == 503) <= ("Retry-After" in answer.headers)


@pytest.mark.parametrize("path", PEOPLE)
def test_a_program_that_asks_for_json_gets_json_there_too(http: TestClient, path: str) -> None:
    answer = http.delete(path, headers={"Accept": "application/json"})
    assert answer.status_code in (404, 405)
    assert answer.json()["error"]["code"] in ("NOT_FOUND", "METHOD_NOT_ALLOWED")


@pytest.mark.parametrize("path", PROGRAMS)
def test_a_path_of_the_api_answers_json_to_everybody(http: TestClient, state: str, path: str) -> None:
    answer = http.get(path, headers={"Accept": BROWSER})
    assert answer.status_code in (401, 404, 503)
    assert answer.json()["error"]["code"] in ("INVALID_API_KEY", "NOT_FOUND", "UNAVAILABLE")
