"""How many statements each operation sends to the database: none gains or loses one that nobody wrote down.

`STATEMENTS=write` writes tests/operations/statements.txt anew, with `-n 0`: operations in the order of their names.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

import store
from store.database.prepared import Prepared
from tests.api import Tenant
from tests.documents import Documented
from tests.operations.rows import Row, ask
from tests.operations.table.every import calls_others, each
from tests.statements import statements

__all__ = ["statements"]

TABLE = Path(__file__).with_name("statements.txt")
NOTED = {name: int(count) for name, count in (line.split() for line in TABLE.read_text().splitlines())}
WRITES = os.environ.get("STATEMENTS") == "write"
found: dict[str, int] = {}
_FIRST = Prepared(text("SELECT 1 AS one"))


@pytest.fixture(scope="module", autouse=True)
def written(http: object) -> Iterator[None]:
    for opens in (store.transaction, store.reading):
        with opens() as means:
            _FIRST.all(means)  # a pool's first connection asks more than others do
    yield
    if WRITES:
        TABLE.write_text("".join(f"{name} {found[name]}\n" for name in sorted(found)))


@each(lambda operation: not calls_others(operation))
def test_an_operation_sends_as_many_statements_as_are_written_down(
    operation: Documented, row: Row, tenant: Tenant, statements: list[str]
) -> None:
    ids = row.state(tenant.live)
    statements.clear()
    ask(tenant.live, operation, row, ids)
    found[operation.id] = len(statements)
    if not WRITES:
        noted = NOTED[operation.id]
        # Who moves a clock looks as often as it takes.
        is_as_many = (
            len(statements) <= 1.1 * noted
            if operation.definition.get("x-lane") == "clock"
            else len(statements) == noted
        )
        assert is_as_many, (len(statements), noted, "\n".join(one[:150] for one in statements))
