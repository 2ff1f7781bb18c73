"""The scripted model of the test mode says the same to the same messages, with arguments that fit any usual schema."""

import json
from typing import Any

import jsonschema_rs
import pytest

from rules import scripted

USER = {"role": "user", "content": "Who applied?"}
SCHEMAS: list[dict[str, Any]] = [
    {"type": "object"},
    {"type": "object", "properties": {"slug": {"type": "string"}}, "required": ["slug"]},
    {
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 3, "maximum": 9}},
        "required": ["n"],
    },
    {"type": "object", "properties": {"n": {"type": "number", "exclusiveMaximum": 0}}, "required": ["n"]},
    {"type": "object", "properties": {"n": {"type": "integer", "multipleOf": 7}}, "required": ["n"]},
    {"type": "object", "properties": {"s": {"enum": ["open", "closed"]}}, "required": ["s"]},
    {"type": "object", "properties": {"s": {"const": 4}}, "required": ["s"]},
    {"type": "object", "properties": {"s": {"type": ["null", "string"], "minLength": 9}}, "required": ["s"]},
    {"type": "object", "properties": {"s": {"type": "string", "maxLength": 2}}, "required": ["s"]},
    {"type": "object", "properties": {"s": {"type": "string", "format": "email"}}, "required": ["s"]},
    {
        "type": "object",
        "properties": {"b": {"type": "boolean"}, "z": {"type": "null"}},
        "required": ["b", "z"],
    },
    {
        "type": "object",
        "properties": {"a": {"type": "array", "minItems": 2, "items": {"$ref": "#/$defs/one"}}},
        "required": ["a"],
        "$defs": {"one": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}},
    },
    {
        "type": "object",
        "properties": {"a": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
        "required": ["a"],
    },
    {
        "allOf": [
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"properties": {"b": {"type": "integer"}}, "required": ["b"]},
        ]
    },
]


def tool(schema: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "look", "parameters": schema}}


@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
def test_the_first_tool_is_asked_for_with_arguments_that_fit(schema: dict[str, Any]) -> None:
    said = scripted.say([USER], [tool(schema), tool({"type": "string"})])
    [call] = said.calls
    assert (call["id"], call["type"], call["function"]["name"], said.finish) == (
        "call_1", "function", "look", "tool_calls",
    )  # fmt: skip
    jsonschema_rs.validator_for(schema).validate(json.loads(call["function"]["arguments"]))
    assert scripted.say([USER], [tool(schema)]) == scripted.say([USER], [tool(schema)])


def test_what_a_tool_answered_is_repeated_and_so_is_a_user_without_tools() -> None:
    asked = {"role": "assistant", "content": None, "tool_calls": [{"id": "call_1"}]}
    told = {"role": "tool", "tool_call_id": "call_1", "content": "Ada"}
    assert scripted.say([USER, asked, told], [tool({})]).content == "Ada"
    assert scripted.say([USER], []).content.endswith("Who applied?")
    assert scripted.say([{"role": "system", "content": "Hi"}], []).content == scripted.GREETING
    [call] = scripted.say([USER, asked, told, USER], [tool({})]).calls
    assert call["id"] == "call_2"  # no two calls of a conversation have one name


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$ref": "#/no/such"},
        {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]},
        {"type": "array", "minItems": 10**9, "items": {"type": "string", "minLength": 10**9}},
        {"type": "object", "required": [f"k{n}" for n in range(10_000)]},
        {"type": "no such type"},
        {"type": 7, "required": 7, "properties": 7, "items": 7, "enum": 7, "anyOf": 7, "allOf": 7},
        {"allOf": [7, {"allOf": []}]},
        {"type": "integer", "minimum": 1e308, "multipleOf": 1e-300},
        {"type": "number", "minimum": "1"},
        {"type": "string", "minLength": "a", "maxLength": -4},
    ],
    ids=lambda one: json.dumps(one)[:60],
)
def test_a_schema_that_nothing_fits_costs_nothing_either(schema: dict[str, Any]) -> None:
    [call] = scripted.say([USER], [tool(schema)]).calls
    assert len(call["function"]["arguments"]) < 100_000
