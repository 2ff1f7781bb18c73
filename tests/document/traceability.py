"""The requirement, row by row: what of the contract stands for it, and which tests hold it.

The rows are written by hand (docs/requirement.yaml). Tests are found by what they ask and say: the operations whose
paths they call, and the codes and fields that they name. Of several, those come first that are about the fewest things.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from rules.scopes import TWINS
from schemas import document
from tests.document.diff import METHODS

ROOT = Path(__file__).resolve().parent.parent.parent
REQUIREMENT = ROOT / "docs" / "requirement.yaml"
EVENTS = ROOT / "docs" / "events.md"
NUMBERED = ("operations", "states", "limits", "authentication", "facts")
FILLED = "…"  # what a call fills into a path
SHOWN = 2  # tests of a row that are found rather than named
# What holds every scope, and every operation and field for which there is no test nearer by.
EVERY_SCOPE = "a_key_needs_the_operations_scope_and_no_other"
EVERY_ANSWER = "a_succeeding_request_is_answered_as_the_document_says"


@dataclass(frozen=True)
class Row:
    """One row: its id, the requirement's words, what stands for it, whether that is there, and its tests."""

    id: str
    words: str
    here: str
    built: bool
    tests: tuple[str, ...]


@dataclass(frozen=True)
class Test:
    """A test: where it stands, what it asks the API for, and the texts in it."""

    name: str
    operations: frozenset[str]
    texts: frozenset[str]

    @property
    def module(self) -> str:
        """The file that it stands in."""
        return self.name.partition("::")[0]


@cache
def requirement() -> dict[str, Any]:
    """Return the rows as they are written."""
    written: dict[str, Any] = yaml.safe_load(REQUIREMENT.read_text())
    return written


@cache
def contract() -> dict[str, Any]:
    """Return the public document, references kept."""
    return document.read("openapi")


@cache
def operations() -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the document's operations by operationId, each with its route."""
    return {
        item[method]["operationId"]: (f"{method.upper()} {path}", item[method])
        for path, item in contract()["paths"].items()
        for method in METHODS
        if method in item
    }


# --- The tests


@cache
def tests() -> list[Test]:
    """Return every test, those about the fewest operations first."""
    found = [test for path in sorted((ROOT / "tests").rglob("test_*.py")) for test in _tests(path)]
    return sorted(found, key=lambda test: (len(test.operations), len(test.texts), test.name))


def _tests(path: Path) -> Iterator[Test]:
    """Read a module's tests, each with the functions and tables of the module that it uses."""
    parts: dict[str, ast.AST] = {}
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            parts[node.name] = node
        elif isinstance(node, ast.Assign):
            parts |= {one.id: node for one in node.targets if isinstance(one, ast.Name)}
    for name in parts:
        if name.startswith("test_"):
            own = list(ast.walk(parts[name]))
            used = {one.id for one in own if isinstance(one, ast.Name)} & parts.keys()
            nodes = own + [one for other in sorted(used) for one in ast.walk(parts[other])]
            texts = {
                one.value for one in nodes if isinstance(one, ast.Constant) and isinstance(one.value, str)
            }
            asked = {operation for one in nodes for operation in _asked(one, texts)}
            yield Test(f"{path.relative_to(ROOT)}::{name}", frozenset(asked), frozenset(texts))


def _asked(node: ast.AST, texts: set[str]) -> Iterator[str]:
    """Find the operation that a call such as `api.get(f"/jobs/{key}/")` asks for.

    What is filled in stands for a parameter of the path, or for a word of it that is among the test's texts.
    """
    if not (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS
    ):
        return
    path = node.args[0] if node.args else None
    if isinstance(path, ast.Constant):
        said = str(path.value)
    elif isinstance(path, ast.JoinedStr):
        said = "".join(str(one.value) if isinstance(one, ast.Constant) else FILLED for one in path.values)
    else:
        return
    words = f"{node.func.attr.upper()} {said.partition('?')[0]}".split("/")
    for name, (route, _) in operations().items():
        parts = route.split("/")
        if len(parts) == len(words) and all(map(lambda *pair: _fits(*pair, texts), parts, words)):
            yield name


def _fits(part: str, word: str, texts: set[str]) -> bool:
    if part.startswith("{"):
        return FILLED in word or word not in _literals()
    return part == word or (word == FILLED and part in texts)


@cache
def _literals() -> frozenset[str]:
    return frozenset(part for route, _ in operations().values() for part in route.split("/"))


