"""What each way to the database costs: CPU of this process for one statement, with what opens and closes it.

`python -m bench.ways`. All ways in turn, in short rounds, so that what else the machine does falls on all alike.
"""

import time
from collections.abc import Callable

from sqlalchemy import select, update

import store
from bench import figures
from bench.figures import Figure
from rules.caller import Caller
from store.accounts import keys, organisations
from store.accounts.keys import ApiKey
from store.assessing import assessments
from store.assessing.assessments import Assessment
from store.database.base import visible
from store.database.prepared import Prepared

ROUNDS, QUICK_ROUNDS, TIMES = 60, 15, 50

_COLUMNS = tuple(Assessment.__table__.columns)


def measure(quick: bool) -> list[Figure]:
    """Read one row and change one row, in every way there is."""
    with figures.place():
        with store.transaction() as session:
            owner = organisations.create(session, name="Ways", plan="growth")
            caller = Caller(owner.id, livemode=True, plan_name="growth")
            slug = assessments.create(session, caller, {"title": "Ways"}).slug
            key, _ = keys.create(session, organisation=owner, name="Ways", livemode=True)
            id = key.id
        ways = reads(caller, slug) | writes(id)
        spent: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(QUICK_ROUNDS if quick else ROUNDS):
            for name, way in ways.items():
                began = time.process_time()
                for _ in range(TIMES):
                    way()
                spent[name].append((time.process_time() - began) / TIMES * 1e6)
    return [figures.plain(name, them, "us CPU") for name, them in spent.items()]


def reads(caller: Caller, slug: str) -> dict[str, Callable[[], object]]:
    """Give the ways to read one row of thirty columns."""
    prepared = Prepared(visible(caller, Assessment).where(Assessment.slug == slug))

    def entity() -> object:
        with store.transaction() as session:
            return session.scalars(visible(caller, Assessment).where(Assessment.slug == slug)).one()

    def columns() -> object:
        with store.transaction() as session:
            return session.execute(
                select(*_COLUMNS).where(
                    Assessment.organisation_id == caller.organisation_id,
                    Assessment.livemode == caller.livemode,
                    Assessment.slug == slug,
                )
            ).one()

    def in_session() -> object:
        with store.transaction() as session:
            return prepared.first(session)

    def in_writing() -> object:
        with store.writing() as writing:
            return prepared.first(writing)

    def in_reading() -> object:
        with store.reading() as reading:
            return prepared.first(reading)

    return {
        "read: transaction, entity": entity,
        "read: transaction, columns": columns,
        "read: transaction, Prepared": in_session,
        "read: writing, Prepared": in_writing,
        "read: reading, Prepared": in_reading,
    }


def writes(id: object) -> dict[str, Callable[[], object]]:
    """Give the ways to change one row."""
    change = update(ApiKey).where(ApiKey.id == id).values(name="Ways")
    prepared = Prepared(change)

    def entity() -> None:
        with store.transaction() as session:
            key = session.get_one(ApiKey, id)
            key.name = "Waves" if key.name == "Ways" else "Ways"

    def statement() -> None:
        with store.transaction() as session:
            session.execute(change)

    def in_session() -> None:
        with store.transaction() as session:
            prepared.run(session)

    def in_writing() -> None:
        with store.writing() as writing:
            prepared.run(writing)

    def at_once() -> None:
        with store.at_once() as writing:
            prepared.run(writing)

    return {
        "write: transaction, entity": entity,
        "write: transaction, statement": statement,
        "write: transaction, Prepared": in_session,
        "write: writing, Prepared": in_writing,
        "write: at_once, Prepared": at_once,
    }


if __name__ == "__main__":
    figures.main(measure, __doc__)
