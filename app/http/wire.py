"""HTTP as the server reads it: what it cannot read is refused in the contract's envelope too."""

from http import HTTPStatus

import insides.uvicorn
from app.http import context, refusals
from app.http.threads import hop
from app.instance import logs
from rules.errors import Invalid
from store.database.ids import new_id


class Protocol(insides.uvicorn.Protocol):
    """Refuses as every other part does."""

    def left(self, scope: context.Scope) -> None:
        """Have nothing begun for whoever is gone."""
        request: context.Request | None = scope.get("extensions", {}).get("hiring")
        if request is not None and request.waits_for is not None:
            hop.give_up(request.waits_for, hop.Left)

    def refuse(self, msg: str, status: int = 400) -> bytes:
        """Write the whole answer to what cannot become a request."""
        request_id = f"req_{new_id().hex}"
        token = logs.request_id.set(request_id)
        try:
            answer = refusals.render(Invalid(msg), "")
        finally:
            logs.request_id.reset(token)
        head = (
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"
            f"content-type: {answer.media_type}\r\n"
            f"content-length: {len(answer.body)}\r\n"
            f"x-request-id: {request_id}\r\n"
            "connection: close\r\n\r\n"
        )
        return head.encode() + answer.body