def _named(sentence: str) -> tuple[str, ...]:
    """Return where the tests of this name stand; raises LookupError where there is none."""
    found = tuple(test.name for test in tests() if test.name.endswith(f"::test_{sentence}"))
    if not found:
        raise LookupError(f"docs/requirement.yaml names the test {sentence}, and there is none")
    return found


def _first(found: Iterable[Test], tag: str = "") -> tuple[str, ...]:
    """Return the first of the tests in the tag's own module, then in the one that has most of them."""
    kept = list(found)
    modules = Counter(test.module for test in kept)
    nearest = sorted(kept, key=lambda test: (Path(test.module).stem != f"test_{tag}", -modules[test.module]))
    return tuple(test.name for test in nearest[:SHOWN])


# --- The rows


def rows(section: str) -> list[Row]:
    """Return the rows of a section; raises LookupError where one names a test that is not there."""
    written = requirement()[section]
    if section in NUMBERED:
        return [_numbered(key, row) for key, row in written.items()]
    if section == "fields":
        return [row for resource, one in written.items() for row in _fields(resource, **one)]
    return [{"events": _event, "refusals": _refusal, "scopes": _scope}[section](name) for name in written]


def _numbered(key: str, row: dict[str, Any]) -> Row:
    operation = row.get("operation")
    held = tuple(name for sentence in row.get("tests", ()) for name in _named(sentence))
    if not held and operation in operations():
        tag = operations()[operation][1]["tags"][0]
        held = _first((test for test in tests() if operation in test.operations), tag) or _named(EVERY_ANSWER)
    there = operation in (None, *operations())
    return Row(key, row["row"], f"`{operation}`" if operation else "", there, held)


def _fields(resource: str, schema: str, fields: list[str]) -> Iterator[Row]:
    known = contract()["components"]["schemas"].get(schema, {}).get("properties", {})
    for field in fields:
        held = _first(test for test in tests() if field in test.texts and test.operations & _answers(schema))
        yield Row(
            f"{resource}.{field}", "", f"`{schema}.{field}`", field in known, held or _named(EVERY_ANSWER)
        )


@cache
def _answers(schema: str) -> frozenset[str]:
    """Return the operations that take or answer a schema."""

    def reaches(value: Any, seen: set[str]) -> bool:
        if isinstance(value, list):
            return any(reaches(one, seen) for one in value)
        if not isinstance(value, dict):
            return False
        reference = value.get("$ref", "")
        if reference == f"#/components/schemas/{schema}":
            return True
        if reference and reference not in seen:
            seen.add(reference)
            _, _, section, name = reference.split("/")
            return reaches(contract()["components"][section][name], seen)
        return any(reaches(one, seen) for one in value.values())

    return frozenset(name for name, (_, one) in operations().items() if reaches(one, set()))


def _event(name: str) -> Row:
    """Take an event's test from the table of events, which a test of its own holds to be true."""
    [test] = re.findall(rf"^\| `{re.escape(name)}` \| .+ \| (.+) \|$", EVENTS.read_text(), re.M)
    return Row(name, "", f"`{name}`", test != "waiting", (test.strip("`"),) if test != "waiting" else ())


def _refusal(code: str) -> Row:
    known = contract()["components"]["schemas"]["ErrorCode"]["enum"]
    return Row(code, "", f"`{code}`", code in known, _first(test for test in tests() if code in test.texts))


def _scope(scope: str) -> Row:
    asking = [
        name
        for name, (_, one) in operations().items()
        for need in one.get("security", [])
        if {scope, TWINS.get(scope)} & {*need.get("bearer", [])}
    ]
    return Row(
        scope,
        "",
        ", ".join(f"`{name}`" for name in asking),
        bool(asking),
        _named(EVERY_SCOPE) if asking else (),
    )


# --- The page

HEAD = """# The requirement, row by row

Made by `./hiring test -e generate` from `docs/requirement.yaml` and the tests: edit those, not this. A row's tests are
those that it names, or else two that ask for its operation, or say its code or field, and are about little besides.
"""


def page() -> str:
    """Return docs/traceability.md."""
    sections = {section: rows(section) for section in requirement() if section != "not_built"}
    every = [row for found in sections.values() for row in found]
    parts = [HEAD, f"{sum(row.built for row in every)} of {len(every)} rows are built.\n"]
    for section, found in sections.items():
        parts += [f"## {section.capitalize()}\n", "| Id | Requirement | Here | Tests |", "|---|---|---|---|"]
        parts += [_line(row) for row in found]
        parts += [""]
    return "\n".join(parts)


def _line(row: Row) -> str:
    held = "<br>".join(f"`{one}`" for one in row.tests) if row.built else "not built yet"
    return f"| {row.id} | {row.words or row.id} | {row.here} | {held} |"
