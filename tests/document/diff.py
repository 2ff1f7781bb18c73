"""Find what in the documents could break a client of the published ones: `python -m tests.document.diff`.

Compares each document with the newest of its baselines (`spec/baseline`), which are the bundles as they were published.
A break is let through where an entry of docs/api-changelog.md above that version's says so: a line with **Breaking**
and the name of the operation or event in backticks. `--publish` makes the documents as they are now the ones that later
ones are compared with.
"""

import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from connexion.spec import Specification

from schemas import document
from schemas.arrangement import restore
from tests.document.compare import Schema, narrowed, widened

ROOT = Path(__file__).resolve().parent.parent.parent
BASELINE = ROOT / "spec" / "baseline"
CHANGELOG = ROOT / "docs" / "api-changelog.md"
METHODS = ("get", "post", "put", "patch", "delete")
# How tight an operation's `x-limit` is; one of its own, beside the usual ones, is the tightest.
USUAL = "the usual one"
TIGHTNESS = {"none": 0, USUAL: 1}


def breaks(old: Schema, new: Schema) -> Iterator[tuple[str, str]]:
    """Find what could break a client: the operation or event, and what happened to it. References are resolved."""
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
    for name, event in old.get("x-events", {}).items():
        if name not in new.get("x-events", {}):
            yield name, "is no longer sent"
        else:
            for what in widened(event["schema"], new["x-events"][name]["schema"], "event"):
                yield name, what


def operations(document: Schema) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return a document's operations by operationId, each with its route, and with what its path and document say."""
    return {
        operation["operationId"]: (
            f"{method.upper()} {path}",
            {
                "security": document.get("security"),
                **operation,
                "parameters": item.get("parameters", []) + operation.get("parameters", []),
            },
        )
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method in METHODS
    }


def _operation(old: Schema, new: Schema) -> Iterator[str]:
    if new["security"] != old["security"]:
        yield "another scope is needed"
    limit, other = old.get("x-limit", USUAL), new.get("x-limit", USUAL)
    if other != limit and TIGHTNESS.get(other, 2) >= TIGHTNESS.get(limit, 2):
        yield f"the limit is {other} instead of {limit}"
    if new.get("x-feature") not in (None, old.get("x-feature")):
        yield f"the feature {new['x-feature']} is needed"
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
    for name, header in old.get("headers", {}).items():
        other = new.get("headers", {}).get(name)
        if other is None:
            yield f"{status} lost the header {name}"
            continue
        if header.get("required") and not other.get("required"):
            yield f"{status} may lack the header {name} now"
        yield from widened(header["schema"], other["schema"], f"{status} {name}")
    for media, content in old.get("content", {}).items():
        if media not in new.get("content", {}):
            yield f"{status} is no longer {media}"
        else:
            yield from widened(content["schema"], new["content"][media]["schema"], status)


def announced(changelog: str, version: str) -> set[str]:
    """Return the names whose break the changelog tells of, above the entry of the published version."""
    entries = re.split(r"^## ", changelog, flags=re.M)[1:]
    newer = []
    for entry in entries:
        if f"Version {version}" in entry:
            break
        newer.append(entry)
    lines = [line for entry in newer for line in entry.splitlines() if "**Breaking**" in line]
    return {name for line in lines for name in re.findall(r"`([\w.]+)`", line)}


def published() -> list[str]:
    """Return the documents that were published before."""
    return [name for name in document.NAMES if any(BASELINE.glob(f"{name}-*.yaml"))]


def newest(name: str) -> Path:
    """Return the baseline of a document that was published last."""
    return max(
        BASELINE.glob(f"{name}-*.yaml"), key=lambda path: [int(one) for one in version(path).split(".")]
    )


def version(path: Path) -> str:
    """Return the version that a baseline's name carries."""
    return path.stem.partition("-")[2]


def resolved(whole: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document with its references resolved."""
    return dict(Specification.load(dict(whole)).spec)


def load(path: Path) -> dict[str, Any]:
    """Read a baseline with its references resolved."""
    return resolved(
        restore(yaml.load(path.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    )


def publish() -> None:
    """Keep the bundles as they are now as baselines of their version."""
    for name in document.NAMES:
        target = BASELINE / f"{name}-{document.read(name)['info']['version']}.yaml"
        shutil.copyfile(document.PUBLISHED / f"{name}.yaml", target)
        print(f"{target.relative_to(ROOT)} is what later documents are compared with.")


def main(words: list[str]) -> int:
    """Compare, or publish; return how many breaks nobody announced."""
    if words == ["--publish"]:
        publish()
        return 0
    found = 0
    for name in published():
        baseline = newest(name)
        known = announced(CHANGELOG.read_text(), version(baseline))
        for which, what in breaks(load(baseline), resolved(document.read(name))):
            if which not in known:
                found += 1
                print(f"{which}: {what}")
    if found:
        print(
            f"\n{found} changes could break clients of what is published. Take them back, or name each operation"
        )
        print("or event in docs/api-changelog.md on a line with **Breaking**, in backticks.")
    return found


if __name__ == "__main__":
    raise SystemExit(min(main(sys.argv[1:]), 1))
