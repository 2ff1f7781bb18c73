"""What was read of a request stays as it was while it is run, so that it can be run again."""

import copy
from typing import Any

import pytest

from app.http.context import Request
from app.http.pipeline import Pipeline
from tests.api import Tenant
from tests.documents import Documented
from tests.operations.rows import Row, ask
from tests.operations.table.every import each


@each()
def test_running_an_operation_leaves_its_arguments_alone(
    operation: Documented, row: Row, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, compared = Pipeline.run, []

    def watched(pipeline: Pipeline, request: Request) -> Any:
        before = copy.deepcopy(request.arguments)
        try:
            return run(pipeline, request)
        finally:
            compared.append((before, request.arguments))

    ids = row.state(tenant.live)
    monkeypatch.setattr(Pipeline, "run", watched)
    assert ask(tenant.live, operation, row, ids).status_code == row.status
    [(before, after)] = compared
    assert before == after
