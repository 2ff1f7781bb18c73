"""Migrations of large tables while they are read: how long anybody waits.

`python -m bench.migrations`, `./hiring test -e migrations`. Brings 300,000 rows of each table back from the newest
schema to the last published one, migration by migration, and each forth again first, so that it meets every table as
full as it may be; then through one more that does what 0009 did, which held everybody up for two seconds.
"""

import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, NullPool, create_engine, event

from bench import depth_rows, figures
from bench.figures import Figure
from store.operating import health, migrate

ROWS, QUICK_ROWS = 300_000, 30_000
PUBLISHED = "0013"  # what is after it holds nobody up
READERS = 2
LIMIT = 100.0  # ms
# What names rows of a table that is not there yet in a schema.
NAMING = {"0019": "UPDATE jobs SET team_id = NULL; UPDATE assessments SET team_id = NULL"}
QUIET_SECONDS = 5.0  # of reading beside nothing, for comparison

# What 0009 did, and what the next one may do, as it is done now.
PROBE = """
import sqlalchemy as sa
from store.migrations import gently

revision, down_revision, branch_labels, depends_on = "9999", "{newest}", None, None

def upgrade():
    gently.add_column("applications", sa.Column("probed", sa.Boolean(), server_default=sa.true(), nullable=True))
    gently.forbid_null("applications", "probed")
    gently.add_constraint("probed_email", "applications", "CHECK (char_length(email) > 0)")
    gently.add_constraint("probed_job", "applications", "FOREIGN KEY (job_id) REFERENCES jobs (id)")
    for number in range(4):
        gently.create_index(f"probed_applications_{{number}}", "applications",
                            ["job_id", "status", "l3_rank", "submitted_at", "id", "updated_at"])
        gently.create_index(f"probed_invitations_{{number}}", "invitations",
                            ["organisation_id", "livemode", "status", "id", "updated_at"])
    for number in range(4):
        gently.drop_index(f"probed_applications_{{number}}", "applications")
        gently.drop_index(f"probed_invitations_{{number}}", "invitations")
"""
# The same in one transaction, as it was done before.
AT_ONCE = [
    statement
    for table in ("applications", "invitations")
    for statement in (
        f"ALTER TABLE {table} ADD CONSTRAINT probed_too CHECK (char_length(email) > 0)",
        f"CREATE INDEX probed_{table} ON {table} (organisation_id, livemode, status, id, updated_at)",
    )
]


@dataclass
class Waited:
    """The longest wait of a read, and beside what."""

    ms: float = 0.0
    table: str = ""
    beside: str = ""


@dataclass
class Reading:
    """Reads of every table, one after the other, as long as it lasts."""

    url: str
    longest: Waited = field(default_factory=Waited)
    reads: int = 0
    statement: str = ""  # what the migration does at the moment

    def run(self, stopping: threading.Event) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            tables = [
                name
                for (name,) in connection.execute(
                    "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'alembic_version'"
                ).fetchall()
            ]
            while not stopping.is_set():
                for table in tables:
                    beside, began = self.statement, time.perf_counter()
                    connection.execute(f'SELECT FROM "{table}" LIMIT 1')
                    waited = Waited((time.perf_counter() - began) * 1000, table, self.statement or beside)
                    self.longest = max(self.longest, waited, key=lambda one: one.ms)
                    self.reads += 1
                time.sleep(0.001)

    def linger(self, stopping: threading.Event) -> None:
        """Read for long, too: who wants a lock of the whole table waits for this one, and everybody behind them."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            while not stopping.is_set():
                connection.execute("SELECT pg_sleep(0.4) FROM applications, invitations, jobs LIMIT 1")
                stopping.wait(0.1)


@contextmanager
def reading(url: str) -> Iterator[Reading]:
    """Read in the background."""
    made, stopping = Reading(url), threading.Event()
    threads = [threading.Thread(target=made.run, args=[stopping]) for _ in range(READERS)]
    threads.append(threading.Thread(target=made.linger, args=[stopping]))

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        made.statement = " ".join(statement.split())

    event.listen(Engine, "before_cursor_execute", note)
    for thread in threads:
        thread.start()
    try:
        yield made
    finally:
        stopping.set()
        for thread in threads:
            thread.join()
        event.remove(Engine, "before_cursor_execute", note)


def go(url: str, way: Callable[[Config, str], None], revision: str) -> None:
    """Go forth or back to a schema, as `hiring migrate` goes forth."""
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://", 1), poolclass=NullPool)
    with engine.connect() as connection:
        while not migrate._is_alone(connection):  # whoever was before may not be gone yet
            time.sleep(migrate.PAUSE_SECONDS)
        configuration = migrate.configuration(connection)
        while not migrate._unless_held(lambda: way(configuration, revision)):
            time.sleep(migrate.PAUSE_SECONDS)


def go_back(url: str, revision: str) -> None:
    """Go back to a schema, and let nothing name rows that went with their table."""
    go(url, command.downgrade, revision)
    if revision in NAMING:
        with psycopg.connect(url) as connection:
            connection.execute(NAMING[revision])


def steps() -> list[tuple[str, str]]:
    """List the migrations after the last published one, the newest first: each with the one before it."""
    config = Config()
    config.set_main_option("script_location", str(migrate.HERE))
    found = ScriptDirectory.from_config(config).walk_revisions(PUBLISHED, "head")
    return [(one.revision, str(one.down_revision)) for one in found if one.revision != PUBLISHED]


def at_once(url: str) -> None:
    """Change tables as migrations did before: in one transaction."""
    with psycopg.connect(url) as connection:
        for statement in AT_ONCE:
            connection.execute(statement)
        connection.rollback()


def told(name: str, found: Reading, limit: float | None = None) -> Figure:
    """Print what the longest wait was for; return it."""
    one = found.longest
    print(
        f"{name}: {one.ms:.1f} ms for {one.table}, beside {one.beside[:100] or 'nothing'} ({found.reads:,} reads)"
    )
    if limit is None:
        return figures.plain(f"{name}: longest wait of a read", one.ms, "ms")
    return figures.at_most(f"{name}: longest wait of a read", one.ms, "ms", limit)


def measure(quick: bool) -> list[Figure]:
    """Fill the tables, go back, and forth again."""
    made = []
    with figures.place() as settings, tempfile.TemporaryDirectory() as folder:
        url = settings.database_url
        depth_rows.fill(QUICK_ROWS if quick else ROWS)
        figures.pin(0, figures.SERVER)
        with reading(url) as found:
            time.sleep(QUIET_SECONDS)
        made.append(told("no migration", found))
        for revision, before in steps():
            go_back(url, before)
            with reading(url) as found:
                go(url, command.upgrade, revision)
            made.append(told(revision, found, LIMIT))
            go_back(url, before)
        migrate.upgrade(url)
        Path(folder, "9999_probe.py").write_text(PROBE.format(newest=health.newest()))
        with reading(url) as found:
            migrate.upgrade(url, versions=(migrate.VERSIONS, Path(folder)))
        made.append(told("one like 0009", found, LIMIT))
        with reading(url) as found:
            at_once(url)
        made.append(told("the same in one transaction", found))
    return made


def main() -> None:
    found = measure("--quick" in sys.argv)
    figures.show(found)
    sys.exit(any(one.met is False for one in found))


if __name__ == "__main__":
    main()
