"""From a documented operation to its handler: one transaction, one answer."""

import hashlib
import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from typing import Any, cast
from urllib.parse import parse_qsl, urlencode

import connexion
import flask
import orjson
from connexion.resolver import Resolver
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

import store
from app.http import bodies, context
from app.http.context import Answer
from rules import links, plans
from rules.caller import Caller
from rules.pages import Page
from store.accounts import idempotency, organisations
from store.database.engine import Means

IDEMPOTENCY_KEY = "Idempotency-Key"
Begin = Callable[[], AbstractContextManager[Session]]
METHODS = ("get", "post", "put", "patch", "delete")


def documented(spec: dict[str, Any]) -> dict[str, tuple[str, str, dict[str, Any]]]:
    """Return a document's operations by operationId: path, method, definition."""
    return {
        operation["operationId"]: (path, method, operation)
        for path, methods in spec["paths"].items()
        for method, operation in methods.items()
        if method in METHODS
    }


class TagResolver(Resolver):
    """Tag and operationId name the handler: `jobs` and `publish_job` is `handlers.jobs.publish_job`."""

    def __init__(self, spec: dict[str, Any]) -> None:
        super().__init__()
        self.operations = documented(spec)
        self.bound: dict[str, Operation] = {}

    def resolve_function_from_operation_id(self, operation_id: str) -> "Operation":
        """Return the bound handler; Connexion asks several times for each operation."""
        if operation_id not in self.bound:
            _, method, definition = self.operations[operation_id]
            function = super().resolve_function_from_operation_id(
                f"handlers.{definition['tags'][0]}.{operation_id}"
            )
            self.bound[operation_id] = Operation(function, method, definition)
        return self.bound[operation_id]


# What is opened for a handler that names it; a session for all others.
OPENS: dict[str, Callable[[], AbstractContextManager[Means]]] = {
    "reading": store.reading,
    "writing": store.writing,
}


class Operation:
    """A handler with what surrounds it: plan gate, transaction, idempotency, `meta`, headers.

    The handler names what it needs: `session`, a transaction; `writing`, one in which prepared statements are enough;
    `reading` where it changes nothing; `begin` and `finish` where it must reach the network between two transactions,
    `finish` for the last one, with which the answer to an Idempotency-Key is kept; `caller`; parameters and `body` by
    name, or all that it does not name as `**query`.
    """

    def __init__(self, function: Callable[..., Any], method: str, definition: dict[str, Any]) -> None:
        signature = inspect.signature(function).parameters.values()
        self.function, self.method = function, method
        self.wants = {parameter.name for parameter in signature}
        self.wants_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in signature)
        self.reads = "reading" in self.wants
        self.open = next((opens for name, opens in OPENS.items() if name in self.wants), store.transaction)
        self.in_parts = not self.wants.isdisjoint(("begin", "finish"))
        self.feature = definition.get("x-feature")
        self.success = int(min(status for status in definition["responses"] if status.startswith("2")))
        content = definition["responses"][str(self.success)].get("content", {})
        self.with_meta = method == "get" and "application/json" in content
        self.__name__ = definition["operationId"]
        # Connexion reads this to see what to pass; everything was read already.
        self.__signature__ = inspect.Signature()

    def __call__(self, **_path: Any) -> flask.Response:
        """Answer the request that Connexion brought here."""
        scope = cast("context.Scope", connexion.context.scope)
        request = context.of(scope)
        request.operation = self.__name__
        answer = self.run(request, context.caller(scope))
        if isinstance(answer, flask.Response):
            return answer
        response = flask.Response(answer.body, answer.status, answer.headers, content_type="application/json")
        if not answer.body:
            del response.headers["Content-Type"]
        return response

    def run(self, request: context.Request, caller: Caller | None) -> Answer | flask.Response:
        """Carry out one request; only what is no JSON comes back as a response of Flask's."""
        key = request.arguments.pop(IDEMPOTENCY_KEY, None)
        if caller and self.feature:
            plans.require(caller.plan_name, self.feature)
        if key is not None and caller is not None and not self.reads:
            return self._once(request, caller, key)
        with self.open() as means:
            return self._produce(means, request, caller)

    def _produce(
        self,
        means: Means | None,
        request: context.Request,
        caller: Caller | None,
        finish: Begin = store.transaction,
    ) -> Answer | flask.Response:
        given = request.arguments
        arguments = given if self.wants_all else {name: given[name] for name in given if name in self.wants}
        there = {
            "session": means,
            "reading": means,
            "writing": means,
            "begin": store.transaction,
            "finish": finish,
            "caller": caller,
        }
        made = self.function(**arguments, **{name: there[name] for name in there if name in self.wants})
        if isinstance(made, flask.Response):
            return made
        body, status = made if isinstance(made, tuple) else (made, self.success)
        if body is None:
            return Answer(status, b"")
        if isinstance(body, Page):
            body = _envelope(body, request)
        if self.with_meta and caller and means:
            body = {**body, "meta": organisations.quota(means, caller)}
        return Answer(status, orjson.dumps(body))

    def _once(self, request: context.Request, caller: Caller, key: str) -> Answer:
        """Answer a request that names itself: its effect once, its answer as often as it is asked for."""

        def first(session: Session | None, finish: Begin = store.transaction) -> idempotency.Answer:
            made = self._produce(session, request, caller, finish)
            assert isinstance(made, Answer)  # an operation that takes a key answers JSON
            return idempotency.Answer(made.status, made.body)

        target = f"{self.method} {request.path}".encode()
        hashed = orjson.dumps(request.arguments, default=_hashable, option=orjson.OPT_SORT_KEYS)
        asked = idempotency.Asked(caller, key, hashlib.sha256(target + hashed).hexdigest())
        if self.in_parts:
            kept, replayed = _in_parts(asked, lambda finish: first(None, finish))
        else:
            with store.transaction() as session:
                kept, replayed = idempotency.once(session, asked, lambda: first(session))
        return Answer(kept.status, kept.body, {"Idempotent-Replayed": "true"} if replayed else {})


def _in_parts(
    asked: idempotency.Asked, first: Callable[[Begin], idempotency.Answer]
) -> tuple[idempotency.Answer, bool]:
    """Have the last of several transactions keep the answer; none is open between them.

    The key is held meanwhile by a row, which is let go when the request comes to nothing and grows old when we die.
    """
    with store.transaction() as session:
        held = idempotency.hold(session, asked)
    if isinstance(held, idempotency.Answer):
        return held, True
    try:
        with ExitStack() as last:  # commits after the answer is in
            opened: list[Session] = []

            def finish() -> AbstractContextManager[Session]:
                opened.append(last.enter_context(store.transaction()))
                return nullcontext(opened[-1])

            answer = first(finish)
            [session] = opened or [last.enter_context(store.transaction())]
            idempotency.keep(session, asked, held, answer)
    except BaseException:
        with suppress(SQLAlchemyError), store.transaction() as session:
            idempotency.let_go(session, asked, held)
        raise
    return answer, False


def _hashable(value: Any) -> str:
    return hashlib.sha256(value.content).hexdigest() if isinstance(value, bodies.Upload) else str(value)


def _envelope(page: Page, request: context.Request) -> dict[str, Any]:
    return {
        "next": _page_url(request, page.next),
        "previous": _page_url(request, page.previous),
        "results": page.results,
    }


def _page_url(request: context.Request, cursor: str | None) -> str | None:
    if cursor is None:
        return None
    query = [(name, value) for name, value in parse_qsl(request.query) if name != "cursor"]
    return f"{links.base()}{request.path}?{urlencode([*query, ('cursor', cursor)])}"
