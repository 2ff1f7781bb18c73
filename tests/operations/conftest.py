"""The two ways to an answer, and organisations whose limits do not end a test."""

import dataclasses
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from app.http.application import create_app
from app.instance.settings import Settings
from gateways import models
from rules.plans import EXTRA_CAPS, PLANS
from store.accounts import limits
from tests import api, seen
from tests.client import Client
from tests.operations.rows import at_home

ENDLESS = 1_000_000


def _tenant(http: TestClient, request: pytest.FixtureRequest) -> api.Tenant:
    parameters = getattr(request.node, "callspec", None)
    operation = parameters.params.get("operation") if parameters else None
    made = api.tenant(http)
    return at_home(operation, made) if operation else made


@pytest.fixture
def tenant(http: TestClient, request: pytest.FixtureRequest) -> api.Tenant:
    """An organisation of this test's own, in the mode that its operation knows."""
    return _tenant(http, request)


@pytest.fixture
def other(http: TestClient, request: pytest.FixtureRequest) -> api.Tenant:
    """Another organisation, which must see nothing of the first."""
    return _tenant(http, request)


@pytest.fixture(scope="session")
def ways(settings: Settings, http: TestClient) -> Iterator[tuple[TestClient, TestClient]]:
    """Two applications on one database: the short way, and Connexion's chain alone."""
    clients = [
        Client(
            create_app(dataclasses.replace(settings, fast_path=fast)),
            base_url=settings.base_url,
            raise_server_exceptions=False,
            client=(f"198.51.100.{int(fast)}", 50000),  # who has no key is counted by address
        )
        for fast in (True, False)
    ]
    for client in clients:
        client.event_hooks["response"] = [seen.answer]
    with clients[0] as short, clients[1] as chain:
        yield short, chain


@pytest.fixture(autouse=True)
def no_model() -> Iterator[None]:
    """Leave no model behind."""
    yield
    models.configure(base_url="", model="", api_key="")


@pytest.fixture(scope="module")
def endless() -> Iterator[None]:
    """Limits that more requests than an hour has do not reach."""
    with pytest.MonkeyPatch.context() as patch:
        for cap in EXTRA_CAPS:
            patch.setitem(EXTRA_CAPS, cap, ENDLESS)
        patch.setitem(
            PLANS, "enterprise", dataclasses.replace(PLANS["enterprise"], reads=ENDLESS, writes=ENDLESS)
        )
        yield


@pytest.fixture(scope="module", autouse=True)
def patient(settings: Settings) -> Iterator[None]:
    """Wait for Redis on a busy machine too: what counts is compared here, and a process would count by itself."""
    usual, limits.PATIENCE_SECONDS = limits.PATIENCE_SECONDS, 10.0
    limits.configure(settings.redis_url)
    yield
    limits.PATIENCE_SECONDS = usual
    limits.configure(settings.redis_url)
