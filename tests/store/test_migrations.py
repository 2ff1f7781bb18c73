"""Migrations run while the service does: nobody waits for them, and what runs goes on after them."""

import importlib
import re
import secrets
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import psycopg
import pytest
from alembic import command
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Engine, NullPool, create_engine, event, make_url, text

import store
from app.instance.settings import Settings
from schemas import invitations as schemas
from store.assessing import invitations
from store.database.prepared import Prepared
from store.operating import health, migrate
from tests import kept
from tests.api import Tenant
from tests.hooks import wait_until
from tests.servers import _connect, _role, _text

PUBLISHED = "0013"  # those up to here ran before there was this rule

# What holds a lock that readers or writers wait for, for as long as the table is large.
ALTER = r"ALTER TABLE (\w+) "
SLOW = {
    r"CREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY).*? ON (\w+)": "nobody writes meanwhile: gently.create_index",
    r"DROP INDEX (?!CONCURRENTLY)()": "everybody waits behind it: gently.drop_index",
    r"SET LOCAL lock_timeout()": "who migrates has set it, so that nobody waits longer behind it",
    r"REINDEX (?!.*CONCURRENTLY)()": "nobody writes meanwhile",
    ALTER
    + r"ADD (?:CONSTRAINT \w+ )?(?:CHECK|FOREIGN KEY)(?!.*NOT VALID)": "reads all rows: gently.add_constraint",
    ALTER
    + r"ADD (?:CONSTRAINT \w+ )?(?:UNIQUE|PRIMARY KEY)(?! USING INDEX)": "builds an index: make it first",
    ALTER + r"ADD COLUMN .*\b(?:REFERENCES|UNIQUE|CHECK)\b": "reads all rows: gently.add_constraint",
    ALTER + r"ADD COLUMN .*(?:\bGENERATED\b|\bSERIAL\b|random|clock_timestamp)": "writes all rows anew",
    ALTER + r"ALTER COLUMN \w+ (?:SET DATA )?TYPE": "writes all rows anew",
    ALTER + r"ALTER COLUMN \w+ SET NOT NULL": "reads all rows: gently.forbid_null",
    r"(?:VACUUM FULL|CLUSTER|TRUNCATE|LOCK(?: TABLE)?) (\w+)": "holds the whole table",
}


def slow(statements: list[str]) -> list[str]:
    """Say what of one migration's statements holds others up: what concerns a table of its own holds nobody."""
    found, fresh, looked_at = [], set[str](), set[str]()
    for statement in statements:
        words = " ".join(statement.replace('"', "").split())
        fresh |= set(re.findall(r"^CREATE TABLE (?:IF NOT EXISTS )?(\w+)", words))
        looked_at |= set(re.findall(r"^ALTER TABLE (\w+) VALIDATE CONSTRAINT", words))
        for pattern, why in SLOW.items():
            if (met := re.match(pattern, words, re.IGNORECASE)) and met[1] not in fresh:
                if "SET NOT NULL" in words and met[1] in looked_at:
                    continue
                found.append(f"{words} – {why}")
    return found


@pytest.fixture
def empty(servers: dict[str, str]) -> Iterator[str]:
    """The address of a database with nothing in it."""
    admin = make_url(servers["postgres"])
    name, role = f"test_{threading.get_native_id()}_{secrets.token_hex(3)}", _role(admin)
    with _connect(servers["postgres"]) as connection:
        connection.execute(f'CREATE DATABASE "{name}" OWNER "{role}"')
    yield _text(admin.set(database=name, username=role))
    with _connect(servers["postgres"]) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


@pytest.fixture
def said() -> Iterator[list[str]]:
    """Every statement that anybody in this process sends through SQLAlchemy."""
    heard: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        heard.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    yield heard
    event.remove(Engine, "before_cursor_execute", note)


@pytest.fixture
def another(tmp_path: Path) -> Callable[[str], tuple[Path, ...]]:
    """Write a migration that follows the newest; returns where all are."""

    def write(body: str) -> tuple[Path, ...]:
        head = f'revision, down_revision, branch_labels, depends_on = "9999", "{health.newest()}", None, None'
        imports = "import sqlalchemy as sa\nfrom alembic import op\nfrom store.migrations import gently"
        lines = "\n".join(f"    {line}" for line in body.splitlines())
        (tmp_path / "9999_another.py").write_text(f"{imports}\n{head}\n\ndef upgrade():\n{lines}\n")
        return (migrate.VERSIONS, tmp_path)

    return write


