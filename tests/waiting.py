"""A request that waits for a row which somebody else is changing."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
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
