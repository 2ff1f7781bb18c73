"""What was read of a request stays as it was while it is run, so that it can be run again."""

import copy
from typing import Any

import pytest

from app.http.context import Request
from app.http.pipeline import Pipeline
from tests.api import Tenant
from tests.documents import Documented
from tests.operations.rows import JSON, Row, ask
from tests.operations.table.every import calls_others, each
from tests.probes import faults


@each()
def test_running_an_operation_leaves_its_arguments_alone(
    operation: Documented, row: Row, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, compared = Pipeline.run, []

    def watched(pipeline: Pipeline, request: Request, *opens: Any) -> Any:
        before = copy.deepcopy(request.arguments)
        try:
            return run(pipeline, request, *opens)
        finally:
            compared.append((before, request.arguments))

    ids = row.state(tenant.live)
    monkeypatch.setattr(Pipeline, "run", watched)
    assert ask(tenant.live, operation, row, ids).status_code == row.status
    assert compared
    # What plays somebody asks as they do.
    assert len(compared) == 1 or calls_others(operation) or operation.of_tests_alone
    assert all(before == after for before, after in compared)


def asks_for_json(operation: Documented) -> bool:
    body = operation.definition.get("requestBody", {})
    return body.get("required", False) and JSON in body["content"]


@each(asks_for_json)
def test_a_body_that_has_to_be_there_is_asked_for(operation: Documented, row: Row, tenant: Tenant) -> None:
    ids = row.state(tenant.live)
    refused = ask(tenant.live, operation, row, ids, content=b"", headers={"Content-Type": "application/json"})
    assert refused.status_code == 400
    assert faults(refused)[""] == "A request body is required."
