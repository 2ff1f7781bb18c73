"""Sealed rows: each is tied to the one before, and whatever is done to one by hand is found and named."""

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

import store
from rules import audit
from rules.caller import Caller
from store.auditing import trail, verifying
from store.auditing.trail import Entry
from store.database.ids import new_id
from tests.hooks import new_caller
from tests.servers import Settings
from tests.trail import SEALING, clear, seal

COUNT = 12


@pytest.fixture(autouse=True)
def alone(http: Any, settings: Settings) -> Iterator[None]:
    """No chains but one's own: what another test left is taken away."""
    clear()
    yield
    clear()


def execute(statement: str, **values: Any) -> list[Any]:
    with store.transaction() as session:
        done: Any = session.execute(text(statement), values)
        return list(done.all()) if done.returns_rows else []


def tell(owner: UUID, count: int = COUNT, **facts: Any) -> None:
    with store.transaction() as session:
        for number in range(count):
            trail.note(session, Entry("cli", "cli", f"act.{number}", organisation_id=owner, **facts))


@pytest.fixture
def chain() -> Caller:
    caller = new_caller()
    tell(caller.organisation_id)
    seal()
    return caller


def faults() -> list[verifying.Fault]:
    with store.transaction() as session:
        return verifying.verify(session).faults


def named(owner: Caller, number: int) -> str:
    found = execute(
        "SELECT id FROM audit_rows WHERE organisation_id = :owner AND number = :number",
        owner=owner.organisation_id,
        number=number,
    )
    return str(found[0][0])


def test_what_was_sealed_and_left_alone_is_sound(chain: Caller) -> None:
    other = new_caller()
    tell(other.organisation_id, 3)
    seal()
    tell(chain.organisation_id, 2)
    seal()
    with store.transaction() as session:
        found = verifying.verify(session)
    assert (found.rows, found.chains, found.faults) == (COUNT + 5, 2, [])
    assert found.anchors == 2


def test_it_is_told_how_far_a_verification_is(chain: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifying, "FETCHED", 5)
    told: list[tuple[int, int]] = []
    with store.transaction() as session:
        verifying.verify(session, lambda done, known: told.append((done, known)))
    assert told == [(5, COUNT), (10, COUNT), (COUNT, COUNT)]


COLUMNS = {
    "id": "gen_random_uuid()",
    "occurred_at": "occurred_at + interval '1 ms'",
    "livemode": "NOT coalesce(livemode, false)",
    "channel": "'area'",
    "actor_type": "'key'",
    "actor_id": "gen_random_uuid()",
    "action": "'nothing'",
    "method": "'GET'",
    "path": "'/'",
    "outcome": "'error'",
    "status_code": "500",
    "error_code": "'NOT_FOUND'",
    "ip": "'10.0.0.1'",
    "request_id": "'req_1'",
    "resource_type": "'job'",
    "resource_id": "'1'",
    "duration_ms": "7",
    "hash": "'\\x00'",
}


@pytest.mark.parametrize("column", COLUMNS)
def test_a_row_that_was_changed_is_named(chain: Caller, column: str) -> None:
    execute(
        f"UPDATE audit_rows SET {column} = {COLUMNS[column]} WHERE organisation_id = :owner AND number = 5",
        owner=chain.organisation_id,
    )
    [fault] = faults()
    assert (fault.organisation_id, fault.number) == (str(chain.organisation_id), 5)
    assert fault.row_id == named(chain, 5)


def test_a_row_that_was_given_to_another_organisation_is_named(chain: Caller) -> None:
    other = new_caller()
    execute(
        "UPDATE audit_rows SET organisation_id = :other WHERE organisation_id = :owner AND number = 5",
        owner=chain.organisation_id,
        other=other.organisation_id,
    )
    found = {(fault.organisation_id, fault.number) for fault in faults()}
    assert (str(chain.organisation_id), 5) in found
    assert str(other.organisation_id) in {owner for owner, _ in found}


@pytest.mark.parametrize("number", [1, 2, 7, COUNT - 1])
def test_a_row_that_was_removed_is_named_by_its_number(chain: Caller, number: int) -> None:
    execute(
        "DELETE FROM audit_rows WHERE organisation_id = :owner AND number = :number",
        owner=chain.organisation_id,
        number=number,
    )
    [fault] = faults()
    assert fault.number == number
    assert "removed" in fault.what


def test_a_row_that_was_removed_and_its_gap_closed_is_named(chain: Caller) -> None:
    owner = chain.organisation_id
    execute("DELETE FROM audit_rows WHERE organisation_id = :owner AND number = 5", owner=owner)
    for number in range(6, COUNT + 1):
        execute(
            "UPDATE audit_rows SET number = :to WHERE organisation_id = :owner AND number = :number",
            owner=owner, number=number, to=number - 1,
        )  # fmt: skip
    [fault] = faults()
    assert fault.number == 5


@pytest.mark.parametrize("left", [COUNT - 1, 5, 0])
def test_a_tail_that_was_cut_is_named(chain: Caller, left: int) -> None:
    execute(
        "DELETE FROM audit_rows WHERE organisation_id = :owner AND number > :left",
        owner=chain.organisation_id,
        left=left,
    )
    [fault] = faults()
    assert fault.number == left + 1
    assert "removed" in fault.what


