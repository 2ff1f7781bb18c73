"""Counters that several processes add to at once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

from sqlalchemy import text

import store
from rules.clock import now
from store.measuring import counts
from tests.hooks import new_caller


def test_processes_that_count_at_once_lose_nothing_and_wait_in_no_circle(http: Any) -> None:
    hour = now().replace(minute=0, second=0, microsecond=0)
    callers = [new_caller() for _ in range(5)]
    places = [
        {
            "organisation_id": one.organisation_id,
            "livemode": one.livemode,
            "hour": hour - timedelta(hours=ago),
        }
        for one in callers
        for ago in range(2)
    ]

    def add(turn: int) -> None:
        mine = places[::-1] if turn % 2 else places
        batch = counts.Batch(
            [one | {"reads": 1, "writes": 2, "faults": 3} for one in mine],
            [one | {"bucket": bucket, "count": 1} for bucket in (7, 3, 5) for one in mine],
            [one | {"code": "NOT_FOUND", "count": 1, "last_seen": hour} for one in mine],
        )
        with store.transaction() as session:
            counts.add(session, batch)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, range(24)))
    ids = {"ids": [one.organisation_id for one in callers]}
    with store.transaction() as session:
        for table, columns in {
            "request_counts": "reads, writes, faults",
            "request_sketches": "count",
            "request_refusals": "count",
        }.items():
            found = session.execute(
                text(f"SELECT {columns} FROM {table} WHERE organisation_id = ANY (:ids)"), ids
            ).all()
            assert {tuple(row) for row in found} == {(24, 48, 72) if "," in columns else (24,)}
            assert len(found) == len(places) * (3 if table == "request_sketches" else 1)
