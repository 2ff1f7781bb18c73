"""Whatever an answer shows of a resource, its lists tell of with `updated_after` once it changes."""

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial
from typing import Any

import pytest
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
from tests.operations.whole import a_whole_hire
from tests.workers import falling_due
from workers import schedule

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
# What a row shows of another one beside its id or slug changes with that one, whose own list tells of it: by the list,
# each with that list. A rename would otherwise write hundreds of thousands of rows anew.
OF_OTHERS = {
    "list_applications": {"job_title": "list_jobs"},
    "list_offers": {"job_title": "list_jobs"},
    "list_invitations": {"assessment": "list_assessments"},
    "list_assessment_invitations": {"assessment": "list_assessments"},
    "list_interviews": {"linked_assessment_title": "list_assessments"},
    "list_jobs": {"team": "list_squads"},
    "list_assessments": {"team": "list_squads"},
    "list_results": {"percentile": "list_results"},  # among all of them
}
# What reaches others, beside every change of fields.
REACH = {
    "remove_case",
    "replace_cases",
    "delete_case",
    "cancel_invitation",
    "delete_field",
    "delete_interview_template",
    "erase_candidate",
    "merge_candidates",
    "withdraw_application",
    "advance_application",
}
# By what comes first in a path: what it calls that which everything together has under another name.
CALLED = {
    "pipelines": {"slug": "pipeline_slug"},
    "cases": {"id": "case_id"},
    "webhooks": {"id": "webhook_id"},
}
Found = dict[tuple[str, str], dict[str, Any]]


def fields_of(shown: dict[str, Any]) -> set[str]:
    """The fields of a schema, or of those of which it is one."""
    return {name for one in shown.get("oneOf", [shown]) for name in one["properties"]}


def answered(one: Documented) -> dict[str, Any]:
    """The schema of what an operation answers."""
    return dict(one.definition["responses"]["200"]["content"]["application/json"]["schema"])


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
            for one in shown[place, name].get("recordings", ()):
                one["url"] = None  # made anew for each answer
    return shown


def flat(lists: Iterable[Found]) -> Found:
    return {key: row for found in lists for key, row in found.items()}


def work(since: datetime) -> None:
    """Do what commits have left to do."""
    left_to_do.do(since)
    with store.transaction() as session:
        tallies.fold(session, session.scalars(select(tallies.ApplicationTally)).all())
        fanout.fan_out(session, limit=1000)


def unfound(api: Api, act: Callable[[], object]) -> set[tuple[str, str]]:
    """Do something; name what a sync does not find of it, by the list and the field."""
    before = flat(everything(api).values())
    shown, moment = details(api, before), now()
    act()
    work(moment)
    whole = everything(api)
    after = flat(whole.values())
    synced = flat(rows(api, one, whole, updated_after=iso(moment)) for one in LISTS)
    assert after.keys() - before.keys() - synced.keys() == set()
    silent = {key: after[key] for key in before.keys() & after.keys() - synced.keys()}
    told = {place.partition(" ")[0] for place, _ in synced} | {"list_squads"}  # which is read whole each time
    changed = changes(before, silent) | changes(shown, details(api, silent))
    return {(place, name) for place, name in changed if OF_OTHERS.get(place, {}).get(name) not in told}


def changes(before: Found, after: Found) -> set[tuple[str, str]]:
    """Name the fields in which rows differ, by their list."""
    return {
        (key[0].partition(" ")[0], name)
        for key, one in after.items()
        for name in one.keys() | before[key].keys()
        if one.get(name) != before[key].get(name)
    }


@each(lambda operation: operation.method != "GET")
def test_what_an_operation_changes_is_found_by_a_sync(
    operation: Documented, row: Row, tenant: Tenant
) -> None:
    api = tenant.test
    for one in (row, *row.also):
        ids = one.state(api)
        assert unfound(api, partial(ask, api, operation, one, ids)) == set()


@each(
    lambda operation: (
        operation.path.startswith(BASE) and (operation.method == "PATCH" or operation.id in REACH)
    )
)
def test_so_is_what_it_changes_where_there_is_everything(
    operation: Documented, row: Row, tenant: Tenant
) -> None:
    api, began = tenant.test, now()
    ids = a_whole_hire(api)
    ids |= {name: ids[of] for name, of in CALLED.get(operation.path.split("/")[4], {}).items()}
    work(began)
    assert unfound(api, partial(ask, api, operation, row, ids)) == set()


@pytest.mark.parametrize("kind", schedule.KINDS, ids=lambda kind: kind.name)
def test_so_is_what_the_schedule_changes(kind: schedule.Kind, tenant: Tenant) -> None:
    falling_due.make(kind, tenant)
    assert unfound(tenant.live, kind.batch) == set()


def test_every_list_with_a_sync_is_looked_at() -> None:
    assert {one.id for one in LISTS} >= {
        "list_assessments",
        "list_invitations",
        "list_jobs",
        "list_applications",
    }


def test_what_is_shown_of_others_is_still_shown() -> None:
    shown = {one.id: fields_of(answered(one)["properties"]["results"]["items"]) for one in LISTS}
    for place, path in DETAILS.items():
        shown[place] |= fields_of(answered(operations("openapi")["GET", path])) if path else set()
    assert {(place, name) for place in OF_OTHERS for name in OF_OTHERS[place].keys() - shown[place]} == set()
