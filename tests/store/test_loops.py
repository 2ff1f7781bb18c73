"""Reading on an event loop: as by a thread, and nothing waits there but who asked."""

import asyncio
import contextvars
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from sqlalchemy import bindparam, text

import store
from app.instance.settings import Settings
from store.database import engine, greenlets, loops, waits
from store.database.prepared import Prepared
from store.database.waits import WaitRanOut, Waits

SIZE = 2
_BACKEND = Prepared(text("SELECT pg_backend_pid() AS id"))
_SLEEP = Prepared(text("SELECT pg_sleep(:seconds)"))
_PLANS = (
    "SELECT generic_plans, custom_plans FROM pg_prepared_statements"
    " WHERE statement LIKE '%AS wanted%' AND statement NOT LIKE '%pg_prepared%'"
)


@pytest.fixture(autouse=True)
def configured(settings: Settings) -> Iterator[None]:
    engine.configure(settings.database_url, loop_readers=SIZE, limits=Waits(statement=1.0, connection=0.2))
    yield
    engine.configure(settings.database_url)


def on_loop(*functions: Any) -> list[Any]:
    """Carry functions out on one event loop, beside each other; return what they return or raise."""

    async def all_of_them() -> list[Any]:
        made = await asyncio.gather(*map(greenlets.run, functions), return_exceptions=True)
        loops.readers().forget()
        return made

    return asyncio.run(all_of_them())


def backend() -> int:
    with store.reading() as reading:
        return int(_BACKEND.first(reading).id)


def sleep(seconds: float) -> None:
    with store.reading() as reading:
        _SLEEP.all(reading, seconds=seconds)


def test_a_row_is_the_same_on_a_loop_and_by_a_thread() -> None:
    statement = Prepared(
        text("""
        SELECT CAST(:id AS uuid) AS id, CAST('2026-03-01 12:00+02' AS timestamptz) AS moment, DATE '2026-03-01' AS day,
               1.50 AS number, ARRAY['a', 'b'] AS names, CAST('{"a": [1, 1e30]}' AS jsonb) AS value,
               NULL AS nothing, CAST(7 AS smallint) AS whole, INTERVAL '90 minutes' AS pause,
               'Zoë' AS "inner.name", true AS "inner.is_it"
        """)
    )

    def row() -> Any:
        with store.reading() as reading:
            return statement.first(reading, id="0190b6f1-7d3c-7a1e-9a51-0a6c1f6f0a01")

    (found,) = on_loop(row)
    assert found == row()
    assert found.inner.name == "Zoë"


def test_a_connection_is_used_again_and_no_more_are_made_than_there_may_be() -> None:
    assert len(set(on_loop(*[backend] * 20))) <= SIZE


@pytest.mark.parametrize(("lifetime", "made"), [(60, 1), (0, 3)])
def test_a_connection_that_is_old_makes_room_for_another(
    monkeypatch: pytest.MonkeyPatch, lifetime: float, made: int
) -> None:
    monkeypatch.setattr(waits, "LIFETIME", lifetime)

    async def played() -> list[int]:
        found = [await greenlets.run(backend) for _ in range(3)]
        with store.transaction() as session:
            there = session.scalars(text("SELECT pid FROM pg_stat_activity")).all()
        assert set(found) & set(there) == {found[-1]}, "who is old has taken leave"
        loops.readers().forget()
        return found

    assert len(set(asyncio.run(played()))) == made


def test_who_waits_for_a_connection_waits_no_longer_than_said() -> None:
    slow = [lambda: sleep(0.6)] * SIZE
    *_, late = on_loop(*slow, backend)
    assert isinstance(late, WaitRanOut)
    assert late.waited_for == "a free connection"


def test_who_is_cancelled_as_a_connection_comes_is_cancelled_and_the_next_one_has_it() -> None:
    async def played() -> list[Any]:
        mine = loops.Connections(1, read_only=True)
        held = await greenlets.run(mine.take)
        second, third = (asyncio.create_task(greenlets.run(mine.take)) for _ in range(2))
        while len(mine._waiting) < 2:
            await asyncio.sleep(0)
        mine.give_back(held, None)
        second.cancel()
        found = await asyncio.gather(second, third, return_exceptions=True)
        held.driver.terminate()
        return [isinstance(found[0], asyncio.CancelledError), found[1] is held]

    assert asyncio.run(played()) == [True, True]


