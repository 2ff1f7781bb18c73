"""Operations that a page calls: in this process, through the same pipeline, for whoever looks at the page."""

import hmac
from typing import Any, Protocol
from urllib.parse import urlencode

import orjson
from starlette.datastructures import Headers

from app.http import bodies, security
from app.http.answers import Answer
from app.http.context import Request
from rules import links, scopes
from rules.errors import CsrfFailed, InsufficientScope, InvalidSession, Refusal
from schemas.views import Called

KEPT = ("user-agent", "accept-language")  # of the page's own request


class Operation(Protocol):
    """What a pipeline does."""

    id: str
    template: str
    method: str
    security: security.Alternatives

    def read(self, request: Request) -> None:
        """Note the arguments."""

    def answer(self, request: Request) -> Answer:
        """Carry it out."""


def call(
    operation: Operation,
    page: Request,
    *,
    token: str = "",
    query: dict[str, Any] | None = None,
    body: dict[str, Any] | None = None,
    **path: str,
) -> Called:
    """Carry out an operation as if who looks at a page had asked: the role's scopes and the session's token too."""
    head = {name: page.head[name] for name in KEPT if name in page.head}
    request = Request(
        id=page.id,
        address=page.address,
        method=operation.method,
        path=operation.template.format(**path),
        query=urlencode(
            {name: value for name, value in (query or {}).items() if value not in (None, "")}
        ).encode(),
        head=Headers(head | {"content-type": bodies.JSON}),
        pipeline=operation,
        caller=page.caller if operation.security else None,
        body=b"" if body is None else orjson.dumps(body),
        started=page.started,
    )
    try:
        _check(request, operation, token)
        operation.read(request)
        answer = operation.answer(request)
    except Refusal as refusal:
        details = {"documentation_url": links.error(refusal.code), **refusal.details}
        error = {"code": refusal.code, "message": str(refusal), "details": details}
        return Called(refusal.status, {"error": error})
    shown = orjson.loads(answer.body) if answer.body and answer.media_type == bodies.JSON else None
    return Called(answer.status, shown, answer.headers)


def _check(request: Request, operation: Operation, token: str) -> None:
    """Refuse what the session of the page's visitor may not ask for, or did not."""
    if not operation.security:
        return
    person = request.caller and request.caller.person
    if request.caller is None or person is None:
        raise InvalidSession
    if operation.method not in security.SAFE and not hmac.compare_digest(person.token, token):
        raise CsrfFailed
    missing = [
        scopes.missing(request.caller.scopes, each) for need in operation.security for each in need.values()
    ]
    if all(missing):
        raise InsufficientScope("The role does not include what this needs.", required_scope=missing[0][0])
