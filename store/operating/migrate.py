"""Bring a database to the newest schema."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.orm import Session

from store import catalogue
from store.assessing.cases import load_catalogue

HERE = Path(__file__).parents[1] / "migrations"


def configuration(connection: Connection) -> Config:
    """Return Alembic's configuration bound to one connection."""
    config = Config()
    config.set_main_option("script_location", str(HERE))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def upgrade(database_url: str) -> bool:
    """Run the migrations that are missing and load the catalogue; say whether there were any migrations.

    Safe to run side by side.
    """
    engine = create_engine(database_url.replace("postgresql://", "postgresql+psycopg://", 1))
    try:
        with engine.begin() as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(727274)"))
            config = configuration(connection)
            head = ScriptDirectory.from_config(config).get_current_head()
            behind = MigrationContext.configure(connection).get_current_revision() != head
            if behind:
                command.upgrade(config, "head")
            with Session(connection) as session:
                load_catalogue(session, catalogue.load())
            return behind
    finally:
        engine.dispose()
