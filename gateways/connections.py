"""Connections that were checked when they were made, and that are used again while they last."""

import asyncio
import ssl
import time
from collections import defaultdict
from collections.abc import Hashable
from typing import Any

from gateways.addresses import connect
from gateways.conversations import Connection, Exchange, Origin

KEEPALIVE_SECONDS = 15.0
KEPT = 500  # idle connections, to all hosts together


class _Awaited(Exchange):
    """One whose end somebody awaits."""

    def __init__(self, *given: Any, **limits: Any) -> None:
        super().__init__(*given, **limits)
        self.end: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def ended(self, fault: Exception | None) -> None:
        if self.end.cancelled():
            return
        if fault is None:
            self.end.set_result(None)
        else:
            self.end.set_exception(fault)


class Connections:
    """The connections of one event loop."""

    def __init__(self, *, tls: ssl.SSLContext, allow_private: bool) -> None:
        self._tls, self._allow_private = tls, allow_private
        self._idle: defaultdict[Origin, list[Connection]] = defaultdict(list)
        self._count = 0
        self._swept = 0.0

    def begin(self, exchange: Exchange) -> None:
        """Begin an exchange, over a connection that is kept or a new one; what comes of it that one will hear."""
        kept = self._take(exchange.origin)
        if kept is None:
            self._begin_anew(exchange)
        else:
            kept.ask(exchange)

    async def exchange(
        self, origin: Origin, request: bytes, *, owner: Hashable, seconds: float, most: int
    ) -> tuple[int, bytes]:
        """Make one exchange and wait for its end; return the answer's status and as much of its body as may be."""
        awaited = _Awaited(origin, request, owner=owner, seconds=seconds, most=most)
        self.begin(awaited)
        try:
            await awaited.end
        except asyncio.CancelledError:
            awaited.give_up()
            raise
        assert awaited.status is not None
        return awaited.status, awaited.body

    def _begin_anew(self, exchange: Exchange) -> None:
        exchange.under_way = asyncio.get_running_loop().create_task(self._make(exchange))

    async def _make(self, exchange: Exchange) -> None:
        origin = exchange.origin
        try:
            made = await connect(
                lambda: Connection(self, origin),
                origin.host,
                origin.port,
                owner=exchange.owner,
                tls=self._tls if origin.tls else None,
                allow_private=self._allow_private,
                seconds=exchange.seconds,
            )
        except Exception as fault:
            exchange.under_way = None
            exchange.ended(fault)
        else:
            made.ask(exchange)

    def ended(self, exchange: Exchange, fault: Exception | None, connection: Connection) -> None:
        """Hand on how an exchange ended; begin it anew where a kept connection broke before anything was heard."""
        if fault is not None and connection.used and not exchange.heard:
            self._begin_anew(exchange)  # it may have been closed while the request was on its way
        else:
            exchange.ended(fault)

    def keep(self, origin: Origin, connection: Connection) -> None:
        """Keep a connection for the next exchange."""
        if self._count < KEPT:
            self._idle[origin].append(connection)
            self._count += 1
        else:
            connection.drop()

    def _take(self, origin: Origin) -> Connection | None:
        self._sweep()
        while idle := self._idle.get(origin):
            connection = idle.pop()
            self._count -= 1
            if connection.quiet():
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
