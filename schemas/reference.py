"""What the reference page says before its script has begun, and to those who have none: every operation, by tag."""

from functools import cache
from typing import Any

import orjson

from schemas import document

METHODS = ("get", "post", "put", "patch", "delete")
TEST_KEY = "ct_test_"

_key = ""


def configure(key: str) -> None:
    """Set the test key that the page is filled in with, for everybody who sees it; no live key is ever shown."""
    global _key  # noqa: PLW0603 - one process, one key
    _key = key if key.startswith(TEST_KEY) else ""


def key() -> str:
    """Return the test key that the page is filled in with, or nothing."""
    return _key


@cache
def chapters() -> list[dict[str, Any]]:
    """Return the tags in their order, each with its operations."""
    spec = orjson.loads(document.publish("openapi.json").content)
    rows: dict[str, list[dict[str, str]]] = {}
    for path, item in spec["paths"].items():
        for method in METHODS:
            if method in item:
                operation = item[method]
                row = {"id": operation["operationId"], "method": method.upper(), "path": path}
                rows.setdefault(operation["tags"][0], []).append(row | {"summary": operation["summary"]})
    return [
        {"name": tag["name"], "operations": rows[tag["name"]]} for tag in spec["tags"] if tag["name"] in rows
    ]
