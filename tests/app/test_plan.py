"""The compiled way and Connexion's chain answer alike: every operation, valid and invalid, status, body and headers."""

import dataclasses
import re
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.http.application import create_app
from app.instance.settings import Settings
from tests import api
from tests.api import Tenant
from tests.documents import Documented, operations
from tests.handlers.test_isolation import body, maker

PUBLIC = [one for one in operations("openapi").values() if "document" not in one.definition["tags"]]
CANDIDATE = [one for one in operations("candidate").values() if one.path.startswith("/api/")]
HEALTH = [one for one in operations("candidate").values() if "health" in one.definition["tags"]]

# What differs between two requests whichever way they go.
VOLATILE = [
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<id>"),
    (re.compile(r"(req|evt|test)_[0-9a-f]{32}"), r"<\1>"),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z"), "<moment>"),
    (re.compile(r"whsec_[A-Za-z0-9+/=]+"), "<secret>"),
    (re.compile(r"[A-Za-z0-9_-]{43}"), "<token>"),
    (re.compile(r"candidate-\d+@"), "<candidate>@"),
    (re.compile(r"Northwind \d+|northwind-\d+"), "<name>"),
    (re.compile(r'"(duration_ms|response_time_ms)":\d+'), r'"\1":0'),
    (re.compile(r"198\.51\.100\.\d"), "<address>"),
    (re.compile(r"cursor=[\w-]+"), "cursor=<cursor>"),
]
UNCOMPARED = {"x-request-id", "x-ratelimit-reset", "content-length", "date"}


@pytest.fixture(scope="module")
def ways(settings: Settings) -> Iterator[tuple[TestClient, TestClient]]:
    """Two applications on one database: the short way, and the chain alone."""
    clients = [
        TestClient(
            create_app(dataclasses.replace(settings, fast_path=fast)),
            base_url=settings.base_url,
            raise_server_exceptions=False,
            client=(f"198.51.100.{int(fast)}", 50000),  # candidates are limited by address
        )
        for fast in (True, False)
    ]
    with clients[0] as short, clients[1] as chain:
        yield short, chain


def shown(answer: Any) -> tuple[int, str, dict[str, str]]:
    text = answer.text
    for pattern, mask in VOLATILE:
        text = pattern.sub(mask, text)
    headers = {
        name.lower(): value for name, value in answer.headers.items() if name.lower() not in UNCOMPARED
    }
    return answer.status_code, text, headers


def public_requests(operation: Documented, tenant: Tenant) -> Iterator[tuple[str, dict[str, Any]]]:
    """Valid and invalid requests of one operation, each on the tenant's own resources."""
    names = [one["name"] for one in operation.parameters if one["in"] == "path"]
    path = operation.path.removeprefix("/api/v1/public")
    good = path.format(**maker(operation)(tenant.test)) if names else path
    bad_ids = path.format(**dict.fromkeys(names, "nothing-here"))
    missing = path.format(**dict.fromkeys(names, "019a9b1e-7c1d-7a42-9f4e-5d0c8a3b2fff"))
    whole = {"json": body(operation)} if "requestBody" in operation.definition else {}
    yield good, whole | {"headers": {"Authorization": "Bearer nonsense"}}
    yield good, whole | {"params": {"no_such_parameter": "1", "page_size": "0"}}
    yield missing, whole
    yield bad_ids, whole
    if whole:
        yield good, {"json": {"no_such_field": 1}}
        yield good, {"content": b'{"a": 1', "headers": {"Content-Type": "application/json"}}
        yield good, {"content": b"x", "headers": {"Content-Type": "text/plain"}}
        yield good, {"content": b"x" * (1 << 20 | 1), "headers": {"Content-Type": "application/json"}}
        yield good, {"content": b"", "headers": {"Content-Type": "application/json"}}
    yield good.rstrip("/"), whole
    yield good, whole  # a second time: what is done or gone


@pytest.mark.parametrize("operation", PUBLIC, ids=lambda operation: operation.id)
def test_public_operations_answer_alike(operation: Documented, ways: tuple[TestClient, TestClient]) -> None:
    answers = []
    for http in ways:
        tenant = api.tenant(http)
        answers.append(
            [
                shown(tenant.test.request(operation.method, path, **options))
                for path, options in public_requests(operation, tenant)
            ]
        )
    assert answers[0] == answers[1]


@pytest.mark.parametrize("operation", CANDIDATE, ids=lambda operation: operation.id)
def test_candidate_operations_answer_alike(
    operation: Documented, ways: tuple[TestClient, TestClient]
) -> None:
    answers = []
    for http in ways:
        owner = api.tenant(http)
        keyed = owner.test
        token = keyed.invitation(keyed.assessment(cases=3)["slug"])["invite_token"]
        started = http.post(f"/api/v1/candidate/invites/{token}/start/").json()
        ids = {"token": token, "assessment_case_id": started["cases"][0]["assessment_case_id"]}
        ids |= {"org_slug": owner.organisation.slug, "job_slug": owner.live.job(published=True)["slug"]}
        unknown = ids | {"token": "nothing-here", "org_slug": "nothing-here"}
        candidate = api.Api(http, None, "")
        options = {"json": body(operation)} if "requestBody" in operation.definition else {}
        answers.append(
            [
                shown(candidate.request(operation.method, operation.path.format(**given), **more))
                for given in (ids, unknown)
                for more in (options, {"json": {"no_such_field": 1}} if options else {}, options)
            ]
        )
    assert answers[0] == answers[1]


@pytest.mark.parametrize("operation", HEALTH, ids=lambda operation: operation.id)
def test_health_answers_alike(operation: Documented, ways: tuple[TestClient, TestClient]) -> None:
    asked = [operation.path, f"{operation.path}?unknown=1"]
    answers = [[shown(api.Api(http, None, "").get(path)) for path in asked] for http in ways]
    assert answers[0] == answers[1]


def test_refused_keys_answer_alike(ways: tuple[TestClient, TestClient]) -> None:
    answers = []
    for http in ways:
        tenant = api.tenant(http)
        poor = tenant.key(scopes=["webhooks:read"])
        away = tenant.key(cidrs=["203.0.113.0/24"])
        anonymous = api.Api(http, None)
        answers.append([shown(one.get("/assessments/")) for one in (poor, away, anonymous)])
    assert answers[0] == answers[1]


def test_what_has_no_plan_answers_alike(ways: tuple[TestClient, TestClient]) -> None:
    requests = [
        ("HEAD", "/org/"),
        ("OPTIONS", "/org/"),
        ("DELETE", "/org/"),
        ("GET", "/nothing/"),
        ("TRACE", "/org/"),
    ]
    answers = []
    for http in ways:
        keyed = dataclasses.replace(api.tenant(http).test, checked=False)
        answers.append([shown(keyed.request(method, path)) for method, path in requests])
    assert answers[0] == answers[1]
