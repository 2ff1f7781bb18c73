"""The whole table: the succeeding request of each operation of all documents."""

import dataclasses
from collections.abc import Callable

import pytest

from tests.documents import Documented, documents, operations
from tests.operations.rows import JSON, Row
from tests.operations.table import (
    area,
    area_settings,
    assessments,
    assistant,
    candidate,
    candidates,
    enrollments,
    insights,
    interviews,
    invitations,
    jobs,
    offers,
    organisation,
    pipelines,
    world,
)

PARTS = (
    assessments,
    invitations,
    jobs,
    pipelines,
    enrollments,
    interviews,
    offers,
    organisation,
    candidates,
    insights,
    assistant,
    world,
    candidate,
    area,
    area_settings,
)
DOCUMENTED = {one.id: one for name in documents() for one in operations(name).values()}


def whole(name: str, row: Row) -> Row:
    """A row, and the same asked by a program, where that is told the way to a page to which a browser is led."""
    if row.status != 303 or JSON not in DOCUMENTED[name].definition["responses"].get("200", {}).get(
        "content", {}
    ):
        return row
    return dataclasses.replace(
        row, also=(*row.also, dataclasses.replace(row, status=200, answers=JSON, wants=JSON))
    )


ROWS: dict[str, Row] = {name: whole(name, row) for part in PARTS for name, row in part.ROWS.items()}


def calls_others(operation: Documented) -> bool:
    """Whether it is a page of members, which does nothing but by other operations."""
    return bool(operation.definition["tags"][0].startswith("area"))


def each(wanted: Callable[[Documented], object] = lambda operation: True) -> pytest.MarkDecorator:
    """Run a test for each operation, or for those that are wanted; test_answers.py finds one without a row."""
    rows = [(one, ROWS[one.id]) for one in DOCUMENTED.values() if one.id in ROWS and wanted(one)]
    return pytest.mark.parametrize(
        ("operation", "row"), [pytest.param(one, row, id=one.id) for one, row in rows]
    )
