"""The table of events: each is emitted by the product in a test, or waits for its resource."""

import ast
import re
from functools import cache

import pytest

from app.instance.settings import ROOT
from rules.events import EVENTS
from tests.documents import operations

TABLE = ROOT / "docs" / "events.md"
ROW = re.compile(
    r"^\| `([a-z_.]+)` \| (.+) \| (?:`(tests/[a-z_/]+\.py)::(test_[a-z_0-9]+)`|waiting) \|$", re.M
)
WAITING = ""

# The tags of the operations that bring a noun's events about.
RESOURCES = {
    "assessment": {"assessments"},
    "candidate": {"assessments"},
    "invitation": {"invitations"},
    "pipeline": {"pipelines", "enrollments"},
    "interview": {"interviews"},
    "job": {"jobs"},
    "application": {"applications"},
    "offer": {"offers"},
    "webhook": {"webhooks"},
}
OWN = {
    "candidate.updated": {"candidates"},
    "candidate.note_added": {"candidates"},
    "candidate.merged": {"candidates"},
    "application.screened": {"screening", "applications"},
}
# What writes an event itself, and so shows nothing of the product.
SHORT_CUTS = ("happen(", "events.record(")


def rows() -> list[tuple[str, str, str, str]]:
    return ROW.findall(TABLE.read_text())


def tags() -> set[str]:
    return {one.definition["tags"][0] for one in operations("openapi").values()}


@cache
def functions(path: str) -> dict[str, str]:
    """A module's tests with the tables of the module that they use."""
    source = (ROOT / path).read_text()
    body = ast.parse(source).body
    tables = {
        target.id: ast.get_source_segment(source, node) or ""
        for node in body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    found = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            named = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
            used = [tables[name] for name in sorted(named & set(tables))]
            found[node.name] = "\n".join([ast.get_source_segment(source, node) or "", *used])
    return found


def test_the_table_names_every_event_once_with_the_catalogues_words() -> None:
    assert [(event, words) for event, words, _, _ in rows()] == list(EVENTS.items())


@pytest.mark.parametrize(("event", "words", "path", "test"), rows(), ids=lambda value: value)
def test_a_named_test_is_there_and_makes_the_product_emit(
    event: str, words: str, path: str, test: str
) -> None:
    if path == WAITING:
        missing = OWN.get(event, RESOURCES[event.partition(".")[0]])
        assert not missing & tags(), f"{event} has operations now: name the test that emits it in {TABLE}"
        return
    source = functions(path)[test]
    assert event in source or f".{event.partition('.')[2]}" in source, (
        f"{path}::{test} says nothing of {event}"
    )
    assert not any(cut in source for cut in SHORT_CUTS), f"{path}::{test} records the event itself"
