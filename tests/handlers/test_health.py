"""What load balancers ask."""

from collections.abc import Iterator

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import text
from starlette.testclient import TestClient

import store
from app.instance.settings import Settings
from handlers import health as handlers
from store.accounts import limits
from store.database import engine
from store.operating import health
from store.operating.migrate import HERE
from tests.api import Api

GONE = "postgresql://nobody@127.0.0.1:1/nothing"


@pytest.fixture
def anybody(http: TestClient, settings: Settings) -> Iterator[Api]:
    handlers._found = (0.0, {})
    yield Api(http, None, base="", checked=False)
    handlers._found = (0.0, {})
    engine.configure(settings.database_url)
    limits.configure(settings.redis_url)


def test_a_process_that_has_everything_lives_and_is_ready(anybody: Api) -> None:
    anybody.checked = True
    assert anybody.get("/healthz").json() == {"status": "ok"}
    answer = anybody.get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {
        "status": "ok",
        "checks": {"database": "ok", "migrations": "ok", "redis": "ok"},
    }
    assert int(answer.headers["X-RateLimit-Remaining"]) > 0


def test_without_redis_it_lives_and_is_ready_and_says_so(anybody: Api) -> None:
    limits.configure("redis://127.0.0.1:1/0")
    assert anybody.get("/healthz").status_code == 200
    answer = anybody.get("/readyz")
    assert answer.status_code == 200
    assert answer.json()["checks"] == {"database": "ok", "migrations": "ok", "redis": "does not answer"}


def test_without_its_database_it_lives_and_is_not_ready(anybody: Api) -> None:
    engine.configure(GONE)
    assert anybody.get("/healthz").status_code == 200
    answer = anybody.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"]["database"] == "does not answer"
    assert answer.json()["checks"]["redis"] == "ok"


def test_an_older_schema_is_not_ready(anybody: Api) -> None:
    with store.transaction() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '0000'"))
    try:
        checks = anybody.get("/readyz").json()["checks"]
    finally:
        with store.transaction() as session:
            session.execute(text("UPDATE alembic_version SET version_num = :head"), {"head": health.newest()})
    assert checks["migrations"] == f"the schema is 0000, this version needs {health.newest()}"


def test_a_newer_schema_is_ready_so_that_an_upgrade_stops_nobody(anybody: Api) -> None:
    with store.transaction() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    try:
        assert anybody.get("/readyz").status_code == 200
    finally:
        with store.transaction() as session:
            session.execute(text("UPDATE alembic_version SET version_num = :head"), {"head": health.newest()})


def test_what_was_found_is_kept_for_a_second(anybody: Api) -> None:
    assert anybody.get("/readyz").status_code == 200
    engine.configure(GONE)
    assert anybody.get("/readyz").status_code == 200


def test_the_newest_migration_is_found_without_loading_alembic() -> None:
    assert health.newest() == ScriptDirectory(str(HERE)).get_current_head()
