"""What we reach of uvicorn's HTTP protocol: how it refuses bytes that are no request, and how it ends."""

import socket
from contextlib import suppress
from typing import Any

import httptools
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from insides import answering
from insides.answering import HTTP, Answering

BOUND = answering.BOUND
LEANS_ON = [
    (HTTP, "on_response=self.on_response_complete"),
    (HTTP, "except httptools.HttpParserUpgrade:"),
    (HTTP, "self.parser.set_dangerous_leniencies(lenient_data_after_close=True)"),
    (HTTP, "if self.cycle is None or self.cycle.response_complete:"),
    (HTTP, "self.client = get_remote_addr(transport)"),
    (HTTP, "self.cycle.body += body"),
    (HTTP, "self.timeout_keep_alive, self.timeout_keep_alive_handler"),
    (HTTP, 'protocol.data_received(b"".join(output))'),
    ("uvicorn/protocols/websockets/websockets_sansio_impl.py", "self.conn = ServerProtocol("),
]

_OFFERS = (b"upgrade", b"http2-settings")
HEAD_BYTES = 65_536
HEAD_SECONDS = 10.0  # for a request's head, from its first byte or the connection's beginning
BODY_SECONDS, PAUSE_SECONDS = 120.0, 10.0  # for a body, and between two pieces of it
UNWANTED_BYTES = 1 << 20  # of a body whose request has its answer already
TAKEN_SECONDS = 60.0  # without a client's taking anything of what waits to be sent to it
UNSENT_BYTES = 1 << 17  # that the kernel takes in advance
LOOK_SECONDS = 1.0
UNREAD_SECONDS = 0.05  # for a request that came while the process was too busy to read it
GRACE_SECONDS = 0.5  # for a request that is on its way when the process is asked to stop


class Taking:
    """How long a client has taken nothing of what waits to be sent to it.

    Closing waits for that too, and for ever: what is over is aborted.
    """

    def __init__(self) -> None:
        self._waiting, self._since = 0, 0.0
        self._took = False

    def took(self) -> None:
        """Hear that it took some: by the next look as much may wait again, of a file that is sent in equal parts."""
        self._took = True

    def is_over(self, transport: Any, moment: float) -> bool:
        """Look once more, and say whether the client has had its time."""
        before, self._waiting = self._waiting, transport.get_write_buffer_size()
        if self._took or not before or self._waiting < before:
            self._since, self._took = moment, False
        return moment - self._since > TAKEN_SECONDS


