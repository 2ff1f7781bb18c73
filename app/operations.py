"""From a documented operation to its handler: one transaction, one answer."""

import hashlib
import inspect
from collections.abc import Callable
from typing import Any, cast
from urllib.parse import parse_qsl, urlencode

import connexion
import flask
import orjson
from connexion.resolver import Resolver
from sqlalchemy.orm import Session

import store
from app import bodies, context
from rules import links, plans
from rules.caller import Caller
from rules.pages import Page
from store import idempotency, organisations

IDEMPOTENCY_KEY = "Idempotency-Key"
METHODS = ("get", "post", "put", "patch", "delete")


def documented(spec: dict[str, Any]) -> dict[str, tuple[str, str, dict[str, Any]]]:
    """Return a document's operations by operationId: path, method, definition."""
    return {
        operation["operationId"]: (path, method, operation)
        for path, methods in spec["paths"].items()
        for method, operation in methods.items()
        if method in METHODS
    }


class TagResolver(Resolver):  # type: ignore[misc]
    """Tag and operationId name the handler: `jobs` and `publish_job` is `handlers.jobs.publish_job`."""

    def __init__(self, spec: dict[str, Any]) -> None:
        super().__init__()
        self.operations = documented(spec)
        self.bound: dict[str, Callable[..., flask.Response]] = {}

    def resolve_function_from_operation_id(self, operation_id: str) -> Callable[..., flask.Response]:
        """Return the bound handler; Connexion asks several times for each operation."""
        if operation_id not in self.bound:
            _, method, operation = self.operations[operation_id]
            function = super().resolve_function_from_operation_id(
                f"handlers.{operation['tags'][0]}.{operation_id}"
            )
            self.bound[operation_id] = bind(function, method, operation)
        return self.bound[operation_id]


def bind(
    function: Callable[..., Any], method: str, operation: dict[str, Any]
) -> Callable[..., flask.Response]:
    """Wrap a handler: plan gate, transaction, `meta`, headers.

    The handler names what it needs: `session`, or `begin` where it must reach the network between two
    transactions; `caller`; parameters and `body` by name, or all that it does not name as `**query`.
    """
    signature = inspect.signature(function).parameters.values()
    wants = {parameter.name for parameter in signature}
    wants_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in signature)
    feature = operation.get("x-feature")
    success = int(min(status for status in operation["responses"] if status.startswith("2")))
    with_meta = method == "get" and "application/json" in operation["responses"][str(success)].get(
        "content", {}
    )

    def run(**_path: Any) -> flask.Response:
        scope = cast("context.Scope", connexion.context.scope)
        request, caller = context.of(scope), context.caller(scope)
        key = request.arguments.pop(IDEMPOTENCY_KEY, None)
        given = dict(request.arguments)
        arguments = {name: value for name, value in given.items() if wants_all or name in wants}
        if "caller" in wants:
            arguments["caller"] = caller
        if caller and feature:
            plans.require(caller.plan_name, feature)

        def answer(session: Session) -> flask.Response:
            means = {"begin": store.transaction, "session": session}
            means = {name: value for name, value in means.items() if name in wants}
            made = _plain(function(**arguments, **means), scope)
            if with_meta and caller and not isinstance(made, flask.Response):
                made = {**made, "meta": organisations.quota(session, caller)}
            return _respond(made, success)

        with store.transaction() as session:
            if key is None or caller is None:
                response = answer(session)
            else:
                response = _once(session, caller, key, f"{method} {request.path}", given, answer)
        response.headers.extend(request.headers)
        return response

    # Connexion reads this to see what to pass; everything was read already.
    run.__signature__ = inspect.Signature()  # type: ignore[attr-defined]
    return run


def _once(
    session: Session,
    caller: Caller,
    key: str,
    target: str,
    given: dict[str, Any],
    produce: Callable[[Session], flask.Response],
) -> flask.Response:
    """Answer a request that names itself: its effect once, its answer as often as it is asked for."""

    def first() -> idempotency.Answer:
        made = produce(session)
        return idempotency.Answer(made.status_code, made.get_data(as_text=True))

    asked = target.encode() + orjson.dumps(given, default=_hashable, option=orjson.OPT_SORT_KEYS)
    answer, replayed = idempotency.once(session, caller, key, hashlib.sha256(asked).hexdigest(), first)
    headers = {"Idempotent-Replayed": "true"} if replayed else {}
    return flask.Response(answer.body, status=answer.status, content_type="application/json", headers=headers)


def _hashable(value: Any) -> str:
    return hashlib.sha256(value.content).hexdigest() if isinstance(value, bodies.Upload) else str(value)


def _plain(answer: Any, scope: context.Scope) -> Any:
    if not isinstance(answer, Page):
        return answer
    return {
        "next": _page_url(scope, answer.next),
        "previous": _page_url(scope, answer.previous),
        "results": answer.results,
    }


def _page_url(scope: context.Scope, cursor: str | None) -> str | None:
    if cursor is None:
        return None
    request = context.of(scope)
    query = [(name, value) for name, value in parse_qsl(request.query) if name != "cursor"]
    return f"{links.base()}{request.path}?{urlencode([*query, ('cursor', cursor)])}"


def _respond(answer: Any, success: int) -> flask.Response:
    if isinstance(answer, flask.Response):
        return answer
    body, status = answer if isinstance(answer, tuple) else (answer, success)
    if body is None:
        return flask.Response(status=status)
    return flask.Response(orjson.dumps(body), status=status, content_type="application/json")
