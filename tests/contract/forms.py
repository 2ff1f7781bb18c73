"""Forms: how the document's description has them written, and what the one that was sent may be read as.

A form has texts and nothing else: an empty field is an empty text or null, one text may be an array of one. A body that
breaks its schema only by such a difference is, as a form, one that keeps to it. Whether it does is judged here from
the bytes that were sent, with connexion's validator: neither the service's own reader nor its validator has a say.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from email.message import Message
from email.parser import BytesParser
from email.policy import HTTP
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlencode

from connexion.json_schema import Draft4RequestValidator
from jsonschema import FormatChecker

from tests.documents import documents, operations

URLENCODED, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"
Schema = dict[str, Any]
FILE = object()  # a part with a file name

formats = FormatChecker(formats=["date", "email", "uuid"])


def is_moment(value: object) -> bool:
    return not isinstance(value, str) or datetime.fromisoformat(value).tzinfo is not None


formats.checks("date-time", raises=ValueError)(is_moment)


@cache
def body_schema(operation_id: str) -> Schema:
    """Return the schema of an operation's body, references resolved; it is the same for every media type."""
    found = next(op for name in documents() for op in operations(name).values() if op.id == operation_id)
    content = found.definition["requestBody"]["content"]
    schema: Schema = next(iter(content.values()))["schema"]
    return schema


def write(body: Mapping[str, Any], schema: Schema) -> bytes:
    """Write a form: arrays of objects and objects are one field of JSON, an array of texts is a repeated field."""
    properties = schema.get("properties", {})
    written = {
        name: json.dumps(one)
        if properties.get(name, {}).get("items", {}).get("type") == "object" or isinstance(one, dict)
        else one
        for name, one in body.items()
        if one is not None
    }
    return urlencode(written, doseq=True).encode()


def fields(content: bytes, content_type: str) -> dict[str, list[Any]]:
    """Return what was sent under each name: texts, or FILE."""
    if content_type.startswith(URLENCODED):
        pairs: list[tuple[str, Any]] = list(parse_qsl(content.decode(), keep_blank_values=True))
    else:
        head = f"Content-Type: {content_type}\r\n\r\n".encode()
        parts = BytesParser(policy=HTTP).parsebytes(head + content).iter_parts()
        pairs = [(str(part.get_param("name", header="content-disposition")), _part(part)) for part in parts]
    sent: dict[str, list[Any]] = {}
    for name, value in pairs:
        sent.setdefault(name, []).append(value)
    return sent


def _part(part: Message) -> Any:
    content = part.get_payload(decode=True)
    if part.get_filename() is not None or not isinstance(content, bytes):
        return FILE
    return content.decode(errors="replace")


def readings(values: list[Any], schema: Schema) -> list[Any]:
    """Return every value that a field may stand for."""
    if values == [FILE]:
        return [""] if schema.get("format") == "binary" else [FILE]
    if len(values) > 1 or FILE in values:
        return [values]
    text = values[0]
    found = [text, [text]]
    if text == "":
        found.append(None)
    if text.lower() in ("true", "false"):
        found.append(text.lower() == "true")
    with suppress(ValueError, RecursionError):
        found.append(json.loads(text, parse_constant=lambda name: name))
    return found


def is_valid(value: Any, schema: Schema) -> bool:
    return bool(Draft4RequestValidator(schema, format_checker=formats).is_valid(value))


def tells_a_valid_body(content: bytes, content_type: str, schema: Schema) -> bool:
    """Say whether a form that was sent is one that a body which keeps to the schema is written as."""
    properties = schema.get("properties", {})
    told = {}
    for name, values in fields(content, content_type).items():
        wanted = properties.get(name, {})
        possible = readings(values, wanted)
        told[name] = next((one for one in possible if is_valid(one, wanted)), possible[0])
    return is_valid(told, schema)
