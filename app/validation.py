"""Requests read and checked against the document: every fault at once, each with its place.

Each operation is compiled once, from what Connexion loaded; it takes the seat of Connexion's own request validation,
which builds its validators anew on every request and stops at the first fault.
"""

import copy
import difflib
from collections.abc import Callable
from itertools import islice
from typing import Any
from urllib.parse import parse_qsl

import jsonschema_rs
from connexion.middleware.abstract import RoutedAPI
from connexion.middleware.request_validation import RequestValidationMiddleware
from connexion.operations import AbstractOperation
from starlette.datastructures import Headers

from app import bodies, context, formats
from rules.errors import BodyTooLarge, Invalid, UnsupportedMediaType

Fault = dict[str, str]
MOST_FAULTS = 1000  # more than that nobody reads, and an answer has its bounds too
LONGEST_NAME = 200


def _draft4(schema: Any) -> Any:
    """Write an OpenAPI 3.0 schema as JSON Schema: `nullable` becomes a type."""
    if isinstance(schema, list):
        return [_draft4(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    rewritten = {key: _draft4(value) for key, value in schema.items() if key not in ("example", "nullable")}
    if schema.get("nullable"):
        if isinstance(schema.get("type"), str):
            rewritten["type"] = [schema["type"], "null"]
        if "enum" in schema and None not in schema["enum"]:
            rewritten["enum"] = [*schema["enum"], None]
        if "anyOf" in schema:
            rewritten["anyOf"] = [*rewritten["anyOf"], {"type": "null"}]
    return {} if schema.get("format") == "binary" else rewritten


# What each kind of fault says; the value at fault is never repeated.
_MESSAGES: dict[str, Callable[[dict[str, Any]], str]] = {
    "required": lambda kind: "This field is required.",
    "type": lambda kind: f"Must be {' or '.join(_named(one) for one in kind['types'])}.",
    "enum": lambda kind: (
        f"Must be one of {', '.join(str(one) for one in kind['options'] if one is not None)}."
    ),
    "format": lambda kind: f"Must be {formats.EXPECTED.get(kind['format'], kind['format'])}.",
    "minLength": lambda kind: (
        "Must not be empty." if kind["limit"] == 1 else f"Must have at least {kind['limit']} characters."
    ),
    "maxLength": lambda kind: f"Must have at most {kind['limit']} characters.",
    "minimum": lambda kind: f"Must be at least {kind['limit']}.",
    "maximum": lambda kind: f"Must be at most {kind['limit']}.",
    "minItems": lambda kind: f"Must have at least {kind['limit']} items.",
    "maxItems": lambda kind: f"Must have at most {kind['limit']} items.",
    "maxProperties": lambda kind: f"Must have at most {kind['limit']} fields.",
    "minProperties": lambda kind: f"Must have at least {kind['limit']} fields.",
    "uniqueItems": lambda kind: "Must not hold the same item twice.",
    "pattern": lambda kind: f"Must match {kind['pattern']}.",
}


def _named(type: str) -> str:
    return {"array": "an array", "integer": "an integer", "object": "an object"}.get(type, f"a {type}")


class Schema:
    """One compiled schema: its faults, its defaults, its typed values."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema
        self.validator = jsonschema_rs.Draft4Validator(
            _draft4(schema), validate_formats=True, formats=formats.CHECKS
        )

    def faults(self, value: Any, prefix: str = "") -> list[Fault]:
        """Return everything that is wrong with a value."""
        if files := _files(value):
            return self._misplaced(files) or self.faults(value | dict.fromkeys(files, ""), prefix)
        try:
            if self.validator.is_valid(value):
                return []
            errors = list(islice(self.validator.iter_errors(value), MOST_FAULTS))
        except ValueError:  # a number beyond what the validator can hold
            return [_fault(prefix, "Holds a number that is too large.")]
        return [fault for error in errors for fault in self._describe(error, prefix)][:MOST_FAULTS]

    def _misplaced(self, files: list[str]) -> list[Fault]:
        properties = self.schema.get("properties", {})
        texts = [name for name in files if name in properties and properties[name].get("format") != "binary"]
        return [_fault(_step(name), "Must not be a file.") for name in texts]

    def _describe(self, error: Any, prefix: str) -> list[Fault]:
        kind = error.kind.as_dict()
        at = prefix + "".join(_step(name) for name in error.instance_path)
        if error.kind.name == "required":
            return [_fault(f"{at}/{kind['property']}", "This field is required.")]
        if error.kind.name == "additionalProperties":
            known = self._known(list(error.schema_path))
            return [
                _fault(at + _step(name), unknown(name, known)) for name in kind["unexpected"][:MOST_FAULTS]
            ]
        if error.kind.name in ("oneOfNotValid", "oneOfMultipleValid"):
            names = [
                name for form in self._node(list(error.schema_path))["oneOf"] for name in form["required"]
            ]
            return [_fault(at, f"Exactly one of {', '.join(names)} is required.")]
        return [_fault(at, _say(error.kind))]

    def _known(self, path: list[Any]) -> list[str]:
        return list(self._node(path).get("properties", {}))

    def _node(self, path: list[Any]) -> dict[str, Any]:
        node: Any = self.schema
        for step in path[:-1]:
            node = node[step]
        return dict(node)

    def finish(self, value: Any) -> Any:
        """Fill in the document's defaults and turn formats into typed values."""
        return _finish(value, self.schema)


def _files(value: Any) -> list[str]:
    """List the fields that hold a file, which the validator does not know."""
    if not isinstance(value, dict):
        return []
    return [name for name, one in value.items() if isinstance(one, bodies.Upload)]


def _say(kind: Any) -> str:
    if kind.name == "anyOf":  # the first form is the usual one
        return _say(kind.context[0][0].kind)
    say = _MESSAGES.get(kind.name)
    return say(kind.as_dict()) if say else "Does not fit any of the forms this field may take."


def _step(name: str | int) -> str:
    """Write one step of a JSON pointer; a name of any length came from the client."""
    return "/" + str(name)[:LONGEST_NAME].replace("~", "~0").replace("/", "~1")


def _fault(pointer: str, message: str) -> Fault:
    return {"pointer": pointer, "message": message}


def unknown(name: str, known: list[str]) -> str:
    """Say that a name is unknown, and which one may have been meant."""
    near = difflib.get_close_matches(name, known, 1)
    return "Unknown field." + (f" Did you mean {near[0]!r}?" if near else "")


def _finish(value: Any, schema: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        built = {name: _finish(child, properties.get(name, {})) for name, child in value.items()}
        for name, child in properties.items():
            if name not in built and "default" in child:
                built[name] = _finish(copy.deepcopy(child["default"]), child)
        return built
    if isinstance(value, list):
        return [_finish(child, schema.get("items", {})) for child in value]
    if value is not None and schema.get("format") in ("date-time", "date", "uuid", "decimal"):
        return formats.READERS[schema["format"]](value)
    return value


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
        self.bodies = {media: Schema(content["schema"]) for media, content in body.get("content", {}).items()}

    async def receive(self, scope: context.Scope, receive: Any) -> bytes:
        """Take in the body, no more of it than its media type may have."""
        if not self.bodies:
            return b""
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
            faults.append(_fault("/query", "The query is not UTF-8 percent-encoded text."))
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
                    faults.append(_fault(pointer, "This parameter is required."))
                elif where == "query" or "default" in schema:
                    arguments[name] = copy.deepcopy(schema.get("default"))
                continue
            if len(values) > 1 or not bodies.sound(values[0]):
                faults.append(_fault(pointer, "Must be given once, as text."))
                continue
            value = bodies.read_text(values[0], schema)
            found = compiled.faults(value, pointer)
            faults.extend(found)
            if not found:
                arguments[name] = compiled.finish(value)
        faults.extend(
            _fault("/query" + _step(name), unknown(name, self.query).replace("field", "parameter"))
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
                faults.append(_fault("", "A request body is required."))
                return None
            value: Any = {}
        else:
            try:
                value = bodies.READERS[media](body, options)
                if media != bodies.JSON:
                    value = bodies.assemble(value, schema.schema)
            except bodies.Unreadable as fault:
                faults.append(_fault("", str(fault)))
                return None
        found = schema.faults(value)
        faults.extend(found)
        return None if found else schema.finish(value)


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


class _Api(RoutedAPI):  # type: ignore[misc]
    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.add_paths()

    def make_operation(self, operation: AbstractOperation) -> Station:
        return Station(self.next_app, operation)


class Validation(RequestValidationMiddleware):  # type: ignore[misc]
    """Connexion's request validation with compiled operations."""

    api_cls = _Api
