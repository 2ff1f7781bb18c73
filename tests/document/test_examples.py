"""Every example of the documents is one that its schema accepts."""

import json
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from app.http.formats import CHECKS
from app.http.schema import draft4
from tests.documents import documents, operations


def examples(node: Any, at: str) -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Find what has a schema and examples of it: media types, parameters, headers, and schemas themselves."""
    if isinstance(node, list):
        for number, child in enumerate(node):
            yield from examples(child, f"{at}/{number}")
    if not isinstance(node, dict):
        return
    schema = node.get("schema") if isinstance(node.get("schema"), dict) else node
    if "example" in node and ("type" in schema or "anyOf" in schema or "oneOf" in schema):
        yield at, schema, node["example"]
    if isinstance(node.get("schema"), dict) and isinstance(node.get("examples"), dict):
        for name, example in node["examples"].items():
            yield f"{at}/{name}", schema, example["value"]
    for name, child in node.items():
        if name not in ("example", "examples"):
            yield from examples(child, f"{at}/{name}")


@pytest.mark.parametrize("name", sorted(documents()))
def test_every_example_is_valid(name: str) -> None:
    """What many operations refer to stands in each of them; it is looked at once."""
    places: dict[str, tuple[str, dict[str, Any], Any]] = {}
    for at, schema, value in examples(documents()[name], ""):
        places.setdefault(json.dumps([schema, value], sort_keys=True, default=str), (at, schema, value))
    wrong = {}
    for at, schema, value in places.values():
        validator = jsonschema_rs.Draft4Validator(draft4(schema), validate_formats=True, formats=CHECKS)
        if faults := [(fault.instance_path, fault.message) for fault in validator.iter_errors(value)]:
            wrong[at] = faults
    assert wrong == {}
    assert len(places) > len(operations(name))


def test_every_body_and_every_answer_has_an_example() -> None:
    bare = [
        f"{name} {operation['operationId']} {place}"
        for name, document in documents().items()
        for item in document["paths"].values()
        for operation in item.values()
        if isinstance(operation, dict)
        for place, described in [
            ("body", operation.get("requestBody", {})),
            *operation["responses"].items(),
        ]
        for media, content in described.get("content", {}).items()
        if media == "application/json" and not content.get("examples")
    ]
    assert not bare