def test_a_tail_that_was_cut_with_its_head_put_back_is_found(chain: Caller) -> None:
    owner = chain.organisation_id
    tell(owner, 1)
    seal()
    execute("DELETE FROM audit_rows WHERE organisation_id = :owner AND number > 5", owner=owner)
    execute(
        "UPDATE audit_chains AS chain SET number = 5, hash = (SELECT hash FROM audit_rows"
        " WHERE organisation_id = :owner AND number = 5) WHERE organisation_id = :owner",
        owner=owner,
    )
    assert {fault.organisation_id for fault in faults()} == {str(owner)}


def test_a_whole_chain_that_was_taken_away_is_found(chain: Caller) -> None:
    for table in ("audit_rows", "audit_chains"):
        execute(f"DELETE FROM {table} WHERE organisation_id = :owner", owner=chain.organisation_id)
    [fault] = faults()
    assert fault.organisation_id == str(chain.organisation_id)


def test_anchors_that_were_taken_away_are_found(chain: Caller) -> None:
    execute("DELETE FROM audit_anchors")
    [fault] = faults()
    assert "anchor" in fault.what


def test_an_anchor_that_was_changed_is_named(chain: Caller) -> None:
    execute("UPDATE audit_anchors SET number = number - 1")
    assert any("anchor 1 was changed" in fault.what for fault in faults())


def put_in(chain: Caller, number: int, hash: Callable[[bytes, list[Any]], bytes]) -> UUID:
    """Shift what follows by one and put a row in between."""
    owner = chain.organisation_id
    for last in range(COUNT, number - 1, -1):
        execute(
            "UPDATE audit_rows SET number = number + 1 WHERE organisation_id = :owner AND number = :last",
            owner=owner,
            last=last,
        )
    id = new_id()
    execute(
        "INSERT INTO audit_rows (id, occurred_at, organisation_id, channel, actor_type, action, outcome, number, hash)"
        " SELECT :id, now(), :owner, 'cli', 'cli', 'put.in', 'success', :number, hash FROM audit_rows"
        " WHERE organisation_id = :owner AND number = :number - 1",
        id=id, owner=owner, number=number,
    )  # fmt: skip
    with store.transaction() as session:
        rows = [row for row in verifying._rows(session) if row[verifying._OWNER] == str(owner)]
    mine = next(row for row in rows if row[0] == number)
    before = next(row for row in rows if row[0] == number - 1)
    execute(
        "UPDATE audit_rows SET hash = :hash WHERE id = :id",
        id=id,
        hash=hash(before[verifying._HASH], list(mine[: verifying._HASH])),
    )
    return id


@pytest.mark.parametrize(
    "hash", [audit.link, lambda before, facts: before], ids=["with its hash", "with any"]
)
def test_a_row_that_was_put_in_is_named(chain: Caller, hash: Callable[[bytes, list[Any]], bytes]) -> None:
    id = put_in(chain, 5, hash)
    [fault] = faults()
    assert (fault.number, fault.row_id) == (5, str(id))


def test_a_row_that_was_put_in_at_the_end_is_named(chain: Caller) -> None:
    id = put_in(chain, COUNT + 1, audit.link)
    [fault] = faults()
    assert (fault.number, fault.row_id) == (COUNT + 1, str(id))
    assert "put in" in fault.what


@pytest.mark.parametrize(("one", "two"), [(1, 2), (4, 9), (COUNT - 1, COUNT)])
def test_rows_that_changed_places_are_named(chain: Caller, one: int, two: int) -> None:
    owner = chain.organisation_id
    for number, to in ((one, -1), (two, one), (-1, two)):
        execute(
            "UPDATE audit_rows SET number = :to WHERE organisation_id = :owner AND number = :number",
            owner=owner, number=number, to=to,
        )  # fmt: skip
    [fault] = faults()
    assert (fault.number, fault.row_id) == (one, named(chain, one))


def test_a_chain_that_was_written_anew_is_found_by_its_head_and_anchors(chain: Caller) -> None:
    owner = chain.organisation_id
    execute(
        "UPDATE audit_rows SET action = 'nothing' WHERE organisation_id = :owner AND number = 5", owner=owner
    )
    last = audit.GENESIS
    with store.transaction() as session:
        rows = [row for row in verifying._rows(session) if row[verifying._OWNER] == str(owner)]
    for row in rows:
        last = audit.link(last, row[: verifying._HASH])
        execute("UPDATE audit_rows SET hash = :hash WHERE id = :id", hash=last, id=UUID(row[1]))
    execute("UPDATE audit_chains SET hash = :hash WHERE organisation_id = :owner", hash=last, owner=owner)
    [fault] = faults()
    assert "rewritten" in fault.what


def test_sealers_that_run_at_once_make_one_chain(http: Any) -> None:
    callers = [new_caller() for _ in range(3)]
    for _, caller in itertools.product(range(4), callers):
        tell(caller.organisation_id, 30)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: [SEALING.batch() for _ in range(4)], range(4)))
    seal()
    with store.transaction() as session:
        found = verifying.verify(session)
    assert (found.rows, found.faults) == (360, [])


def test_an_anchor_is_made_after_so_many_rows(chain: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "ANCHOR_ROWS", 5)
    for _ in range(3):
        tell(chain.organisation_id, 3)
        seal()
    assert execute("SELECT number FROM audit_anchors ORDER BY anchor") == [(COUNT,), (COUNT + 6,)]
    assert faults() == []


def test_rows_that_wait_are_a_fault_only_after_a_minute(chain: Caller) -> None:
    tell(chain.organisation_id, 1)
    assert faults() == []
    execute("UPDATE audit_waiting SET occurred_at = now() - interval '2 minutes'")
    [fault] = faults()
    assert "not sealed" in fault.what
