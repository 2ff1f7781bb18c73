"""Whatever an answer shows of a resource, its lists tell of with `updated_after` once it changes."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import select

import store
from rules.clock import iso, now
from store.delivering import fanout
from store.hiring import tallies
from store.outbox import OutboxItem
from tests.api import Api, Tenant
from tests.documents import Documented, operations
from tests.operations.rows import PLACE, Row, ask
from tests.operations.table.every import each
from workers import grading, screening

JOBS = {"screen": screening.screen, "grade": grading.grade}
BASE = "/api/v1/public"
LISTS = [
    one
    for one in operations("openapi").values()
    if "updated_after" in {parameter["name"] for parameter in one.parameters}
]
# The lists of what stands in another list's path, by its slug, or by its id where it has none.
PARENTS = {
    "assessments": "list_assessments",
    "jobs": "list_jobs",
    "pipelines": "list_pipelines",
    "candidates": "list_candidates",
}
Found = dict[tuple[str, str], dict[str, Any]]


def rows(api: Api, one: Documented, **query: str) -> Found:
    """Every row of one list, by a name of its own."""
    paths, names = [one.path.removeprefix(BASE)], PLACE.findall(one.path)
    for name in names:
        parent = PARENTS[paths[0].partition(f"/{{{name}}}")[0].rpartition("/")[2]]
        [above] = [other for other in LISTS if other.id == parent]
        paths = [
            path.replace(f"{{{name}}}", found.get("slug") or found["id"])
            for path in paths
            for found in rows(api, above).values()
        ]
    found: Found = {}
    for path in paths:
        page = api.get(path, params={"page_size": 100, **query}).json()
        assert page["next"] is None, "more rows than the test looks at"
        found |= {(f"{one.id} {path}", row.get("id") or row["invite_token"]): row for row in page["results"]}
    return found


def everything(api: Api, **query: str) -> Found:
    return {key: row for one in LISTS for key, row in rows(api, one, **query).items()}


def work(since: datetime) -> None:
    """Do what commits have left to do."""
    with store.transaction() as session:
        asked = session.execute(
            select(OutboxItem.job, OutboxItem.arguments).where(OutboxItem.created_at >= since)
        )
        mine = [(job, arguments) for job, arguments in asked if job in JOBS]
        tallies.fold(session, session.scalars(select(tallies.ApplicationTally)).all())
        fanout.fan_out(session, limit=1000)
    for job, arguments in mine:
        JOBS[job](UUID(int=0), arguments)


@each(lambda operation: operation.method != "GET")
def test_what_an_operation_changes_is_found_by_a_sync(
    operation: Documented, row: Row, tenant: Tenant
) -> None:
    api = tenant.test
    for one in (row, *row.also):
        ids = one.state(api)
        before, moment = everything(api), now()
        ask(api, operation, one, ids)
        work(moment)
        after, synced = everything(api), everything(api, updated_after=iso(moment))
        changed = {key for key in before.keys() & after.keys() if before[key] != after[key]}
        assert changed - synced.keys() == set()
        assert after.keys() - before.keys() - synced.keys() == set()


def test_every_list_with_a_sync_is_looked_at() -> None:
    assert {one.id for one in LISTS} >= {
        "list_assessments",
        "list_invitations",
        "list_jobs",
        "list_applications",
    }
