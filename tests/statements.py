"""What requests ask the database."""

import threading
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from app.http.context import Request
from app.http.pipeline import Pipeline
from app.http.threads.lanes import ORDINARY, PATIENCE
from store.database import bell, loops

LANES = (ORDINARY, *PATIENCE)  # the threads that requests run in
OF_CONNECTIONS = ("; SET ", "FROM pg_type", "pg_catalog")  # what is asked where one is made
RING = bell._NOTIFY.of_loops.text  # no request's: it is for whatever has been committed meanwhile


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
        if served and query != RING:
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
