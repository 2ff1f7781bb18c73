"""A request that names itself has its effect once: every operation that takes an Idempotency-Key."""

from dataclasses import replace
from typing import Any

import store
from rules.caller import Caller
from store.accounts.idempotency import Asked, hold
from tests.api import Api, Tenant, address
from tests.documents import Documented, operations
from tests.operations import states
from tests.operations.bounds import differently
from tests.operations.rows import Row, ask, fill, let_in
from tests.operations.table.every import each
from tests.probes import body_schema, refusal

KEY = {"Idempotency-Key": "order-66"}
LISTS = [
    one.path
    for one in operations("openapi").values()
    if "{" not in one.path and any(each["name"] == "cursor" for each in one.parameters)
]


def takes_a_key(operation: Documented) -> bool:
    return any(one["name"] == "Idempotency-Key" for one in operation.parameters)


def everything(api: Api) -> list[Any]:
    """All that an organisation sees of itself, and what its endpoint has received."""
    whole = Api(api.http, api.key, "")
    return [whole.get(at, params={"page_size": 100}).json() for at in LISTS] + [
        len(states.receiver().requests)
    ]


@each(takes_a_key)
def test_a_request_that_names_itself_has_its_effect_once(
    operation: Documented, row: Row, tenant: Tenant
) -> None:
    api = tenant.live
    ids = {"email": address(), **row.state(api)}
    elsewhere = row.state(api) if "{" in operation.path else None
    asked = Asked(
        Caller(tenant.organisation.id, livemode=tenant.is_at_home, plan_name="growth"),
        KEY["Idempotency-Key"],
        "x",
    )
    used = {"Idempotency-Key": "of-another-request"}
    assert (
        api.post("/cases/create/", {"title": "A request", "case_type": "text"}, headers=used).status_code
        == 201
    )
    refusal(ask(api, operation, row, ids, headers=used), 422, "IDEMPOTENCY_MISMATCH")
    with store.transaction() as session:  # somebody else is at work on it
        hold(session, asked)
        refusal(ask(api, operation, row, ids, headers=KEY), 409, "IDEMPOTENCY_IN_PROGRESS")
        session.rollback()
    first = ask(api, operation, row, ids, headers=KEY)
    assert first.status_code == row.status, first.text
    assert "Idempotent-Replayed" not in first.headers
    done = everything(api)
    again = ask(api, operation, row, ids, headers=KEY)
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.headers["Content-Type"] == first.headers["Content-Type"]
    others = [api.post("/cases/create/", {"title": "Another request", "case_type": "text"}, headers=KEY)]
    if elsewhere:
        others.append(ask(api, operation, row, ids | elsewhere, headers=KEY))
    if row.files:
        files = {name: (named, content + b"!", kind) for name, (named, content, kind) in row.files.items()}
        others.append(ask(api, operation, replace(row, files=files), ids, headers=KEY))
    elif row.body is not None:
        changed = differently(body_schema(operation), fill(row.body, ids))
        others.append(ask(api, operation, row, ids, body=changed, headers=KEY))
    for other in others:
        refusal(other, 422, "IDEMPOTENCY_MISMATCH")
    assert everything(api) == done


@each(takes_a_key)
def test_a_refused_request_leaves_its_key_free(
    operation: Documented, row: Row, tenant: Tenant, other: Tenant
) -> None:
    ids = {"email": address(), **row.state(tenant.live)}
    for refused in (
        ask(tenant.live, operation, row, ids, params={"no_such_parameter": "1"}, headers=KEY),
        ask(tenant.key(scopes=["organisation:read"]), operation, row, ids, headers=KEY),
    ):
        assert refused.status_code in (400, 403), refused.text
    done = ask(tenant.live, operation, row, ids, headers=KEY)
    assert (done.status_code, "Idempotent-Replayed" in done.headers) == (row.status, False)
    # A key belongs to one organisation and mode.
    for stranger in let_in(operation, tenant.test, other.live):
        done = ask(stranger, operation, row, row.state(stranger), headers=KEY)
        assert (done.status_code, "Idempotent-Replayed" in done.headers) == (row.status, False)
