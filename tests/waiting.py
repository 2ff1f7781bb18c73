"""Requests that wait for a row which somebody else has in hand."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import psycopg
from sqlalchemy import Update, text

import store

# What runs is known to a transaction as it was when it first asked; who waits it is told anew each time.
BLOCKED = text(
    "SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))"
)
TRIES = 100_000


def while_changing(change: Update, ask: Callable[[], httpx.Response]) -> Any:
    """Ask while a change is under way, which is committed once the request waits for it; return the answer."""
    with ThreadPoolExecutor(1) as pool:
        with store.transaction() as session:
            session.execute(change)
            asked = pool.submit(ask)
            assert any(session.scalar(BLOCKED) for _ in range(TRIES)), "nothing waits"
        return asked.result()


def while_held(
    database_url: str, hold: str, key: Any, asks: Sequence[Callable[[], httpx.Response]]
) -> list[httpx.Response]:
    """Ask several things at once of a row that is held until all of them wait; return the answers in their order."""
    with psycopg.connect(database_url) as holder, ThreadPoolExecutor(len(asks)) as pool:
        holder.execute(hold, [key])  # type: ignore[arg-type]  # of a test
        asked = [pool.submit(ask) for ask in asks]
        for _ in range(TRIES):
            [waiting] = holder.execute(  # type: ignore[misc]
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
            ).fetchone()
            holder.execute("SELECT pg_stat_clear_snapshot()")
            assert not any(one.done() for one in asked), [one.result().text for one in asked if one.done()]
            if waiting == len(asks):
                break
        holder.commit()
        assert waiting == len(asks), "not all of them wait"
        return [one.result() for one in asked]
