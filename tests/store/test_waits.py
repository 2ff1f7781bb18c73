"""Waits for the database: each has a limit, and what runs out is no outage."""

import contextlib
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from psycopg import errors
from sqlalchemy import text

import store
from app.instance import wiring
from app.instance.settings import Settings
from store.database import engine, waits
from store.database.engine import Change
from store.database.prepared import Prepared
from store.database.waits import WaitRanOut, Waits
from tests.api import Api, Tenant

SHORT = Waits(statement=0.3, lock=0.1, idle=0.2)
SCARCE = Waits(connection=0.1)
SIZE = 2  # connections of each pool
_SLEEP = Prepared(text("SELECT pg_sleep(5)"))
_LOCK = Prepared(text("SELECT id FROM organisations WHERE id = :id FOR UPDATE"))
_NOTHING = Prepared(text("SELECT 1 AS one"))

Opens = Callable[[], AbstractContextManager[Change]]
CHANGES = pytest.mark.parametrize("opens", [store.transaction, store.writing])


def test_each_setting_is_the_limit_of_its_name(settings: Settings) -> None:
    told = replace(settings, statement_seconds=1, lock_seconds=2, idle_seconds=3, tcp_seconds=4)
    assert wiring.patience(told, for_requests=True) == Waits(statement=1, lock=2, idle=3, tcp=4)
    assert wiring.patience(told, for_requests=False) == Waits(tcp=4)


@pytest.fixture
def short(app: object, settings: Settings) -> Iterator[None]:
    """The store with short limits; the usual ones afterwards."""
    yield from configured(settings, limits=SHORT)


@pytest.fixture
def scarce(app: object, settings: Settings) -> Iterator[None]:
    """The store with few connections; the usual number afterwards."""
    yield from configured(settings, pool_size=SIZE, limits=SCARCE)


def configured(settings: Settings, **options: Any) -> Iterator[None]:
    engine.configure(settings.database_url, **options)
    yield
    engine.configure(
        settings.database_url, pool_size=settings.threads + 4, limits=Waits(statement=5, lock=2, idle=60)
    )


def by_session(means: Any, statement: str, **values: Any) -> None:
    means.execute(text(statement), values)


@CHANGES
def test_a_row_that_somebody_holds_is_waited_for_so_long_and_is_no_outage(
    opens: Opens, tenant: Tenant, short: None
) -> None:
    def wait() -> None:
        with opens() as means:
            _LOCK.first(means, id=tenant.organisation.id)

    with store.transaction() as holder:
        _LOCK.first(holder, id=tenant.organisation.id)
        began = time.monotonic()
        with pytest.raises(WaitRanOut) as found:
            wait()
    assert time.monotonic() - began < 2
    assert found.value.waited_for == "a lock"
    assert not isinstance(found.value, store.OUTAGES)


@CHANGES
def test_a_statement_takes_so_long_and_no_longer(opens: Opens, short: None) -> None:
    def wait() -> None:
        with opens() as means:
            _SLEEP.first(means)

    with pytest.raises(WaitRanOut) as found:
        wait()
    assert found.value.waited_for == "a statement"


def test_a_statement_of_a_session_has_the_same_limit(short: None) -> None:
    with pytest.raises(WaitRanOut), store.transaction() as session:
        by_session(session, "SELECT pg_sleep(5)")
    with pytest.raises(WaitRanOut), store.reading() as reading:
        _SLEEP.first(reading)


@pytest.mark.parametrize("opens", [store.transaction, store.writing, store.reading, store.at_once])
def test_a_connection_is_waited_for_so_long_and_none_that_is_free_is_no_outage(
    opens: Opens, scarce: None
) -> None:
    def wait() -> None:
        with opens() as means:
            _NOTHING.first(means)

    with contextlib.ExitStack() as holders:
        for _ in range(SIZE):  # readers have none beyond
            _NOTHING.first(holders.enter_context(store.reading()))
        for _ in range(SIZE + 4):
            _NOTHING.first(holders.enter_context(store.transaction()))
        with pytest.raises(WaitRanOut) as found:
            wait()
    assert found.value.waited_for == "a free connection"
    assert not isinstance(found.value, store.OUTAGES)
    wait()


@CHANGES
def test_a_transaction_that_sits_idle_ends_and_the_next_one_is_served(opens: Opens, short: None) -> None:
    def idle() -> None:
        with opens() as means:
            _NOTHING.first(means)
            time.sleep(0.6)  # the limit is a time without anything
            _NOTHING.first(means)

    with pytest.raises(WaitRanOut) as found:
        idle()
    assert found.value.waited_for == "the next statement of a transaction"
    with opens() as means:
        assert _NOTHING.first(means).one == 1


def test_two_that_wait_for_each_other_are_no_outage(short: None) -> None:
    assert isinstance(waits.understand(errors.DeadlockDetected()), WaitRanOut)
    assert isinstance(waits.understand(errors.UniqueViolation()), errors.UniqueViolation)


def test_a_request_whose_wait_ran_out_is_told_to_come_again(
    tenant: Tenant, other: Tenant, settings: Settings, short: None, caplog: pytest.LogCaptureFixture
) -> None:
    api = Api(tenant.live.http, tenant.live.key, checked=False)
    with psycopg.connect(settings.database_url) as holder:
        holder.execute("SELECT id FROM organisations WHERE id = %s FOR UPDATE", [tenant.organisation.id])
        answer = api.patch("/org/", json={"name": "Waits"})
        assert other.live.get("/org/").status_code == 200
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "UNAVAILABLE")
    assert answer.headers["Retry-After"]
    [line] = [one for one in caplog.records if one.message == "UNAVAILABLE"]
    assert (line.levelname, line.waited_for) == ("WARNING", "a lock")  # type: ignore[attr-defined]


def test_a_machine_that_is_gone_is_noticed() -> None:
    """What libpq and Redis's client are told: a probe every quarter of the limit, three unanswered ones are enough."""
    assert Waits(tcp=8).socket() == {
        "keepalives_idle": 2, "keepalives_interval": 2, "keepalives_count": 3, "tcp_user_timeout": 8000,
    }  # fmt: skip
    assert Waits(tcp=8).of_server() == {
        "tcp_keepalives_idle": 2, "tcp_keepalives_interval": 2, "tcp_keepalives_count": 3, "tcp_user_timeout": 8000,
    }  # fmt: skip
    told = Waits(tcp=8).redis("redis://127.0.0.1:1/0")["socket_keepalive_options"]
    assert told[socket.TCP_USER_TIMEOUT] == 8000
    assert Waits().redis("unix:///nowhere") == {}
