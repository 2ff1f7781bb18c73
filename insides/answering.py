"""What we reach of uvicorn's HTTP protocol to answer: a whole answer goes out in one piece."""

import re
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

BOUND = "uvicorn>=0.54,<0.55"
HTTP = "uvicorn/protocols/http/httptools_impl.py"
LEANS_ON = [
    (HTTP, "self._start_asgi_task(cycle, app)"),
    (HTTP, "self.pipeline.appendleft((self.cycle, app))"),
    (HTTP, "headers = self.default_headers + list"),
    (HTTP, "content = [STATUS_LINE[status_code]]"),
    (HTTP, "self.waiting_for_100_continue = False"),
    (HTTP, "self.response_complete = True"),
    (HTTP, "self.on_response()"),
]

_UNFIT = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")  # in the value of a header (RFC 9110, 5.5)


class Answering(HttpToolsProtocol):
    """Uvicorn's protocol, which knows the request that is carried out; behind it others may wait."""

    answering: Any = None

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        """Carry a request out, whose scope says how to answer at once."""
        self.answering = cycle
        cycle.scope.setdefault("extensions", {})["answer"] = self.answer
        super()._start_asgi_task(cycle, app)

    def answer(self, status: int, headers: list[tuple[str, str]], body: bytes) -> bool:
        """Send the whole answer to the request that is carried out; False where what was sent before has to go first.

        Uvicorn writes a head and a body one after the other, and the system sends each by itself. The headers say how
        long the body is, or that there is none.
        """
        cycle = self.answering
        if cycle.disconnected:
            return True
        if self.flow.write_paused:
            return False
        if _UNFIT.search("".join([value for _, value in headers])):
            raise RuntimeError("Invalid HTTP header value.")
        if not cycle.keep_alive:
            headers.append(("Connection", "close"))
        lines = [f"{name.lower()}: {value}\r\n" for name, value in headers]
        usual = [b"%b: %b\r\n" % header for header in cycle.default_headers]
        cycle.response_started, cycle.response_complete, cycle.waiting_for_100_continue = True, True, False
        head = b"".join((STATUS_LINE[status], *usual, "".join(lines).encode(), b"\r\n"))
        self.transport.writelines((head, body) if body else (head,))
        cycle.message_event.set()
        if not cycle.keep_alive:
            self.transport.close()
        cycle.on_response()
        return True

    def unanswered(self) -> list[Any]:
        """List the requests that have no whole answer: the one that is carried out, and those that wait behind it."""
        cycles = [self.answering, *(cycle for cycle, _ in reversed(self.pipeline))]
        return [cycle for cycle in cycles if cycle is not None and not cycle.response_complete]
