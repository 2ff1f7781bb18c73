"""The bell: whoever listens hears it, from an event loop and from a thread, and nobody's places are taken for it."""

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from sqlalchemy import text

from app.instance.settings import Settings
from store.database import bell, engine, greenlets, loops
from store.database.prepared import Prepared
from store.database.waits import Waits
from tests.waiting import BLOCKED

WRITERS = 2  # one for a change, and one for the bell
RINGS = 200
SECONDS = 60  # for a test that hangs
_BACKEND = Prepared(text("SELECT pg_backend_pid() AS id"))
_WAIT = Prepared(text("SELECT pg_advisory_lock(62)"))


@pytest.fixture(autouse=True)
def configured(settings: Settings) -> Iterator[None]:
    engine.configure(settings.database_url, loop_writers=WRITERS, limits=Waits(connection=0.2))
    yield
    engine.configure(settings.database_url)


@pytest.fixture
def ears() -> Iterator[bell.Listener]:
    with bell.listening() as listener:
        yield listener


def heard(ears: bell.Listener, *, seconds: float = 30, most: int = 1) -> list[int]:
    """Wait for rings, and return the processes of PostgreSQL that they came through."""
    return [one.pid for one in ears._connection.notifies(timeout=seconds, stop_after=most)]


def writer() -> int:
    with engine.on_loop() as means:
        return int(_BACKEND.first(means).id)


def in_loop(work: Any) -> Any:
    """Carry a coroutine out in a loop of its own, and leave no connection there."""

    async def whole() -> Any:
        async with asyncio.timeout(SECONDS):
            found = await work()
            while loops.writers()._made > len(loops.writers()._idle):
                await asyncio.sleep(0.01)  # the bell has one still
        loops.writers().forget()
        return found

    return asyncio.run(whole())


def test_a_loop_rings_by_a_connection_of_its_own_and_not_by_a_thread(ears: bell.Listener) -> None:
    async def ring() -> tuple[int, list[int]]:
        mine = await greenlets.run(writer)
        await greenlets.run(bell.ring)
        return mine, await asyncio.to_thread(heard, ears)

    mine, rang = in_loop(ring)
    assert rang == [mine]


def test_a_thread_beside_a_loop_that_has_rung_leaves_it_to_that(ears: bell.Listener) -> None:
    async def ring() -> tuple[int, list[int], list[int]]:
        mine = await greenlets.run(writer)
        await greenlets.run(bell.ring)
        first = await asyncio.to_thread(heard, ears)
        await asyncio.to_thread(bell.ring)
        return mine, first, await asyncio.to_thread(heard, ears)

    mine, first, second = in_loop(ring)
    assert first == second == [mine]


def test_a_thread_rings_by_itself_where_the_loop_has_ended(ears: bell.Listener) -> None:
    async def ring() -> int:
        await greenlets.run(bell.ring)
        await asyncio.to_thread(heard, ears)
        return await greenlets.run(writer)

    of_loop = in_loop(ring)
    bell.ring()
    assert heard(ears) not in ([], [of_loop])


def test_many_rings_at_once_are_few(ears: bell.Listener) -> None:
    async def ring() -> list[int]:
        await asyncio.gather(*(greenlets.run(bell.ring) for _ in range(RINGS)))
        return await asyncio.to_thread(heard, ears, seconds=1, most=RINGS)

    assert 1 <= len(in_loop(ring)) <= 2


def test_the_bell_rings_while_every_change_waits_for_a_lock(ears: bell.Listener, settings: Settings) -> None:
    def change() -> None:
        with engine.on_loop() as means:
            _WAIT.all(means)

    async def ring(holder: psycopg.Connection[Any]) -> list[int]:
        changes = [asyncio.create_task(greenlets.run(change)) for _ in range(WRITERS - 1)]
        while holder.execute(str(BLOCKED)).fetchone() != (len(changes),):
            await asyncio.sleep(0.01)
        await greenlets.run(bell.ring)
        rang = await asyncio.to_thread(heard, ears)
        holder.execute("SELECT pg_advisory_unlock(62)")
        await asyncio.gather(*changes)
        return rang

    with psycopg.connect(settings.database_url, autocommit=True) as holder:
        holder.execute("SELECT pg_advisory_lock(62)")
        assert len(in_loop(lambda: ring(holder))) == 1


def test_a_database_that_is_away_is_logged_and_the_next_ring_is_heard(
    ears: bell.Listener, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    async def ring() -> list[int]:
        engine.configure("postgresql://nobody@127.0.0.1:1/nothing", loop_writers=WRITERS)
        with caplog.at_level(logging.WARNING, "hiring.bell"):
            await greenlets.run(bell.ring)
            while not caplog.records:
                await asyncio.sleep(0.01)
        engine.configure(settings.database_url, loop_writers=WRITERS)
        await greenlets.run(bell.ring)
        return await asyncio.to_thread(heard, ears)

    assert len(in_loop(ring)) == 1
    assert "did not ring" in caplog.text
