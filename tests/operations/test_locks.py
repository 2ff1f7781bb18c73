"""Locks are taken in one order, in each statement of every operation and of the workers."""

import re
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from rules.clock import now
from store.database import loops
from store.database.locks import ORDER
from tests import left_to_do
from tests.api import Api, Tenant, address
from tests.documents import Documented
from tests.operations import states
from tests.operations.rows import Row, ask, let_in
from tests.operations.table.every import each
from tests.pipelines import INTERVIEW, MANUAL, act, due, enroll, measured, pipeline, shown, sit
from tests.workers import falling_due
from workers import schedule

WRITES = re.compile(
    r"(?<!FOR )(?<!KEY )(?<!DO )\bUPDATE\s+(?:ONLY\s+)?(\w+)|\bDELETE\s+FROM\s+(\w+)|\bINSERT\s+INTO\s+(\w+)"
    r"|\b(pg_advisory_xact_lock)\b|\bFOR\s+((?:NO KEY |KEY )?(?:UPDATE|SHARE)(?: OF \w+(?:, \w+)*)?(?: SKIP LOCKED)?)",
)
FROM = re.compile(r"\b(?:FROM|JOIN)\s+(\w+)")
CALLED = re.compile(r"(?:\b(?:FROM|JOIN)|,)\s+(\w+)\s+AS\s+(\w+)")  # a table, and what a statement calls it


def locked(statement: str) -> Iterator[tuple[str, bool]]:
    """Name the tables whose rows a statement locks, in its order, and whether it waits for them."""
    text = " ".join(statement.split())
    for found in WRITES.finditer(text):
        *named, advisory, clause = found.groups()
        if table := next(filter(None, named), None):
            yield table, True
        elif advisory:
            yield "invite_usage", True
        else:
            chosen = clause.partition(" OF ")[2].removesuffix(" SKIP LOCKED").split(", ")
            before = text[: found.start()]
            if not chosen[0]:
                chosen = FROM.findall(before[before.rfind("SELECT") :])[:1]
            called = {alias: table for table, alias in CALLED.findall(before)}
            for one in chosen:
                yield called.get(one, one), not clause.endswith("SKIP LOCKED")


def out_of_order(statements: list[str]) -> list[str]:
    """Tell of each lock of a transaction that comes after one which is later in the list."""
    held: list[str] = []
    wrong = []
    for statement in statements:
        for table, waits in locked(statement):
            if table in ORDER and table not in held:
                later = [one for one in held if ORDER.index(one) > ORDER.index(table)]
                if later and waits:
                    wrong.append(f"{table} after {later}: {statement}")
                held.append(table)
    return wrong


LAST = re.compile(r"FOR (?:NO KEY |KEY )?(?:UPDATE|SHARE)(?: OF (\w+(?:, \w+)*))?$")  # that waits
SHOWN = re.compile(r"(\w+)\.\w+")


def stale(statement: str) -> list[str]:
    """Name the tables that a statement reads beside the one whose lock it waits for.

    A row that was changed while its lock was waited for is read anew, and what is joined to it is not.
    """
    text = " ".join(statement.split())
    if not text.startswith("SELECT ") or not (found := LAST.search(text)):
        return []
    locks = found[1].split(", ") if found[1] else FROM.findall(text)[:1]
    return sorted(set(SHOWN.findall(text[: text.index(" FROM ")])) - set(locks))


