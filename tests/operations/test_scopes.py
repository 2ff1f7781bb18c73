"""A key does what its scopes name, and an organisation what its plan has: every operation."""

from sqlalchemy import update
from starlette.testclient import TestClient

import store
from rules.clock import now
from rules.plans import GATES, RANKS
from rules.scopes import SCOPES, TWINS
from store.accounts.organisations import Organisation
from tests import api
from tests.api import Api, Tenant
from tests.documents import Documented
from tests.operations.rows import Row, ask, at_home
from tests.operations.table.every import each
from tests.probes import refusal


def alternatives(operation: Documented) -> list[set[str]]:
    """Each set of scopes that is enough, also by the other name of a scope that has two."""
    enough = [set(scopes) for need in operation.definition["security"] for scopes in need.values()]
    return [*enough, *({TWINS.get(one, one) for one in scopes} for scopes in enough if scopes & set(TWINS))]


@each(lambda one: one.scopes)
def test_a_key_needs_the_operations_scope_and_no_other(
    operation: Documented, row: Row, tenant: Tenant
) -> None:
    enough = alternatives(operation)
    ids = row.state(tenant.live)

    def refused(status: int, code: str, **limits: object) -> dict[str, object]:
        answer = ask(tenant.key(**limits), operation, row, ids)
        assert not [name for name in answer.headers if name.startswith("x-ratelimit")], "it was counted"
        return refusal(answer, status, code)["details"]

    needed = [one for one in operation.scopes if one not in TWINS] or operation.scopes
    others = [one for one in SCOPES if not any(one in scopes for scopes in enough)]
    assert refused(403, "INSUFFICIENT_SCOPE", scopes=others)["required_scope"] in {*needed, *operation.scopes}
    refused(403, "IP_NOT_ALLOWED", cidrs=["203.0.113.0/24"])
    refused(401, "EXPIRED_API_KEY", expires_at=now())
    refusal(ask(Api(tenant.http, None), operation, row, ids), 401, "INVALID_API_KEY")
    for scopes in enough:
        answer = ask(tenant.key(scopes=sorted(scopes)), operation, row, ids)
        assert answer.status_code == row.status, (scopes, answer.text)
        ids = row.state(tenant.live)


@each(lambda one: one.scopes)
def test_a_plan_has_the_features_that_the_document_says(
    operation: Documented, row: Row, http: TestClient
) -> None:
    owner = at_home(operation, api.tenant(http, "enterprise"))
    ids = row.state(owner.live)
    feature = operation.definition.get("x-feature")
    least = RANKS.index(GATES[feature]) if feature else 0
    for plan in RANKS[:least]:
        error = refusal(ask(on(plan, owner), operation, row, ids), 403, "PLAN_REQUIRED")
        assert error["details"]["required_plan"] == GATES[feature]
    assert ask(on(RANKS[least], owner), operation, row, ids).status_code == row.status


def on(plan: str, owner: Tenant) -> Api:
    """Put an organisation on a plan; a new key knows it at once."""
    with store.transaction() as session:
        session.execute(
            update(Organisation).where(Organisation.id == owner.organisation.id).values(plan=plan)
        )
    return owner.key()
