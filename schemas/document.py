"""The published document: as written, as JSON, and as its 3.1 twin."""

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import yaml

from rules.events import EVENTS
from schemas.files import File

SOURCE = Path(__file__).resolve().parent.parent / "spec" / "openapi.yaml"


def read(path: Path = SOURCE) -> dict[str, Any]:
    """Read a document."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    document: dict[str, Any] = yaml.load(path.read_bytes(), Loader=loader)  # noqa: S506 - a safe loader either way
    return document


@cache
def publish(form: str) -> File:
    """Return the document in one of its forms: yaml, json, or 3.1."""
    content = _FORMS[form]()
    media_type = "application/yaml" if form == "yaml" else "application/json"
    etag = hashlib.sha256(content).hexdigest()[:32]
    return File(content, media_type, {"Cache-Control": "public, max-age=300"}, etag)


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


_FORMS: dict[str, Callable[[], bytes]] = {
    "yaml": SOURCE.read_bytes,
    "json": lambda: orjson.dumps(read()),
    "3.1": lambda: orjson.dumps(twin(read())),
}
