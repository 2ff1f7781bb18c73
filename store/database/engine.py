"""The connection pools, and what statements are carried out with."""

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, LiteralString, TypeVar, cast

import orjson
import psycopg
import sqlalchemy.exc
from sqlalchemy import Engine, ExceptionContext, create_engine, event
from sqlalchemy.orm import Session

from store.database import greenlets, loops, waits
from store.database.waits import USUAL, Waits

# Moments come in UTC, which saves converting each of them. Machine code for a large statement takes PostgreSQL seconds
# to make, longer than the statement takes without it. Workers for a part of one that is never reached take 15 to 100 ms
# to start, and they run on cores that are everybody's. Where a page costs the same wherever it lies, as on anything but
# turning disks, small tables too are read by their indexes: a plan made while there were few rows is kept while many
# more come, until the table is analysed a minute later.
SETTINGS = {
    "timezone": "UTC",
    "jit": "off",
    "max_parallel_workers_per_gather": "0",
    "random_page_cost": "1.1",
}

OVERFLOW = 4  # connections beyond the size of the pool that writes, where all of them are in use

Taken = TypeVar("Taken")

_engine: Engine | None = None
_readers: Engine | None = None
_limits = USUAL


@dataclass(slots=True)
class Reading:
    """A connection on which each statement stands for itself: for answers that change nothing.

    It is no session, so nothing can be added to it, and no event recorded. What a transaction at PostgreSQL's usual
    level would see it sees too, without the two round trips that open and close one.
    """

    connection: psycopg.Connection[Any] | loops.Connection
    invites_used: int | None = None  # as a statement with usage.USED among its columns found it


@dataclass(slots=True)
class Writing:
    """A transaction for prepared statements alone, which saves what a session costs: for what is asked most.

    On an event loop each statement stands for itself, and one of them is the change (store.transactions.alone).
    """

    connection: psycopg.Connection[Any] | loops.Connection
    info: dict[str, Any] = field(default_factory=dict)


# What a statement raises when the database is away: SQLAlchemy's names for it, and psycopg's for prepared ones. What a
# wait that ran out raises is among them, until `taken` and `transaction` have made waits.WaitRanOut of it.
OUTAGES = (
    sqlalchemy.exc.OperationalError,
    sqlalchemy.exc.InterfaceError,
    psycopg.OperationalError,
    psycopg.InterfaceError,
)


Change = Session | Writing  # what a change is made with
Means = Change | Reading  # what can be read with


def configure(
    database_url: str,
    *,
    pool_size: int = 8,
    loop_readers: int = 4,
    loop_writers: int = 4,
    limits: Waits = USUAL,
) -> None:
    """Point the store at a database; connections are made as they are needed."""
    global _engine, _readers, _limits  # noqa: PLW0603 - one process, one pair of pools
    _limits = limits
    for pool in (_engine, _readers):
        if pool is not None:
            pool.dispose()
    _engine = _make(database_url, pool_size, limits)
    _readers = _make(
        database_url,
        pool_size,
        limits,
        isolation_level="AUTOCOMMIT",
        pool_reset_on_return=None,
        max_overflow=0,
    )
    event.listen(_readers, "connect", _refuse_writes)
    event.listen(_engine, "handle_error", _look_for_loss)
    loops.configure(
        database_url, settings=SETTINGS, readers=loop_readers, writers=loop_writers, limits=limits
    )


def _make(database_url: str, pool_size: int, limits: Waits, **options: Any) -> Engine:
    made = create_engine(
        database_url.replace("postgresql://", "postgresql+psycopg://", 1),
        **{
            "pool_size": pool_size,
            "max_overflow": OVERFLOW,
            "pool_timeout": limits.connection,
            "pool_pre_ping": False,
            "pool_recycle": waits.LIFETIME,
            "pool_use_lifo": True,  # the last that was used, which is the likeliest to have prepared what is asked for
            "hide_parameters": True,  # a fault's text reaches the log; what was asked for holds tokens and addresses
            "connect_args": {"connect_timeout": 5, **limits.socket()},
            # PostgreSQL writes 1e30 with all its digits: a number of more than 64 bits is the nearest float again.
            "json_deserializer": orjson.loads,
            **options,
        },
    )
    settings = "; ".join(f"SET {name} = '{value}'" for name, value in (SETTINGS | limits.server()).items())
    event.listen(made, "connect", lambda connection, _record: _set(connection, settings))
    return made


def _refuse_writes(connection: psycopg.Connection[Any], _record: Any) -> None:
    _set(connection, "SET default_transaction_read_only = on")


def _set(connection: psycopg.Connection[Any], command: LiteralString) -> None:
    usual, connection.autocommit = connection.autocommit, True
    connection.execute(command)
    connection.autocommit = usual


