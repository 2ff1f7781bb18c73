"""What we reach of uvicorn's HTTP protocol: how it refuses bytes that are no request, and how it ends."""

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

BOUND = "uvicorn>=0.30,<1"

GRACE_SECONDS = 0.5  # for a request that is on its way when the process is asked to stop


class Protocol(HttpToolsProtocol):
    """Uvicorn's protocol, with an answer of ours where no request could be made of the bytes.

    When the process stops, a connection that was just made still gets its answer.
    """

    def refuse(self, msg: str) -> bytes:
        """Write the whole answer to bytes that are no request."""
        raise NotImplementedError

    def shutdown(self) -> None:
        """End the connection after the request that it has, or that is on its way.

        Leans on httptools_impl.py, `shutdown`, which closes a connection whose `cycle` is None at once.
        """
        if self.cycle is None:
            self.loop.call_later(GRACE_SECONDS, super().shutdown)
        else:
            super().shutdown()

    def send_400_response(self, msg: str) -> None:
        """Refuse, and close the connection: what follows on it cannot be understood either.

        Leans on httptools_impl.py, `data_received`, which calls this where httptools cannot read what came.
        """
        self.transport.write(self.refuse(msg))
        self.transport.close()
