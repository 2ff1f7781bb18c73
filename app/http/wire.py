"""HTTP as the server reads it: what it cannot read is refused in the contract's envelope too."""

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from app.http import refusals
from app.instance import logs
from rules.errors import Invalid
from store.database.ids import new_id

GRACE_SECONDS = 0.5  # for a request that is on its way when the process is asked to stop


class Protocol(HttpToolsProtocol):
    """Uvicorn's protocol, with an answer like all others where no request could be made of the bytes.

    When the process stops, a connection that was just made still gets its answer.
    """

    def shutdown(self) -> None:
        """End the connection after the request that it has, or that is on its way."""
        if self.cycle is None:
            self.loop.call_later(GRACE_SECONDS, super().shutdown)
        else:
            super().shutdown()

    def send_400_response(self, msg: str) -> None:
        """Refuse, and close the connection: what follows on it cannot be understood either."""
        request_id = f"req_{new_id().hex}"
        token = logs.request_id.set(request_id)
        try:
            answer = refusals.render(Invalid(msg), "")
        finally:
            logs.request_id.reset(token)
        head = (
            "HTTP/1.1 400 Bad Request\r\n"
            "content-type: application/json\r\n"
            f"content-length: {len(answer.body)}\r\n"
            f"x-request-id: {request_id}\r\n"
            "connection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + answer.body)
        self.transport.close()
