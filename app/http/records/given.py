"""What a handler is given beside its request, by the names of its parameters."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple

from sqlalchemy.orm import Session

import store
from app.http import security
from app.http.context import Request
from store.auditing import trail
from store.auditing.trail import Entry
from store.database.engine import Means

Begin = Callable[[], AbstractContextManager[Session]]


class There(NamedTuple):
    """What all of it is made of."""

    request: Request
    means: Means | None
    begin: Begin
    finish: Begin
    entry: Entry | None
    others: Mapping[str, Any]  # the pipelines of all operations, by their ids


@contextmanager
def _finish(there: There) -> Iterator[Session]:
    """Open the last of a request's transactions, which writes its row of the audit log."""
    with there.finish() as session:
        if there.entry:
            there.entry.is_placed = True
            trail.by(session, there.entry)
        yield session


def _call(there: There) -> Callable[..., Any]:
    return lambda operation_id, **asked: there.others[operation_id].called(there.request, **asked)


GIVES: dict[str, Callable[[There], Any]] = {
    "session": lambda there: there.means,
    "reading": lambda there: there.means,
    "writing": lambda there: there.means,
    "alone": lambda there: there.means,
    "readings": lambda _there: store.reading,
    "begin": lambda there: there.begin,
    "finish": lambda there: lambda: _finish(there),
    "caller": lambda there: there.request.caller,
    "address": lambda there: there.request.address,
    "kept": lambda there: lambda name: security.kept(there.request, name),
    "call": _call,
}
