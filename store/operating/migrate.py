"""Bring a database to the newest schema, while the service runs."""

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, NullPool, create_engine, text
from sqlalchemy.orm import Session

from store import catalogue
from store.assessing.cases import load_catalogue
from store.database import waits
from store.operating import tables

HERE = Path(__file__).parents[1] / "migrations"
VERSIONS = HERE / "versions"
PATIENCE_SECONDS = 600.0  # for another `migrate` to end, and for each lock
PAUSE_SECONDS = 0.2  # in which those who waited behind a migration that wanted a lock have their turn


class Busy(Exception):
    """The database was too busy; what was done so far stands, and may be gone on with."""


def configuration(connection: Connection, versions: Sequence[Path] = (VERSIONS,)) -> Config:
    """Return Alembic's configuration bound to one connection."""
    config = Config()
    config.set_main_option("script_location", str(HERE))
    config.set_main_option("path_separator", "os")
    config.set_main_option("version_locations", os.pathsep.join(str(path) for path in versions))
    config.attributes["connection"] = connection
    return config


def upgrade(
    database_url: str, *, versions: Sequence[Path] = (VERSIONS,), patience: float = PATIENCE_SECONDS
) -> bool:
    """Run the migrations that are missing and load the catalogue; say whether there were any migrations.

    Each migration is a transaction of its own. Safe to run side by side. Raises Busy.
    """
    url = database_url.replace("postgresql://", "postgresql+psycopg://", 1)
    engine = create_engine(url, poolclass=NullPool)
    with engine.connect() as connection:  # whose end is the end of its lock
        _wait(lambda: _is_alone(connection), patience, "Another `hiring migrate` works on the database")
        config = configuration(connection, versions)
        head = ScriptDirectory.from_config(config).get_current_head()
        with connection.begin():
            behind = MigrationContext.configure(connection).get_current_revision() != head
        held = "Somebody holds what has to change"
        if behind:
            _wait(lambda: _unless_held(lambda: command.upgrade(config, "head")), patience, held)
        _wait(lambda: _unless_held(lambda: _load(connection)), patience, held)
        return behind


def _is_alone(connection: Connection) -> bool:
    """Take the place of the one who migrates, if it is free.

    Whoever waited for it in a statement would have a snapshot, and an index is only built concurrently once
    nobody has an older one.
    """
    with connection.begin():
        connection.execute(text(f"SET lock_timeout = '{waits.OF_MIGRATIONS}'"))
        return bool(connection.scalar(text("SELECT pg_try_advisory_lock(727274)")))


def _load(connection: Connection) -> None:
    tables.complete()
    with Session(connection) as session, session.begin():
        load_catalogue(session, catalogue.load())


def _unless_held(do: Callable[[], None]) -> bool:
    """Do something; say whether it is done, or somebody held what it needs."""
    try:
        do()
    except waits.FAULTS as fault:
        if isinstance(waits.understand(fault), waits.WaitRanOut):
            return False
        raise
    return True


def _wait(done: Callable[[], bool], patience: float, otherwise: str) -> None:
    deadline = time.monotonic() + patience
    while not done():
        if time.monotonic() > deadline:
            raise Busy(f"{otherwise}, and did for {patience:.0f} s. What was done so far stands: try again.")
        time.sleep(PAUSE_SECONDS)
