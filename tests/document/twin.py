"""The document as OpenAPI 3.1, which has a place for events."""

from typing import Any

from rules.events import EVENTS


def twin(document: dict[str, Any]) -> dict[str, Any]:
    """Write an OpenAPI 3.0 document as 3.1, with the events under `webhooks`."""
    written = {name: _modern(value) for name, value in document.items() if not name.startswith("x-")}
    webhooks = {
        event: {
            "post": {
                "operationId": f"receive_{event.replace('.', '_')}",
                "tags": ["events"],
                "summary": EVENTS[event].rstrip("."),
                "description": EVENTS[event],
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": delivered["schema"],
                            "examples": {"delivery": {"value": delivered["example"]}},
                        }
                    },
                },
                "responses": {"2XX": {"description": "Any 2xx answer within 15 seconds accepts the event."}},
            }
        }
        for event, delivered in document.get("x-events", {}).items()
    }
    return {**written, "openapi": "3.1.0", "webhooks": webhooks}


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
