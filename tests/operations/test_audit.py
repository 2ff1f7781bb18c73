"""Every operation that changes something leaves one row of the audit log, or its document says that it leaves none."""

import re
from uuid import UUID

from tests.api import Tenant
from tests.documents import Documented
from tests.operations.rows import Row, ask
from tests.operations.table.every import DOCUMENTED, calls_others, each
from tests.trail import log

TOKEN = re.compile(r"(?<![\w-])[A-Za-z0-9_-]{43}(?![\w-])")
UNTOLD = {
    "save_answer",
    "report_violation",
    "run_code",
    "save_recording_chunk",
    # What happens in a room is kept there, each thing with its moment and its side.
    "post_room_message",
    "save_room_code",
    "save_whiteboard",
    "show_room_question",
    "run_room_code",
    "report_room_violation",
    "send_live_changes",
    "sign_in_by_mail",  # nobody knows yet whether anybody is there
    "begin_company_sign_in",
    "begin_passkey_sign_in",
    "ask_assistant",  # it changes nothing
    "preview_bulk_invite",
}


def channel(operation: Documented) -> str:
    if operation.path.startswith(("/api/v1/area/", "/area/")):
        return "area"
    return "public_api" if operation.scopes else "candidate"


def test_what_leaves_no_row_is_known_by_name() -> None:
    pages = {one.id for one in DOCUMENTED.values() if calls_others(one) and one.method != "GET"}
    marked = {one.id for one in DOCUMENTED.values() if "x-audit" in one.definition}
    assert pages < marked  # what they call leaves its own row
    marked -= pages
    assert marked == UNTOLD
    assert {DOCUMENTED[name].definition["x-audit"] for name in UNTOLD} == {"none"}


@each(lambda operation: operation.method != "GET" and not calls_others(operation))
def test_a_change_leaves_one_row_without_a_token_or_a_text(
    operation: Documented, row: Row, tenant: Tenant
) -> None:
    for one in (row, *row.also):
        ids = one.state(tenant.live)
        before = log(tenant.live)
        answer = ask(tenant.live, operation, one, ids)
        assert answer.status_code == one.status
        rows = log(tenant.live)[: -len(before) or None]
        if operation.id in UNTOLD:
            assert rows == []
            continue
        # Whoever is played, and what falls due, leaves rows beside it.
        [told] = [one for one in rows if one["action"] == operation.id or not operation.of_tests_alone]
        assert (told["action"], told["method"], told["outcome"]) == (
            operation.id,
            operation.method,
            "success",
        )
        assert told["status_code"] == one.status
        assert told["channel"] == channel(operation)
        assert told["request_id"] == answer.headers["X-Request-Id"]
        assert told["resource_type"], told
        assert UUID(told["resource_id"]), told
        assert not TOKEN.search(str(told))
        assert "@" not in str(told)
        assert "Ada" not in str(told)


# Whoever comes back from a company is led there by a GET.
@each(lambda operation: operation.method == "GET" and operation.id != "show_company_code_page")
def test_a_read_leaves_none(operation: Documented, row: Row, tenant: Tenant) -> None:
    ids = row.state(tenant.live)
    before = len(log(tenant.live))
    assert ask(tenant.live, operation, row, ids).status_code == row.status
    assert len(log(tenant.live)) == before
