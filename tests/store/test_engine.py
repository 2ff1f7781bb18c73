"""The three ways to the database: what they keep, what they refuse, and that they come back after a fault."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import orjson
import psycopg
import pytest
import sqlalchemy.exc
from sqlalchemy import text

import store
from app.instance.settings import Settings
from rules.caller import Caller
from store import events
from store.accounts import organisations
from store.assessing import assessments
from store.database import engine, waits
from store.database.engine import Change
from store.database.prepared import Prepared
from tests.api import Tenant

pytestmark = pytest.mark.usefixtures("app")

Opens = Callable[[], AbstractContextManager[Change]]
CHANGES = pytest.mark.parametrize("opens", [store.transaction, store.writing])
LOST = (psycopg.OperationalError, sqlalchemy.exc.OperationalError)  # what is answered as UNAVAILABLE
_PID = Prepared(text("SELECT pg_backend_pid() AS pid"))
_EVENTS = Prepared(text("SELECT count(*) AS told FROM events WHERE organisation_id = :organisation_id"))


@pytest.fixture
def caller(tenant: Tenant) -> Caller:
    return Caller(tenant.organisation.id, livemode=True, plan_name="growth")


def standing(caller: Caller) -> tuple[int, int]:
    """Return how many invitations are used and how many events are told."""
    with store.reading() as reading:
        return organisations.invites_used(reading, caller), _EVENTS.first(reading, caller).told


def change(means: Change, caller: Caller) -> None:
    organisations.take_invites(means, caller, 3)
    events.record(means, "job.created", caller, {"name": 1})


@CHANGES
def test_a_change_is_kept_with_its_events(opens: Opens, caller: Caller) -> None:
    with opens() as means:
        change(means, caller)
    assert standing(caller) == (3, 1)


@CHANGES
def test_a_change_that_fails_leaves_nothing_behind(opens: Opens, caller: Caller) -> None:
    def fail() -> None:
        with opens() as means:
            change(means, caller)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert standing(caller) == (0, 0)


@CHANGES
def test_a_connection_that_broke_is_not_given_to_the_next(opens: Opens, caller: Caller) -> None:
    def lose_it() -> None:
        with opens() as means:
            change(means, caller)
            kill(_PID.first(means).pid)
            organisations.take_invites(means, caller, 1)

    # What ended it is told, and not that nothing could be rolled back then.
    with pytest.raises(LOST, match="terminating connection"):
        lose_it()
    for _ in range(3):
        with opens() as means:
            change(means, caller)
    assert standing(caller) == (9, 3)


def test_a_reading_whose_connection_broke_is_not_given_to_the_next(caller: Caller) -> None:
    def lose_it() -> None:
        with store.reading() as means:
            kill(_PID.first(means).pid)
            organisations.name(means, caller)

    with pytest.raises(LOST):
        lose_it()
    assert standing(caller) == (0, 0)


@pytest.fixture
def lives_for(settings: Settings) -> Iterator[Callable[[float], None]]:
    """Say for how long connections live."""
    usual = waits.LIFETIME

    def say(seconds: float) -> None:
        waits.LIFETIME = seconds
        engine.configure(settings.database_url)

    yield say
    say(usual)


@pytest.mark.parametrize(("lifetime", "made"), [(60, 1), (0, 3)])
def test_a_connection_that_is_old_makes_room_for_another(
    lives_for: Callable[[float], None], lifetime: float, made: int
) -> None:
    lives_for(lifetime)
    for opens in (store.transaction, store.writing, store.at_once, store.reading):
        found = set()
        for _ in range(3):
            with opens() as means:
                found.add(_PID.first(means).pid)
        assert len(found) == made


def kill(pid: int) -> None:
    with store.transaction() as session:
        session.execute(text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": pid})


def test_nothing_is_written_while_reading(caller: Caller) -> None:
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction), store.reading() as reading:
        organisations._CHANGE.first(reading, caller, month=None, change=1)


def test_a_statement_that_tells_the_use_saves_the_next_one(
    tenant: Tenant, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    slug = tenant.live.assessment()["slug"]
    tenant.live.invitation(slug)
    monkeypatch.delattr(organisations, "_USED")
    with store.reading() as reading:
        assessments.read(reading, caller, slug)
        assert organisations.invites_used(reading, caller) == 1


# --- One statement at once


def test_what_is_done_at_once_is_kept_before_the_block_ends(caller: Caller) -> None:
    with store.at_once() as means:
        organisations.take_invites(means, caller, 3)
        assert standing(caller) == (3, 0)


def test_what_is_told_or_asked_for_needs_a_transaction(caller: Caller) -> None:
    with pytest.raises(RuntimeError, match="need a transaction"), store.at_once() as means:
        change(means, caller)
    assert standing(caller)[1] == 0


def test_a_connection_that_broke_at_once_is_not_given_to_the_next(caller: Caller) -> None:
    def lose_it() -> None:
        with store.at_once() as means:
            kill(_PID.first(means).pid)
            organisations.take_invites(means, caller, 1)

    with pytest.raises(LOST, match="terminating connection"):
        lose_it()
    for _ in range(3):
        with store.transaction() as means:
            change(means, caller)
    assert standing(caller) == (9, 3)


def test_no_statement_takes_more_than_one_core() -> None:
    asked = Prepared(text("SELECT current_setting('max_parallel_workers_per_gather') AS workers"))
    with store.transaction() as session, store.reading() as reading:
        assert [asked.first(means).workers for means in (session, reading)] == ["0", "0"]


@pytest.mark.parametrize("number", [1e30, -1e300, float(1 << 64), 2**63, 0.1])
def test_a_number_in_json_comes_back_as_it_was_kept(number: float) -> None:
    kept = Prepared(text("SELECT CAST(:value AS jsonb) AS value"))
    given = orjson.dumps({"a": [number]}).decode()
    with store.transaction() as session, store.reading() as reading:
        assert kept.first(reading, value=given).value == {"a": [number]}
        assert kept.first(session, value=given).value == {"a": [number]}
        found = session.execute(text("SELECT CAST(:value AS jsonb)"), {"value": given}).scalar_one()
        assert [type(one) for one in found["a"]] == [type(number)]
