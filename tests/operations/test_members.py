"""What members are refused: every operation and page of the area, each refusal that its document names."""

import dataclasses
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update

import store
from app.http import limits
from rules.clock import now
from rules.roles import PROVEN_FOR
from store.accounts.members import Member
from store.accounts.signed_in import MemberSession
from tests.api import Api, Tenant
from tests.documents import Documented
from tests.operations import states
from tests.operations.rows import Row, ask, fill
from tests.operations.table.every import DOCUMENTED, ROWS, each
from tests.probes import refusal

STRANGE = {"Origin": "https://elsewhere.example.com"}
NOBODYS = "019a9b1e-7c1d-7a42-9f4e-5d0c8a3b2f10"


def needs(operation: Documented) -> list[str]:
    """What of a session's scopes an operation needs."""
    return [scope for need in operation.definition["security"] for scope in need.get("session", ())]


def is_asked_by_session(operation: Documented) -> bool:
    return any("session" in need for need in operation.definition.get("security", []))


def changes(operation: Documented) -> bool:
    return operation.method != "GET"


def is_form(operation: Documented) -> bool:
    return operation.by_session and operation.is_page and changes(operation)


def names(operation: Documented, status: str, code: str | None = None) -> bool:
    """Whether the document says that it may be refused so."""
    answer = operation.definition["responses"].get(status, {})
    examples = answer.get("content", {}).get("application/json", {}).get("examples", {})
    return code in examples if code else bool(answer)


@each(is_asked_by_session)
def test_who_is_not_signed_in_does_nothing(operation: Documented, row: Row, tenant: Tenant) -> None:
    nobody = dataclasses.replace(row, is_signed_in=False)
    refusal(ask(tenant.live, operation, nobody, row.state(tenant.live)), 401, "INVALID_SESSION")


@each(lambda one: is_asked_by_session(one) and changes(one))
def test_a_change_carries_the_sessions_token(operation: Documented, row: Row, tenant: Tenant) -> None:
    ids = row.state(tenant.live)
    answer = ask(tenant.live, operation, row, ids, headers={"X-CSRF-Token": ""})
    refusal(answer, 403, "CSRF_FAILED")


@each(lambda one: is_asked_by_session(one) and needs(one))
def test_who_has_another_role_does_nothing(operation: Documented, row: Row, tenant: Tenant) -> None:
    ids = row.state(tenant.live)
    answer = ask(tenant.live, operation, row, ids, headers=tenant.member("member").headers)
    refusal(answer, 403, "INSUFFICIENT_SCOPE")


def unproven(tenant: Tenant) -> dict[str, str]:
    """An owner's session whose last proof is too old."""
    owner = tenant.member("owner")
    mine = update(MemberSession).where(
        MemberSession.member_id == Member.id, Member.organisation_id == tenant.organisation.id
    )
    with store.transaction() as session:
        session.execute(mine.values(proven_at=now() - PROVEN_FOR - timedelta(seconds=1)))
    return owner.headers


@each(lambda one: is_asked_by_session(one) and names(one, "403", "CONFIRMATION_REQUIRED"))
def test_who_has_not_proven_who_they_are_changes_nothing(
    operation: Documented, row: Row, tenant: Tenant
) -> None:
    ids = row.state(tenant.live)
    refusal(ask(tenant.live, operation, row, ids, headers=unproven(tenant)), 403, "CONFIRMATION_REQUIRED")


@each(lambda one: one.by_session)
def test_members_have_an_hour_of_their_own(
    operation: Documented, row: Row, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    signed_in = dataclasses.replace(row, is_signed_in=True)
    ids = row.state(tenant.live)
    monkeypatch.setattr(limits, "MEMBER_LIMIT", 0)
    answer = ask(tenant.live, operation, signed_in, ids)
    assert answer.status_code == 429, answer.text
    assert int(answer.headers["Retry-After"]) > 0


@each(is_form)
def test_a_form_of_another_session_changes_nothing(operation: Documented, row: Row, tenant: Tenant) -> None:
    ids = row.state(tenant.live) | {"csrf_token": "of another session"}
    assert ask(tenant.live, operation, row, ids).status_code == 403


@each(lambda one: "area" in one.path and changes(one) and not one.by_session)
def test_a_page_of_another_site_signs_nobody_in(operation: Documented, row: Row, tenant: Tenant) -> None:
    assert ask(tenant.live, operation, row, row.state(tenant.live), headers=STRANGE).status_code == 403


@each(lambda one: one.by_session and one.is_page and not changes(one))
def test_a_page_says_what_its_address_has_wrong(operation: Documented, row: Row, tenant: Tenant) -> None:
    ids = row.state(tenant.live)
    asked: dict[str, Any] = fill(dict(row.query), ids) | {"done": "?", "next": "\0", "page": "?"}
    assert ask(tenant.live, operation, row, ids, params=asked).status_code == 400


@each(lambda one: one.by_session and one.is_page and not changes(one) and names(one, "403"))
def test_a_page_says_what_a_role_does_not_include(operation: Documented, row: Row, tenant: Tenant) -> None:
    ids = row.state(tenant.live)
    role = "reviewer"
    answer = ask(tenant.live, operation, row, ids, headers=tenant.member(role).headers)
    assert answer.status_code == 403, answer.text


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("change_keys_on_page", {"action": "revoke", "key_id": NOBODYS}),
        ("change_members_on_page", {"action": "remove", "user_id": NOBODYS}),
    ],
)
def test_a_form_of_what_is_gone_says_so(tenant: Tenant, name: str, fields: dict[str, str]) -> None:
    answer = form(tenant.live, name, fields)
    assert answer.status_code == 404, answer.text


def test_a_webhook_is_not_given_the_address_of_another(tenant: Tenant) -> None:
    first, second = (states.a_webhook(tenant.live)["id"] for _ in range(2))
    taken = tenant.live.get(f"/webhooks/{first}/").json()
    fields = {"action": "update", "url": taken["url"], "name": "ATS", "events": taken["events"]}
    assert form(tenant.live, "change_webhook_on_page", fields, id=second).status_code == 409


def form(api: Api, name: str, fields: dict[str, Any], **ids: str) -> Any:
    body = {"csrf_token": "{csrf_token}", "action": fields.pop("action"), "fields": fields}
    return ask(api, DOCUMENTED[name], dataclasses.replace(ROWS[name], body=body), ids)