class Protocol(Answering):
    """Uvicorn's protocol, with an answer of ours where no request could be made of the bytes.

    When the process stops, a connection that was just made still gets its answer.
    """

    def refuse(self, status: int, why: str | None = None) -> bytes:
        """Write the whole answer to bytes that are no request (400), or are too many (431) or too slow (408)."""
        raise NotImplementedError

    def connection_made(self, transport: Any) -> None:
        """Begin to look at the clock."""
        super().connection_made(transport)
        # Else it takes megabytes, and it is seen here that a client takes some when it has taken a third of them. Some
        # systems do not know it, nor do sockets of Unix, at which a proxy is.
        with suppress(AttributeError, OSError):
            under = transport.get_extra_info("socket")
            under.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_BYTES)
        self._since: float | None = self.loop.time()  # the reading of a request began; None between two
        self._last = self._since
        self._in_head, self._head_bytes, self._too_large = True, 0, False
        self._fed_bytes = self._piece_bytes = 0  # since the last request ended, a head's own among them
        self._taking = Taking()
        self._owed: bytes | None = None  # the refusal that is sent behind their answers
        self._clock = self.loop.call_later(LOOK_SECONDS, self._look)

    def resume_writing(self) -> None:
        """Hear that what waited was taken, most of it."""
        super().resume_writing()
        self._taking.took()

    def _look(self) -> None:
        """End a connection whose client sends or takes too slowly; what we do not read ourselves is not its fault."""
        moment = self.loop.time()
        if self._taking.is_over(self.transport, moment):
            self.transport.abort()
            return
        self._clock = self.loop.call_later(LOOK_SECONDS, self._look)
        if self.transport.is_closing():
            return
        if self._since is not None and self.flow.read_paused:
            self._since = self._last = moment
        if self._since is not None and (
            moment - self._since > (HEAD_SECONDS if self._in_head else BODY_SECONDS)
            or (not self._in_head and moment - self._last > PAUSE_SECONDS)
        ):
            if self._in_head and not self._head_bytes:
                self.transport.close()
            else:
                self._end(408)

    def on_message_begin(self) -> None:
        """Begin to read a request."""
        super().on_message_begin()
        self._begin_head()
        self._unwanted_bytes = 0

    def data_received(self, data: bytes) -> None:
        """Read what came; an offer to speak another protocol is ignored, as if it had not been made.

        The parser takes a request with an offer to end after its head, whatever body it announces: the body would be
        lost, or read as the next request. So it is given the same head once more, without the offer.
        """
        if self._owed is not None:
            return
        self._unset_keepalive_if_required()
        self._last = self.loop.time()
        if self._since is None and (self.cycle is None or self.cycle.response_complete):
            self._begin_head()  # empty lines before it are part of it, and the parser tells nobody of them
        was_in_head = self._in_head and self._since is not None
        self._piece_bytes = len(data)
        self._fed_bytes += self._piece_bytes
        try:
            self.parser.feed_data(data)
            if self._in_head and self._since is not None:
                # Nobody says how much of a piece with a body's end is the head's.
                self._head_bytes += len(data) if was_in_head else 1
                if self._head_bytes > HEAD_BYTES:
                    self._end(431)
        except httptools.HttpParserError:
            if self._too_large:
                self._end(431)
            else:
                self._end(400, "Invalid HTTP request received.")
        except httptools.HttpParserUpgrade as offer:
            if self._is_socket():
                self._upgrade(data[offer.args[0] :])
                return
            head = self._without_offer()
            if head is None:
                self._end(400, "This is no proxy.")
                return
            self.parser = httptools.HttpRequestParser(self)
            self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
            self.data_received(head + data[offer.args[0] :])

    def on_headers_complete(self) -> None:
        """Begin the request; not one that is about to be read again, nor one whose head is too large."""
        most = self._fed_bytes  # counted exactly where it may be too much
        if most > HEAD_BYTES:
            most = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if most > HEAD_BYTES:
            self._too_large = True
            raise ValueError("The head is too large.")  # the parser stops, and says that a callback failed
        if not self.parser.should_upgrade():
            super().on_headers_complete()  # raises where the target is none
            self._in_head = False

    def on_body(self, body: bytes) -> None:
        """Take in a piece; what comes for a request that was refused meanwhile is let go, and has an end."""
        super().on_body(body)
        if self.cycle.response_complete:
            self._unwanted_bytes += len(body)
            if self._unwanted_bytes > UNWANTED_BYTES:
                self.transport.close()

    def on_message_complete(self) -> None:
        """End the request's body; not that of one which is about to be read again."""
        if not self.parser.should_upgrade():
            self._since = None
            self._fed_bytes = self._piece_bytes  # what comes next may be in it
            super().on_message_complete()

    def opens_socket(self, path: bytes) -> bool:
        """Say whether there is a WebSocket at a path."""
        return False

    def moved(self, socket: Any) -> None:
        """Hear that the connection is a WebSocket's from now on."""
        raise NotImplementedError

    def _begin_head(self) -> None:
        self._since, self._in_head, self._head_bytes = self.loop.time(), True, 0

    def _is_socket(self) -> bool:
        return (
            self.ws_protocol_class is not None
            and self.parser.get_method() == b"GET"
            and self._get_upgrade() == b"websocket"
            and self.cycle is None
            and self.opens_socket(self.url.partition(b"?")[0])
        )

    def _upgrade(self, rest: bytes) -> None:
        """Hand the connection over, with the head as it came and what came behind it."""
        self._clock.cancel()
        self._unset_keepalive_if_required()
        self.connections.discard(self)
        lines = [b"GET %b HTTP/1.1" % self.url, *(b"%b: %b" % header for header in self.headers)]
        make: Any = self.ws_protocol_class
        socket = make(config=self.config, server_state=self.server_state, app_state=self.app_state)
        self.moved(socket)
        socket.connection_made(self.transport)
        self.transport.set_protocol(socket)
        socket.data_received(b"\r\n".join([*lines, b"", b""]) + rest)

    def _end(self, status: int, why: str | None = None) -> None:
        """Refuse what was being read, behind the answers to what came before it, and close: no request can follow."""
        begun = None if self._in_head or self._since is None else self.cycle
        if begun is not None and begun.response_started:
            self.transport.close()
            return
        for pair in [pair for pair in self.pipeline if pair[0] is begun]:
            self.pipeline.remove(pair)
        answer = self.refuse(status, why)
        if all(cycle is begun for cycle in self.unanswered()):
            self._close_with(answer)
        else:
            self._owed, self._since = answer, None
            self.flow.pause_reading()

    def _close_with(self, answer: bytes) -> None:
        self.transport.write(answer)
        self.transport.close()

    def on_response_complete(self) -> None:
        """Go on with the request behind it; where none can follow, say why."""
        super().on_response_complete()
        if self._owed is not None and not self.unanswered() and not self.transport.is_closing():
            self._close_with(self._owed)

    def _without_offer(self) -> bytes | None:
        """Return the head that was read, without what offers another protocol; None where it demands one."""
        method = self.parser.get_method()
        if method == b"CONNECT":
            return None
        lines = [b"%b %b HTTP/%b" % (method, self.url, self.parser.get_http_version().encode())]
        for name, value in self.headers:
            kept = value
            if name == b"connection":
                words = [word.strip() for word in value.split(b",")]
                kept = b", ".join(word for word in words if word.lower() not in _OFFERS)
            if name not in _OFFERS:
                lines.append(b"%b: %b" % (name, kept))
        return b"\r\n".join([*lines, b"", b""])

    def left(self, scope: Any) -> None:
        """Hear that the client of a request that has no answer is gone."""
        raise NotImplementedError

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell all requests that have no answer (uvicorn tells the newest alone), and end."""
        self._clock.cancel()
        super().connection_lost(exc)
        for cycle in self.unanswered():
            cycle.disconnected = True
            cycle.message_event.set()
            self.left(cycle.scope)

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection that was idle for long enough, unless a request has come that nobody has read yet."""
        close = super().timeout_keep_alive_handler
        self.timeout_keep_alive_task = self.loop.call_later(UNREAD_SECONDS, close)

    def shutdown(self) -> None:
        """End the connection after the request that it has, or that is on its way."""
        if self.cycle is None:
            self.loop.call_later(GRACE_SECONDS, super().shutdown)
        else:
            super().shutdown()


class WebSocket(WebSocketsSansIOProtocol):
    """Uvicorn's WebSocket; one whose client does not take what it is sent ends, also while it is closed."""

    def connection_made(self, transport: Any) -> None:
        """Begin to look at the clock."""
        super().connection_made(transport)
        self._taking = Taking()
        self._clock = self.loop.call_later(LOOK_SECONDS, self._look)

    def resume_writing(self) -> None:
        """Hear that what waited was taken, most of it."""
        super().resume_writing()
        self._taking.took()

    def _look(self) -> None:
        if self._taking.is_over(self.transport, self.loop.time()):
            self.transport.abort()
        else:
            self._clock = self.loop.call_later(LOOK_SECONDS, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Look no more."""
        self._clock.cancel()
        super().connection_lost(exc)
