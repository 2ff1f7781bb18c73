"""What every test may ask for."""

import gc
import os
from collections.abc import Iterator

import connexion
import pytest
from starlette.testclient import TestClient

from app.http.application import create_app
from app.http.records import notes
from app.instance.settings import Settings
from handlers import sign_in
from tests import api, seen
from tests.client import Client
from tests.operations import seconds
from tests.servers import database_url, migrated, redis_url, servers, settings

__all__ = ["app", "database_url", "http", "migrated", "other", "redis_url", "servers", "settings", "tenant"]


@pytest.fixture(scope="session")
def app(settings: Settings) -> connexion.FlaskApp:
    """The application on this worker's database."""
    sign_in.OF_A_CLIENT = notes.REFUSALS_A_MINUTE = 100_000  # all tests come from one address
    made = create_app(settings)
    gc.freeze()
    return made


@pytest.fixture(scope="session")
def http(app: connexion.FlaskApp, settings: Settings) -> Iterator[TestClient]:
    """A client of the application; faults come back as the 500 that they are."""
    with Client(app, base_url=settings.base_url, raise_server_exceptions=False) as client:
        client.event_hooks["response"] = [seen.answer]
        yield client


@pytest.fixture
def tenant(http: TestClient) -> api.Tenant:
    """An organisation of this test's own, on the growth plan."""
    return api.tenant(http)


@pytest.fixture
def other(http: TestClient) -> api.Tenant:
    """Another organisation, which must see nothing of the first."""
    return api.tenant(http)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Half as many again as there are cores: for a third of their time tests wait for processes that they start."""
    return (os.cpu_count() or 1) * 3 // 2


def pytest_collection_finish() -> None:
    """Look for garbage among what tests make, and not each time among all tests too."""
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object) -> None:
    seen.merge(node)


def pytest_sessionfinish(session: pytest.Session) -> None:
    seen.end(session.config)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [one for kind in ("passed", "failed") for one in terminalreporter.stats.get(kind, ())]
    for line in filter(None, (seconds.summary(reports), seconds.year(reports))):
        terminalreporter.write_line(line)