def engine() -> Engine:
    """Return the pool, or raise RuntimeError before `configure`, and on an event loop, which would stand still."""
    if greenlets.is_current():
        raise RuntimeError("On an event loop nothing but `reading` and `alone` wait for the database.")
    return _ready(_engine)


def connect() -> psycopg.Connection[Any]:
    """Connect beside the pools, for who says nothing for long; raises psycopg.OperationalError.

    If either machine is gone, the other one notices: nobody would write to the connection, and see by that.
    """
    url = engine().url.set(drivername="postgresql").render_as_string(hide_password=False)
    made = psycopg.connect(url, autocommit=True, connect_timeout=5, **_limits.socket())
    _set(made, "; ".join(f"SET {name} = {value}" for name, value in _limits.of_server().items()))
    return made


def _ready(pool: Engine | None) -> Engine:
    if pool is None:
        raise RuntimeError("Call store.database.engine.configure(database_url) first.")
    return pool


def most_connections(pool_size: int) -> int:
    """Return how many connections the pools of that size hold at most, those of event loops aside."""
    return pool_size + OVERFLOW + pool_size


@contextmanager
def at_once() -> Iterator[Writing]:
    """Take a connection on which one statement is the whole transaction, its locks gone before its answer is here.

    Whoever shares an interpreter with busy threads waits for each answer: three of them would hold a lock for longer.
    """
    with taken(engine()) as connection:
        connection.autocommit = True
        try:
            means = Writing(connection)
            yield means
            if means.info:
                raise RuntimeError("Events and outbox work need a transaction.")
        finally:
            if not connection.closed:
                connection.autocommit = False


def reading() -> AbstractContextManager[Reading]:
    """Take a connection for reading, one of the event loop where that runs this; PostgreSQL itself refuses to write."""
    return _OnLoop(loops.readers(), Reading) if greenlets.is_current() else _by_thread()


def on_loop() -> AbstractContextManager[Writing]:
    """Take a connection of an event loop on which each statement is a transaction; in a greenlet."""
    return _OnLoop(loops.writers(), Writing)


@contextmanager
def _by_thread() -> Iterator[Reading]:
    with taken(_ready(_readers)) as connection:
        yield Reading(connection)


class _OnLoop(Generic[Taken]):
    """A connection of an event loop."""

    __slots__ = ("connection", "kind", "place")

    def __init__(self, place: loops.Connections, kind: Callable[[loops.Connection], Taken]) -> None:
        self.place, self.kind = place, kind

    def __enter__(self) -> Taken:
        self.connection = self.place.take()
        return self.kind(self.connection)

    def __exit__(self, _kind: object, fault: BaseException | None, _trace: object) -> None:
        self.place.give_back(self.connection, fault)


@contextmanager
def set_for(reading: Reading, commands: LiteralString) -> Iterator[None]:
    """Read in one transaction with settings of its own."""
    connection = reading.connection
    if not isinstance(connection, loops.Connection):
        with connection.transaction():
            connection.execute(commands)
            yield
        return
    connection.carry_out(f"BEGIN; {commands}")
    try:
        yield
    finally:
        # Nothing was changed. Where nobody waits any more, the connection is ended, and must not be waited for.
        if not connection.driver.is_closed() and not isinstance(sys.exception(), asyncio.CancelledError):
            connection.carry_out("ROLLBACK")


@contextmanager
def beside() -> Iterator[psycopg.Connection[Any]]:
    """Make a connection that the pool does not count, for what holds one for longer than a request may; then close it.

    Each of its statements stands for itself.
    """
    try:
        held = engine().raw_connection()
    except sqlalchemy.exc.TimeoutError as fault:
        raise waits.understand(fault) from None
    connection = cast("psycopg.Connection[Any]", held.driver_connection)
    held.detach()
    try:
        connection.autocommit = True
        yield connection
    finally:
        held.close()


@contextmanager
def taken(pool: Engine) -> Iterator[psycopg.Connection[Any]]:
    """Take a pool's connection and give it back; when it is lost, the others are forgotten too."""
    try:
        held = pool.raw_connection()
    except sqlalchemy.exc.TimeoutError as fault:
        raise waits.understand(fault) from None
    connection = cast("psycopg.Connection[Any]", held.driver_connection)
    try:
        yield connection
    except waits.FAULTS as fault:
        raise waits.understand(fault) from fault.__cause__
    finally:
        broken = connection.closed
        held.close()
        if broken:
            _forget_connections()


def _look_for_loss(fault: ExceptionContext) -> None:
    if fault.is_disconnect:
        _forget_connections()


def _forget_connections() -> None:
    """Make connections anew: where one is lost, the database was away, and the others of both pools are lost too.

    Those of loops, which are theirs alone, are forgotten by whoever meets the first of them.
    """
    for pool in (_engine, _readers):
        if pool is not None:
            pool.dispose()
