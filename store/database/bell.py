"""The database's bell: what a committed NOTIFY wakes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg

from store.database.engine import engine

OUTBOX = "outbox"


@contextmanager
def listening(channel: str = OUTBOX) -> Iterator[Callable[[float], bool]]:
    """Listen on a connection of its own; the function given waits that many seconds and says if it rang.

    Raises psycopg.OperationalError when the connection breaks.
    """
    url = engine().url.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(url, autocommit=True, connect_timeout=5) as connection:
        connection.execute(psycopg.sql.SQL("LISTEN {}").format(psycopg.sql.Identifier(channel)))

        def wait(seconds: float) -> bool:
            return any(True for _ in connection.notifies(timeout=seconds, stop_after=1))

        yield wait
