"""Values that fit a schema of the documents, for property tests."""

import re
from typing import Any

from hypothesis import strategies as st

Strategy = st.SearchStrategy[Any]
# What can be stored and sent: no NUL, no half of a surrogate pair.
TEXT = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")


def values(schema: dict[str, Any]) -> Strategy:
    """Values that fit a schema."""
    if schema.get("nullable"):
        return st.none() | values({name: one for name, one in schema.items() if name != "nullable"})
    if "enum" in schema:
        return st.sampled_from([one for one in schema["enum"] if one is not None])
    if "type" in schema:
        return KINDS[schema["type"]](schema)
    if "anyOf" in schema:
        return st.one_of([values(one) for one in schema["anyOf"]])
    return st.none() | st.booleans() | st.integers(-1000, 1000) | st.text(TEXT)


def _string(schema: dict[str, Any]) -> Strategy:
    if schema.get("format") == "uuid":
        return st.uuids().map(str)
    if schema.get("format") == "email" or any(
        one.get("format") == "email" for one in schema.get("anyOf", [])
    ):
        return st.sampled_from(["ada@example.com", "Grace.Hopper+1@example.org"])
    if schema.get("format") == "uri":
        return st.sampled_from(["https://example.com/hook", "https://example.org/a?b=c"])
    if schema.get("format") == "date":
        return st.sampled_from(["2026-11-21", "2028-02-29"])
    if schema.get("format") == "date-time":
        return st.sampled_from(["2026-11-21T10:00:00Z", "2026-11-21T10:00:00.5+02:00"])
    shortest, longest = schema.get("minLength", 0), min(schema.get("maxLength", 50), 50)
    pattern = schema.get("pattern", "")
    if r"\d" in pattern:
        return st.decimals(0, 100, places=2).map(str)
    if pattern and r"[^\x00]" not in pattern:  # else it says what TEXT leaves out anyway
        fitting = st.from_regex(re.compile(pattern, re.ASCII), fullmatch=True)
        return fitting.filter(lambda one: shortest <= len(one) <= longest and one.isprintable())
    text = st.text(TEXT, min_size=shortest, max_size=longest)
    return text.map(lambda one: f"x{one}"[:longest]) if r"\x20" in pattern else text


def _object(schema: dict[str, Any]) -> Strategy:
    required = set(schema.get("required", ()))
    for word in ("oneOf", "anyOf"):
        if word in schema:
            return _one_of(schema, word)
    properties = schema.get("properties", {})
    known = {name: values(one) for name, one in properties.items() if one.get("format") != "binary"}
    return st.fixed_dictionaries(
        {name: one for name, one in known.items() if name in required},
        optional={name: one for name, one in known.items() if name not in required},
    ).filter(lambda made: len(made) >= schema.get("minProperties", 0))


def _one_of(schema: dict[str, Any], word: str) -> Strategy:
    """Objects that must have one of several fields."""
    names = [one["required"][0] for one in schema[word]]
    plain = {key: one for key, one in schema.items() if key != word}
    forms = []
    for name in names:
        left = {key: one for key, one in schema["properties"].items() if key == name or key not in names}
        required = [*schema.get("required", ()), name]
        forms.append(values(plain | {"required": required, "properties": left}))
    return st.one_of(forms)


def _number(schema: dict[str, Any]) -> Strategy:
    low, high = schema.get("minimum", -1e6), schema.get("maximum", 1e6)
    return st.floats(low, high).map(lambda one: min(max(round(one, 3), low), high))


KINDS = {
    "string": _string,
    "integer": lambda schema: st.integers(schema.get("minimum", 0), schema.get("maximum", 1000)),
    "number": _number,
    "boolean": lambda schema: st.booleans(),
    "array": lambda schema: st.lists(
        values(schema["items"]),
        min_size=schema.get("minItems", 0),
        max_size=min(schema.get("maxItems", 3), 3),
        unique_by=str if schema.get("uniqueItems") else None,
    ),
    "object": _object,
}
