"""HTTP/1.1 over connections that were checked when they were made, and that are used again while they last."""

import asyncio
import ssl
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import h11

from gateways.addresses import connect

KEEPALIVE_SECONDS = 15.0
KEPT = 500  # idle connections, to all hosts together
READ_BYTES = 16_384


class Origin(NamedTuple):
    """Whom a connection is with."""

    host: str
    port: int
    tls: bool


@dataclass
class Head:
    """The beginning of an answer."""

    status: int
    headers: dict[str, str]  # names in lower case


class Connection:
    """One connection, and where its conversation stands."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._http = h11.Connection(h11.CLIENT)
        self.idle_since = 0.0
        self.used = False  # for a request before this one
        self.heard = False  # anything since the request was sent

    @property
    def gone(self) -> bool:
        """Whether the other side has hung up."""
        return self._reader.at_eof() or self._writer.is_closing()

    async def ask(
        self, target: str, headers: list[tuple[str, str]], body: bytes, *, method: str = "POST"
    ) -> Head:
        """Send a request and read the beginning of the answer."""
        self.heard = False
        request = h11.Request(method=method, target=target, headers=headers)
        parts = (request, h11.Data(data=body), h11.EndOfMessage())
        self._writer.write(b"".join(self._http.send(part) or b"" for part in parts))
        await self._writer.drain()
        while True:
            event = await self._next()
            if isinstance(event, h11.Response):
                pairs = ((name.decode(), value.decode("latin-1")) for name, value in event.headers)
                return Head(event.status_code, dict(pairs))
            if not isinstance(event, h11.InformationalResponse):
                raise ConnectionError("the endpoint hung up without an answer")

    async def body(self) -> AsyncIterator[bytes]:
        """Read the rest of the answer, piece by piece."""
        while isinstance(event := await self._next(), h11.Data):
            yield bytes(event.data)

    async def _next(self) -> Any:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            data = await self._reader.read(READ_BYTES)
            self.heard = self.heard or bool(data)
            self._http.receive_data(data)
        return event

    def rewind(self) -> bool:
        """Make ready for another request; False when this was the last one."""
        if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE or self.gone:
            return False
        if self._http.trailing_data[0]:  # would be taken for the answer to the next request
            return False
        self._http.start_next_cycle()
        self.idle_since, self.used = time.monotonic(), True
        return True

    async def quiet(self) -> bool:
        """Say whether nothing has come since the last answer: neither a hang-up nor the answer to a later request."""
        for _ in range(2):  # turns of the loop: one sees that something has arrived, the next has read it
            await asyncio.sleep(0)
        with suppress(TimeoutError):
            async with asyncio.timeout(0):
                await self._reader.read(1)
                return False
        return True

    def drop(self) -> None:
        """Close at once."""
        self._writer.transport.abort()


class Connections:
    """The connections of one event loop."""

    def __init__(self, *, tls: ssl.SSLContext, allow_private: bool) -> None:
        self._tls, self._allow_private = tls, allow_private
        self._idle: defaultdict[Origin, list[Connection]] = defaultdict(list)
        self._count = 0
        self._swept = 0.0

    @asynccontextmanager
    async def to(
        self, origin: Origin, seconds: float, *, owner: Hashable, fresh: bool = False
    ) -> AsyncIterator[Connection]:
        """Lend a connection, made for its owner within so many seconds; it is kept if it can be used again."""
        kept = None if fresh else await self._take(origin)
        connection = kept or await self._make(origin, seconds, owner)
        try:
            yield connection
        except BaseException:
            connection.drop()
            raise
        if self._count < KEPT and connection.rewind():
            self._idle[origin].append(connection)
            self._count += 1
        else:
            connection.drop()

    async def _make(self, origin: Origin, seconds: float, owner: Hashable) -> Connection:
        made = await connect(
            origin.host,
            origin.port,
            owner=owner,
            tls=self._tls if origin.tls else None,
            allow_private=self._allow_private,
            seconds=seconds,
        )
        return Connection(*made)

    async def _take(self, origin: Origin) -> Connection | None:
        self._sweep()
        while idle := self._idle.get(origin):
            connection = idle.pop()
            self._count -= 1
            if await connection.quiet():
                return connection
            connection.drop()
        return None

    def _sweep(self) -> None:
        """Close what nobody has used for a while."""
        moment = time.monotonic()
        if moment - self._swept < 1:
            return
        self._swept = moment
        for origin, idle in list(self._idle.items()):
            old = [one for one in idle if one.gone or moment - one.idle_since > KEEPALIVE_SECONDS]
            for connection in old:
                idle.remove(connection)
                connection.drop()
            self._count -= len(old)
            if not idle:
                del self._idle[origin]

    def close(self) -> None:
        """Close them all."""
        for idle in self._idle.values():
            for connection in idle:
                connection.drop()
        self._idle.clear()
        self._count = 0
