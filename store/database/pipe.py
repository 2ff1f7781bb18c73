"""Redis from an event loop: commands of many requests on one connection, answered in their order."""

import asyncio
import hashlib
import socket
import ssl
from collections import deque
from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import hiredis
import redis
from redis.connection import parse_url

from store.database.greenlets import wait_for
from store.database.waits import Waits

Word = str | int


class Pipe:
    """A Redis as each loop has it; raises redis.RedisError where it has no answer within `patience` seconds."""

    def __init__(self, url: str, script: str, *, patience: float, limits: Waits) -> None:
        self._where: dict[str, Any] = dict(parse_url(url))  # type: ignore[no-untyped-call]  # it has none
        self._script, self._patience, self._limits = script, patience, limits
        self._sha = hashlib.sha1(script.encode(), usedforsecurity=False).hexdigest()  # as Redis names it
        self._lines: WeakKeyDictionary[asyncio.AbstractEventLoop, _Line] = WeakKeyDictionary()

    def run(self, keys: Sequence[str], arguments: Sequence[int]) -> Any:
        """Run the script; in a greenlet of a loop."""
        words: list[Word] = [len(keys), *keys, *arguments]
        line = self._lines.get(asyncio.get_running_loop())
        if line is None or line.is_closed:
            line = wait_for(self._connect())
        try:
            return wait_for(line.ask("EVALSHA", self._sha, *words))
        except redis.exceptions.NoScriptError:
            return wait_for(line.ask("EVAL", self._script, *words))

    async def _connect(self) -> "_Line":
        """Connect; of those who do so at the same time the first one's connection stays."""
        loop, line = asyncio.get_running_loop(), _Line(self._patience)
        try:
            async with asyncio.timeout(self._patience):
                await self._open(line)
        except BaseException as fault:
            line.close()
            if isinstance(fault, OSError):  # TimeoutError is one
                raise redis.ConnectionError(str(fault) or "It does not answer.") from fault
            raise
        there = self._lines.get(loop)
        if there is None or there.is_closed:
            there = self._lines[loop] = line
        else:
            line.close()
        return there

    async def _open(self, line: "_Line") -> None:
        """Connect and say who asks."""
        loop, where = asyncio.get_running_loop(), self._where
        if path := where.get("path"):
            await loop.create_unix_connection(lambda: line, path)
        else:
            secure = _tls(where) if where.get("connection_class") is redis.SSLConnection else None
            host, port = where.get("host", "localhost"), where.get("port", 6379)
            await loop.create_connection(lambda: line, host, port, ssl=secure)
            line.set_options(self._limits.tcp_options())
        if password := where.get("password"):
            user = [where["username"]] if where.get("username") else []
            await line.ask("AUTH", *user, password)
        if number := where.get("db"):
            await line.ask("SELECT", number)


def _tls(where: dict[str, Any]) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=where.get("ssl_ca_certs"))
    if where.get("ssl_cert_reqs") in ("none", None) and "ssl_cert_reqs" in where:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if certificate := where.get("ssl_certfile"):
        context.load_cert_chain(certificate, where.get("ssl_keyfile"))
    return context


class _Line(asyncio.Protocol):
    """One connection, and what waits for an answer on it."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._reader: Any = hiredis.Reader(protocolError=redis.ConnectionError, replyError=_fault)
        self._waiting: deque[tuple[asyncio.Future[Any], float]] = deque()  # and since when
        self._unsent: list[bytes] = []
        self._watch: asyncio.TimerHandle | None = None
        self._transport: Any = None
        self.is_closed = False

    def connection_made(self, transport: Any) -> None:
        self._transport, self._loop = transport, asyncio.get_running_loop()

    def set_options(self, options: dict[int, int]) -> None:
        """Have a machine that is gone noticed."""
        below = self._transport.get_extra_info("socket")
        below.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in options.items():
            below.setsockopt(socket.IPPROTO_TCP, name, value)

    def close(self) -> None:
        """Close it, if it was ever open: nobody asks on it."""
        if self._transport is not None:
            self._transport.abort()

    def ask(self, *words: Word) -> asyncio.Future[Any]:
        """Send a command; the future has its answer, or a redis.RedisError."""
        future = self._loop.create_future()
        if self.is_closed:
            future.set_exception(redis.ConnectionError("The connection is closed."))
            return future
        if not self._unsent:
            self._loop.call_soon(self._send)
        self._unsent.append(hiredis.pack_command(words))  # type: ignore[arg-type]  # it takes any number
        self._waiting.append((future, self._loop.time()))
        if self._watch is None:
            self._watch = self._loop.call_later(self._patience, self._look)
        return future

    def _send(self) -> None:
        """Send what was asked in one turn of the loop together: the system takes as long for each piece as for all."""
        unsent, self._unsent = self._unsent, []
        if not self.is_closed:
            self._transport.write(b"".join(unsent))

    def data_received(self, data: bytes) -> None:
        self._reader.feed(data)
        while (answer := self._reader.gets()) is not False:
            waits, _ = self._waiting.popleft()
            if waits.done():
                continue
            if isinstance(answer, Exception):
                waits.set_exception(answer)
            else:
                waits.set_result(answer)

    def connection_lost(self, exc: Exception | None) -> None:
        self._end(redis.ConnectionError(str(exc) if exc else "Redis has closed the connection."))

    def _look(self) -> None:
        """End a connection on which somebody waits for longer than there is patience."""
        self._watch = None
        if not self._waiting:
            return
        left = self._waiting[0][1] + self._patience - self._loop.time()
        if left > 0:
            self._watch = self._loop.call_later(left, self._look)
            return
        self._end(redis.TimeoutError("It does not answer."))
        self._transport.abort()

    def _end(self, fault: redis.RedisError) -> None:
        self.is_closed = True
        if self._watch:
            self._watch.cancel()
        while self._waiting:
            waits, _ = self._waiting.popleft()
            if not waits.done():
                waits.set_exception(fault)


def _fault(text: str) -> redis.RedisError:
    return redis.exceptions.NoScriptError(text) if text.startswith("NOSCRIPT") else redis.ResponseError(text)
