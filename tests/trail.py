"""The audit log in tests: sealed at once, instead of within seconds."""

from typing import Any

from sqlalchemy import text

import store
from app.http.records.notes import NOTES
from store.auditing import sealing
from tests.api import Api
from workers.schedule import KINDS

[SEALING] = [kind for kind in KINDS if kind.due is sealing.DUE]


def seal() -> None:
    """Write what was noted and seal everything that waits."""
    NOTES.flush()
    while SEALING.batch()[1]:
        pass


def clear() -> None:
    """Take away every chain, and what waits for one in memory too."""
    NOTES.flush()
    with store.transaction() as session:
        session.execute(text("TRUNCATE audit_waiting, audit_rows, audit_chains, audit_anchors"))


def log(api: Api, **query: Any) -> list[dict[str, Any]]:
    """The newest hundred rows of a key's log, the newest first."""
    seal()
    answer = api.get("/org/audit-log/", params={"page_size": 100, **query})
    assert answer.status_code == 200, answer.text
    return list(answer.json()["results"])
