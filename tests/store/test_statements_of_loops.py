"""Every statement that is prepared is one that PostgreSQL takes from an event loop too: the types of its parameters
are not guessed from values there."""

import asyncio
import importlib
import pkgutil
import re
from itertools import product

import asyncpg
import pytest

import store
from app.instance.settings import Settings
from store.assessing import at_once
from store.database.listing import Form, Listing
from store.database.prepared import Prepared
from tests import kept
from workers import advancing


def every_statement() -> dict[str, Prepared]:
    """Each by its text: those of the store's modules, and of each list one for each order, filter and way of paging."""
    for module in pkgutil.walk_packages(store.__path__, "store."):
        if ".migrations" not in module.name:
            importlib.import_module(module.name)
    advancing._looking()  # is written when it is first asked, as are these
    for livemode, of_squads in product((True, False), repeat=2):
        at_once._alone(livemode=livemode, of_squads=of_squads)
        at_once._look(of_squads=of_squads)
    found = kept.every(Prepared)
    for one in kept.every(Listing):
        for order in one.orders:
            for after, backwards in ((False, False), (True, False), (True, True)):
                found.append(one.prepare(Form(order, (), after, backwards)))
            for name, asked in one.filters.items():
                ways = [(name, value) for value, met in asked.instead.items() if met is not None]
                ways += [(name, None)] if asked.condition is not None else []
                found += [one.prepare(Form(order, (way,), True)) for way in ways]
    return {one.of_loops.text: one for one in (*found, *(one.of_squads for one in found))}


@pytest.mark.usefixtures("app")
def test_every_statement_is_understood_without_its_values(settings: Settings) -> None:
    statements = every_statement()
    assert len(statements) > 500

    async def refused() -> dict[str, str]:
        connection = await asyncpg.connect(settings.database_url, statement_cache_size=0)
        found = {}
        for text in statements:
            try:
                await connection.prepare(text)
            except asyncpg.PostgresError as fault:
                found[text] = str(fault)
        await connection.close()
        return found

    found = asyncio.run(refused())
    assert not found, "\n".join(f"{why}: {text}" for text, why in found.items())


@pytest.mark.usefixtures("app")
def test_a_statement_says_the_same_by_a_thread_and_on_a_loop() -> None:
    for one in every_statement().values():
        by_thread, on_loop = one.of_threads, one.of_loops
        assert (by_thread.fixed, by_thread.tells_use) == (on_loop.fixed, on_loop.tells_use)
        assert set(re.findall(r"%\((\w+)\)s", by_thread.text)) == set(on_loop.names)
