"""The five steps: each once for a request, whichever way it came, and in the contract's order."""

import contextlib
import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
import sqlalchemy.exc
from connexion import FlaskApp
from starlette.datastructures import Headers
from starlette.testclient import TestClient

from app.http import limits, security
from app.http.application import create_app
from app.http.context import Request
from app.http.pipeline import Pipeline
from app.http.threads.lanes import ORDINARY
from app.http.validation import Reader
from app.instance.settings import Settings
from rules.caller import Caller
from rules.errors import InsufficientScope, InvalidApiKey, PlanRequired
from rules.refusal import Refusal
from tests import api, asgi
from tests.api import Api, Tenant
from tests.client import Client

ADA = {"email": "ada@example.com"}


@pytest.fixture(scope="module", params=["compiled", "chain"])
def way(request: pytest.FixtureRequest, settings: Settings) -> Iterator[TestClient]:
    app = create_app(dataclasses.replace(settings, fast_path=request.param == "compiled"))
    with Client(app, base_url=settings.base_url, raise_server_exceptions=False) as http:
        yield http


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each step was taken."""
    count: Counter[str] = Counter()

    def counting(name: str, step: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **options: Any) -> Any:
            count[name] += 1
            return step(*arguments, **options)

        return counted

    for place, name in (
        (security, "_look_up"), (limits, "count"), (Reader, "receive"), (Reader, "read"), (Pipeline, "run"),
        (Pipeline, "render"),
    ):  # fmt: skip
        monkeypatch.setattr(place, name, counting(name.strip("_"), getattr(place, name)))
    return count


ONCE = {"look_up": 1, "count": 1, "receive": 1, "read": 1, "run": 1, "render": 1}


@pytest.mark.parametrize("keyed", [{}, {"Idempotency-Key": "first"}])
def test_each_step_is_taken_once(way: TestClient, taken: Counter[str], keyed: dict[str, str]) -> None:
    tenant = api.tenant(way)
    slug = tenant.test.assessment()["slug"]
    taken.clear()
    assert tenant.test.post(f"/assessments/{slug}/invites/", ADA, headers=keyed).status_code == 201
    # What answers a key is rendered to be kept, and passes through once more as it is.
    assert taken == (ONCE | {"render": 2} if keyed else ONCE)


def test_a_read_by_head_takes_each_step_once(way: TestClient, taken: Counter[str]) -> None:
    tenant = dataclasses.replace(api.tenant(way).test, checked=False)
    taken.clear()
    assert tenant.request("HEAD", "/org/").status_code == 200
    assert taken == ONCE


@pytest.mark.parametrize(
    ("path", "headers", "steps"),
    [
        ("/assessments/create/", {"Authorization": "Bearer nobody"}, {}),
        ("/assessments/create/", {"Content-Type": "text/plain"}, {"look_up": 1, "count": 1, "receive": 1}),
        ("/assessments/create/", {}, {"look_up": 1, "count": 1, "receive": 1, "read": 1}),
    ],
)
def test_a_refusal_ends_the_steps(
    way: TestClient, taken: Counter[str], path: str, headers: dict[str, str], steps: dict[str, int]
) -> None:
    tenant = api.tenant(way)
    taken.clear()
    assert tenant.test.post(path, content=b"{}", headers=headers).is_error
    assert taken == steps


@pytest.mark.parametrize("authorization", ["Bearer nobody", "Bearer ct_test_" + "x" * 32])
def test_a_body_is_not_read_for_who_is_not_known(way: TestClient, authorization: str) -> None:
    wire = asgi.send(
        way, "POST", "/api/v1/public/assessments/create/", ("Authorization", authorization),
        ("Content-Type", "application/json"), body=(b"{" for _ in range(5)),
    )  # fmt: skip
    assert (wire.status, wire.read) == (401, 0)


def test_nobody_needs_a_request_thread_to_be_refused(app: FlaskApp, http: TestClient, tenant: Tenant) -> None:
    front = asgi.front(app)
    begun = []
    hop = front.lanes[ORDINARY].hop
    submit = hop.submit
    try:
        hop.submit = lambda function, *given, **how: begun.append(function) or submit(function, *given, **how)  # type: ignore[method-assign,func-returns-value]
        assert Api(http, None).get("/org/").status_code == 401
        assert begun == []
        assert tenant.test.get("/org/").status_code == 200
        assert len(begun) == 1
    finally:
        hop.submit = submit  # type: ignore[method-assign]


# --- `run` says the same however often it is called on one request


def test_a_request_can_be_run_again(app: FlaskApp, http: TestClient, tenant: Tenant) -> None:
    front = asgi.front(app)
    pipeline = front.pipelines["create_assessment"]
    head = Headers({"idempotency-key": "again", "content-type": "application/json"})
    request = Request("req_1", "192.0.2.1", "POST", "/api/v1/public/assessments/create/", b"", head)
    request.caller = Caller(tenant.organisation.id, livemode=False, plan_name="growth")
    request.body = b'{"title": "Once"}'
    pipeline.read(request)
    given = dict(request.arguments)
    answers = [pipeline.render(request, pipeline.run(request)) for _ in range(2)]
    assert answers[0].body == answers[1].body
    assert answers[1].headers == {"Idempotent-Replayed": "true"}
    assert request.arguments == given


def deadlock(wrapped: bool) -> Exception:
    fault = psycopg.errors.DeadlockDetected("deadlock detected")
    return sqlalchemy.exc.OperationalError("UPDATE", {}, fault) if wrapped else fault


@pytest.mark.parametrize("wrapped", [True, False])
@pytest.mark.parametrize("keyed", [{}, {"Idempotency-Key": "again"}])
def test_what_ended_in_a_deadlock_is_run_once_more(
    app: FlaskApp, tenant: Tenant, taken: Counter[str], monkeypatch: pytest.MonkeyPatch, wrapped: bool,
    keyed: dict[str, str],
) -> None:  # fmt: skip
    pipeline = asgi.front(app).pipelines["create_assessment"]
    handler, ends = pipeline.handler, [deadlock(wrapped)]

    def handled(body: dict[str, Any], **given: Any) -> Any:
        made = handler(body=body, **given)
        body.clear()  # a handler may: the second time has arguments of its own
        if ends:
            raise ends.pop()
        return made

    monkeypatch.setattr(pipeline, "handler", handled)
    answer = tenant.test.post("/assessments/create/", {"title": "Once"}, headers=keyed)
    assert (answer.status_code, answer.json()["title"]) == (201, "Once")
    assert (taken["count"], taken["run"]) == (1, 1)
    assert len(tenant.test.get("/assessments/").json()["results"]) == 1
    ends += [deadlock(wrapped)] * 2
    assert (
        dataclasses.replace(tenant.test, checked=False)
        .post("/assessments/create/", {"title": "Twice"})
        .status_code
        == 503
    )


@pytest.mark.parametrize(("at", "runs", "status"), [(0, 2, 201), (1, 1, 503)])
def test_what_may_have_reached_the_network_is_not_run_again(
    app: FlaskApp, tenant: Tenant, monkeypatch: pytest.MonkeyPatch, at: int, runs: int, status: int
) -> None:
    job = tenant.test.job(published=True)["slug"]
    pipeline = asgi.front(app).pipelines["create_application"]
    handler, count = pipeline.handler, Counter[str]()

    def failing(name: str, begin: Any) -> Any:
        @contextlib.contextmanager
        def opened() -> Iterator[Any]:
            with begin() as session:
                yield session
                count[name] += 1
                if name == ("begin", "finish")[at] and count[name] == 1:
                    raise deadlock(wrapped=True)

        return opened

    def handled(begin: Any, finish: Any, **given: Any) -> Any:
        count["runs"] += 1
        return handler(begin=failing("begin", begin), finish=failing("finish", finish), **given)

    monkeypatch.setattr(pipeline, "handler", handled)
    person = {"job_slug": job, "email": "ada@example.com", "full_name": "Ada"}
    api = dataclasses.replace(tenant.test, checked=False)
    assert api.post("/applications/create/", person).status_code == status
    assert count["runs"] == runs


# --- What a plan has to have


@pytest.mark.parametrize(("plan", "opens"), [("starter", False), ("growth", True), ("enterprise", True)])
def test_an_operation_with_a_feature_is_for_the_plans_that_have_it(
    app: FlaskApp, monkeypatch: pytest.MonkeyPatch, tenant: Tenant, plan: str, opens: bool
) -> None:
    front = asgi.front(app)
    pipeline = front.pipelines["get_organisation"]
    monkeypatch.setattr(pipeline, "feature", "squads")
    request = Request("req_1", "192.0.2.1", "GET", "/api/v1/public/org/", b"", Headers())
    request.caller = Caller(tenant.organisation.id, livemode=True, plan_name=plan)
    pipeline.read(request)
    if opens:
        assert pipeline.run(request).status == 200
    else:
        with pytest.raises(PlanRequired):
            pipeline.run(request)


# --- Every alternative of `security`


def scheme(caller: Caller | Refusal) -> Callable[[Request, list[str]], Caller]:
    def identify(_request: Request, _scopes: list[str]) -> Caller:
        if isinstance(caller, Refusal):
            raise caller
        return caller

    return identify


@pytest.fixture
def schemes(monkeypatch: pytest.MonkeyPatch, tenant: Tenant) -> Caller:
    caller = Caller(tenant.organisation.id, livemode=False, plan_name="growth")
    monkeypatch.setattr(
        security,
        "SCHEMES",
        {
            "known": scheme(caller),
            "unknown": scheme(InvalidApiKey()),
            "poor": scheme(InsufficientScope(required_scope="jobs:read")),
        },
    )
    return caller


@pytest.mark.parametrize(
    ("needed", "outcome"),
    [
        ([], None),
        ([{}], None),
        ([{"known": []}], True),
        ([{"unknown": []}, {"known": []}], True),
        ([{"poor": []}, {"unknown": []}, {"known": []}], True),
        ([{"unknown": []}, {}], None),
        ([{"known": [], "unknown": []}], InvalidApiKey),
        ([{"known": [], "unknown": []}, {"known": []}], True),
        ([{"unknown": []}, {"poor": []}], InsufficientScope),
        ([{"poor": []}, {"unknown": []}], InsufficientScope),
    ],
)
def test_any_alternative_of_the_document_lets_a_request_in(
    schemes: Caller, needed: security.Alternatives, outcome: type[Refusal] | bool | None
) -> None:
    request = Request("req_1", "192.0.2.1", "GET", "/", b"", Headers())
    if isinstance(outcome, type):
        with pytest.raises(outcome):
            security.identify(request, needed)
    else:
        assert security.identify(request, needed) == (schemes if outcome else None)


# --- What is known already


@pytest.mark.parametrize("known", ['"{}"', 'W/"{}"', '"other", "{}"', "*"])
def test_who_has_a_document_already_is_told_so(way: TestClient, known: str) -> None:
    path = "/api/v1/public/openapi.json"
    first = way.get(path)
    tag = first.headers["etag"].removeprefix("W/").strip('"')
    again = way.get(path, headers={"If-None-Match": known.format(tag)})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    assert "content-type" not in again.headers
    assert way.get(path, headers={"If-None-Match": '"other"'}).status_code == 200
