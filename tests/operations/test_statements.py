"""How many statements each operation sends to the database: none gains one that nobody wrote down.

`STATEMENTS=write` writes tests/operations/statements.txt anew, with `-n 0`: operations in the order of their names.
"""

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import text

import store
from app.http.context import Request
from app.http.pipeline import Pipeline
from app.http.threads.lanes import ORDINARY, PATIENCE
from store.database import loops
from store.database.prepared import Prepared
from tests.api import Tenant
from tests.documents import Documented
from tests.operations.rows import Row, ask
from tests.operations.table.every import calls_others, each

TABLE = Path(__file__).with_name("statements.txt")
NOTED = {name: int(count) for name, count in (line.split() for line in TABLE.read_text().splitlines())}
WRITES = os.environ.get("STATEMENTS") == "write"
LANES = (ORDINARY, *PATIENCE)  # the threads that requests run in
OF_CONNECTIONS = ("; SET ", "FROM pg_type", "pg_catalog")  # what is asked where one is made
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


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What requests send from now on, without what begins and ends a transaction or a connection is made with."""
    sent: list[str] = []
    execute = psycopg.Cursor.execute

    def executed(cursor: Any, query: Any, *given: Any, **options: Any) -> Any:
        is_ours = threading.current_thread().name.rpartition("-")[0] in LANES
        written = " ".join(str(query).split())
        if is_ours and not any(words in written for words in OF_CONNECTIONS):
            sent.append(written)
        return execute(cursor, query, *given, **options)

    fetch, carry_out = loops.Connection.fetch, loops.Connection.carry_out
    served: list[Request] = []  # those whose last three steps are taken now; on the loop others are taken too

    def noted(steps: Callable[..., Any]) -> Callable[..., Any]:
        def serving(pipeline: Pipeline, request: Request, *given: Any) -> Any:
            served.append(request)
            try:
                return steps(pipeline, request, *given)
            finally:
                served.remove(request)

        return serving

    def fetched(connection: Any, query: str, values: Any, *, by_values: bool) -> Any:
        if served:
            sent.append(" ".join(query.split()))
        return fetch(connection, query, values, by_values=by_values)

    def carried_out(connection: Any, commands: str) -> None:
        if commands != "ROLLBACK":
            sent.append(commands)
        carry_out(connection, commands)

    for steps in (Pipeline.serve, Pipeline.change):
        monkeypatch.setattr(Pipeline, steps.__name__, noted(steps))

    monkeypatch.setattr(psycopg.Cursor, "execute", executed)
    monkeypatch.setattr(loops.Connection, "fetch", fetched)
    monkeypatch.setattr(loops.Connection, "carry_out", carried_out)
    return sent


@each(lambda operation: not calls_others(operation))
def test_an_operation_sends_no_more_statements_than_are_written_down(
    operation: Documented, row: Row, tenant: Tenant, statements: list[str]
) -> None:
    ids = row.state(tenant.live)
    statements.clear()
    ask(tenant.live, operation, row, ids)
    found[operation.id] = len(statements)
    if not WRITES:
        # Who moves a clock looks as often as it takes.
        more = 1.1 if operation.definition.get("x-lane") == "clock" else 1
        assert len(statements) <= more * NOTED[operation.id], "\n".join(one[:150] for one in statements)
