"""Refuse a change of the public document that could break a client: `python tests/document/diff.py`.

Compares spec/openapi.yaml with the newest document in spec/baseline/. A break is let through where an entry of
docs/api-changelog.md above that version's says so: a line with **Breaking** and the operation's name in backticks.
`--publish` makes the document as it is now the one that later ones are compared with.
"""

import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
CURRENT = ROOT / "spec" / "openapi.yaml"
PUBLISHED = ROOT / "spec" / "baseline"
CHANGELOG = ROOT / "docs" / "api-changelog.md"
METHODS = ("get", "post", "put", "patch", "delete")

Schema = Mapping[str, Any]
Comparison = Callable[[Schema, Schema, str], Iterator[str]]
# Bounds whose change narrows what is allowed: those that may not fall, those that may not rise.
UPPER = ("maxLength", "maximum", "maxItems", "maxProperties")
LOWER = ("minLength", "minimum", "minItems", "minProperties")


def breaks(old: Schema, new: Schema) -> Iterator[tuple[str, str]]:
    """Find what could break a client: the operation, and what happened to it. References are resolved already."""
    before, after = operations(old), operations(new)
    for name, (route, operation) in before.items():
        if name not in after:
            yield name, f"{route} is gone, or has another operationId"
            continue
        moved, other = after[name]
        if moved != route:
            yield name, f"{route} is now {moved}"
        for what in _operation(operation, other):
            yield name, what