def test_a_statement_that_takes_too_long_is_a_wait_that_ran_out() -> None:
    (fault,) = on_loop(lambda: sleep(5))
    assert isinstance(fault, WaitRanOut)
    assert fault.waited_for == "a statement"


def test_nothing_can_be_written() -> None:
    def write() -> None:
        with store.reading() as reading:
            Prepared(text("DELETE FROM organisations RETURNING id")).all(reading)

    (fault,) = on_loop(write)
    assert isinstance(fault, psycopg.errors.ReadOnlySqlTransaction)


def test_a_connection_that_the_database_ended_is_an_outage_and_the_next_one_is_new(
    settings: Settings,
) -> None:
    def ended_meanwhile() -> None:
        with store.reading() as reading:
            lost = int(_BACKEND.first(reading).id)
            with psycopg.connect(settings.database_url, autocommit=True) as other:
                other.execute("SELECT pg_terminate_backend(%s)", [lost])
            _BACKEND.first(reading)

    async def one_after_the_other() -> tuple[Any, int, int]:
        before = await greenlets.run(backend)
        fault = (await asyncio.gather(greenlets.run(ended_meanwhile), return_exceptions=True))[0]
        after = await greenlets.run(backend)
        loops.readers().forget()
        return fault, before, after

    fault, before, after = asyncio.run(one_after_the_other())
    assert isinstance(fault, store.OUTAGES)
    assert before != after


def test_an_address_may_say_what_is_for_the_other_driver_alone(settings: Settings) -> None:
    mark = "&" if "?" in settings.database_url else "?"
    engine.configure(f"{settings.database_url}{mark}connect_timeout=3&keepalives=1", loop_readers=SIZE)
    assert on_loop(backend)[0] > 0


def test_a_database_that_is_not_there_is_an_outage() -> None:
    engine.configure("postgresql://nobody@127.0.0.1:1/nothing", loop_readers=SIZE)
    (fault,) = on_loop(backend)
    assert isinstance(fault, store.OUTAGES)


def test_who_is_cancelled_leaves_no_statement_to_whoever_comes_next() -> None:
    async def cancelled() -> tuple[bool, int]:
        task = asyncio.create_task(greenlets.run(sleep, 0.9))
        while loops.readers()._made == 0 or loops.readers()._idle:
            await asyncio.sleep(0)
        for _ in range(50):  # until the statement was sent
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        made = loops.readers()._made
        found = await greenlets.run(backend)
        loops.readers().forget()
        return made == 0, found

    gone, found = asyncio.run(cancelled())
    assert gone
    assert found


