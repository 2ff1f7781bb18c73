"""Bring a database to the newest schema."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, text

HERE = Path(__file__).parent / "migrations"


def configuration(connection: Connection) -> Config:
    """Return Alembic's configuration bound to one connection."""
    config = Config()
    config.set_main_option("script_location", str(HERE))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def upgrade(database_url: str) -> bool:
    """Run the migrations that are missing; say whether there were any. Safe to run side by side."""
    engine = create_engine(database_url.replace("postgresql://", "postgresql+psycopg://", 1))
    try:
        with engine.begin() as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(727274)"))
            config = configuration(connection)
            head = ScriptDirectory.from_config(config).get_current_head()
            if MigrationContext.configure(connection).get_current_revision() == head:
                return False
            command.upgrade(config, "head")
            return True
    finally:
        engine.dispose()
