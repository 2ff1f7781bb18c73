"""Transactions: the one place that commits."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from sqlalchemy.orm import Session

from store import events
from store.auditing import trail
from store.database import bell, waits
from store.database.engine import Change, Writing, engine, taken
from store.database.waits import WaitRanOut

Done = TypeVar("Done")


@contextmanager
def transaction() -> Iterator[Session]:
    """Open one transaction: committed at the end with its events numbered, rolled back on any exception."""
    with Session(engine(), expire_on_commit=False) as session:
        try:
            yield session
            _end(session)
        except waits.FAULTS as fault:
            understood = waits.understand(fault)
            if isinstance(understood, WaitRanOut) and understood.connection_lost:
                session.invalidate()  # there is nothing left to roll back
            raise understood from fault.__cause__


def in_transaction(do: Callable[[Session], Done]) -> Done:
    """Do something in one transaction that touches the database alone; once more where it ended in a deadlock."""
    try:
        with transaction() as session:
            return do(session)
    except WaitRanOut as fault:
        if not fault.is_deadlock:
            raise
    with transaction() as session:
        return do(session)


@contextmanager
def writing() -> Iterator[Writing]:
    """Open one transaction as `transaction` does, without a session."""
    with taken(engine()) as connection:  # the pool rolls back what is open
        means = Writing(connection, connection.commit)
        yield means
        _end(means)


def _end(means: Change) -> None:
    trail.write(means)
    events.write(means)
    ring = means.info.pop("outbox", False)
    means.commit()
    if ring:
        bell.ring()