def test_who_is_cancelled_waits_for_nothing_more_of_a_database_that_may_stand_still(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []
    carry_out = loops.Connection.carry_out
    monkeypatch.setattr(
        loops.Connection,
        "carry_out",
        lambda self, commands: (said.append(commands), carry_out(self, commands)),
    )

    def hang() -> None:
        with store.reading() as reading, engine.set_for(reading, "SET LOCAL work_mem = '1MB'"):
            said.append("asked")
            _SLEEP.all(reading, seconds=0.9)

    async def cancelled() -> None:
        task = asyncio.create_task(greenlets.run(hang))
        while "asked" not in said:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        loops.readers().forget()

    asyncio.run(cancelled())
    assert said == ["BEGIN; SET LOCAL work_mem = '1MB'", "asked"]


def test_a_statement_is_planned_for_its_values_where_they_matter() -> None:
    statement = "SELECT id AS wanted FROM organisations WHERE slug = :slug"
    general, by_values = (
        Prepared(text(statement)),
        Prepared(text(statement + " AND true"), planned_by_values=True),
    )

    def plans() -> list[tuple[int, int]]:
        with store.reading() as reading:
            assert isinstance(reading.connection, loops.Connection)
            for _ in range(13):
                general.all(reading, slug="a")
                by_values.all(reading, slug="a")
            return [tuple(row) for row in greenlets.wait_for(reading.connection.driver.fetch(_PLANS))]

    ((generic, _), *passing) = sorted(on_loop(plans)[0], reverse=True)
    assert generic > 0
    assert all(generic == 0 for generic, _ in passing)


def test_a_statement_whose_table_was_changed_is_prepared_anew(settings: Settings) -> None:
    everything = Prepared(text("SELECT * FROM loops_change"))

    def before_and_after() -> list[tuple[Any, ...]]:
        found = []
        with store.reading() as reading:
            for change in (
                "TABLE loops_change (one) AS SELECT 1",
                "TABLE loops_change ADD two int DEFAULT 2",
            ):
                with psycopg.connect(settings.database_url, autocommit=True) as other:
                    other.execute(("CREATE " if "AS" in change else "ALTER ") + change)  # type: ignore[arg-type]
                everything.shape = None
                found.append(tuple(everything.first(reading)))
        return found

    try:
        assert on_loop(before_and_after)[0] == [(1,), (1, 2)]
    finally:
        with psycopg.connect(settings.database_url, autocommit=True) as other:
            other.execute("DROP TABLE IF EXISTS loops_change")


def test_no_more_statements_are_kept_than_there_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "MOST_STATEMENTS", 3)

    def many() -> tuple[list[int], int]:
        with store.reading() as reading:
            assert isinstance(reading.connection, loops.Connection)
            found = [
                Prepared(text(f"SELECT {number} AS number")).first(reading).number for number in range(10)
            ]
            return found, len(reading.connection._prepared)

    assert on_loop(many)[0] == (list(range(10)), 3)


def test_settings_of_one_reading_end_with_it() -> None:
    shown = Prepared(text("SELECT current_setting('work_mem') AS memory"))

    def memory() -> list[str]:
        with store.reading() as reading:
            with engine.set_for(reading, "SET LOCAL work_mem = '5MB'"):
                within = shown.first(reading).memory
            return [within, shown.first(reading).memory]

    assert on_loop(memory)[0] == ["5MB", "4MB"]


def test_a_list_of_texts_and_a_limit_are_taken_as_parameters() -> None:
    statement = Prepared(
        text("SELECT unnest(CAST(:names AS text[])) AS name LIMIT :rows").bindparams(bindparam("rows"))
    )

    def names() -> list[str]:
        with store.reading() as reading:
            return [row.name for row in statement.all(reading, names=["b", "a", "c"], rows=2)]

    assert on_loop(names)[0] == names() == ["b", "a"]


# --- What carries it


def test_what_a_call_raises_arrives_and_its_greenlet_serves_the_next() -> None:
    def fail() -> None:
        raise LookupError("as it should")

    async def twice() -> tuple[BaseException | None, int]:
        fault = (await asyncio.gather(greenlets.run(fail), return_exceptions=True))[0]
        return fault, await greenlets.run(lambda: 7)

    fault, found = asyncio.run(twice())
    assert isinstance(fault, LookupError)
    assert found == 7


def test_calls_beside_each_other_keep_their_own_context() -> None:
    name = contextvars.ContextVar("name", default="nobody")

    async def called(mine: str) -> str:
        name.set(mine)
        return await greenlets.run(waits_and_tells)

    def waits_and_tells() -> str:
        greenlets.wait_for(asyncio.sleep(0))
        return name.get()

    async def both() -> list[str]:
        return await asyncio.gather(called("a"), called("b"))

    assert asyncio.run(both()) == ["a", "b"]


def test_a_loop_never_waits_for_a_transaction() -> None:
    def open_one() -> None:
        with store.transaction():
            pass

    assert isinstance(on_loop(open_one)[0], RuntimeError)


def test_only_what_a_loop_carries_out_reads_there() -> None:
    async def asked() -> tuple[bool, bool]:
        return greenlets.is_current(), await greenlets.run(greenlets.is_current)

    assert asyncio.run(asked()) == (False, True)
