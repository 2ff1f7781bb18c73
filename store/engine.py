"""The connection pool and the one place that commits."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Engine, create_engine
from sqlalchemy.orm import Session

_engine: Engine | None = None


def configure(database_url: str, *, pool_size: int = 8) -> None:
    """Point the store at a database; connections are made as they are needed."""
    global _engine  # noqa: PLW0603 - one process, one pool
    if _engine is not None:
        _engine.dispose()
    _engine = create_engine(
        database_url.replace("postgresql://", "postgresql+psycopg://", 1),
        pool_size=pool_size,
        max_overflow=4,
        pool_timeout=10,
        pool_pre_ping=False,
        hide_parameters=True,  # a fault's text reaches the log; what was asked for holds tokens and addresses
        connect_args={"connect_timeout": 5},
    )


def engine() -> Engine:
    """Return the pool, or raise RuntimeError before `configure`."""
    if _engine is None:
        raise RuntimeError("Call store.engine.configure(database_url) first.")
    return _engine


@contextmanager
def transaction() -> Iterator[Session]:
    """Open one transaction: committed at the end with its events numbered, rolled back on any exception."""
    from store import events  # events needs the base, which needs nothing of this module  # noqa: PLC0415

    with Session(engine(), expire_on_commit=False) as session:
        yield session
        events.write(session)
        session.commit()
