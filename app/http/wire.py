"""HTTP as the server reads it: what it cannot read is refused in the contract's envelope too."""

from collections.abc import Callable
from functools import partial
from http import HTTPStatus

import insides.uvicorn
from app.http import context, refusals
from app.http.threads import hop
from app.instance import logs
from rules import errors, links
from rules.errors import Refusal
from store.database.ids import new_id

REFUSALS: dict[int, Callable[[str | None], Refusal]] = {
    400: errors.Invalid,
    408: errors.RequestTimeout,
    431: partial(errors.HeadersTooLarge, limit_bytes=insides.uvicorn.HEAD_BYTES),
}


class Protocol(insides.uvicorn.Protocol):
    """Refuses as every other part does."""

    def left(self, scope: context.Scope) -> None:
        """Have nothing begun for whoever is gone."""
        request: context.Request | None = scope.get("extensions", {}).get("hiring")
        if request is not None and request.waits_for is not None:
            hop.give_up(request.waits_for, hop.Left)

    def refuse(self, status: int, why: str | None = None) -> bytes:
        """Write the whole answer to what cannot become a request."""
        request_id = f"req_{new_id().hex}"
        token = logs.request_id.set(request_id)
        try:
            answer = refusals.render(REFUSALS[status](why), "")
        finally:
            logs.request_id.reset(token)
        headers = answer.headers | {
            "content-type": answer.media_type,
            "content-length": str(len(answer.body)),
            "access-control-allow-origin": links.origin(),
            "x-request-id": request_id,
            "connection": "close",
        }
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", *map(": ".join, headers.items()), "", ""]
        return "\r\n".join(lines).encode() + answer.body