def operations(document: Schema) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return a document's operations by operationId, each with its route, its path's parameters among its own."""
    return {
        operation["operationId"]: (
            f"{method.upper()} {path}",
            {**operation, "parameters": item.get("parameters", []) + operation.get("parameters", [])},
        )
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method in METHODS
    }


def _operation(old: Schema, new: Schema) -> Iterator[str]:
    if new.get("security") != old.get("security"):
        yield "another scope is needed"
    was = {(one["in"], one["name"]): one for one in old["parameters"]}
    now = {(one["in"], one["name"]): one for one in new["parameters"]}
    for key, one in was.items():
        if key not in now:
            yield f"the {key[0]} parameter {key[1]} is gone"
        else:
            yield from narrowed(one["schema"], now[key]["schema"], f"{key[0]} {key[1]}")
    for key, one in now.items():
        if one.get("required") and not was.get(key, {}).get("required"):
            yield f"the {key[0]} parameter {key[1]} is required now"
    yield from _body(old.get("requestBody", {}), new.get("requestBody", {}))
    for status, response in old["responses"].items():
        if status.startswith("2"):
            yield from _response(status, response, new["responses"].get(status))


def _body(body: Schema, other: Schema) -> Iterator[str]:
    if other.get("required") and not body.get("required"):
        yield "a body is required now"
    for media, content in body.get("content", {}).items():
        if media not in other.get("content", {}):
            yield f"a body of {media} is no longer taken"
        else:
            yield from narrowed(content["schema"], other["content"][media]["schema"], "body")


def _response(status: str, old: Schema, new: Schema | None) -> Iterator[str]:
    if new is None:
        yield f"{status} is no longer answered"
        return
    for header in set(old.get("headers", {})) - set(new.get("headers", {})):
        yield f"{status} lost the header {header}"
    for media, content in old.get("content", {}).items():
        if media not in new.get("content", {}):
            yield f"{status} is no longer {media}"
        else:
            yield from shrunk(content["schema"], new["content"][media]["schema"], status)


def narrowed(old: Schema, new: Schema, at: str) -> Iterator[str]:
    """Find what a request may no longer say."""
    yield from _type(old, new, at)
    yield from _bounds(old, new, at)
    for name in set(new.get("required", [])) - set(old.get("required", [])):
        yield f"{at}/{name} is required now"
    for name, one in old.get("properties", {}).items():
        if name in new.get("properties", {}):
            yield from narrowed(one, new["properties"][name], f"{at}/{name}")
        elif new.get("additionalProperties") is False:
            yield f"{at}/{name} is no longer taken"
    yield from _inside(old, new, at, narrowed)


def _bounds(old: Schema, new: Schema, at: str) -> Iterator[str]:
    if old.get("nullable") and not new.get("nullable") and "type" in new:
        yield f"{at} may no longer be null"
    if "enum" in new and (lost := [one for one in old.get("enum", ["any value"]) if one not in new["enum"]]):
        yield f"{at} may no longer be {', '.join(map(str, lost))}"
    for bound in UPPER:
        if bound in new and new[bound] < old.get(bound, float("inf")):
            yield f"{at} has a lower {bound}"
    for bound in LOWER:
        if bound in new and new[bound] > old.get(bound, 0 if bound != "minimum" else float("-inf")):
            yield f"{at} has a higher {bound}"
    for name in ("pattern", "format"):
        if new.get(name) != old.get(name) and name in new:
            yield f"{at} has another {name}"


def shrunk(old: Schema, new: Schema, at: str) -> Iterator[str]:
    """Find what an answer may no longer be relied on for."""
    yield from _type(old, new, at)
    if new.get("nullable") and not old.get("nullable"):
        yield f"{at} may be null now"
    for name in set(old.get("required", [])) - set(new.get("required", [])):
        yield f"{at}/{name} may be missing now"
    for name, one in old.get("properties", {}).items():
        if name in new.get("properties", {}):
            yield from shrunk(one, new["properties"][name], f"{at}/{name}")
        else:
            yield f"{at}/{name} is gone"
    yield from _inside(old, new, at, shrunk)


def _inside(old: Schema, new: Schema, at: str, compare: Comparison) -> Iterator[str]:
    """Look into what is not a property of its own name; another number of alternatives is a break either way."""
    for word in ("items", "additionalProperties"):
        if isinstance(old.get(word), Mapping) and isinstance(new.get(word), Mapping):
            yield from compare(old[word], new[word], f"{at}/*")
    for word in ("allOf", "anyOf", "oneOf"):
        was, now = old.get(word, ()), new.get(word, ())
        if len(was) != len(now):
            yield f"{at} has {len(now)} schemas in {word} instead of {len(was)}"
        for number, (one, other) in enumerate(zip(was, now, strict=False)):
            yield from compare(one, other, f"{at}/{word}/{number}")


def _type(old: Schema, new: Schema, at: str) -> Iterator[str]:
    if "type" in old and new.get("type", old["type"]) != old["type"]:
        yield f"{at} is {new['type']} instead of {old['type']}"


def announced(changelog: str, version: str) -> set[str]:
    """Return the operations whose break the changelog names, above the entry of the published version."""
    entries = re.split(r"^## ", changelog, flags=re.M)[1:]
    newer = []
    for entry in entries:
        if f"Version {version}" in entry:
            break
        newer.append(entry)
    lines = [line for entry in newer for line in entry.splitlines() if "**Breaking**" in line]
    return {name for line in lines for name in re.findall(r"`(\w+)`", line)}


def newest() -> Path:
    """Return the document that was published last."""
    return max(
        PUBLISHED.glob("openapi-*.yaml"), key=lambda path: [int(one) for one in version(path).split(".")]
    )


def version(path: Path) -> str:
    """Return the version that a published document's name carries."""
    return path.stem.removeprefix("openapi-")


def load(path: Path) -> dict[str, Any]:
    """Read a document with its references resolved."""
    from connexion.spec import Specification  # noqa: PLC0415 - the path is set below

    from schemas.document import read  # noqa: PLC0415 - the same

    return dict(Specification.load(read(path)).spec)


def main(words: list[str]) -> int:
    """Compare, or publish; return how many breaks nobody announced."""
    if words == ["--publish"]:
        target = PUBLISHED / f"openapi-{load(CURRENT)['info']['version']}.yaml"
        shutil.copyfile(CURRENT, target)
        print(f"{target.relative_to(ROOT)} is what later documents are compared with.")
        return 0
    published = newest()
    known = announced(CHANGELOG.read_text(), version(published))
    found = [(name, what) for name, what in breaks(load(published), load(CURRENT)) if name not in known]
    for name, what in found:
        print(f"{name}: {what}")
    if found:
        print(f"\n{len(found)} changes could break clients of {published.name}. Take them back, or name each")
        print(
            "operation in docs/api-changelog.md on a line with **Breaking** and the operation in backticks."
        )
    return len(found)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    raise SystemExit(min(main(sys.argv[1:]), 1))
