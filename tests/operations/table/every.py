"""The whole table: the succeeding request of each operation of all documents."""

from collections.abc import Callable

import pytest

from tests.documents import Documented, documents, operations
from tests.operations.rows import Row
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
ROWS: dict[str, Row] = {name: row for part in PARTS for name, row in part.ROWS.items()}
DOCUMENTED = {one.id: one for name in documents() for one in operations(name).values()}


def calls_others(operation: Documented) -> bool:
    """Whether it is a page of members, which does nothing but by other operations."""
    return bool(operation.definition["tags"][0].startswith("area"))


def each(wanted: Callable[[Documented], object] = lambda operation: True) -> pytest.MarkDecorator:
    """Run a test for each operation, or for those that are wanted; test_answers.py finds one without a row."""
    rows = [(one, ROWS[one.id]) for one in DOCUMENTED.values() if one.id in ROWS and wanted(one)]
    return pytest.mark.parametrize(
        ("operation", "row"), [pytest.param(one, row, id=one.id) for one, row in rows]
    )