def test_what_is_not_published_yet_holds_nobody_up(empty: str, said: list[str]) -> None:
    migrate.upgrade(empty)
    steps: dict[str, list[str]] = {}
    pending: list[str] = []
    for statement in said:
        # Alembic notes each migration with the last statement of its transaction.
        if noted := re.match(r"(?:INSERT INTO|UPDATE) alembic_version .*?'(\d{4})'", statement):
            steps[noted[1]], pending = pending, []
        else:
            pending.append(statement)
    assert max(steps) == health.newest()
    assert {revision: slow(steps[revision]) for revision in steps if revision > PUBLISHED} == {
        revision: [] for revision in steps if revision > PUBLISHED
    }
    assert slow(steps["0009"])  # which held everybody up


@pytest.mark.usefixtures("app")
def test_each_table_is_cleared_of_dead_rows_early() -> None:
    others = text("""
    SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
        AND coalesce(array_to_string(reloptions, ','), '') NOT LIKE '%autovacuum_vacuum_scale_factor=0.02%'
    """)
    with store.transaction() as session:
        assert session.scalars(others).all() == [], "add gently.clear_early to the migration"


def test_what_is_several_transactions_may_be_run_again(empty: str) -> None:
    migrate.upgrade(empty)
    numbers = sorted(path.name[:4] for path in migrate.VERSIONS.glob("[0-9]*.py"))
    for before, revision in pairwise(numbers):
        if revision <= PUBLISHED or "gently" not in next(migrate.VERSIONS.glob(f"{revision}_*")).read_text():
            continue
        # As if it had been broken off at its very end, and what follows were not there.
        with psycopg.connect(empty, autocommit=True) as connection:
            connection.execute("UPDATE alembic_version SET version_num = %s", [before])
        with create_engine(empty.replace("postgresql:", "postgresql+psycopg:")).connect() as connection:
            command.upgrade(migrate.configuration(connection), revision)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE INDEX ix_a ON jobs (id)",
        "CREATE UNIQUE INDEX ix_a ON jobs (id)",
        "DROP INDEX ix_a",
        "ALTER TABLE jobs ADD CONSTRAINT ck CHECK (a > 0)",
        "ALTER TABLE jobs ADD CONSTRAINT fk FOREIGN KEY(a) REFERENCES b (id)",
        "ALTER TABLE jobs ADD UNIQUE (a)",
        "ALTER TABLE jobs ADD COLUMN a INTEGER REFERENCES b (id)",
        "ALTER TABLE jobs ADD COLUMN a INTEGER GENERATED ALWAYS AS (b + 1) STORED",
        "ALTER TABLE jobs ALTER COLUMN a TYPE NUMERIC(16, 6)",
        "ALTER TABLE jobs ALTER COLUMN a SET NOT NULL",
        "LOCK TABLE jobs",
    ],
)
def test_what_would_hold_others_up_is_seen_unless_the_table_is_new(statement: str) -> None:
    assert slow([statement])
    if " jobs" in statement:
        assert not slow(["CREATE TABLE jobs (\n a INTEGER)", statement])


def test_each_migration_is_a_transaction_of_its_own(
    empty: str, another: Callable[[str], tuple[Path, ...]]
) -> None:
    with pytest.raises(Exception, match="there_is_no_such_table"):
        migrate.upgrade(empty, versions=another("op.execute('DROP TABLE there_is_no_such_table')"))
    with psycopg.connect(empty) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [
            (health.newest(),)
        ]
    assert migrate.upgrade(empty, versions=another("pass"))


def test_what_was_broken_off_is_gone_on_with(empty: str, another: Callable[[str], tuple[Path, ...]]) -> None:
    versions = another("""gently.add_column("things", sa.Column("number", sa.Integer()))
gently.create_index("ix_new", "things", ["title"], unique=True)
gently.add_constraint("ck_new", "things", "CHECK (title <> '')")
gently.forbid_null("things", "number")""")
    with psycopg.connect(empty, autocommit=True) as connection:
        connection.execute("CREATE TABLE things (title text)")
        connection.execute("INSERT INTO things VALUES (''), ('')")
        for fault, remedy in {
            "ix_new": "DELETE FROM things WHERE ctid = (SELECT min(ctid) FROM things)",
            "ck_new": "UPDATE things SET title = 'one'",
            "number_is_there": "UPDATE things SET number = 1",
        }.items():
            with pytest.raises(Exception, match=fault):
                migrate.upgrade(empty, versions=versions)
            connection.execute(remedy)
        assert migrate.upgrade(empty, versions=versions)
        valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'ix_new'::regclass"
        assert connection.execute(valid).fetchall() == [(True,)]
        checks = "SELECT conname, convalidated FROM pg_constraint WHERE contype = 'c' AND conrelid = 'things'::regclass"
        assert connection.execute(checks).fetchall() == [("ck_new", True)]
        with pytest.raises(psycopg.errors.NotNullViolation):
            connection.execute("INSERT INTO things VALUES ('two')")


