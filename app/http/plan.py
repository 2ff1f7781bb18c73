"""The short way: what an ordinary request needs, worked out when the document is loaded.

Connexion's chain passes a request through nine stations and two thread hops. For operations that answer JSON this
middleware takes what Connexion loaded (path, security, parameters, bodies, handler), compiles it once, and serves a
request in one hop: key, limit, validation, handler, in the chain's order and with the chain's own functions.
Whatever has no plan (pages, files, HEAD, OPTIONS, unknown paths and methods) goes through Connexion's chain.
Switched off with FAST_PATH=0; tests/app/test_plan.py sends every operation down both ways and compares.
"""

from typing import Any

from connexion.middleware.abstract import SpecMiddleware
from connexion.operations import AbstractOperation
from connexion.resolver import Resolver
from connexion.spec import Specification

from app.http import context, limits, refusals, security
from app.http.context import Answer
from app.http.hop import Hop
from app.http.operations import METHODS, Operation
from app.http.paths import Tree
from app.http.validation import Operation as Reader
from rules.errors import Refusal

JSON = {"application/json"}
Bearer = list[str] | None  # the scopes an operation needs; None where it needs no key


class Plan:
    """One operation, compiled."""

    def __init__(self, operation: AbstractOperation, template: str, definition: dict[str, Any]) -> None:
        self.run_operation: Operation = operation.function
        self.reader = Reader(operation)
        self.reads = operation.method.upper() == "GET"
        self.cap: str | None = definition.get("x-limit")
        self.scopes: Bearer = next((need["bearer"] for need in operation.security or []), None)
        self.places = [
            (number, segment[1:-1])
            for number, segment in enumerate(template.strip("/").split("/"))
            if segment.startswith("{")
        ]

    def serve(self, scope: context.Scope, request: context.Request, body: bytes | Exception) -> Answer:
        """Serve one request in the order of the contract; refusals are rendered here too."""
        try:
            caller = None
            if self.scopes is not None:
                caller = security.identify(_authorization(scope), request.address, self.scopes)
            limits.count(request, caller, reads=self.reads, cap=self.cap)
            if isinstance(body, Exception):
                raise body
            segments = scope["path"].strip("/").split("/")
            path = {name: segments[number] for number, name in self.places}
            request.arguments = self.reader.read(scope, path, body)
            answer = self.run_operation.run(request, caller)
            assert isinstance(answer, Answer)  # only JSON operations have a plan
        except Exception as fault:  # rendered as the chain would
            answer = refusals.render(fault, scope["path"])
        return answer


class FastPath(SpecMiddleware):
    """Serve what has a plan; pass on what has none."""

    def __init__(self, app: Any, *, threads: int) -> None:
        self.app, self.hop = app, Hop(threads)
        self.tree = Tree()
        self.plans: dict[tuple[str, str], Plan] = {}

    def add_api(
        self, specification: Specification, *, base_path: str, resolver: Resolver, **_options: Any
    ) -> None:
        """Compile a document's operations."""
        for path, methods in specification["paths"].items():
            self.tree.add(base_path + path, methods)
            for method in METHODS:
                if method in methods and _is_json(methods[method]):
                    operation = specification.operation_cls.from_spec(
                        specification, path=path, method=method, resolver=resolver
                    )
                    plan = Plan(operation, base_path + path, methods[method])
                    self.plans[method.upper(), base_path + path] = plan

    async def __call__(self, scope: context.Scope, receive: Any, send: Any) -> None:
        """Serve one request."""
        found = self.tree.of(scope) if scope["type"] == "http" else None
        plan = self.plans.get((scope["method"], found[0])) if found else None
        if plan is None:
            await self.app(scope, receive, send)
            return
        context.of(scope).operation = plan.run_operation.__name__
        try:
            body: bytes | Exception = await plan.reader.receive(scope, receive)
        except Refusal as refusal:
            body = refusal  # key and limit come first
        try:
            answer = await self.hop.submit(plan.serve, scope, context.of(scope), body)
        except Refusal as refusal:
            answer = refusals.render(refusal, scope["path"])
        headers = [(name.lower().encode(), value.encode()) for name, value in answer.headers.items()]
        if answer.body:
            headers.append((b"content-type", b"application/json"))
        if answer.status != 204:
            headers.append((b"content-length", str(len(answer.body)).encode()))
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": answer.body})


def _is_json(definition: dict[str, Any]) -> bool:
    answers = definition["responses"]
    succeeding = [answer for status, answer in answers.items() if status < "400"]
    return "304" not in answers and all(set(answer.get("content", JSON)) == JSON for answer in succeeding)


def _authorization(scope: context.Scope) -> str | None:
    for name, value in scope["headers"]:
        if name == b"authorization":
            return str(value.decode("latin-1"))
    return None
