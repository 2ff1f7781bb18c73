"""Connexion's seats, with the pipeline's own steps in them: what goes through its chain takes the same five.

Connexion finds the operation and then asks, in this order: `security_map`, the stations before its validation,
`validator_map`, the function that its resolver found.
"""

from collections.abc import Callable
from typing import Any

import connexion
import flask
from connexion.middleware.abstract import RoutedAPI, RoutedMiddleware
from connexion.operations import AbstractOperation
from connexion.resolver import Resolver
from connexion.security import ApiKeySecurityHandler, BearerSecurityHandler
from starlette.concurrency import run_in_threadpool

from app.http import bodies, context, security
from app.http.answers import Answer
from app.http.pipeline import Pipeline

Pipelines = dict[str, Pipeline]  # by operationId


class Handlers(Resolver):
    """Tag and operationId name the handler: `jobs` and `publish_job` is `handlers.jobs.publish_job`."""

    def __init__(self, specification: dict[str, Any]) -> None:
        super().__init__()
        self.tags = {
            operation["operationId"]: operation["tags"][0]
            for item in specification["paths"].values()
            for method, operation in item.items()
            if method != "parameters"
        }

    def handler(self, operation_id: str) -> Callable[..., Any]:
        """Return the handler itself."""
        handler: Callable[..., Any] = super().resolve_function_from_operation_id(
            f"handlers.{self.tags[operation_id]}.{operation_id}"
        )
        return handler

    def resolve_function_from_operation_id(self, operation_id: str) -> Callable[..., flask.Response]:
        """Return what Connexion calls at the end of its chain, with what it would read once more."""
        return _view


def _view(**_read_already: Any) -> flask.Response:
    request = context.of(connexion.context.scope)
    answer: Answer = request.pipeline.answer(request)
    body = b"".join((answer.body, *(answer.rest or ())))
    response = flask.Response(body, answer.status, answer.headers, content_type=answer.media_type)
    if not body:
        del response.headers["Content-Type"]
    return response


def _verify(scheme: security.Scheme, required_scopes: list[str]) -> Any:
    """Return the check of one scheme of one operation, by its scopes too, which Connexion's own handlers drop."""

    async def verify(asked: connexion.lifecycle.ConnexionRequest) -> dict[str, Any]:
        request = context.of(asked.scope)
        request.caller = await run_in_threadpool(scheme, request, required_scopes)
        return {}

    return verify


class Bearer(BearerSecurityHandler):
    """An API key."""

    def get_fn(self, security_scheme: dict[str, Any], required_scopes: list[str]) -> Any:
        """Return the check."""
        return _verify(security.bearer, required_scopes)


class Cookie(ApiKeySecurityHandler):
    """A member's session."""

    def get_fn(self, security_scheme: dict[str, Any], required_scopes: list[str]) -> Any:
        """Return the check; a scheme says by `x-scheme` which of ours it is."""
        return _verify(security.SCHEMES[security_scheme["x-scheme"]], required_scopes)


class _Counted:
    def __init__(self, next_app: context.App, pipelines: Pipelines, operation_id: str) -> None:
        self.next_app, self.pipelines, self.operation_id = next_app, pipelines, operation_id

    async def __call__(self, scope: context.Scope, receive: context.Receive, send: context.Send) -> None:
        request = context.of(scope)
        pipeline = request.pipeline = self.pipelines[self.operation_id]
        await run_in_threadpool(pipeline.count, request)
        await pipeline.receive(request, receive)
        # What was taken in is read once: there is nothing left for Connexion's and Flask's own readers.
        headers = [(name, value) for name, value in scope["headers"] if not name.startswith(b"content-")]
        await self.next_app(dict(scope, headers=headers, query_string=b""), _nothing, send)


async def _nothing() -> dict[str, Any]:
    return {"type": "http.request", "body": b"", "more_body": False}


class _Api(RoutedAPI):
    def __init__(self, *arguments: Any, pipelines: Pipelines, **options: Any) -> None:
        self.pipelines = pipelines
        super().__init__(*arguments, **options)
        self.add_paths()

    def make_operation(self, operation: AbstractOperation) -> _Counted:
        return _Counted(self.next_app, self.pipelines, operation.operation_id)


class Count(RoutedMiddleware):
    """The station before validation: counts, and takes in the body."""

    def __init__(self, app: context.App, *, pipelines: Pipelines) -> None:
        super().__init__(app)
        self.pipelines = pipelines

    def api_cls(self, *arguments: Any, **options: Any) -> _Api:
        """Make the part of one document."""
        return _Api(*arguments, pipelines=self.pipelines, **options)


class Read:
    """In the seat of Connexion's parameter validator: reads the whole request."""

    def __init__(self, *_arguments: Any, **_options: Any) -> None: ...

    def validate(self, scope: context.Scope) -> None:
        """Note the handler's arguments, or refuse."""
        request = context.of(scope)
        request.pipeline.read(request)


class Nothing:
    """In the seat of Connexion's body validators: the body was read with everything else."""

    def __init__(self, *_arguments: Any, **_options: Any) -> None: ...

    async def wrap_receive(
        self, receive: context.Receive, *, scope: context.Scope
    ) -> tuple[context.Receive, context.Scope]:
        """Pass on what is left."""
        return receive, scope


SECURITY = {"bearer": Bearer, "apiKey": Cookie}
VALIDATORS = {"parameter": Read, "body": dict.fromkeys(bodies.READERS, Nothing)}
