"""The database on an event loop, through asyncpg: what is only read, or changed by one statement, takes no thread.

Synchronous code runs on a loop in a greenlet (`store.database.greenlets`), in which `wait_for` waits for what is
awaited while the loop goes on. `store.reading` takes a connection of the loop there, and one of the pool elsewhere.
"""

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode
from weakref import WeakKeyDictionary

import asyncpg
import orjson
import psycopg

from insides.asyncpg import fetch, set_options
from store.database import waits
from store.database.greenlets import wait_for
from store.database.waits import USUAL, WaitRanOut, Waits

MOST_STATEMENTS = 200  # that one connection keeps prepared
# Uses of a statement that PostgreSQL plans each for its values, if it is prepared anew then.
PLANNED_BY_VALUES = 5
# What asyncpg takes from an address; anything else there it would set as a parameter of the server's.
UNDERSTOOD = {
    "host", "port", "user", "password", "dbname", "passfile", "service", "target_session_attrs", "sslmode", "sslcert",
    "sslkey", "sslrootcert", "sslcrl", "sslpassword", "sslnegotiation", "ssl_min_protocol_version",
    "ssl_max_protocol_version", "krbsrvname", "gsslib", "application_name", "options",
}  # fmt: skip
CONNECT_SECONDS, GOODBYE_SECONDS = 5.0, 1.0
FAULTS = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError)

_address = ""
_settings: dict[str, str] = {}
_sizes = [0, 0]
_limits = USUAL
# Those that only read, and those that change something.
_of_loops: "WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[Connections, Connections]]" = (
    WeakKeyDictionary()
)


def configure(
    database_url: str, *, settings: dict[str, str], readers: int, writers: int, limits: Waits
) -> None:
    """Point loops at a database: so many connections of each kind for each, made as they are needed."""
    global _address, _settings, _limits
    for loop, kinds in list(_of_loops.items()):
        for one in kinds:
            with suppress(RuntimeError):  # it has ended
                loop.call_soon_threadsafe(one.forget)
    _of_loops.clear()
    given = psycopg.conninfo.conninfo_to_dict(database_url)
    known = {name: value for name, value in given.items() if name in UNDERSTOOD}
    _address, _settings, _limits = f"postgresql://?{urlencode(known)}", settings, limits
    _sizes[:] = readers, writers


