"""Whatever an answer shows of a resource, its lists tell of with `updated_after` once it changes."""

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import select

import store
from rules.clock import iso, now
from store.delivering import fanout
from store.hiring import tallies
from tests import left_to_do
from tests.api import Api, Tenant
from tests.documents import Documented, operations
from tests.operations.rows import PLACE, Row, ask
from tests.operations.table.every import each

BASE = "/api/v1/public"
# Those above others come first.
LISTS = sorted(
    (
        one
        for one in operations("openapi").values()
        if "updated_after" in {parameter["name"] for parameter in one.parameters}
    ),
    key=lambda one: len(PLACE.findall(one.path)),
)
# The lists of what stands in another list's path, by its slug, or by its id where it has none.
PARENTS = {
    "assessments": "list_assessments",
    "jobs": "list_jobs",
    "pipelines": "list_pipelines",
    "candidates": "list_candidates",
}
# One row of a list, by the list: below its path without what lies above it; a result is its invitation's.
GETS = {PLACE.sub("{}", one.path): one.path for one in operations("openapi").values() if one.method == "GET"}
DETAILS = {one.id: GETS.get(re.sub(r"\{\w+\}/", "", one.path) + "{}/") for one in LISTS} | {
    "list_results": GETS[f"{BASE}/invites/{{}}/result/"]
}
NAMED = {"token": "invite_token", "slug": "slug", "key": "slug"}  # else by its id
Found = dict[tuple[str, str], dict[str, Any]]


def rows(api: Api, one: Documented, whole: dict[str, Found], **query: str) -> Found:
    """Every row of one list, by a name of its own; `whole` has what lies above it."""
    paths, names = [one.path.removeprefix(BASE)], PLACE.findall(one.path)
    for name in names:
        parent = PARENTS[paths[0].partition(f"/{{{name}}}")[0].rpartition("/")[2]]
        paths = [
            path.replace(f"{{{name}}}", found.get("slug") or found["id"])
            for path in paths
            for found in whole[parent].values()
        ]
    found: Found = {}
    for path in paths:
        page = api.get(path, params={"page_size": 100, **query}).json()
        assert page["next"] is None, "more rows than the test looks at"
        found |= {(f"{one.id} {path}", row.get("id") or row["invite_token"]): row for row in page["results"]}
    return found


def everything(api: Api) -> dict[str, Found]:
    """Every row of every list, by the list."""
    whole: dict[str, Found] = {}
    for one in LISTS:
        whole[one.id] = rows(api, one, whole)
    return whole


def details(api: Api, found: Found) -> Found:
    """What one GET shows of each row, where there is one."""
    shown: Found = {}
    for (place, name), row in found.items():
        if path := DETAILS[place.partition(" ")[0]]:
            [placed] = PLACE.findall(path)
            answer = api.get(path.removeprefix(BASE).format(**{placed: row[NAMED.get(placed, "id")]}))
            assert answer.status_code == 200, answer.text
            shown[place, name] = answer.json() | {"meta": None}  # of the organisation
    return shown


def flat(lists: Iterable[Found]) -> Found:
    return {key: row for found in lists for key, row in found.items()}


def work(since: datetime) -> None:
    """Do what commits have left to do."""
    left_to_do.do(since)
    with store.transaction() as session:
        tallies.fold(session, session.scalars(select(tallies.ApplicationTally)).all())
        fanout.fan_out(session, limit=1000)


@each(lambda operation: operation.method != "GET")
def test_what_an_operation_changes_is_found_by_a_sync(
    operation: Documented, row: Row, tenant: Tenant
) -> None:
    api = tenant.test
    for one in (row, *row.also):
        ids = one.state(api)
        before = flat(everything(api).values())
        shown, moment = details(api, before), now()
        ask(api, operation, one, ids)
        work(moment)
        whole = everything(api)
        after = flat(whole.values())
        synced = flat(rows(api, one, whole, updated_after=iso(moment)) for one in LISTS)
        changed = {key for key in before.keys() & after.keys() if before[key] != after[key]}
        assert changed - synced.keys() == set()
        silent = details(api, {key: after[key] for key in before.keys() & after.keys() - synced.keys()})
        seen = {
            (key[0].partition(" ")[0], name)
            for key, one in silent.items()
            for name in one.keys() | shown[key].keys()
            if one.get(name) != shown[key].get(name)
        }
        assert seen == set()
        assert after.keys() - before.keys() - synced.keys() == set()


def test_every_list_with_a_sync_is_looked_at() -> None:
    assert {one.id for one in LISTS} >= {
        "list_assessments",
        "list_invitations",
        "list_jobs",
        "list_applications",
    }
