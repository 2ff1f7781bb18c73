"""From bytes to values: JSON, form-urlencoded and multipart, one schema for the three."""

import io
import json
import math
import re
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from werkzeug.formparser import FormDataParser
from werkzeug.http import parse_options_header

from app.http.formats import CHECKS
from rules.errors import BodyTooLarge

JSON, FORM, MULTIPART = "application/json", "application/x-www-form-urlencoded", "multipart/form-data"
MEBIBYTE = 1 << 20
LARGEST_FILE = 10 * MEBIBYTE
# What a body may weigh; a multipart body has its file and a little around it.
LARGEST = {JSON: MEBIBYTE, FORM: MEBIBYTE, MULTIPART: LARGEST_FILE + 64 * 1024}
LEAST_WHOLE, LARGEST_WHOLE = -(1 << 63), (1 << 64) - 1
DEEPEST = 64
MOST_PARTS = 1000
REPLACED = "\ufffd"


class Unreadable(ValueError):
    """A body that is not what its media type says; the text tells the client why."""


@dataclass(frozen=True)
class Upload:
    """A file of a multipart body."""

    filename: str
    content: bytes
    content_type: str


def read_json(body: bytes, _options: dict[str, str]) -> Any:
    """Read JSON as RFC 8259 has it: UTF-8, no NaN, no name twice in an object; no NUL, no lone surrogate."""
    try:
        value = json.loads(
            body.decode("utf-8-sig"),
            object_pairs_hook=_object,
            parse_constant=_not_json,
            parse_float=_finite,
            parse_int=_whole,
        )
    except UnicodeDecodeError as fault:
        raise Unreadable(f"The body is not UTF-8 (byte {fault.start}).") from None
    except RecursionError:
        raise Unreadable(f"The body is nested more than {DEEPEST} levels deep.") from None
    except json.JSONDecodeError as fault:
        raise Unreadable(
            f"The body is not JSON: {fault.msg} (line {fault.lineno}, column {fault.colno})."
        ) from None
    except ValueError as fault:
        raise Unreadable(str(fault) if isinstance(fault, Unreadable) else "A number is too large.") from None
    if b"\\u" in body or body.count(b"[") + body.count(b"{") > DEEPEST:
        _sound(value, 1)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Unreadable(f"The name {twice!r} stands twice in one object.")
    return built


def _not_json(name: str) -> Any:
    raise Unreadable(f"{name} is not JSON.")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise Unreadable("A number is too large.")
    return number


def _whole(text: str) -> int | float:
    """Read a whole number; one of more than 64 bits is what most readers of JSON take it for: near to it."""
    number = int(text)
    return number if LEAST_WHOLE <= number <= LARGEST_WHOLE else _finite(text)


_HALVES = re.compile("[\ud800-\udfff]")


def sound(text: str) -> bool:
    """Say whether a text can be stored and sent: no NUL, no half of a surrogate pair."""
    return "\x00" not in text and (text.isascii() or not _HALVES.search(text))


def _sound(value: Any, depth: int) -> None:
    if depth > DEEPEST:
        raise Unreadable(f"The body is nested more than {DEEPEST} levels deep.")
    if isinstance(value, str) and not sound(value):
        raise Unreadable("A text holds a NUL character or half of a surrogate pair.")
    if isinstance(value, dict):
        for name, child in value.items():
            _sound(name, depth)
            _sound(child, depth + 1)
    elif isinstance(value, list):
        for child in value:
            _sound(child, depth + 1)


def read_form(body: bytes, _options: dict[str, str]) -> list[tuple[str, str]]:
    """Read a form's fields in their order."""
    try:
        fields = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MOST_PARTS
        )
    except UnicodeDecodeError:
        raise Unreadable("The form is not UTF-8 percent-encoded text.") from None
    except ValueError:
        raise Unreadable(f"The form has more than {MOST_PARTS} fields.") from None
    return _texts(fields)


def read_multipart(body: bytes, options: dict[str, str]) -> list[tuple[str, str | Upload]]:
    """Read a multipart body's texts and files; BodyTooLarge where a file, or the rest, weighs more than it may."""
    if not options.get("boundary"):
        raise Unreadable("The multipart body names no boundary in its Content-Type.")
    # Werkzeug refuses large texts and many parts alike; the sizes are looked at below.
    parser = FormDataParser(max_form_memory_size=None, max_form_parts=MOST_PARTS, silent=False)
    try:
        _, form, files = parser.parse(io.BytesIO(body), MULTIPART, len(body), options)
    except Exception:  # werkzeug answers a malformed body with several kinds of exception
        raise Unreadable("The multipart body is malformed or has too many parts.") from None
    uploads = [
        (name or "", Upload(file.filename or "", file.read(), file.content_type or ""))
        for name, file in files.items(multi=True)
    ]
    if any(len(upload.content) > LARGEST_FILE for _, upload in uploads):
        raise BodyTooLarge(limit_bytes=LARGEST_FILE)
    if any(len(text.encode()) > MEBIBYTE for _, text in form.items(multi=True)) or (
        not uploads and len(body) > MEBIBYTE
    ):
        raise BodyTooLarge(limit_bytes=MEBIBYTE)
    texts = _texts(form.items(multi=True))
    # Werkzeug puts U+FFFD where a part is not UTF-8; one that was sent stands in the body.
    if REPLACED.encode() not in body and any(REPLACED in text for _, text in texts):
        raise Unreadable("A field of the multipart body is not UTF-8 text.")
    return [*texts, *uploads]