@pytest.fixture
def transactions(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The statements of each transaction from now on, as drivers are given them: on a loop each is one of its own."""
    every: list[list[str]] = []
    running: dict[int, list[str]] = defaultdict(list)
    execute, fetch = psycopg.Cursor.execute, loops.Connection.fetch
    end = {name: getattr(psycopg.Connection, name) for name in ("commit", "rollback")}

    def executed(cursor: Any, query: Any, *given: Any, **options: Any) -> Any:
        running[id(cursor.connection)].append(str(query))
        return execute(cursor, query, *given, **options)

    def fetched(connection: Any, query: str, *given: Any, **options: Any) -> Any:
        every.append([query])
        return fetch(connection, query, *given, **options)

    def ended(name: str) -> Any:
        def done(connection: Any) -> None:
            every.append(running.pop(id(connection), []))
            end[name](connection)

        return done

    monkeypatch.setattr(psycopg.Cursor, "execute", executed)
    monkeypatch.setattr(loops.Connection, "fetch", fetched)
    for name in end:
        monkeypatch.setattr(psycopg.Connection, name, ended(name))
    return every


# What counts against a plan's room, and who belongs to an organisation: one after the other. No invite, application or
# answer waits for it, nor any change that is made often.
HOLD_THE_ORGANISATION = {
    "create_assessment", "duplicate_assessment", "update_assessment", "create_job", "publish_job", "create_pipeline",
    "create_squad", "delete_squad", "change_squad_on_page", "change_squads_on_page", "update_organisation",
    "change_settings_on_page", "invite_member", "change_member", "remove_member", "change_members_on_page",
    "join_on_page", "sign_in_by_company", "unbind_company_sign_in", "show_company_code_page",
}  # fmt: skip


def holds_the_organisation(transactions: list[list[str]]) -> bool:
    statements = [one for made in transactions for one in made]
    return "organisations" in {table for one in statements for table, _ in locked(one)}


@each()
def test_every_operation_and_what_it_leaves_to_do_keep_the_order_of_locks(
    operation: Documented, row: Row, tenant: Tenant, transactions: list[list[str]]
) -> None:
    holds = False
    for api in let_in(operation, tenant.live, tenant.test):
        for one in (row, *row.also):
            moment, ids, before = now(), one.state(api), len(transactions)
            ask(api, operation, one, ids)
            holds |= holds_the_organisation(transactions[before:])
            left_to_do.do(moment)
    assert holds == (operation.id in HOLD_THE_ORGANISATION)
    assert [wrong for one in transactions for wrong in out_of_order(one)] == []
    assert [(stale(one), one) for statements in transactions for one in statements if stale(one)] == []


def test_the_locks_of_a_request_are_seen(tenant: Tenant, transactions: list[list[str]]) -> None:
    slug = tenant.live.assessment()["slug"]
    transactions.clear()
    tenant.live.invitation(slug)
    found = [[table for one in statements for table, _ in locked(one)] for statements in transactions]
    assert [
        "invite_usage",
        "candidates",
        "candidates",
        "invitations",
        "assessments",
        "event_sequences",
    ] in [[table for table in tables if table in ORDER] for tables in found]


def test_only_a_change_of_status_makes_an_assessment_wait_for_its_organisation(
    tenant: Tenant, transactions: list[list[str]]
) -> None:
    at = f"/assessments/{tenant.live.assessment(cases=1)['slug']}/update/"
    for body, holds in (
        ({"title": "Another"}, False),
        ({"cases": []}, False),
        ({"status": "archived"}, True),
    ):
        transactions.clear()
        assert tenant.live.patch(at, body).status_code == 200
        assert holds_the_organisation(transactions) == holds, body


@pytest.mark.parametrize("kind", schedule.KINDS, ids=lambda kind: kind.name)
def test_the_schedule_keeps_the_order_of_locks(
    kind: schedule.Kind, tenant: Tenant, transactions: list[list[str]]
) -> None:
    falling_due.make(kind, tenant)
    transactions.clear()
    worked_on = 0
    while done := kind.batch()[1]:
        worked_on += done
    assert worked_on >= falling_due.COUNT
    assert [table for statements in transactions for one in statements for table, _ in locked(one)]
    assert [wrong for one in transactions for wrong in out_of_order(one)] == []
    assert [(stale(one), one) for statements in transactions for one in statements if stale(one)] == []


@pytest.mark.parametrize("mode", ["live", "test"])
def test_every_way_through_a_pipeline_keeps_the_order_of_locks(
    tenant: Tenant, mode: str, transactions: list[list[str]]
) -> None:
    api: Api = getattr(tenant, mode)
    texts, programs, numbers = (measured(api, one) for one in (states.TEXT, states.CODE, states.NUMBER))
    slug, email = pipeline(api, texts, programs, numbers, MANUAL), address()
    api.invitation(texts["assessment_slug"], email)
    made = enroll(api, slug, email)
    due(made["id"])  # what is linked is looked at once more
    sit(api, made["invite_token"], "Writes are slower.")
    token = made["invite_token"]
    states.post(api, f"/invites/{token}/result/review/", {"cases": [{"case_order": 1, "score": "10.00"}]})
    sit(api, shown(api, made["id"])["invite_token"], "print(input())")
    states.graded(api)
    act(api, made["id"], "hold")
    sit(api, shown(api, made["id"])["invite_token"])
    assert act(api, made["id"], "unhold").json()["current_stage"] == 3
    talks = pipeline(api, numbers, INTERVIEW, numbers)
    settled = enroll(api, talks)
    sit(api, settled["invite_token"])
    [room] = api.get("/interviews/", params={"q": settled["email"]}).json()["results"]
    states.post(api, f"/interviews/{room['id']}/outcome/", {"recommendation": "advance"})
    assert shown(api, settled["id"])["current_stage"] == 2
    two = {"candidates": [{"email": address()}, {"email": address()}]}
    states.post(api, f"/pipelines/{pipeline(api, INTERVIEW)}/enroll/bulk/", two)
    last = enroll(api, slug)
    assert api.delete(f"/invites/{last['invite_token']}/").status_code == 204
    rows = {"candidates": [{"email": address()}, {"email": email}]}
    states.post(api, f"/pipelines/{pipeline(api, numbers, MANUAL)}/enroll/bulk/", rows)
    assert [wrong for one in transactions for wrong in out_of_order(one)] == []
    assert [(stale(one), one) for statements in transactions for one in statements if stale(one)] == []


@pytest.mark.parametrize(
    ("statements", "wrong"),
    [
        (["UPDATE applications SET x = 1", "SELECT id FROM invitations FOR UPDATE"], 0),
        (["SELECT id FROM invitations FOR UPDATE", "UPDATE applications SET x = 1"], 1),
        (["SELECT a FROM jobs JOIN applications ON b FOR UPDATE OF applications", "UPDATE jobs SET a = 1"], 1),
        (["WITH a AS (INSERT INTO assessments VALUES (1)), b AS (DELETE FROM sessions) SELECT 1"], 1),
        (["SELECT id FROM applications FOR UPDATE", "SELECT pg_advisory_xact_lock(1)"], 1),
        (["SELECT id FROM sessions FOR UPDATE", "SELECT id FROM jobs FOR UPDATE SKIP LOCKED"], 0),
        (["UPDATE jobs SET a = 1", "UPDATE assessments SET a = 1", "UPDATE jobs SET a = 2"], 0),
        (["UPDATE sessions SET a = 1", "SELECT b FROM a, invitations AS due FOR UPDATE OF due"], 1),
        (["UPDATE sessions SET a = 1", "WITH due AS (SELECT FROM jobs FOR UPDATE OF jobs ) SELECT 1"], 1),
        (["UPDATE sessions SET a = 1", "SELECT FROM jobs FOR UPDATE OF jobs SKIP LOCKED"], 0),
    ],
)  # fmt: skip
def test_a_lock_out_of_order_is_seen(statements: list[str], wrong: int) -> None:
    assert len(out_of_order(statements)) == wrong


@pytest.mark.parametrize(
    ("statement", "tables"),
    [
        (
            "SELECT jobs.id, squads_1.id FROM jobs JOIN squads AS squads_1 ON a FOR UPDATE OF jobs",
            ["squads_1"],
        ),
        ("SELECT jobs.id, squads.id FROM jobs JOIN squads ON a FOR UPDATE OF jobs, squads", []),
        ("SELECT jobs.id, squads.id FROM jobs JOIN squads ON a FOR UPDATE OF jobs SKIP LOCKED", []),
        ("SELECT jobs.id FROM jobs JOIN squads ON squads.id = jobs.team_id FOR NO KEY UPDATE OF jobs", []),
        ("SELECT jobs.id, squads.id FROM jobs JOIN squads ON a", []),
        ("SELECT jobs.id FROM jobs FOR UPDATE", []),
    ],
)
def test_what_is_read_beside_a_lock_is_seen(statement: str, tables: list[str]) -> None:
    assert stale(statement) == tables


# --- What waited in a circle before there was an order


@pytest.mark.parametrize("mode", ["live", "test"])
def test_advancing_beside_a_cancellation_fails_neither(
    tenant: Tenant, mode: str, transactions: list[list[str]]
) -> None:
    api: Api = getattr(tenant, mode)
    assessment = api.assessment()
    job = api.job(published=True, assessment_id=assessment["id"])["slug"]
    with ThreadPoolExecutor(2) as pool:
        for _ in range(15):
            made = api.application(job)
            token = api.invitation(assessment["slug"], made["email"])["invite_token"]
            advanced = pool.submit(api.post, f"/applications/{made['id']}/advance/")
            cancelled = pool.submit(api.delete, f"/invites/{token}/")
            assert (advanced.result().status_code, cancelled.result().status_code) == (200, 204)
            found = api.get(f"/applications/{made['id']}/").json()
            left = api.get("/invites/", params={"email": made["email"]}).json()["results"]
            assert (found["invitation_id"] is None) == (left == [])
    assert [wrong for one in transactions for wrong in out_of_order(one)] == []
    assert [(stale(one), one) for statements in transactions for one in statements if stale(one)] == []


@pytest.mark.parametrize("mode", ["live", "test"])
def test_bulk_invitations_that_cross_fail_neither(tenant: Tenant, mode: str) -> None:
    api: Api = getattr(tenant, mode)
    slug = api.assessment()["slug"]

    def invite(turn: int, name: str, order: int) -> int:
        rows = [
            {"email": f"{place:03}-{name}-{turn}@example.com", "external_id": f"{turn}-{place * order % 101}"}
            for place in range(1, 101)
        ]
        return int(api.post(f"/assessments/{slug}/invites/bulk/", {"candidates": rows}).status_code)

    with ThreadPoolExecutor(2) as pool:
        for turn in range(2):
            asked = [pool.submit(invite, turn, "a", 1), pool.submit(invite, turn, "b", 100)]
            assert [one.result() for one in asked] == [201, 201]
