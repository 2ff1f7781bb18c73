"""What is made of the events: webhooks of the 3.1 document, JSON Schema for consumers, and a page for readers."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rules.events import API_VERSION, EVENTS
from schemas.arrangement import KNOWN

Schema = dict[str, Any]

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "events.md"
MARK = "<!-- From here on `./hiring test -e generate` writes this page. -->\n"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
# What each delivery carries for its receiver to verify, as rules/signatures.py writes it.
HEADERS = {
    "webhook-id": ("The event's id, the same for every attempt.", "evt_019a9b1e7c1d7a429f4e5d0c8a3b1065"),
    "webhook-timestamp": ("Unix seconds of this attempt.", "1795255200"),
    "webhook-signature": (
        (
            "Standard Webhooks: `v1,` and the Base64 HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}`, "
            "with the decoded secret; one for each secret that lives, with a space between."
        ),
        "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
    ),
    "X-Service-Signature": (
        (
            "`t=` and the same seconds, then `v1=` and the hexadecimal HMAC-SHA256 of `{t}.{body}`, "
            "with the secret as text; one for each secret that lives, with commas between."
        ),
        "t=1795255200,v1=2b9a3a5dd1cd3f0d3c2c9f7be0a8f7f2a5b2fd5a6f9f1c0e5a0f3b6a7c8d9e0f",
    ),
}


def webhooks(document: Schema) -> Schema:
    """Return the path items of a 3.1 document's `webhooks`: signed, and without a key of ours."""
    parameters = [
        {
            "name": name,
            "in": "header",
            "required": True,
            "description": words,
            "schema": {"type": "string", "maxLength": 1000, "pattern": r"^[\x20-\x7e]+$"},
            "example": example,
        }
        for name, (words, example) in HEADERS.items()
    ]
    return {
        event: {
            "post": {
                "operationId": f"receive_{event.replace('.', '_')}",
                "tags": ["events"],
                "summary": EVENTS[event].rstrip("."),
                "description": EVENTS[event],
                "security": [],
                "parameters": parameters,
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


def bundle(modern: Schema, events: Schema) -> Schema:
    """Return one JSON Schema for all deliveries, and under `$defs` one for each event with its example.

    A type of event that it does not know passes: there will be more. `modern` is the 3.1 document.
    """
    reached: Schema = {}

    def refer(value: Any) -> Any:
        if isinstance(value, list):
            return [refer(one) for one in value]
        if not isinstance(value, dict):
            return value
        written = {name: refer(one) for name, one in value.items() if not name.startswith("x-")}
        if "$ref" in value:
            name = value["$ref"].rpartition("/")[2]
            if name not in reached:
                reached[name] = {}  # before its value, which may lead back to it
                reached[name] = refer(modern["components"]["schemas"][name])
            written["$ref"] = f"#/$defs/{name}"
        return written

    each = {
        event: {
            "title": event,
            "description": EVENTS[event],
            "allOf": [refer(delivered["schema"]), {"properties": {"type": {"const": event}}}],
            "examples": [delivered["example"]],
        }
        for event, delivered in events.items()
    }
    return {
        "$schema": DIALECT,
        "title": f"Deliveries of version {API_VERSION}",
        "type": "object",
        "required": ["type"],
        "allOf": [
            {"if": {"properties": {"type": {"const": event}}}, "then": {"$ref": f"#/$defs/{event}"}}
            for event in events
        ],
        "$defs": {**each, **dict(sorted(reached.items()))},
    }


def page(document: Schema) -> str:
    """Return docs/events.md: what is written by hand above the mark, and every event with its fields below it."""
    by_hand, _, _ = PAGE.read_text().partition(MARK)
    return by_hand + MARK + "".join(_chapters(document))


def _chapters(document: Schema) -> Iterator[str]:
    yield "\n## What a delivery carries\n\n| Header | What it is |\n|---|---|\n"
    for name, (words, _) in HEADERS.items():
        yield f"| `{name}` | {words} |\n"
    yield "\nThe body is the envelope; what is of the event stands in `data`.\n\n"
    yield _table(document, _resolved(document, {"$ref": "#/components/schemas/EventEnvelope"}))
    for event, delivered in document["x-events"].items():
        data = _resolved(document, _resolved(document, delivered["schema"])["properties"]["data"])
        yield f"\n## `{event}`\n\n{EVENTS[event]}\n\n{_table(document, data)}\n"
        yield f"```json\n{json.dumps(delivered['example'], indent=2, ensure_ascii=False)}\n```\n"


def _table(document: Schema, schema: Schema) -> str:
    rows = ["| Field | Type | What it is |\n|---|---|---|\n"]
    for name, one in schema.get("properties", {}).items():
        field = _resolved(document, one)
        always = "" if name in schema.get("required", ()) else "; where there is one"
        words = re.sub(r"\s+", " ", field.get("description", "")).strip().replace("|", "\\|")
        rows.append(f"| `{name}` | {_type(field)}{always} | {words} |\n")
    return "".join(rows)


def _type(schema: Schema) -> str:
    kind = schema.get("format") or schema.get("type") or "any"
    known = "open list of texts" if KNOWN in schema else str(kind)
    return f"{known} or null" if schema.get("nullable") else known


def _resolved(document: Schema, schema: Schema) -> Schema:
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema
