"""A schema of the documents, compiled: what is wrong with a value, and what a handler receives for it."""

import copy
import difflib
from collections.abc import Callable, Iterable
from functools import cache
from itertools import islice
from typing import Any

import jsonschema_rs
import orjson

from app.http import bodies, formats
from rules.words import say

Fault = dict[str, str]
MOST_FAULTS = 1000  # more than that nobody reads, and an answer has its bounds too
LONGEST_NAME = 200
A_FILE = "Must be a file, sent as a part of a multipart body."


def draft4(schema: Any) -> Any:
    """Write an OpenAPI 3.0 schema as JSON Schema: `nullable` becomes a type."""
    if isinstance(schema, list):
        return [draft4(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    rewritten = {key: draft4(value) for key, value in schema.items() if key not in ("example", "nullable")}
    if schema.get("nullable"):
        if isinstance(schema.get("type"), str):
            rewritten["type"] = [schema["type"], "null"]
        if "enum" in schema and None not in schema["enum"]:
            rewritten["enum"] = [*schema["enum"], None]
        if "anyOf" in schema:
            rewritten["anyOf"] = [*rewritten["anyOf"], {"type": "null"}]
    return {"type": "string"} if schema.get("format") == "binary" else rewritten


# What each kind of fault says; the value at fault is never repeated.
_MESSAGES: dict[str, Callable[[dict[str, Any]], str]] = {
    "required": lambda kind: say("This field is required."),
    "type": lambda kind: _of_types(kind["types"]),
    "enum": lambda kind: say(
        "Must be one of %(values)s.", values=", ".join(str(one) for one in kind["options"] if one is not None)
    ),
    "format": lambda kind: formats.EXPECTED.get(kind["format"], f"Must be {kind['format']}."),
    "minLength": lambda kind: (
        say("Must not be empty.")
        if kind["limit"] == 1
        else say("Must have at least %(count)s characters.", count=kind["limit"])
    ),
    "maxLength": lambda kind: say("Must have at most %(count)s characters.", count=kind["limit"]),
    "minimum": lambda kind: say("Must be at least %(limit)s.", limit=kind["limit"]),
    "maximum": lambda kind: say("Must be at most %(limit)s.", limit=kind["limit"]),
    "minItems": lambda kind: f"Must have at least {kind['limit']} items.",
    "maxItems": lambda kind: f"Must have at most {kind['limit']} items.",
    "maxProperties": lambda kind: f"Must have at most {kind['limit']} fields.",
    "minProperties": lambda kind: f"Must have at least {kind['limit']} fields.",
    "uniqueItems": lambda kind: "Must not hold the same item twice.",
    "pattern": lambda kind: f"Must match {kind['pattern']}.",
}

# Of several faults of one value the one that tells most is named; what is not here stands between.
_TELLING = {"required": 0, "type": 0, "format": 0, "pattern": 2, "anyOf": 2, "oneOf": 2}


def _of_types(types: Iterable[str]) -> str:
    """Ask for one of some types; what people fill in are texts and numbers."""
    named = sorted(types, key=_null_last)
    if named == ["string"]:
        return say("Must be a string.")
    if named == ["number"]:
        return say("Must be a number.")
    return f"Must be {' or '.join(_named(one) for one in named)}."


def _named(type: str) -> str:
    named = {"array": "an array", "integer": "an integer", "object": "an object", "null": "null"}
    return named.get(type, f"a {type}")


def _null_last(type: str) -> bool:
    return type == "null"


@cache
def _compiled(schema: bytes) -> jsonschema_rs.Draft4Validator:
    """Compile a schema once: each media type of a body has the same, and parameters are those of many operations."""
    return jsonschema_rs.Draft4Validator(orjson.loads(schema), validate_formats=True, formats=formats.CHECKS)


class Schema:
    """One compiled schema: its faults, its defaults, its typed values."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema
        self.file_names = {
            name for name, one in schema.get("properties", {}).items() if one.get("format") == "binary"
        }
        self.validator = _compiled(orjson.dumps(draft4(schema)))

    def faults(self, value: Any, prefix: str = "") -> list[Fault]:
        """Return everything that is wrong with a value."""
        if not isinstance(value, dict):
            return self._found(value, prefix)
        if misplaced := self._misplaced(value):
            return misplaced
        texts = self._texts_for_files(value)
        if texts or _files(value):
            # What stands for a file is no matter of the validator's.
            value = value | dict.fromkeys([*texts, *_files(value)], "")
        return [fault(step(name), A_FILE) for name in texts] + self._found(value, prefix)

    def _found(self, value: Any, prefix: str) -> list[Fault]:
        try:
            if self.validator.is_valid(value):
                return []
            errors = list(islice(self.validator.iter_errors(value), MOST_FAULTS))
        except ValueError:  # a number beyond what the validator can hold
            return [fault(prefix, "Holds a number that is too large.")]
        kept: dict[str, tuple[int, Fault]] = {}  # one for each place
        for error in errors:
            rank = _TELLING.get(error.kind.name, 1)
            for found in self._describe(error, prefix):
                there = kept.get(found["pointer"])
                if there is None or rank < there[0]:
                    kept[found["pointer"]] = rank, found
        return [found for _, found in kept.values()][:MOST_FAULTS]

    def _misplaced(self, value: Any) -> list[Fault]:
        properties = self.schema.get("properties", {})
        texts = [
            name for name in _files(value, lists=True) if name in properties and name not in self.file_names
        ]
        return [fault(step(name), "Must not be a file.") for name in texts]

    def _texts_for_files(self, value: Any) -> list[str]:
        if not self.file_names or not isinstance(value, dict):
            return []
        return sorted((self.file_names & value.keys()).difference(_files(value)))

    def _describe(self, error: Any, prefix: str) -> list[Fault]:
        kind = error.kind.as_dict()
        at = prefix + "".join(step(name) for name in error.instance_path)
        if error.kind.name == "required":
            return [fault(f"{at}/{kind['property']}", say("This field is required."))]
        if error.kind.name == "additionalProperties":
            known = self._known(list(error.schema_path))
            return [fault(at + step(name), unknown(name, known)) for name in kind["unexpected"][:MOST_FAULTS]]
        if names := self._alternatives(list(error.schema_path)):
            count = "At least" if error.kind.name == "anyOf" else "Exactly"
            return [fault(at, f"{count} one of {', '.join(names)} is required.")]
        return [fault(at, _say(error.kind))]

    def _alternatives(self, path: list[Any]) -> list[str]:
        """List the fields of which some are required, where that is what the schema says here."""
        forms = self._node(path).get(path[-1]) if path[-1:] in (["anyOf"], ["oneOf"]) else None
        return [
            name for form in forms or () for name in form.get("required", ()) if set(form) == {"required"}
        ]

    def _known(self, path: list[Any]) -> list[str]:
        return list(self._node(path).get("properties", {}))

    def _node(self, path: list[Any]) -> dict[str, Any]:
        node: Any = self.schema
        for step in path[:-1]:
            node = node[step]
        return dict(node)

    def finish(self, value: Any) -> Any:
        """Fill in the document's defaults and turn formats into typed values."""
        return _finish(value, self.schema)


def _files(value: Any, *, lists: bool = False) -> list[str]:
    """List the fields that hold a file, which the validator does not know, or a list with one too."""
    if not isinstance(value, dict):
        return []
    return [
        name
        for name, one in value.items()
        if isinstance(one, bodies.Upload)
        or (lists and isinstance(one, list) and any(isinstance(item, bodies.Upload) for item in one))
    ]


def _say(kind: Any) -> str:
    if kind.name == "anyOf":
        return _say_of_forms([[error.kind for error in errors] for errors in kind.context])
    say = _MESSAGES.get(kind.name)
    return say(kind.as_dict()) if say else "Does not fit any of the forms this field may take."


def _say_of_forms(forms: list[list[Any]]) -> str:
    """Say what is wrong by the form that has the value's type; where none has, name all types."""
    fitting = next((kinds for kinds in forms if all(kind.name != "type" for kind in kinds)), None)
    if fitting:
        return _say(fitting[0])
    types = {
        one for kinds in forms for kind in kinds if kind.name == "type" for one in kind.as_dict()["types"]
    }
    return _MESSAGES["type"]({"types": types})


def step(name: str | int) -> str:
    """Write one step of a JSON pointer; a name of any length came from the client."""
    return "/" + str(name)[:LONGEST_NAME].replace("~", "~0").replace("/", "~1")


def fault(pointer: str, message: str) -> Fault:
    """Name one fault and its place, which may hold what the client sent: no text of ours holds NUL."""
    return {"pointer": pointer.replace("\x00", "\ufffd"), "message": message}


def unknown(name: str, known: list[str]) -> str:
    """Say that a name is unknown, and which one may have been meant."""
    near = difflib.get_close_matches(name, known, 1)
    return "Unknown field." + (f" Did you mean {near[0]!r}?" if near else "")


def _finish(value: Any, schema: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        built = {name: _finish(child, properties.get(name, {})) for name, child in value.items()}
        for name, child in properties.items():
            if name not in built and "default" in child:
                built[name] = _finish(copy.deepcopy(child["default"]), child)
        return built
    if isinstance(value, list):
        return [_finish(child, schema.get("items", {})) for child in value]
    if value is not None and schema.get("format") in ("date-time", "date", "uuid", "decimal"):
        return formats.READERS[schema["format"]](value)
    return value