def part(name: str, content: bytes) -> tuple[bytes, str]:
    """Write a multipart body of one file; the second value is its Content-Type."""
    boundary = secrets.token_hex(16)
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="{name}"\r\n\r\n'
    body = head.encode() + content + f"\r\n--{boundary}--\r\n".encode()
    return body, f"{MULTIPART}; boundary={boundary}"


def _texts(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, Any]]:
    kept = list(pairs)
    for name, text in kept:
        if name is None:
            raise Unreadable("A part of the multipart body has no name.")
        if not sound(name) or not sound(text):
            raise Unreadable(f"The field {name!r} holds a NUL character or half of a surrogate pair.")
    return kept


READERS: dict[str, Callable[[bytes, dict[str, str]], Any]] = {
    JSON: read_json,
    FORM: read_form,
    MULTIPART: read_multipart,
}


def media_type(header: str) -> tuple[str, dict[str, str]]:
    """Split a Content-Type into its type and its options; JSON where there is none."""
    name, options = parse_options_header(header)
    return name.lower() if header.strip() else JSON, options


def assemble(pairs: list[tuple[str, Any]], schema: dict[str, Any]) -> dict[str, Any]:
    """Make an object of a form's fields, each read as its property's type has it.

    An array of strings is repeated fields; any other array or object is one field holding its JSON, as is what may be
    anything where it can be read so, and `answers.age` is a text inside the object `answers`. A text that cannot be
    read as its type stays a text, so that validation says what is wrong with it.
    """
    properties = schema.get("properties", {})
    given: dict[str, list[Any]] = {}
    inside: dict[str, dict[str, list[Any]]] = {}
    for name, value in pairs:
        if value == "" and properties.get(name, {}).get("format") == "binary":
            continue  # a form whose file was not chosen
        outer, dot, inner = name.partition(".")
        if dot and isinstance(value, str) and properties.get(outer, {}).get("type") == "object":
            inside.setdefault(outer, {}).setdefault(inner, []).append(value)
        else:
            given.setdefault(name, []).append(value)
    made = {name: _value(values, properties.get(name, {})) for name, values in given.items()}
    for name, values in given.items():
        if properties.get(name, {"type": ""}).keys().isdisjoint(("type", "anyOf", "oneOf", "allOf")):
            made[name] = _anything(name, values)
    for outer, texts in inside.items():
        whole = made.setdefault(outer, {})
        if isinstance(whole, dict):  # if not, validation will say so
            whole.update({name: values[0] if len(values) == 1 else values for name, values in texts.items()})
    return made


def _value(values: list[Any], schema: dict[str, Any]) -> Any:
    kind = schema.get("type")
    if kind == "array" and schema.get("items", {}).get("type") == "string":
        return values
    if len(values) > 1:
        return values  # one value was asked for: validation will say so
    return read_text(values[0], schema)


def _free(schema: dict[str, Any]) -> bool:
    """Say whether any text is a value, the word null too."""
    return schema.get("type") == "string" and not {"enum", "format"} & set(schema)


def _anything(name: str, values: list[Any]) -> Any:
    if len(values) > 1:
        raise Unreadable(f"The field {name!r} stands twice.")
    value = values[0]
    try:
        return read_json(value.encode(), {}) if isinstance(value, str) else value
    except Unreadable:
        return value


def read_text(text: Any, schema: dict[str, Any]) -> Any:
    """Read one text as its schema's type has it."""
    if not isinstance(text, str):
        return text
    nullable = schema.get("nullable") or any(one.get("nullable") for one in schema.get("anyOf", []))
    if nullable and (text == "" or (text == "null" and not _free(schema))):
        return None
    if schema.get("format") == "decimal" and not CHECKS["decimal"](text):
        return _TEXTS["number"](text)  # written as numbers are: 1e-05
    try:
        return _TEXTS[schema["type"]](text)
    except (ValueError, KeyError):
        return text


_INTEGER = re.compile(r"-?[0-9]{1,19}")
_NUMBER = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?([eE][+-]?[0-9]{1,3})?")
# A text that does not look like its type stays as it is.
_TEXTS: dict[str, Callable[[str], Any]] = {
    "integer": lambda text: int(text) if _INTEGER.fullmatch(text) else text,
    "number": lambda text: _finite(text) if _NUMBER.fullmatch(text) else text,
    "boolean": lambda text: {"true": True, "false": False}[text.lower()],
    "array": lambda text: read_json(text.encode(), {}),
    "object": lambda text: read_json(text.encode(), {}),
}