class Connection:
    """One connection, with the statements that it has prepared."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver
        self._until = time.monotonic() + waits.LIFETIME
        self._prepared: dict[str, Any] = {}
        self._uses: dict[str, int] = {}  # of those that are planned for their values

    @property
    def is_old(self) -> bool:
        """Say whether another one should take its place."""
        return time.monotonic() > self._until

    def end(self) -> None:
        """Take leave of the server, which then has ended its side too."""
        with suppress(*FAULTS):
            wait_for(self.driver.close(timeout=GOODBYE_SECONDS))

    def fetch(self, text: str, values: Sequence[Any], *, by_values: bool) -> list[Any]:
        """Carry a statement out and return its rows."""
        statement = self._prepared.get(text)
        try:
            if statement is None:
                statement = self._prepare(text)
            if by_values:
                self._use(text)
            rows, _, _ = wait_for(fetch(statement, values))
        except asyncpg.InvalidCachedStatementError:  # a migration has changed what it returns
            self._prepared.pop(text, None)
            return self.fetch(text, values, by_values=by_values)
        except FAULTS as fault:
            raise _told(fault) from fault
        return rows

    def _prepare(self, text: str) -> Any:
        if len(self._prepared) >= MOST_STATEMENTS:
            oldest = next(iter(self._prepared))
            del self._prepared[oldest]
            self._uses.pop(oldest, None)
        statement = self._prepared[text] = wait_for(self.driver.prepare(text))
        return statement

    def _use(self, text: str) -> None:
        """Count a use; after so many PostgreSQL might plan for any values, so it is prepared anew then."""
        uses = self._uses[text] = self._uses.get(text, 0) + 1
        if uses == PLANNED_BY_VALUES:
            del self._prepared[text], self._uses[text]

    def carry_out(self, commands: str) -> None:
        """Carry out what has no values and no rows."""
        try:
            wait_for(self.driver.execute(commands))
        except FAULTS as fault:
            raise _told(fault) from fault


def _told(fault: Exception) -> Exception:
    """Say in the words of the other driver what this one met."""
    if isinstance(fault, asyncpg.PostgresError) and fault.sqlstate:
        with suppress(KeyError):
            return waits.understand(psycopg.errors.lookup(fault.sqlstate)(str(fault)))
    if isinstance(fault, ValueError):  # a value that does not fit its parameter
        return fault
    return psycopg.OperationalError(str(fault))


class Connections:
    """So many connections of one loop, and who waits for one."""

    def __init__(self, size: int, *, read_only: bool) -> None:
        self._size, self._read_only = size, read_only
        self._idle: list[Connection] = []
        self._made = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    def take(self) -> Connection:
        """Take one; the last that was used, which is the likeliest to have prepared what is asked for."""
        while True:
            while self._idle:
                connection = self._idle.pop()
                is_closed = connection.driver.is_closed()
                if not is_closed and not connection.is_old:
                    return connection
                self._made -= 1
                if not is_closed:
                    connection.end()
            if self._made < self._size:
                return self._make()
            waiting = asyncio.get_running_loop().create_future()
            self._waiting.append(waiting)
            try:
                wait_for(_within(_limits.connection, waiting))
            except BaseException as fault:
                if waiting.done() and not waiting.cancelled():
                    self._wake()  # it came in the same moment, and is the next one's
                if isinstance(fault, TimeoutError):
                    raise WaitRanOut("a free connection") from None
                raise

    def give_back(self, connection: Connection, fault: BaseException | None) -> None:
        """Give one back, with what ended its use; one that is lost makes room for another."""
        if isinstance(fault, asyncio.CancelledError):
            connection.driver.terminate()  # nobody waits for its answer any more
        if fault is not None and connection.driver.is_closed():
            self._made -= 1
            self.forget()  # where one is lost, the database was away, and those that nobody uses are lost too
        else:
            self._idle.append(connection)
        if self._waiting:
            self._wake()

    def _wake(self) -> None:
        """Let whoever waits longest look again."""
        while self._waiting:
            waiting = self._waiting.popleft()
            if not waiting.done():
                waiting.set_result(None)
                break

    def forget(self) -> None:
        """Close those that nobody uses."""
        idle, self._idle = self._idle, []
        self._made -= len(idle)
        for one in idle:
            with suppress(RuntimeError):  # its loop has ended
                one.driver.terminate()

    def _make(self) -> Connection:
        self._made += 1
        try:
            return Connection(wait_for(_connect(read_only=self._read_only)))
        except BaseException as fault:
            self._made -= 1
            self._wake()
            if isinstance(fault, FAULTS):
                raise _told(fault) from fault
            raise


async def _within(seconds: float, waiting: asyncio.Future[None]) -> None:
    """Wait for so long. `asyncio.wait_for` takes what comes in the moment of a deadline, and loses the deadline."""
    async with asyncio.timeout(seconds):
        await waiting


async def _connect(*, read_only: bool) -> Any:
    kind = {"default_transaction_read_only": "on"} if read_only else {}
    settings = _settings | _limits.server() | kind
    made = await asyncpg.connect(_address, timeout=CONNECT_SECONDS, server_settings=settings)
    set_options(made, _limits.tcp_options())
    for name in ("json", "jsonb"):
        await made.set_type_codec(name, schema="pg_catalog", encoder=str, decoder=orjson.loads)
    return made


def readers() -> Connections:
    """Return the connections of this loop on which PostgreSQL refuses to write."""
    return _ours()[0]


def writers() -> Connections:
    """Return the connections of this loop for what one statement changes."""
    return _ours()[1]


def _ours() -> tuple[Connections, Connections]:
    loop = asyncio.get_running_loop()
    found = _of_loops.get(loop)
    if found is None:
        read, write = _sizes
        found = _of_loops[loop] = Connections(read, read_only=True), Connections(write, read_only=False)
    return found
