"""The document as OpenAPI 3.1, which has a place for events."""

from typing import Any

from tests.document.events import webhooks


def twin(document: dict[str, Any]) -> dict[str, Any]:
    """Write an OpenAPI 3.0 document as 3.1, with the events under `webhooks`."""
    written = {name: _modern(value) for name, value in document.items() if not name.startswith("x-")}
    return {**written, "openapi": "3.1.0", "webhooks": _modern(webhooks(document))}


def _modern(value: Any) -> Any:
    """Rewrite what 3.1 says in JSON Schema's own words: `nullable` and `example`."""
    if isinstance(value, list):
        return [_modern(one) for one in value]
    if not isinstance(value, dict):
        return value
    written = {name: _modern(child) for name, child in value.items() if name != "nullable"}
    if value.get("nullable") is True:
        if isinstance(value.get("type"), str):
            written["type"] = [value["type"], "null"]
        if "enum" in value and None not in value["enum"]:
            written["enum"] = [*value["enum"], None]
        if "anyOf" in value:
            written["anyOf"] = [*written["anyOf"], {"type": "null"}]
    return written
