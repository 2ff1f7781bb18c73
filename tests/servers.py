"""A real PostgreSQL and a real Redis: those of DATABASE_URL and REDIS_URL, or embedded ones below `.cache`.

Every worker of a run, and every run at the same time, shares one pair of servers; each worker has a database
of its own, copied from a migrated template, and a Redis number of its own.
"""

import contextlib
import hashlib
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis
from sqlalchemy import URL, make_url

from app.instance import embedded, places
from app.instance.settings import ROOT, Settings
from store.operating import migrate

MIGRATIONS = ROOT / "store" / "migrations" / "versions"
CATALOGUE = ROOT / "store" / "catalogue"
LOCK = 727275  # one process at a time makes the template


@pytest.fixture(scope="session")
def servers() -> Iterator[dict[str, str]]:
    """The administrator's address of PostgreSQL, and Redis without a number."""
    given = {"postgres": os.environ.get("DATABASE_URL"), "redis": os.environ.get("REDIS_URL")}
    missing = tuple(name for name, url in given.items() if not url)
    _remove_forgotten()
    with contextlib.ExitStack() as stack:
        found = dict(given)
        if missing:
            folder = ROOT / ".cache" / f"servers-{os.geteuid()}"
            urls = stack.enter_context(embedded.use(folder, missing, durable=False))
            found |= {name: urls[name] for name in missing}
            if "postgres" in missing:
                admin = make_url(found["postgres"]).set(username="postgres", database="postgres")
                found["postgres"] = _text(admin)
                _drop_forgotten(found["postgres"])
        yield {name: str(url) for name, url in found.items()}


@pytest.fixture(scope="session")
def migrated(servers: dict[str, str]) -> str:
    """The name of a database with the newest schema and nothing in it, to make others from."""
    return _template(servers["postgres"])


@pytest.fixture(scope="session")
def database_url(servers: dict[str, str], migrated: str) -> Iterator[str]:
    """A migrated database for this worker alone."""
    with database(servers["postgres"], migrated) as url:
        yield url


@contextlib.contextmanager
def database(server: str, migrated: str) -> Iterator[str]:
    """A migrated database with nothing in it, and none once it is done with."""
    admin = make_url(server)
    name, role = f"test_{os.getpid()}_{secrets.token_hex(3)}", _role(admin)
    with _connect(server) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{migrated}" OWNER "{role}"')
    yield _text(admin.set(database=name, username=role))
    with _connect(server) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


@pytest.fixture(scope="session")
def redis_url(servers: dict[str, str]) -> str:
    """An empty Redis database for this worker alone."""
    with redis.Redis.from_url(servers["redis"]) as client:
        numbers = int(client.config_get("databases")["databases"])
        number = 1 + int(client.incr("tests:workers")) % (numbers - 1)
    url = _text(make_url(servers["redis"].partition("?")[0]))
    url = f"{url}?db={number}" if url.startswith("unix:") else url.rsplit("/", 1)[0] + f"/{number}"
    with redis.Redis.from_url(url) as client:
        client.flushdb()
    return url


@pytest.fixture(scope="session")
def settings(database_url: str, redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings of a service that has this worker's database and Redis."""
    return Settings(
        database_url=database_url,
        redis_url=redis_url,
        base_url="http://testserver",
        mail_dir=tmp_path_factory.mktemp("mail"),
        files_dir=tmp_path_factory.mktemp("files"),
        secret_key="a secret for tests alone",
        webhook_allow_private=True,
        programs_ahead=2,
        candidate_limit=1_000_000,  # every test comes from one address
        idle_seconds=60.0,  # a machine that stands still for a while ends no test's transaction
    )


def _template(admin: str) -> str:
    """Make the migrated database, once for each state of migrations and catalogue."""
    parts = [*sorted(MIGRATIONS.glob("*.py")), *sorted(CATALOGUE.glob("*.yaml"))]
    content = b"".join(path.read_bytes() for path in parts)
    name = f"template_{hashlib.sha256(content).hexdigest()[:12]}"
    role = _role(make_url(admin))
    with _connect(admin) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        whole = connection.execute(
            "SELECT datistemplate FROM pg_database WHERE datname = %s", [name]
        ).fetchone()
        if whole is None or not whole[0]:
            connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
            connection.execute(f'CREATE DATABASE "{name}" OWNER "{role}"')
            migrate.upgrade(_text(make_url(admin).set(database=name, username=role)))
            connection.execute(f'ALTER DATABASE "{name}" IS_TEMPLATE true')
    return name


def _remove_forgotten() -> None:
    """Remove what servers kept for folders of earlier runs, which are gone."""
    for state in places.forgotten():
        with contextlib.suppress(OSError):  # somebody else removes it
            was = (state / "belongs-to").read_text()
            if was.startswith(f"{tempfile.gettempdir()}/"):
                with embedded.held(state / "run" / "owner", wait=False):
                    shutil.rmtree(state)


def _drop_forgotten(admin: str) -> None:
    """Drop what killed test runs left on the embedded server."""
    with _connect(admin) as connection:
        for (name,) in connection.execute(
            r"SELECT datname FROM pg_database WHERE datname LIKE 'test\_%'"
        ).fetchall():
            if not Path(f"/proc/{name.split('_')[1]}").exists():
                connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def _role(admin: URL) -> str:
    """The service's own role on the embedded server, which is no superuser; elsewhere whoever we are."""
    return "hiring" if admin.host is None else str(admin.username)


def _connect(url: str) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(url, autocommit=True)


def _text(url: URL) -> str:
    return url.render_as_string(hide_password=False)
