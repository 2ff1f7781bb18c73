"""Transactions: the one place that commits."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.orm import Session

from store import events
from store.database import bell, waits
from store.database.engine import Change, Writing, engine, taken
from store.database.waits import WaitRanOut


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


@contextmanager
def writing() -> Iterator[Writing]:
    """Open one transaction as `transaction` does, without a session."""
    with taken(engine()) as connection:  # the pool rolls back what is open
        means = Writing(connection, connection.commit)
        yield means
        _end(means)


def _end(means: Change) -> None:
    events.write(means)
    ring = means.info.pop("outbox", False)
    means.commit()
    if ring:
        bell.ring()
