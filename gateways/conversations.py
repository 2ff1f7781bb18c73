"""HTTP/1.1 on one connection: a request is one write, and llhttp (httptools) reads the answer as it comes.

Everything happens in callbacks of one event loop, and nothing in a task.
"""

import asyncio
import select
import time
from collections.abc import Hashable, Iterable
from typing import NamedTuple, Protocol, cast

import httptools

HEAD_BYTES = (
    32_768  # of an answer, besides its body: heads, also those that come first, chunks' sizes, trailers
)
FED_BYTES = 16_384  # to the parser at once, which tells of nothing in between


class ProtocolError(Exception):
    """The other side does not speak HTTP."""


class Origin(NamedTuple):
    """Whom a connection is with."""

    host: str
    port: int
    tls: bool


def head(first: str, headers: Iterable[tuple[str, str]]) -> str:
    """Write lines of a request's head; ValueError for what would be more than its line."""
    lines = [first, *(f"{name}: {value}" for name, value in headers)]
    if not all(map(str.isprintable, lines)):
        raise ValueError("A header contains a character that headers do not have.")
    return "\r\n".join([*lines, ""])


class Exchange:
    """One request, and what has come of it so far."""

    def __init__(self, origin: Origin, request: bytes, *, owner: Hashable, seconds: float, most: int) -> None:
        """Ask for an owner, who connects within so many seconds and reads so many bytes of a body at most."""
        self.origin, self.request, self.owner = origin, request, owner
        self.seconds, self.most = seconds, most
        self.status: int | None = None  # once the whole head is there
        self.headers: list[tuple[bytes, bytes]] = []
        self.body = b""
        self.heard = False  # anything since the request was sent
        self.under_way: Connection | asyncio.Task[None] | None = None

    def header(self, name: bytes) -> str | None:
        """Return what a header (in lower case) says, or what the last of that name does."""
        found = [value for each, value in self.headers if each.lower() == name]
        return found[-1].decode("latin-1") if found else None

    def begun(self) -> None:
        """Hear that the answer's head is there."""

    def ended(self, fault: Exception | None) -> None:
        """Hear that it is over, once: all of the answer is there, or as much as may be; or what went wrong."""
        raise NotImplementedError

    def give_up(self) -> None:
        """End it without a word."""
        if isinstance(self.under_way, Connection):
            self.under_way.leave()
        elif self.under_way is not None:
            self.under_way.cancel()


class Keeper(Protocol):
    """Whoever has connections, and keeps them while they are idle."""

    def keep(self, origin: Origin, connection: "Connection") -> None:
        """Keep a connection for the next exchange."""

    def ended(self, exchange: Exchange, fault: Exception | None, connection: "Connection") -> None:
        """Hear how an exchange ended; its connection is kept or closed by now."""


class Connection(asyncio.Protocol):
    """One connection, and the exchange that it is in."""

    def __init__(self, keeper: Keeper, origin: Origin) -> None:
        self._keeper, self._origin = keeper, origin
        self._exchange: Exchange | None = None
        self._parser = httptools.HttpResponseParser(self)
        # As other clients read them too: lines that end without a CR, and a length beside chunks.
        self._parser.set_dangerous_leniencies(lenient_optional_cr_before_lf=True, lenient_chunked_length=True)
        self.idle_since = 0.0
        self.used = False  # for a request before this one

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = cast("asyncio.Transport", transport)
        self._arrived = select.poll()
        self._arrived.register(self._transport.get_extra_info("socket").fileno(), select.POLLIN)

    def ask(self, exchange: Exchange) -> None:
        """Send a request; what comes of it the exchange will hear."""
        self._exchange, exchange.under_way = exchange, self
        self._framing = 0  # bytes that are not of the body
        self._until_close, self._interim, self._complete, self._is_last = True, False, False, False
        self._transport.write(exchange.request)

    @property
    def gone(self) -> bool:
        """Whether it is closed, from either side."""
        return self._transport.is_closing()

    def quiet(self) -> bool:
        """Say whether nothing has come since the last answer: neither a hang-up nor the answer to a later request.

        The system is asked, for what has arrived may not have been read yet.
        """
        return not self.gone and not self._arrived.poll(0)

    def drop(self) -> None:
        """Close at once."""
        self._transport.abort()

    def leave(self) -> None:
        """Close at once, whatever its exchange still waits for."""
        self._exchange = None
        self.drop()

    # --- What the transport tells

    def data_received(self, data: bytes) -> None:
        """Read a piece of the answer; what comes between two requests is no answer to the next one."""
        exchange = self._exchange
        if exchange is None:
            self.drop()
            return
        exchange.heard = True
        fault = None
        try:
            for start in range(0, len(data), FED_BYTES):
                piece = data[start : start + FED_BYTES]
                self._framing += len(piece)
                self._parser.feed_data(piece)
                if self._framing > HEAD_BYTES:
                    raise ProtocolError("too much that is no body")
                if self._complete or len(exchange.body) >= exchange.most:
                    self._is_last = self._is_last or start + len(piece) < len(data)
                    break
        except httptools.HttpParserUpgrade:
            fault = ProtocolError("it speaks another protocol from now on")
        except (httptools.HttpParserError, ProtocolError) as error:
            fault = ProtocolError(str(error))
        if self._complete or len(exchange.body) >= exchange.most:
            self._end(None, again=self._complete and not self._is_last and fault is None)
        elif fault is not None:
            self._end(fault)

    def connection_lost(self, fault: Exception | None) -> None:
        """End what is under way: the answer too, if it goes on until the connection is closed."""
        exchange = self._exchange
        if exchange is None:
            return
        if fault is None and exchange.status is not None and self._until_close:
            self._end(None)
        else:
            where = "within its answer" if exchange.heard else "without an answer"
            self._end(fault or ConnectionError(f"the endpoint hung up {where}"))

    def _end(self, fault: Exception | None, *, again: bool = False) -> None:
        exchange, self._exchange = self._exchange, None
        assert exchange is not None
        exchange.under_way = None
        if again and not self.gone:
            self.idle_since, self.used = time.monotonic(), True
            self._keeper.keep(self._origin, self)
        else:
            self.drop()
        self._keeper.ended(exchange, fault, self)

    # --- What the parser tells. It goes on behind an answer's end as if there was another one; empty lines it skips.

    def on_message_begin(self) -> None:
        """Note that something comes behind the answer."""
        self._is_last = self._is_last or self._complete

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a line of the head."""
        exchange = self._exchange
        if exchange is not None and exchange.status is None and not self._complete:
            exchange.headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Keep the status, and see how the body ends; what answers come first are not meant."""
        exchange = self._exchange
        if exchange is None or self._complete:
            return
        status = self._parser.get_status_code()
        self._interim = 100 <= status < 200
        if self._interim:
            exchange.headers.clear()
            return
        if status < 100:
            raise ProtocolError("such a status does not exist")  # the parser stops
        for name, value in exchange.headers:
            if name.lower() == b"content-length":
                self._until_close = False
            elif name.lower() == b"transfer-encoding":
                self._until_close = not value.lower().endswith(b"chunked")
        exchange.status = status
        exchange.begun()

    def on_body(self, piece: bytes) -> None:
        """Keep what may be kept of the body."""
        exchange = self._exchange
        if exchange is not None and not self._complete:
            self._framing -= len(piece)
            exchange.body += piece[: exchange.most - len(exchange.body)]

    def on_message_complete(self) -> None:
        """Note that the whole answer is there, and whether the connection may be used again."""
        if not self._interim and not self._complete:
            self._complete = True
            self._is_last = not self._parser.should_keep_alive()
