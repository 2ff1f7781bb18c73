"""The model of the test mode: it costs nothing, knows nothing and says the same to the same messages.

With tools it asks for the first one, with arguments that fit its schema; what a tool answered it repeats; without tools
it repeats its user.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rules.assistant import Message, Said

GREETING = "This is the test mode's assistant. You said: "
DEEPEST, MOST_ITEMS, LONGEST_TEXT = 8, 20, 2_000  # of the arguments that are made up
FORMATS = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T09:30:00Z",
    "time": "09:30:00Z",
    "email": "ada@example.com",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "ipv4": "192.0.2.1",
    "hostname": "example.com",
}
Schema = Mapping[str, Any]


def say(messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> Said:
    """Answer by the script."""
    last = messages[-1]
    if last["role"] == "tool":
        return Said(last["content"])
    if tools and last["role"] == "user":
        function = tools[0]["function"]
        number = 1 + sum(len(one.get("tool_calls") or ()) for one in messages)
        arguments = json.dumps(fitting(function.get("parameters") or {"type": "object"}), ensure_ascii=False)
        call = {"name": function["name"], "arguments": arguments}
        return Said("", [{"id": f"call_{number}", "type": "function", "function": call}], "tool_calls")
    asked = [one["content"] for one in messages if one["role"] == "user" and one.get("content")]
    return Said((GREETING + (asked[-1] if asked else ""))[:LONGEST_TEXT])


def fitting(schema: Schema) -> Any:
    """Make up a value that fits a JSON Schema, as far as its words can be met without a search."""
    return _make(schema, schema, 0)


def _make(schema: Any, root: Schema, depth: int) -> Any:
    if not isinstance(schema, Mapping) or depth > DEEPEST:
        return None
    for word in ("const", "default"):
        if word in schema:
            return schema[word]
    for word in ("enum", "examples"):
        if isinstance(schema.get(word), list) and schema[word]:
            return schema[word][0]
    if (other := _instead(schema, root)) is not None:
        return _make(other, root, depth + 1)
    make = MAKERS.get(_kind(schema))
    return make(schema, root, depth) if make else None


def _instead(schema: Schema, root: Schema) -> Any:
    """Return the schema that one leads to: what it refers to, one of several, or all of them together."""
    if isinstance(schema.get("$ref"), str):
        return _referred(root, schema["$ref"])
    for word in ("anyOf", "oneOf"):
        if isinstance(schema.get(word), list) and schema[word]:
            return {**_without(schema, word), **_mapping(schema[word][0])}
    if isinstance(schema.get("allOf"), list):
        return _merged([_without(schema, "allOf"), *schema["allOf"]])
    return None


def _kind(schema: Schema) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), "null")
    if isinstance(kind, str):
        return kind
    if "properties" in schema or "required" in schema:
        return "object"
    return "array" if "items" in schema else "string"


def _object(schema: Schema, root: Schema, depth: int) -> dict[str, Any]:
    fields = _mapping(schema.get("properties"))
    required = schema.get("required")
    names = list(
        dict.fromkeys([one for one in required if isinstance(one, str)] if isinstance(required, list) else [])
    )
    return {name: _make(fields.get(name, {}), root, depth + 1) for name in names[: MOST_ITEMS * 5]}


def _array(schema: Schema, root: Schema, depth: int) -> list[Any]:
    count = min(_whole(schema.get("minItems"), 0), MOST_ITEMS)
    return [_make(schema.get("items", {}), root, depth + 1) for _ in range(count)]


def _number(schema: Schema, *_: Any) -> int | float:
    low, high = (
        _bound(schema, "minimum", "exclusiveMinimum", 1),
        _bound(schema, "maximum", "exclusiveMaximum", -1),
    )
    made = low if low is not None else high if high is not None and high < 1 else 1
    step = schema.get("multipleOf")
    if isinstance(step, (int, float)) and step > 0:
        stepped = -(-made // step) * step
        made = stepped if math.isfinite(stepped) else made
    return int(made) if _kind(schema) == "integer" or made == int(made) else made


def _bound(schema: Schema, closed: str, opened: str, inwards: int) -> float | None:
    """Read a bound; an open one, by number (2020) or by word (OpenAPI 3.0), a step inwards."""
    at, open_at = schema.get(closed), schema.get(opened)
    if isinstance(open_at, (int, float)) and not isinstance(open_at, bool):
        return open_at + inwards
    if isinstance(at, (int, float)):
        return at + inwards * (open_at is True)
    return None


def _text(schema: Schema, *_: Any) -> str:
    made = FORMATS.get(str(schema.get("format")), "text")
    least = min(_whole(schema.get("minLength"), 0), LONGEST_TEXT)
    return made.ljust(least, "t")[: max(_whole(schema.get("maxLength"), LONGEST_TEXT), 0)]


def _referred(root: Schema, reference: str) -> Any:
    found: Any = root
    for step in _steps(reference):
        if not isinstance(found, Mapping) or step not in found:
            return {}
        found = found[step]
    return found


def _steps(reference: str) -> Iterator[str]:
    return (
        one.replace("~1", "/").replace("~0", "~") for one in reference.removeprefix("#").split("/") if one
    )


def _merged(schemas: Sequence[Any]) -> Schema:
    made: dict[str, Any] = {}
    for one in map(_mapping, schemas):
        inner = {**_mapping(made.get("properties")), **_mapping(one.get("properties"))}
        required = [
            name
            for each in (made, one)
            if isinstance(each.get("required"), list)
            for name in each["required"]
        ]
        made |= one
        made |= {"properties": inner} if inner else {}
        made |= {"required": required} if required else {}
    return made


def _mapping(value: Any) -> Schema:
    return value if isinstance(value, Mapping) else {}


def _without(schema: Schema, word: str) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name != word}


def _whole(value: Any, otherwise: int) -> int:
    return value if isinstance(value, int) else otherwise


MAKERS: dict[str, Callable[[Schema, Schema, int], Any]] = {
    "object": _object,
    "array": _array,
    "integer": _number,
    "number": _number,
    "string": _text,
    "boolean": lambda *_: True,
}
