"""What benches fill tables with fits the tables as they are: a bench that no longer begins measures nothing."""

from typing import Any

import psycopg
import pytest

import store
from app.instance.settings import Settings
from bench import depth_rows, funnel, mix, scale_rows, search
from rules.caller import Caller
from store.accounts import organisations
from store.assessing import assessments
from store.hiring import jobs

pytestmark = pytest.mark.usefixtures("app")
ROWS, FEW = 300, 11
FILLS = {
    "depth": [(one.table, one.statement, int(ROWS * one.share)) for one in depth_rows.FILLINGS],
    "funnel": [
        (table, statement, int(ROWS * share) if isinstance(share, float) else share)
        for table, statement, share in funnel.STEPS
    ],
    "search": [("candidates", search.CANDIDATES, ROWS)],
    "scale": [
        (
            table,
            statement,
            {"organisations": FEW, "parents": FEW + mix.EXTRA, "rows": ROWS}[measure] - 1,
        )
        for table, statement, measure in scale_rows.STEPS
    ],
}


def free(connection: psycopg.Connection[Any], table: str) -> None:
    """Take a table's references away, as benches do while they fill it."""
    named = "SELECT conname FROM pg_constraint WHERE conrelid = %s::regclass AND contype = 'f'"
    for (name,) in connection.execute(named, [table]).fetchall():
        connection.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")


@pytest.mark.parametrize("bench", FILLS)
def test_every_table_takes_the_rows_of_a_bench(bench: str, settings: Settings) -> None:
    with store.transaction() as session:
        owner, other = (organisations.create(session, name="Bench", plan="enterprise") for _ in range(2))
        caller = Caller(owner.id, livemode=True, plan_name="enterprise")
        for make in (assessments.create, jobs.create):
            make(session, caller, {"title": "First"})
    given = {"organisation": owner.id, "other": other.id, "organisations": FEW}
    with psycopg.connect(settings.database_url) as connection:
        connection.execute("DELETE FROM audit_chains")  # other tests' rows have one, too
        for table, statement, count in FILLS[bench]:
            free(connection, table)
            made = connection.execute(statement, given | {"rows": count, "first": 0, "last": count})
            assert made.rowcount > 0, table
        connection.rollback()
