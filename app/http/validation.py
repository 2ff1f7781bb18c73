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
        self.parameters = [
            (one["name"], one["in"], one.get("required", False), one["schema"], Schema(one["schema"]))
            for one in distinct
        ]
        self.query = [name for name, where, *_ in self.parameters if where == "query"]
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
            # Who sends a list's filters so would take every row for what was looked for.
            if self.method not in ("POST", "PUT", "PATCH") and not 0 < _declared(request) <= MOST_OF_STRANGE:
                return b""
            return await _receive(receive, request, bodies.LARGEST[bodies.JSON])
        media = bodies.media_type(request.head.get("content-type", ""))[0]
        if media not in self.bodies:
            raise UnsupportedMediaType(supported=list(self.bodies))
        if request.head.get("content-encoding", "identity").lower() != "identity":
            raise UnsupportedMediaType("Compressed bodies are not taken; send it as it is.")
        return await _receive(receive, request, bodies.LARGEST[media])

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
        given: dict[str, dict[str, list[str]]] = {
            "path": {name: [segments[number]] for number, name in self.places},
            "query": {},
        }
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
            query = []
        for name, value in query:
            given["query"].setdefault(name, []).append(value)
        arguments = {}
        for name, where, required, schema, compiled in self.parameters:
            values = request.head.getlist(name) if where == "header" else given[where].get(name, [])
            many = schema.get("type") == "array"  # the parameter is repeated
            values = values if many else values[: self.most]
            pointer = f"/{where}/{name}"
            if not values:
                if required:
                    faults.append(fault(pointer, "This parameter is required."))
                elif where == "query" or "default" in schema:
                    arguments[name] = copy.deepcopy(schema.get("default"))
                continue
            if (len(values) > 1 and not many) or not all(map(bodies.sound, values)):
                faults.append(fault(pointer, "Must be text." if many else "Must be given once, as text."))
                continue
            each = [bodies.read_text(one, schema["items"] if many else schema) for one in values]
            taken: Any = each if many else each[0]
            found = compiled.faults(taken, pointer)
            faults.extend(found)
            if not found:
                arguments[name] = compiled.finish(taken)
        faults.extend(
            fault("/query" + step(name), unknown(name, self.query).replace("field", "parameter"))
            for name in given["query"]
            if name not in self.query and not self.tolerant
        )
        return arguments

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
        if piece and not clients.bodies.take(request.address, len(piece)):
            raise Unavailable("Too much is being sent from this address already; try again shortly.")
        request.held += len(piece)
        read += piece
        more = message.get("more_body", False)
        if len(read) > largest:
            raise BodyTooLarge(limit_bytes=largest)
    return bytes(read)
