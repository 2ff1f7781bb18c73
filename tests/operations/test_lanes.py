"""What reaches the network, files or a program is marked with its lane and runs there: every operation."""

import ast
import importlib
import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from app.http.pipeline import Pipeline
from app.http.threads import lanes
from app.http.threads.lanes import AT_ONCE
from app.instance.settings import ROOT
from store.operating import clocks
from tests.api import Tenant
from tests.documents import Documented
from tests.operations.rows import Row, ask
from tests.operations.table.every import calls_others, each

GATEWAYS = str(ROOT / "gateways")
SLOW = ("network", "files", "program", "model", "clock")
# What looks at what it is given or at settings, and waits for nothing.
QUIET = {
    "gateways.cv.kinds.sniff",
    "gateways.cv.kinds.why_not",
    "gateways.letters.fonts.printable",
    "gateways.letters.fonts.unprintable",
    "gateways.mail.kind",
    "gateways.models.is_configured",
    "gateways.openid.name",
    "gateways.openid.organisation",
    "gateways.sandbox.expect",
    "gateways.sandbox.installed",
    "gateways.sandbox.missing",
    "gateways.uploads.fault",
    "gateways.uploads.is_blank",
    "gateways.webhooks.encode",
}


def lane(operation: Documented) -> str | None:
    return operation.definition.get("x-lane")


@pytest.fixture
def reached(monkeypatch: pytest.MonkeyPatch) -> set[tuple[str, str]]:
    """What requests call of gateways/ from now on, each with its thread."""
    found: set[tuple[str, str]] = set()
    serve = Pipeline.serve

    def note(frame: Any, event: str, _argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(GATEWAYS):
            name = f"{frame.f_globals['__name__']}.{code.co_name}"
            if not frame.f_back.f_code.co_filename.startswith(GATEWAYS):  # what it calls itself is its own
                found.add((name, threading.current_thread().name))

    def watched(pipeline: Pipeline, request: Any) -> Any:
        sys.setprofile(note)
        try:
            return serve(pipeline, request)
        finally:
            sys.setprofile(None)

    monkeypatch.setattr(Pipeline, "serve", watched)
    return found


@each()
def test_what_reaches_gateways_does_so_in_the_lane_of_its_mark(
    operation: Documented, row: Row, tenant: Tenant, reached: set[tuple[str, str]]
) -> None:
    for one in (row, *row.also):
        ids = one.state(tenant.live)
        reached.clear()
        assert ask(tenant.live, operation, one, ids).status_code == one.status
        threads = {thread.rpartition("-")[0] for name, thread in reached if name not in QUIET}
        assert threads <= {lane(operation)} & {*SLOW}, reached


@each(lambda one: not calls_others(one))
def test_what_names_a_door_of_gateways_is_marked_and_nothing_else(operation: Documented, row: Row) -> None:
    handlers = importlib.import_module(f"handlers.{operation.definition['tags'][0]}")
    doors = {door for door in named(getattr(handlers, operation.id), set()) if door not in QUIET}
    assert bool(doors) == (lane(operation) in SLOW), doors


def named(function: Callable[..., Any], seen: set[Any]) -> Iterator[str]:
    """Name what a function of handlers/ has of gateways/, by itself or through others of handlers/ and workers/.

    Who moves a clock alone waits for others as much as for a gateway.
    """
    seen.add(function)
    function = inspect.unwrap(function)
    for node in ast.walk(ast.parse(inspect.getsource(function))):
        thing = resolved(node, function.__globals__)
        module = thing.__name__ if isinstance(thing, ModuleType) else getattr(thing, "__module__", None) or ""
        if callable(thing) and (module.startswith("gateways") or thing is clocks.alone):
            yield f"{module}.{thing.__name__}"
        elif inspect.isfunction(thing) and module.startswith(("handlers", "workers")) and thing not in seen:
            yield from named(thing, seen)


def resolved(node: ast.AST, names: dict[str, Any]) -> Any:
    """What a name or a dotted name stands for; None where that is not known before it runs."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = resolved(node.value, names)
        return getattr(owner, node.attr, None) if isinstance(owner, ModuleType) else None
    return None


@each(lambda one: lane(one) in SLOW and not one.keyed and "{token}" in one.path)
def test_what_is_asked_with_a_link_counts_for_its_organisation(
    operation: Documented, row: Row, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = []
    party = lanes.party
    monkeypatch.setattr(lanes, "party", lambda *asked: counted.append(party(*asked)) or counted[-1])
    for one in (row, *row.also):
        ids = one.state(tenant.live)
        counted.clear()
        ask(tenant.live, operation, one, ids)
        assert counted == [(tenant.organisation.id, True)]


@each(lambda one: lane(one) == AT_ONCE)
def test_what_is_answered_where_requests_arrive_waits_for_nothing(operation: Documented, row: Row) -> None:
    handlers = importlib.import_module(f"handlers.{operation.definition['tags'][0]}")
    assert not inspect.signature(getattr(handlers, operation.id)).parameters
    assert operation.definition["x-limit"] == "health"
    assert operation.definition["security"] == []
    assert not list(named(getattr(handlers, operation.id), set()))


@each(lambda one: one.id in ("save_answer", "start_session", "submit_session", "report_violation"))
def test_what_a_candidate_does_in_an_assessment_is_in_no_lane(operation: Documented, row: Row) -> None:
    assert lane(operation) is None