def test_two_that_migrate_side_by_side_both_come_to_an_end_and_one_has_done_it(empty: str) -> None:
    with ThreadPoolExecutor(2) as pool:
        did = [one.result(120) for one in [pool.submit(migrate.upgrade, empty) for _ in range(2)]]
    assert sorted(did) == [False, True]


def test_who_waits_for_another_to_migrate_says_so_in_the_end(empty: str) -> None:
    with psycopg.connect(empty, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(727274)")
        with pytest.raises(migrate.Busy, match="Another"):
            migrate.upgrade(empty, patience=0.3)


def test_nobody_waits_behind_a_migration_that_waits_for_a_table(
    empty: str, said: list[str], another: Callable[[str], tuple[Path, ...]]
) -> None:
    migrate.upgrade(empty)
    said.clear()
    with (
        ThreadPoolExecutor(1) as pool,
        psycopg.connect(empty) as holder,
        psycopg.connect(empty, autocommit=True) as reader,
    ):
        holder.execute("SELECT FROM jobs")
        versions = another("op.execute('ALTER TABLE jobs ADD COLUMN nothing integer')")
        migrating = pool.submit(migrate.upgrade, empty, versions=versions)
        # It asks for the table more than once, so it let go in between; whoever reads is served for all that.
        wait_until(lambda: sum("ALTER TABLE" in one for one in said) > 2, 60)
        assert not migrating.done()
        reader.execute("SET lock_timeout = '20s'")
        for _ in range(10):
            reader.execute("SELECT FROM jobs")
        assert not migrating.done()
        holder.rollback()
        assert migrating.result(60)


def test_statements_that_were_prepared_go_on_where_a_newer_version_adds_a_column(
    tenant: Tenant, settings: Settings
) -> None:
    slug = tenant.live.assessment()["slug"]

    overdue = text("UPDATE invitations SET expires_at = now() WHERE token = :token RETURNING id")

    def use(first: int) -> None:
        """Ask for the same so often that it is prepared."""
        for number in range(first, first + 8):
            made = tenant.live.invitation(slug, email=f"{number}@example.com")
            with store.transaction() as session:
                rows = session.execute(overdue, {"token": made["invite_token"]}).all()
                assert invitations.expire(session, rows, schemas.event) == 1

    use(0)
    with psycopg.connect(settings.database_url, autocommit=True) as migrating:
        migrating.execute("ALTER TABLE invitations ADD COLUMN newer integer")
        try:
            use(8)
        finally:
            migrating.execute("ALTER TABLE invitations DROP COLUMN newer")


def test_no_prepared_statement_gives_whatever_columns_there_are(app: object) -> None:
    statements = [one.of_threads.text for one in kept.every(Prepared)]
    assert len(statements) > 10
    assert [one for one in statements if re.search(r"\w\.\*", one)] == []


def test_what_is_counted_apart_is_counted_by_the_version_before(tenant: Tenant, settings: Settings) -> None:
    job = tenant.live.job(published=True)["slug"]
    for _ in range(3):
        tenant.live.application(job)
    [before] = [path.stem for path in migrate.VERSIONS.glob("0058_*")]
    version = importlib.import_module(f"store.migrations.versions.{before}")
    counted = text("SELECT application_count FROM jobs WHERE organisation_id = :id AND slug = :slug")
    named = {"id": tenant.organisation.id, "slug": job}
    engine = create_engine(
        settings.database_url.replace("postgresql:", "postgresql+psycopg:"), poolclass=NullPool
    )
    with engine.connect() as connection:  # which undoes it at its end
        assert connection.execute(counted, named).scalar() == 0
        with Operations.context(MigrationContext.configure(connection)):
            version.downgrade()
        assert connection.execute(counted, named).scalar() == 3
