"""The bell of peers whose threads commit: a thread of its own rings, once for all that asked meanwhile, and rests."""

import threading
import time

import psycopg
import work

_asked = threading.Event()


def ring() -> None:
    """Wake the relay soon, without waiting for it."""
    _asked.set()


def _run() -> None:
    with psycopg.connect(work.DATABASE_URL, autocommit=True) as connection:
        while _asked.wait():
            _asked.clear()
            connection.execute(work.SQL["bell"], {})
            time.sleep(work.GIVEN["bell_rests"])


threading.Thread(target=_run, daemon=True).start()
