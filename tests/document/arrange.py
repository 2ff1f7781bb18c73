"""The document as stock tools take it: arranged where they misread OpenAPI's own words (`schemas/arrangement.py`)."""

import copy
import json
from collections.abc import Iterator
from typing import Any

from schemas.arrangement import (
    ALSO,
    ANY_VALUE,
    FORM,
    JSON,
    KNOWN,
    MULTIPART,
    OPEN,
    SCOPES,
    WORDS,
)

# What a body's schema is called where files may be sent with it.
WITH_FILES = "Multipart"
WITHOUT_FILES = {"type": "object", "description": "Files are sent in multipart alone."}
METHODS = ("get", "post", "put", "patch", "delete")
SPOKEN = {word: ours for ours, word in WORDS.items()}

# What a POST's answer says where it was given before, under the same Idempotency-Key.
REPLAYED = "Idempotent-Replayed"
REPLAYED_HEADER = {
    "description": "Stands there where this is the first answer to the `Idempotency-Key` once more.",
    "schema": {"type": "string", "pattern": "^true$", "maxLength": 4},
    "example": "true",
}

# Since when an operation is deprecated, and after which day it may be gone.
SINCE, UNTIL = "x-deprecated-at", "x-sunset-at"


Document = dict[str, Any]
Schema = dict[str, Any]


def arrange(whole: Document) -> Document:
    """Return a bundle as it is published; `schemas.arrangement.restore` is the way back."""
    document: Document = copy.deepcopy(whole)
    asked, answered = _asked(document), _answered(document)
    told_apart = _told_apart(document)
    for schema in _schemas(answered):
        if "enum" in schema and id(schema) not in told_apart:
            _open(schema)
    for schema in _schemas(asked):
        _say_default(schema)
        _say_alternatives(schema)
    _say_bodies_of_links(document)
    _say_replays(document)
    _say_scopes(document)
    _say_farewells(document)
    for _, body in bodies(document):
        if JSON in body["content"] and len(body["content"]) > 1:
            _arrange_body(document, body)
    document["components"]["schemas"] = dict(sorted(document["components"]["schemas"].items()))
    return document


def _operations(document: Document) -> Iterator[Schema]:
    for item in document["paths"].values():
        yield from (operation for method, operation in item.items() if method in METHODS)


def bodies(document: Document) -> Iterator[tuple[str, Schema]]:
    """Every body of a document, by the name of its component or of its operation."""
    yield from document["components"].get("requestBodies", {}).items()
    for operation in _operations(document):
        if "content" in operation.get("requestBody", {}):
            yield operation["operationId"], operation["requestBody"]


def _asked(document: Document) -> list[Any]:
    """Every part of the document that a body leads to."""
    return _reached(document, [body for _, body in bodies(document)])


def _answered(document: Document) -> list[Any]:
    """Every part of the document that an answer or an event leads to."""
    answers = [operation["responses"] for operation in _operations(document)]
    return _reached(document, [*answers, document.get("x-events", {})])


def _reached(document: Document, starts: list[Any]) -> list[Any]:
    """The starts, and each component that they refer to, examples and links apart."""
    found: dict[str, Any] = {}

    def follow(value: Any) -> None:
        if isinstance(value, dict):
            reference = value.get("$ref")
            if isinstance(reference, str) and reference not in found:
                _, _, section, name = reference.split("/")
                if section not in ("examples", "links"):
                    found[reference] = document["components"][section][name]
                    follow(found[reference])
            for one in value.values():
                follow(one)
        elif isinstance(value, list):
            for one in value:
                follow(one)

    for start in starts:
        follow(start)
    return [*starts, *found.values()]


def _schemas(parts: list[Any]) -> Iterator[Schema]:
    """Every object in these parts that may be a schema; examples are none."""
    for part in parts:
        if isinstance(part, dict):
            yield part
            for name, one in part.items():
                if name in ("examples", "example"):
                    continue
                # Names of properties are no words of the schema language.
                yield from _schemas(list(one.values()) if name == "properties" else [one])
        elif isinstance(part, list):
            yield from _schemas(part)


def _told_apart(document: Document) -> set[int]:
    """The lists of values by which the alternatives of an answer are told from each other: they stay closed."""
    kept: set[int] = set()
    for schema in _schemas(_answered(document)):
        for one in schema.get("oneOf", ()):
            kept |= {id(field) for field in _resolved(document, one)["properties"].values()}
    return kept


