"""Requests read and checked against the document: every fault at once, each with its place.

Each operation is compiled once, from what Connexion loaded; it takes the seat of Connexion's own request validation,
which builds its validators anew on every request and stops at the first fault.
"""

import copy
from typing import Any
from urllib.parse import parse_qsl

import orjson
from connexion.middleware.abstract import RoutedAPI
from connexion.middleware.request_validation import RequestValidationMiddleware
from connexion.operations import AbstractOperation
from starlette.datastructures import Headers

from app.http import bodies, context
from app.http.schema import MOST_FAULTS, Fault, Schema, fault, step, unknown
from rules.errors import BodyTooLarge, Invalid, UnsupportedMediaType


class Operation:
    """One operation's request, compiled."""

    def __init__(self, operation: AbstractOperation) -> None:
        # Connexion adds a path's own parameters again each time that it loads one of its operations.
        distinct = {(one["in"], one["name"]): one for one in operation.parameters}.values()
        self.parameters = [
            (one["name"], one["in"], one.get("required", False), one["schema"], Schema(one["schema"]))
            for one in distinct
        ]
        self.query = [name for name, where, *_ in self.parameters if where == "query"]
        body = operation.request_body or {}
        self.required = body.get("required", False)
        self.method = operation.method.upper()
        self.bodies = {media: Schema(content["schema"]) for media, content in body.get("content", {}).items()}

    async def receive(self, scope: context.Scope, receive: Any) -> bytes:
        """Take in the body, no more of it than its media type may have."""
        if not self.bodies:
            may_have_one = self.method in ("POST", "PUT", "PATCH")
            return await _receive(receive, scope, bodies.LARGEST[bodies.JSON]) if may_have_one else b""
        headers = Headers(scope=scope)
        media = bodies.media_type(headers.get("content-type", ""))[0]
        if media not in self.bodies:
            raise UnsupportedMediaType(supported=list(self.bodies))
        if headers.get("content-encoding", "identity").lower() != "identity":
            raise UnsupportedMediaType("Compressed bodies are not taken; send it as it is.")
        return await _receive(receive, scope, bodies.LARGEST[media])

    def read(self, scope: context.Scope, path: dict[str, str], body: bytes) -> dict[str, Any]:
        """Return the handler's arguments, or refuse with every fault of the request."""
        faults: list[Fault] = []
        arguments = self._read_parameters(scope, path, faults)
        if self.bodies:
            arguments["body"] = self._read_body(body, Headers(scope=scope).get("content-type", ""), faults)
        elif body:
            faults += _strange(body)
        if faults:
            raise Invalid(fields=faults)
        return arguments

    def _read_parameters(
        self, scope: context.Scope, path: dict[str, str], faults: list[Fault]
    ) -> dict[str, Any]:
        """Read path, query and header parameters."""
        given = {"path": {name: [value] for name, value in path.items()}, "query": {}, "header": {}}
        try:
            query = parse_qsl(
                scope["query_string"].decode("ascii"),
                keep_blank_values=True,
                errors="strict",
                max_num_fields=100,
            )
        except ValueError:
            faults.append(fault("/query", "The query is not UTF-8 percent-encoded text."))
            query = []
        for name, value in query:
            given["query"].setdefault(name, []).append(value)
        headers = Headers(scope=scope)
        arguments = {}
        for name, where, required, schema, compiled in self.parameters:
            values = headers.getlist(name) if where == "header" else given[where].get(name, [])
            pointer = f"/{where}/{name}"
            if not values:
                if required:
                    faults.append(fault(pointer, "This parameter is required."))
                elif where == "query" or "default" in schema:
                    arguments[name] = copy.deepcopy(schema.get("default"))
                continue
            if len(values) > 1 or not bodies.sound(values[0]):
                faults.append(fault(pointer, "Must be given once, as text."))
                continue
            value = bodies.read_text(values[0], schema)
            found = compiled.faults(value, pointer)
            faults.extend(found)
            if not found:
                arguments[name] = compiled.finish(value)
        faults.extend(
            fault("/query" + step(name), unknown(name, self.query).replace("field", "parameter"))
            for name in given["query"]
            if name not in self.query
        )
        return arguments

    def _read_body(self, body: bytes, content_type: str, faults: list[Fault]) -> dict[str, Any] | None:
        """Read and check the body; None where it has faults."""
        media, options = bodies.media_type(content_type)
        schema = self.bodies[media]
        if not body and media != bodies.FORM:
            if self.required:
                faults.append(fault("", "A request body is required."))
                return None
            value: Any = {}
        else:
            try:
                value = bodies.READERS[media](body, options)
                if media != bodies.JSON:
                    value = bodies.assemble(value, schema.schema)
            except bodies.Unreadable as unreadable:
                faults.append(fault("", str(unreadable)))
                return None
        found = schema.faults(value)
        faults.extend(found)
        return None if found else schema.finish(value)


def _strange(body: bytes) -> list[Fault]:
    """Name the fields that were sent to an operation which takes none; a body that is no object says nothing."""
    try:
        value = orjson.loads(body)
    except ValueError:
        return []
    names = list(value)[:MOST_FAULTS] if isinstance(value, dict) else []
    return [fault(step(name), "Unknown field. This operation takes none.") for name in names]


class Station:
    """The station of one operation: read, check, pass on."""

    def __init__(self, next_app: Any, operation: AbstractOperation) -> None:
        self.next_app, self.operation = next_app, Operation(operation)

    async def __call__(self, scope: context.Scope, receive: Any, send: Any) -> None:
        """Serve one request."""
        body = await self.operation.receive(scope, receive)
        context.of(scope).arguments = self.operation.read(scope, scope.get("path_params", {}), body)
        # What was read is handed on as arguments; Connexion and Flask need not read it again.
        headers = [(name, value) for name, value in scope["headers"] if not name.startswith(b"content-")]
        await self.next_app(dict(scope, headers=headers, query_string=b""), _nothing, send)


async def _receive(receive: Any, scope: context.Scope, largest: int) -> bytes:
    declared = Headers(scope=scope).get("content-length", "0")
    if declared.isascii() and declared.isdigit() and int(declared[:20]) > largest:
        raise BodyTooLarge(limit_bytes=largest)
    read = bytearray()
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Invalid("The body ended before its time.")
        read += message.get("body", b"")
        more = message.get("more_body", False)
        if len(read) > largest:
            raise BodyTooLarge(limit_bytes=largest)
    return bytes(read)


async def _nothing() -> dict[str, Any]:
    return {"type": "http.request", "body": b"", "more_body": False}


class _Api(RoutedAPI):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.add_paths()

    def make_operation(self, operation: AbstractOperation) -> Station:
        return Station(self.next_app, operation)


class Validation(RequestValidationMiddleware):
    """Connexion's request validation with compiled operations."""

    api_cls = _Api
