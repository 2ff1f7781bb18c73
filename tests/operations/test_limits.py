"""Every request is counted once against its own limit, told of it, and refused beyond it: every operation."""

import dataclasses

import httpx
import pytest
from starlette.testclient import TestClient

from app.http import limits as request_limits
from app.instance.settings import Settings
from rules.plans import EXTRA_CAPS, PLANS
from store.accounts import limits
from tests import api
from tests.api import Api
from tests.documents import Documented
from tests.operations.rows import Row, ask, at_home
from tests.operations.table.every import DOCUMENTED, ROWS, each
from tests.probes import refusal

Ways = tuple[TestClient, TestClient]
PLAN = "enterprise"


def counted(operation: Documented) -> bool:
    """Whether it is counted by all processes together."""
    return operation.definition.get("x-limit") != request_limits.HEALTH


def left(answer: httpx.Response) -> int:
    return int(answer.headers["X-RateLimit-Remaining"])


def standings(client: Api) -> dict[str, int]:
    """How much is left of each hour, after asking."""
    return {"reads": left(client.get("/org/")), "writes": left(client.patch("/org/", {}))}


def told_to_wait(answer: httpx.Response, limit: int) -> None:
    assert answer.status_code == 429, answer.text
    assert 0 < int(answer.headers["Retry-After"]) <= 3600
    assert [answer.headers[f"X-RateLimit-{name}"] for name in ("Limit", "Remaining")] == [str(limit), "0"]
    if answer.headers["content-type"] == "application/json":
        error = refusal(answer, 429, "RATE_LIMITED")
        assert error["details"]["retry_after_seconds"] == int(answer.headers["Retry-After"])


@each(lambda one: one.keyed and counted(one))
def test_a_request_counts_once_against_its_own_hour(
    operation: Documented, row: Row, http: TestClient, ways: Ways, monkeypatch: pytest.MonkeyPatch
) -> None:
    hour = "reads" if operation.method == "GET" else "writes"
    cap = operation.definition.get("x-limit")
    instead = bool(cap and cap.startswith("public_api_"))  # a throttle of its own
    for way in ways:
        owner = at_home(operation, api.tenant(http, PLAN))
        ids = row.state(owner.live)
        client = dataclasses.replace(owner.live, http=way)
        before = standings(client)
        answer = ask(client, operation, row, ids)
        assert answer.status_code == row.status, answer.text
        limit = EXTRA_CAPS[cap] if instead and cap else getattr(PLANS[PLAN], hour)
        assert int(answer.headers["X-RateLimit-Limit"]) == limit
        assert instead or left(answer) == before[hour] - 1
        spent = {name: 1 + (name == hour and not instead) for name in before}
        assert standings(client) == {name: one - spent[name] for name, one in before.items()}
        with monkeypatch.context() as patch:
            if cap:
                patch.setitem(EXTRA_CAPS, cap, 1)
                assert ask(client, operation, row, ids).status_code == 429
            if not instead:
                patch.setitem(PLANS, PLAN, dataclasses.replace(PLANS[PLAN], **{hour: 0}))
                told_to_wait(ask(client, operation, row, ids), 0)


@each(lambda one: not one.keyed and not one.by_session and counted(one))
def test_who_has_no_key_is_counted_by_address(
    operation: Documented, row: Row, http: TestClient, ways: Ways
) -> None:
    guides = DOCUMENTED["show_guides"], ROWS["show_guides"]
    limit = 1_000_000
    for way in ways:
        owner = at_home(operation, api.tenant(http, PLAN))
        ids = row.state(owner.live)
        client = dataclasses.replace(owner.live, http=way)
        before = left(ask(client, *guides, {}))
        answer = ask(client, operation, row, ids)
        assert answer.status_code == row.status, answer.text
        assert (left(answer), answer.headers["X-RateLimit-Limit"]) == (before - 1, str(limit))
        assert left(ask(client, *guides, {})) == before - 2
        request_limits.configure(0)
        try:
            told_to_wait(ask(client, operation, row, ids), 0)
        finally:
            request_limits.configure(limit)


@each(lambda one: not counted(one))
def test_what_load_balancers_ask_is_counted_in_the_process_whether_redis_is_there_or_not(
    operation: Documented, row: Row, ways: Ways, settings: Settings
) -> None:
    limit = 1_000_000
    for way in ways:
        client = Api(way, None)
        before = left(ask(client, operation, row, {}))
        limits.configure("redis://127.0.0.1:1/0")
        try:
            answer = ask(client, operation, row, {})
            assert (answer.status_code, left(answer)) == (row.status, before - 1)
            assert answer.headers["X-RateLimit-Limit"] == str(limit * request_limits.HEALTH_TIMES)
            request_limits.configure(0)
            told_to_wait(ask(client, operation, row, {}), 0)
        finally:
            request_limits.configure(limit)
            limits.configure(settings.redis_url)


@each(counted)
def test_without_the_limiter_everybody_is_served(
    operation: Documented, row: Row, http: TestClient, ways: Ways, settings: Settings
) -> None:
    for way in ways:
        owner = at_home(operation, api.tenant(http, PLAN))
        ids = row.state(owner.live)
        limits.configure("redis://127.0.0.1:1/0")
        try:
            answer = ask(dataclasses.replace(owner.live, http=way), operation, row, ids)
        finally:
            limits.configure(settings.redis_url)
        assert answer.status_code == row.status, answer.text
        assert answer.headers["X-RateLimit-Remaining"].isdigit()
