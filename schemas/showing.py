"""A schema's `dump`, worked out once: the same answer for a tenth of the time (docs/decisions/0018).

marshmallow asks each field, for each object, how it is read and written. Here that is asked once for each schema and
kept as one expression; tests/schemas/test_showing.py holds every schema's expression against its `dump`.
"""

from collections.abc import Callable
from typing import Any, cast

from marshmallow import Schema, fields

from schemas.fields import Show

Write = Callable[[Any], Any] | None  # how a value is written; None: as it is


def show(schema: Schema) -> Show:
    """Return a function that shows one object as `schema.dump` does; the object must have all that is shown.

    Raises TypeError for a field of a kind not known here. A schema with hooks fails its test: they are not called.
    """
    known: dict[str, Any] = {}
    steps = [f"{name!r}: {_step(field, name, known)}" for name, field in schema.dump_fields.items()]
    # Names come from our own schemas. A display written out is half the time of a loop over steps.
    return cast("Show", eval(f"lambda one: {{{', '.join(steps)}}}", known))  # noqa: S307


def _step(field: Any, name: str, known: dict[str, Any]) -> str:
    """Write the expression that shows a field of `one`; what it calls goes into `known`."""

    def call(function: Any) -> str:
        known[f"f{len(known)}"] = function
        return f"f{len(known) - 1}"

    if isinstance(field, fields.Function):
        return f"{call(field.serialize_func)}(one)"
    if isinstance(field, fields.Constant):
        return call(field.constant)
    read, write = f"one.{field.attribute or name}", _write(field)
    if write is None:
        return read
    if write in _USUAL:  # most fields, and most of these hold what they are for
        usual = _USUAL[write].__name__
        return f"(v if type(v := {read}) is {usual} or v is None else {call(write)}(v))"
    return f"(None if (v := {read}) is None else {call(write)}(v))"


def _write(field: Any) -> Write:
    if isinstance(field, fields.List):
        inner = _write(field.inner)
        return _each(inner) if inner else lambda values: None if values is None else list(values)
    if isinstance(field, fields.Nested):
        nested = show(field.schema)
        return _each(nested) if field.many else lambda value: None if value is None else nested(value)
    kind = type(field)
    if kind in _WRITTEN:
        return _WRITTEN[kind]
    if kind.__module__.startswith("marshmallow"):
        raise TypeError(f"How is {kind.__name__} written?")
    written: Write = field.written  # a field of our own says itself
    return written


def _each(write: Callable[[Any], Any]) -> Write:
    return lambda values: None if values is None else [write(value) for value in values]


def _text(value: Any) -> Any:
    return value if value is None or type(value) is str else str(value)


def _integer(value: Any) -> Any:
    return value if value is None or type(value) is int else int(value)


def _float(value: Any) -> Any:
    return None if value is None else float(value)


_USUAL: dict[Write, type] = {_text: str, _integer: int}
_WRITTEN: dict[type, Write] = {
    fields.String: _text,
    fields.UUID: _text,
    fields.Integer: _integer,
    fields.Float: _float,
    fields.Boolean: None,
    fields.Raw: None,
    fields.Function: None,
    fields.Constant: None,
}
