"""What OpenAPI 3.0 has no place for stands apart, so that a linter finds no component that nothing uses."""

import copy
from typing import Any

from schemas.arrangement import APART

Document = dict[str, Any]


def set_apart(arranged: Document) -> Document:
    """Put the components that events alone refer to beside the others: in OpenAPI 3.0 nothing uses them.

    `schemas.arrangement.restore` is the way back; the 3.1 document, which has a place for events, needs none of this.
    """
    document: Document = copy.deepcopy(arranged)
    components = document["components"]
    used = _names(document, [one for name, one in document.items() if name not in ("components", "x-events")])
    apart = _names(document, [document.get("x-events", {})]) - used
    moved = {f"#/components/{section}/{name}": f"#/{APART}/{section}/{name}" for section, name in apart}
    for section, name in sorted(apart):
        document.setdefault(APART, {}).setdefault(section, {})[name] = components[section].pop(name)
    for place in (document.get("x-events", {}), document.get(APART, {})):
        _refer_anew(place, moved)
    return document


def _names(document: Document, starts: list[Any]) -> set[tuple[str, str]]:
    """The section and name of every component that the starts lead to."""
    found: set[tuple[str, str]] = set()
    waiting = list(starts)
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            reference = value.get("$ref")
            if isinstance(reference, str):
                _, _, section, name = reference.split("/")
                if (section, name) not in found:
                    found.add((section, name))
                    waiting.append(document["components"][section][name])
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return found


def _refer_anew(value: Any, moved: dict[str, str]) -> None:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            value["$ref"] = moved.get(value["$ref"], value["$ref"])
        for one in value.values():
            _refer_anew(one, moved)
    elif isinstance(value, list):
        for one in value:
            _refer_anew(one, moved)
