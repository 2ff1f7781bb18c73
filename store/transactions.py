"""Transactions: the one place that commits."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import TypeVar

import psycopg
from sqlalchemy.orm import Session

from store import telling
from store.database import bell, prepared, waits
from store.database.engine import Change, Writing, engine, on_loop, taken
from store.database.waits import WaitRanOut
from store.interviewing import news

Done = TypeVar("Done")
# What is sent at once has to fit into the socket: psycopg 3.3 may wait for ever for the rest of it to be sent.
EXCHANGE_BYTES = 32_768


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
            # Nor is there where the database is away: that is no second fault, and hides no first.
            with suppress(*waits.FAULTS):
                session.rollback()
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


def in_writing(do: Callable[[Writing], Done]) -> Done:
    """Do something as `in_transaction` does, without a session."""
    try:
        with writing() as means:
            return do(means)
    except WaitRanOut as fault:
        if not fault.is_deadlock:
            raise
    with writing() as means:
        return do(means)


@contextmanager
def writing() -> Iterator[Writing]:
    """Open one transaction as `transaction` does, without a session."""
    with taken(engine()) as connection:  # the pool rolls back what is open
        means = Writing(connection)
        yield means
        _end(means)


@contextmanager
def alone() -> Iterator[Writing]:
    """Open, on an event loop, what one statement changes: left to the end (`telling.leave`), with what it tells of.

    Locks are held for that one exchange with the database. Raises NeedsTransaction where it does not fit.
    """
    with on_loop() as means:
        yield means
        rings = _rings(means)
        change = telling.whole(means)
        try:
            [found] = change.statement.all(means, **change.values)
        except psycopg.errors.DivisionByZero:
            raise telling.NeedsTransaction from None
        if not found.made:
            raise telling.NeedsTransaction
    if rings:
        bell.ring()


def _end(means: Change) -> None:
    """Write what the transaction tells of and commit, in one exchange with the database where it is small.

    Others wait meanwhile for what the transaction holds, an organisation's month above all; and a process that is busy
    takes longer to fetch an answer between two statements than PostgreSQL to carry them out.
    """
    rings, rooms = _rings(means), means.info.pop("rooms", None)
    last = telling.to_write(means)
    connection = prepared.driver(means)
    with connection.pipeline() if sum(one.size() for one in last) < EXCHANGE_BYTES else nullcontext():
        for one in last:
            one.run(means)
        connection.commit()
    if isinstance(means, Session):
        means.commit()  # it learns of it, and gives the connection back
    if rings:
        bell.ring()
    if rooms:
        news.tell(rooms)


def _rings(means: Change) -> bool:
    """Say whether relays have something to do once this is committed."""
    return means.info.pop("outbox", False) or "events" in means.info
