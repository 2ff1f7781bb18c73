"""Values at the bounds of a schema and beyond them, in a body that is fine otherwise.

Whether a value keeps to its schema is judged by the jsonschema library: the service's own validator has no say.
"""

import copy
from collections.abc import Iterator
from typing import Any

from tests.contract.forms import is_valid

Schema = dict[str, Any]
Place = tuple[str | int, ...]
ODD = ({"wrong": [None]}, [[]], "§", 0.5, True, None)  # a value of each type
FITTING = {"email": "ada@example.com", "uuid": "019a9b1e-7c1d-7a42-9f4e-5d0c8a3b2fff"}


def fields(schema: Schema, body: Any, at: Place = ()) -> Iterator[tuple[Place, Schema]]:
    """Find every field that may stand in a body, also inside the objects that it has."""
    for name, one in schema.get("properties", {}).items():
        if one.get("format") == "binary":
            continue
        yield (*at, name), one
        inner = body.get(name)
        if inner and "properties" in one.get("items", {}):
            yield from fields(one["items"], inner[0], (*at, name, 0))
        elif inner and "properties" in one:
            yield from fields(one, inner, (*at, name))


def objects(schema: Schema, body: Any, at: Place = ()) -> Iterator[tuple[Place, Schema]]:
    """Find every object of a body."""
    yield at, schema
    for name, one in schema.get("properties", {}).items():
        inner = body.get(name)
        if inner and "properties" in one.get("items", {}):
            yield from objects(one["items"], inner[0], (*at, name, 0))
        elif inner and "properties" in one:
            yield from objects(one, inner, (*at, name))


def pointer(place: Place) -> str:
    return "".join(f"/{step}" for step in place)


def changed(body: Any, place: Place, value: Any) -> Any:
    """A copy of a body with another value in one place."""
    made = copy.deepcopy(body)
    inner = made
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    return made


def without(body: Any, place: Place) -> Any:
    """A copy of a body that lacks a field."""
    made = copy.deepcopy(body)
    inner = made
    for step in place[:-1]:
        inner = inner[step]
    inner.pop(place[-1], None)
    return made


def interesting(schema: Schema, given: Any = None) -> Iterator[Any]:
    """Values on both sides of each bound that a schema has."""
    for one in schema.get("anyOf", ()):
        yield from interesting(one)
    if "enum" in schema:
        yield from (schema["enum"][0], schema["enum"][-1], "no such choice")
    if "minimum" in schema:
        low, high = schema["minimum"], schema["maximum"]
        yield from (low, high, low - 1, high + 1, str(high + 1))
    if schema.get("type") == "string" and "enum" not in schema:
        yield from texts(schema)
    if schema.get("type") == "boolean":
        yield from (True, False)
    if schema.get("type") == "array":
        items = schema["items"]
        item = given[0] if given else next((one for one in interesting(items) if is_valid(one, items)), None)
        for length in (schema.get("minItems", 0), schema["maxItems"]):
            yield from ([item] * length, [item] * (length + 1), [item] * max(length - 1, 0))
    if "maxProperties" in schema:
        yield {f"k{number}": "x" for number in range(schema["maxProperties"] + 1)}
    if schema.get("nullable"):
        yield None


def texts(schema: Schema) -> Iterator[str]:
    kind = schema.get("format")
    if kind == "date-time":
        yield from ("2031-01-01T00:00:00Z", "2031-13-01T00:00:00Z", "yesterday")
        return
    if kind == "date":
        yield from ("2031-01-01", "2031-02-30", "2031-01-01T00:00:00Z", "tomorrow")
        return
    yield from ("!", "", FITTING.get(str(kind), "x"))
    longest = schema.get("maxLength", 0)
    for length in {schema.get("minLength", 0), schema.get("minLength", 1) - 1, longest, longest + 1}:
        yield "x" * length
    if kind == "email":
        yield f"{'a' * 60}@{'b' * 60}.{'c' * 60}.{'d' * 60}.{'e' * (longest - 247)}.com"


def get(body: Any, place: Place) -> Any:
    for step in place:
        body = body.get(step) if isinstance(body, dict) else body[step]
    return body


def edges(schema: Schema, body: Any) -> Iterator[tuple[Place, Any, bool]]:
    """Find (place, value, whether it keeps to the schema there), each value once, where nothing else is amiss then."""
    for place, one in fields(schema, body):
        tried: set[str] = set()
        for value in (*ODD, *interesting(one, get(body, place))):
            fits = is_valid(value, one)
            whole = not fits or is_valid(changed(body, place, value), schema)
            if whole and repr(value) not in tried:
                tried.add(repr(value))
                yield place, value, fits


def differently(schema: Schema, body: Any) -> Any:
    """Another body that keeps to the schema."""
    for place, one in fields(schema, body):
        for value in interesting(one):
            if value not in (get(body, place), one.get("default"), None):
                made = changed(body, place, value)
                if is_valid(made, schema):
                    return made
    raise AssertionError("no other body")
