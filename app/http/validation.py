"""Requests read and checked against the document: every fault at once, each with its place."""

import copy
from typing import Any
from urllib.parse import parse_qsl

import orjson
from connexion.operations import AbstractOperation

from app.http import bodies
from app.http.context import Receive, Request
from app.http.schema import MOST_FAULTS, Fault, Schema, fault, step, unknown
from app.http.threads import clients
from rules.errors import BodyTooLarge, Invalid, Unavailable, UnsupportedMediaType

MOST_OF_STRANGE = 8192  # bytes that are read of what comes with a GET or DELETE


class Reader:
    """One operation's parameters and bodies, compiled from what Connexion loaded."""

    def __init__(self, operation: AbstractOperation, template: str) -> None:
        # A path with this many segments, some of them parameters, is all that ever comes here.
        self.places = [
            (number, segment[1:-1])
            for number, segment in enumerate(template.strip("/").split("/"))
            if segment.startswith("{")
        ]
        # Connexion adds a path's own parameters again each time that it loads one of its operations.
        distinct = {(one["in"], one["name"]): one for one in operation.parameters}.values()
        self.parameters = [_Parameter(one) for one in distinct]
        self.query = [one.name for one in self.parameters if one.where == "query"]
        # Whoever links to a page may add what they count visits with; it says nothing to us.
        self.tolerant = operation.produces[:1] == ["text/html"]
        self.most = 1 if self.tolerant else None  # links gather words on their way, and some of them twice
        body = operation.request_body or {}
        self.required = body.get("required", False)
        self.method = operation.method.upper()
        self.bodies = {media: Schema(content["schema"]) for media, content in body.get("content", {}).items()}

    async def receive(self, request: Request, receive: Receive) -> bytes:
        """Take in the body, no more of it than its media type may have."""
        if not self.bodies:
            if not self.is_sent_something(request):
                return b""
            return await _receive(receive, request, bodies.LARGEST[bodies.JSON])
        media = bodies.media_type(request.head.get("content-type", ""))[0]
        if media not in self.bodies:
            raise UnsupportedMediaType(supported=list(self.bodies))
        if request.head.get("content-encoding", "identity").lower() != "identity":
            raise UnsupportedMediaType("Compressed bodies are not taken; send it as it is.")
        return await _receive(receive, request, bodies.LARGEST[media])

    def is_sent_something(self, request: Request) -> bool:
        """Say whether a body comes that has to be looked at, though a GET or DELETE takes none.

        Who sends a list's filters so would take every row for what was looked for.
        """
        return self.method in ("POST", "PUT", "PATCH") or 0 < _declared(request) <= MOST_OF_STRANGE

    def read(self, request: Request) -> dict[str, Any]:
        """Return the handler's arguments, or refuse with every fault of the request."""
        faults: list[Fault] = []
        arguments = self._read_parameters(request, faults)
        if self.bodies:
            arguments["body"] = self._read_body(request, faults)
        elif request.body:
            faults += _strange(request.body)
        if faults:
            raise Invalid(fields=faults)
        return arguments

    def _read_parameters(self, request: Request, faults: list[Fault]) -> dict[str, Any]:
        """Read path, query and header parameters."""
        segments = request.path.strip("/").split("/")
        in_path = {name: [segments[number]] for number, name in self.places}
        in_query = self._read_query(request, faults) if request.query else {}
        arguments: dict[str, Any] = {}
        for one in self.parameters:
            if one.where == "header":
                values = request.head.getlist(one.name)
            else:
                values = (in_path if one.where == "path" else in_query).get(one.name, [])
            values = values if one.is_many else values[: self.most]
            if values:
                one.read(values, arguments, faults)
            elif one.required:
                faults.append(fault(one.pointer, "This parameter is required."))
            elif one.where == "query" or one.has_default:
                arguments[one.name] = copy.copy(one.default)
        return arguments

    def _read_query(self, request: Request, faults: list[Fault]) -> dict[str, list[str]]:
        given: dict[str, list[str]] = {}
        try:
            query = parse_qsl(
                request.query.decode("ascii"),
                keep_blank_values=True,
                errors="strict",
                max_num_fields=100,
            )
        except ValueError:
            if not self.tolerant:
                faults.append(fault("/query", "The query is not UTF-8 percent-encoded text."))
            return given
        for name, value in query:
            given.setdefault(name, []).append(value)
        faults.extend(
            fault("/query" + step(name), unknown(name, self.query).replace("field", "parameter"))
            for name in given
            if name not in self.query and not self.tolerant
        )
        return given

    def _read_body(self, request: Request, faults: list[Fault]) -> dict[str, Any] | None:
        """Read and check the body; None where it has faults."""
        media, options = bodies.media_type(request.head.get("content-type", ""))
        schema, body = self.bodies[media], request.body
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


class _Parameter:
    """One parameter, with what its schema says of it looked up."""

    def __init__(self, definition: dict[str, Any]) -> None:
        self.name, self.where, schema = definition["name"], definition["in"], definition["schema"]
        self.required, self.schema = definition.get("required", False), schema
        self.pointer = f"/{self.where}/{self.name}"
        self.default, self.has_default = schema.get("default"), "default" in schema
        self.is_many = schema.get("type") == "array"  # the parameter is repeated
        self.each = schema["items"] if self.is_many else schema
        # What is a text anyhow is not read as one.
        self.is_text = self.each.get("type") == "string" and not {"nullable", "anyOf", "format"} & {
            *self.each
        }
        self.compiled = Schema(schema)

    def read(self, values: list[str], arguments: dict[str, Any], faults: list[Fault]) -> None:
        """Add its value to the arguments, or what is wrong with it to the faults."""
        if (len(values) > 1 and not self.is_many) or not all(map(bodies.sound, values)):
            faults.append(
                fault(self.pointer, "Must be text." if self.is_many else "Must be given once, as text.")
            )
            return
        each = values if self.is_text else [bodies.read_text(one, self.each) for one in values]
        taken: Any = each if self.is_many else each[0]
        found = self.compiled.faults(taken, self.pointer)
        faults.extend(found)
        if not found:
            arguments[self.name] = taken if self.is_text else self.compiled.finish(taken)


def _strange(body: bytes) -> list[Fault]:
    """Name the fields that were sent to an operation which takes none; a body that is no object says nothing."""
    try:
        value = orjson.loads(body)
    except ValueError:
        return []
    names = list(value)[:MOST_FAULTS] if isinstance(value, dict) else []
    return [fault(step(name), "Unknown field. This operation takes none.") for name in names]


def _declared(request: Request) -> int:
    length = request.head.get("content-length", "")
    return int(length[:20]) if length.isascii() and length.isdigit() else 0


async def _receive(receive: Receive, request: Request, largest: int) -> bytes:
    if _declared(request) > largest:
        raise BodyTooLarge(limit_bytes=largest)
    read = bytearray()
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Invalid("The body ended before its time.")
        piece = message.get("body", b"")
        if piece and not clients.bodies.take(request.counts_as, len(piece)):
            raise Unavailable("Too much is being sent from this address already; try again shortly.")
        request.held += len(piece)
        read += piece
        more = message.get("more_body", False)
        if len(read) > largest:
            raise BodyTooLarge(limit_bytes=largest)
    return bytes(read)
