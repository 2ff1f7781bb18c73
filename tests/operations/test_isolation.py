"""Whatever belongs to another organisation or to the other mode is not there: every id of every operation."""

import dataclasses
from typing import Any

import httpx

from tests.api import Tenant
from tests.documents import Documented
from tests.operations.rows import Ids, Row, ask, fill, let_in, named
from tests.operations.table.every import each
from tests.probes import body_schema, parameters, refusal

UNKNOWN = "019a9b1e-7c1d-7a42-9f4e-5d0c8a3b2fff"
# What a body may repeat of somebody else: it names nothing of ours.
VALUES = {"email", "person", "external", "external_id"}
# What an organisation has once, for both modes: by the operation's tag, and as queries and bodies name it.
SHARED_TAGS = {"squads", "team"}
SHARED_NAMES = {"team_id", "squad_id", "team_slug", "user_id"}


# What a path may name that everybody has alike.
WORDS = {"kind", "language"}


def in_path(operation: Documented) -> list[str]:
    return [one["name"] for one in parameters(operation, "path") if one["name"] not in WORDS]


def is_shared(operation: Documented) -> bool:
    return operation.definition["tags"][0] in SHARED_TAGS


def outcome(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, "" if answer.is_success else answer.json()["error"]["code"]


@each(lambda one: one.scopes and in_path(one))
def test_another_organisation_and_the_other_mode_see_404(
    operation: Documented, row: Row, tenant: Tenant, other: Tenant
) -> None:
    ids = row.state(tenant.live)
    for stranger in let_in(operation, other.live, other.test):
        refusal(ask(stranger, operation, row, ids), 404, "NOT_FOUND")
    if is_shared(operation):
        assert ask(tenant.test, operation, row, row.state(tenant.live)).status_code == row.status
    elif not operation.of_tests_alone:
        refusal(ask(tenant.test, operation, row, ids), 404, "NOT_FOUND")
    assert ask(tenant.live, operation, row, ids).status_code == row.status


@each(lambda one: len(in_path(one)) > 1)
def test_an_id_is_looked_for_below_its_parent_alone(
    operation: Documented, row: Row, tenant: Tenant, other: Tenant
) -> None:
    mine = row.state(tenant.live)
    for theirs in (row.state(one) for one in let_in(operation, tenant.live, other.live, tenant.test)):
        # Two jobs of one organisation.
        same = [name for name in in_path(operation) if mine[name] == theirs[name]]
        for name in in_path(operation):
            if not same:
                answer = ask(tenant.live, operation, row, mine | {name: theirs[name]})
                assert answer.status_code == 404, name


@each(lambda one: "org_slug" in in_path(one))
def test_the_world_sees_nothing_of_the_test_mode(operation: Documented, row: Row, tenant: Tenant) -> None:
    ids = row.state(tenant.test)
    answer = ask(tenant.test, operation, row, ids)
    assert answer.status_code == (404 if "job_slug" in in_path(operation) else 200)
    assert ids["job_id"] not in answer.text
    assert f"/{ids['job_slug']}/" not in answer.text


def results(answer: httpx.Response) -> list[Any] | None:
    """What a list or a file of one holds; None of what is neither."""
    if answer.headers["Content-Type"].startswith("text/csv"):
        return answer.text.splitlines()[1:]
    body = answer.json()
    return body if isinstance(body, list) else body.get("results")


@each(lambda one: one.keyed and one.method == "GET" and not in_path(one))
def test_a_list_holds_nothing_of_others(
    operation: Documented, row: Row, tenant: Tenant, other: Tenant
) -> None:
    ids = row.state(tenant.live)
    mine = {one for name, one in ids.items() if name not in {"org_slug", *WORDS}}
    found = ask(tenant.live, operation, row, ids)
    assert results(found) != [], "the row's query finds what its state made"
    if is_shared(operation):
        assert ask(tenant.test, operation, row, ids).json() == found.json()
    strangers = (other.live, other.test, *([] if is_shared(operation) else [tenant.test]))
    for stranger in let_in(operation, *strangers):
        required = any(one.get("required") for one in parameters(operation, "query"))
        for query in (row.query, *([] if required else [{}])):
            seen = ask(stranger, operation, dataclasses.replace(row, query=query), ids)
            # Who filters by what is another's finds nothing, and a strange name is none.
            assert seen.status_code in (200, 404)
            assert not [one for one in mine if one in seen.text]
            assert not (ids and results(seen))


def references(body: Any) -> set[str]:
    return named(body) - VALUES


def shows_nothing(answer: httpx.Response) -> bool:
    """Say whether a list is empty, or figures are those of nothing."""
    if answer.headers["content-type"].startswith("text/csv"):
        return len(answer.text.splitlines()) == 1  # the names of the columns
    shown = answer.json()
    if "stages" in shown:
        return (
            not any(one["count"] for one in shown["stages"])
            and shown["by_source"] == shown["by_origin"] == shown["by_job"] == []
        )
    return shown.get("results", shown.get("mails", shown.get("total_invites"))) in ([], 0)


@each(lambda one: one.scopes)
def test_what_a_query_or_body_names_is_ones_own(
    operation: Documented, row: Row, tenant: Tenant, other: Tenant
) -> None:
    names = sorted(references(row.body) | named(row.query))
    if not names:
        return
    mine = row.state(tenant.live)
    strangers: list[Ids] = [row.state(api) for api in let_in(operation, other.live, other.test, tenant.test)]
    for name in names:
        unknown = ask(tenant.live, operation, row, mine, naming={name: UNKNOWN})
        answers = [
            ask(tenant.live, operation, row, mine, naming={name: theirs[name]})
            for theirs in (strangers[:2] if name in SHARED_NAMES else strangers)
        ]
        assert {outcome(one) for one in answers} == {outcome(unknown)}, name
        for answer in (unknown, *answers):
            assert not answer.is_success or shows_nothing(answer), name


@each(lambda one: one.scopes)
def test_what_is_named_and_not_there_is_refused(operation: Documented, row: Row, tenant: Tenant) -> None:
    """Also what the row cannot name, for there is none of it yet."""
    given = {one["name"] for one in parameters(operation, "query")}
    known = body_schema(operation)["properties"] if "requestBody" in operation.definition else {}
    ids = row.state(tenant.live)
    for name in sorted({one for one in {*given, *known} if one.endswith(("_id", "_slug"))} - VALUES):
        if name in known:
            body = {**fill(row.body, {"email": "ada@example.com"} | ids), name: UNKNOWN}
            refusal(ask(tenant.live, operation, row, ids, body=body), (400, 404))
        else:
            answer = ask(tenant.live, operation, row, ids, params={name: UNKNOWN})
            assert answer.status_code == 404 or shows_nothing(answer), name