def _open(schema: Schema) -> None:
    """Say which values are known in place of which there are."""
    known = schema.pop("enum")
    schema.pop(OPEN, None)
    schema[KNOWN] = known
    for word, bound in ANY_VALUE[schema["type"]].items():
        schema.setdefault(word, bound)
    values = ", ".join(
        f"`{one}`" if isinstance(one, str) and one else f"`{json.dumps(one)}`" for one in known
    )
    schema["description"] = f"{schema.get('description', '').rstrip()} Known values: {values}.".lstrip()


def _say_default(schema: Schema) -> None:
    """Say a default so that no generator takes the field for one that is always there."""
    if "default" in schema:
        default = schema.pop("default")
        schema["x-default"] = default
        said = f"Default: `{json.dumps(default, ensure_ascii=False)}`."
        schema["description"] = f"{schema.get('description', '').rstrip()} {said}".lstrip()


def _say_alternatives(schema: Schema) -> None:
    """Say alternatives that only narrow their type in a word that no generator makes a type of."""
    if "type" in schema:
        for word in ("anyOf", "oneOf"):
            if word in schema:
                schema[SPOKEN[word]] = schema.pop(word)


def _say_bodies_of_links(document: Document) -> None:
    """Say the body of a link in a word that openapi-generator does not refuse."""
    for link in document["components"].get("links", {}).values():
        if "requestBody" in link:
            link[SPOKEN["requestBody"]] = link.pop("requestBody")


def _say_replays(document: Document) -> None:
    """Declare the header of a replayed answer wherever an Idempotency-Key is taken."""
    for operation in _operations(document):
        if {"$ref": "#/components/parameters/IdempotencyKey"} in operation.get("parameters", ()):
            document["components"].setdefault("headers", {})["IdempotentReplayed"] = REPLAYED_HEADER
            for status, answer in operation["responses"].items():
                if status.startswith("2"):
                    headers = answer.setdefault("headers", {})
                    headers[REPLAYED] = {"$ref": "#/components/headers/IdempotentReplayed"}


def _say_scopes(document: Document) -> None:
    """Name an operation's scopes beside its key or session instead of within."""
    for operation in _operations(document):
        needs = [pair for need in operation.get("security", ()) for pair in need.items() if pair[1]]
        scopes = [each for _, each in needs]
        if scopes:
            operation |= {"security": [{needs[0][0]: []}], SCOPES: scopes}
            said = " or ".join(" and ".join(f"`{one}`" for one in each) for each in scopes)
            operation["description"] = (
                f"{operation.get('description', '').rstrip()}\n\nScope: {said}.".lstrip()
            )


def _say_farewells(document: Document) -> None:
    """Say since when and until when there is an operation that is going to go."""
    for operation in _operations(document):
        if operation.get("deprecated"):
            said = f"Deprecated since {operation[SINCE]}; it may be gone after {operation[UNTIL]}."
            operation["description"] = f"{operation.get('description', '').rstrip()}\n\n{said}".lstrip()


def _arrange_body(document: Document, body: Schema) -> None:
    """JSON, and multipart with a schema of its own where there are files; the other media types by the rule."""
    schemas: dict[str, Schema] = document["components"]["schemas"]
    content, base = body["content"], body["content"][JSON]["schema"]["$ref"].rpartition("/")[2]
    properties = schemas[base]["properties"]
    encoding = _encoding(document, schemas[base])
    own = {"encoding": encoding} if encoding else {}
    body["content"] = {JSON: content[JSON]}
    body["description"] = (
        f"{body.get('description', '').rstrip()} A form and multipart take the same.".lstrip()
    )
    body[ALSO] = dict.fromkeys((FORM, MULTIPART), own)
    if any(one.get("format") == "binary" for one in properties.values()):
        # The one refers to the other: openapi-generator leaves out what multipart alone refers to.
        reference = {"$ref": f"#/components/schemas/{base}{WITH_FILES}"}
        schemas[base + WITH_FILES] = schemas[base]
        schemas[base] = {"allOf": [reference, WITHOUT_FILES]}
        body["content"][MULTIPART] = {**content[MULTIPART], **body[ALSO].pop(MULTIPART), "schema": reference}


def _encoding(document: Document, schema: Schema) -> dict[str, Any]:
    """The fields that are one part holding JSON, in forms and in multipart."""
    return {
        name: {"contentType": JSON}
        for name, one in schema["properties"].items()
        if _is_json(document, _resolved(document, one))
    }


def _is_json(document: Document, schema: Schema) -> bool:
    if schema.get("type") == "array":
        return _resolved(document, schema["items"]).get("type") != "string"
    return schema.get("type") == "object"


def _resolved(document: Document, schema: Schema) -> Schema:
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema
