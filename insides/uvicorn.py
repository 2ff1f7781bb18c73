"""What we reach of uvicorn's HTTP protocol: how it refuses bytes that are no request, and how it ends."""

from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

BOUND = "uvicorn>=0.54,<0.55"
LEANS_ON = [
    ("uvicorn/protocols/http/httptools_impl.py", "self.send_400_response(msg)"),
    ("uvicorn/protocols/http/httptools_impl.py", "if self.cycle is None or self.cycle.response_complete:"),
]

GRACE_SECONDS = 0.5  # for a request that is on its way when the process is asked to stop


class Protocol(HttpToolsProtocol):
    """Uvicorn's protocol, with an answer of ours where no request could be made of the bytes.

    When the process stops, a connection that was just made still gets its answer.
    """

    def refuse(self, msg: str) -> bytes:
        """Write the whole answer to bytes that are no request."""
        raise NotImplementedError

    def left(self, scope: Any) -> None:
        """Hear that the client of a request that has no answer is gone."""
        raise NotImplementedError

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the request that is under way, and end."""
        cycle = self.cycle
        super().connection_lost(exc)
        if cycle is not None and not cycle.response_complete:
            self.left(cycle.scope)

    def shutdown(self) -> None:
        """End the connection after the request that it has, or that is on its way."""
        if self.cycle is None:
            self.loop.call_later(GRACE_SECONDS, super().shutdown)
        else:
            super().shutdown()

    def send_400_response(self, msg: str) -> None:
        """Refuse, and close the connection: what follows on it cannot be understood either."""
        self.transport.write(self.refuse(msg))
        self.transport.close()
