"""The succeeding request of every operation is answered as its document says."""

from typing import Any

import httpx
import jsonschema_rs

from app.http.formats import CHECKS
from app.http.schema import draft4
from tests.api import Tenant
from tests.documents import Documented
from tests.operations.rows import Row, ask
from tests.operations.table.every import DOCUMENTED, PARTS, ROWS, each


def test_every_operation_of_the_documents_has_one_row() -> None:
    missing = sorted(DOCUMENTED.keys() - ROWS.keys())
    assert not missing, f"Add a row with a request that succeeds to tests/operations/table: {missing}"
    assert ROWS.keys() == DOCUMENTED.keys(), "tests/operations/table has rows of no operation"
    assert sum(len(part.ROWS) for part in PARTS) == len(ROWS), "an operation has two rows"


def keeps_headers(answer: httpx.Response, documented: dict[str, Any]) -> None:
    for name, header in documented.items():
        assert name in answer.headers or not header.get("required"), f"{name} is missing"
        schema, value = header["schema"], answer.headers.get(name)
        if value is not None:
            wanted = int(value) if schema["type"] == "integer" else value
            validator = jsonschema_rs.Draft4Validator(draft4(schema), validate_formats=True, formats=CHECKS)
            assert validator.is_valid(wanted), f"{name}: {value}"


# Made while they are sent: nobody knows their length beforehand.
STREAMED = {"export_audit_log", "download_audit_log", "export_results", "download_results", "download_report"}


@each()
def test_a_succeeding_request_is_answered_as_the_document_says(
    operation: Documented, row: Row, tenant: Tenant
) -> None:
    promised = operation.definition["responses"]
    seen = set()
    for one in (row, *row.also):
        ids = one.state(tenant.live)
        answer = ask(tenant.live, operation, one, ids)  # also held against the schema
        assert answer.status_code == one.status, answer.text
        assert (answer.headers.get("content-type", "").partition(";")[0] or None) == one.answers
        length = answer.headers.get(
            "content-length", answer.num_bytes_downloaded if operation.id in STREAMED else 0
        )
        assert int(length) == answer.num_bytes_downloaded
        keeps_headers(answer, promised[str(one.status)].get("headers", {}))
        seen.add((str(one.status), one.answers))
        if "304" in promised:
            mark = answer.headers["ETag"]
            again = ask(tenant.live, operation, one, ids, headers={"If-None-Match": mark})
            assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", mark)
            seen.add(("304", None))
    successes = {
        (status, kind)
        for status, one in promised.items()
        if status < "400"
        for kind in one.get("content") or (None,)
    }
    assert seen == successes, "the row of an operation shows each success that its document names: Row.also"
