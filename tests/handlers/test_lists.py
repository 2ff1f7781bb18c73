"""What a list can be asked for is what the document says: each filter and each order, in both."""

import ast
import importlib
import inspect
import textwrap
from typing import Any

import pytest
from sqlalchemy import False_

from store.database.listing import Form, Listing
from tests.documents import Documented, documents, operations

LISTS = [
    one
    for name in documents()
    for one in operations(name).values()
    if any(parameter["name"] == "cursor" for parameter in one.parameters)
]


def _parsed(function: Any) -> ast.Module:
    return ast.parse(textwrap.dedent(inspect.getsource(function)))


def listing(operation: Documented) -> Listing:
    """The list that an operation's function names, as `module.NAME`, itself or through one beside it."""
    module = importlib.import_module(f"handlers.{operation.definition['tags'][0]}")
    function = getattr(module, operation.id)
    tree = _parsed(function)
    beside = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and one.id.startswith("_")}
    tree.body += [part for name in sorted(beside) for part in _parsed(getattr(module, name)).body]
    named: list[Any] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            try:
                one = eval(ast.unparse(node), vars(module))
                named += one.values() if isinstance(one, dict) else [one]  # a list for each mode
            except (NameError, AttributeError):  # of something that is not there before the function runs
                continue
    [found] = {id(one.filters): one for one in named if isinstance(one, Listing)}.values()
    return found


@pytest.mark.parametrize("operation", LISTS, ids=lambda one: one.id)
def test_the_document_and_the_list_have_the_same_filters_and_orders(operation: Documented) -> None:
    found = listing(operation)
    asked = {one["name"]: one for one in operation.parameters if one["in"] == "query"}
    orders = asked.pop("ordering", None)
    # By a link, of where it stood.
    said = {name for name in asked if name.startswith("utm_") or name in ("ref", "referrer")}
    assert set(asked) - {"cursor", "page_size"} - said == set(found.filters)
    if orders:
        assert set(orders["schema"]["enum"]) == set(found.orders)
        assert orders["schema"]["default"] == next(iter(found.orders))
    else:
        assert len(found.orders) == 1


@pytest.mark.parametrize("operation", LISTS, ids=lambda one: one.id)
def test_each_filter_compares_the_parameter_of_its_name(operation: Documented) -> None:
    found = listing(operation)
    schemas = {one["name"]: one["schema"] for one in operation.parameters}
    order = next(iter(found.orders))
    for name, one in found.filters.items():
        if one.condition is None:  # every value has a condition of its own
            values = (True, False) if schemas[name]["type"] == "boolean" else schemas[name]["enum"]
            assert set(values) == set(one.instead)
        elif not isinstance(one.condition, False_):
            assert f"%({name})s" in found.prepare(Form(order, ((name, None),))).of_threads.text
            assert set(one.instead) <= {*schemas[name].get("enum", one.instead)}
