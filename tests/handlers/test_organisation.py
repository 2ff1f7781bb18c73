"""The organisation through the API."""

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from gateways import briefs, mail
from tests import receiver
from tests.api import Api, Tenant, tenant
from tests.probes import faults


@pytest.mark.parametrize(
    ("plan", "limit", "squads"),
    [("starter", 500, False), ("growth", 1_000, True), ("enterprise", None, True)],
)
def test_an_organisation_is_shown_with_its_plan_and_month(
    http: TestClient, plan: str, limit: int | None, squads: bool
) -> None:
    owner = tenant(http, plan)
    shown = owner.live.get("/org/").json()
    assert shown["id"] == str(owner.organisation.id)
    assert (shown["name"], shown["slug"]) == (owner.organisation.name, owner.organisation.slug)
    assert (shown["plan"], shown["squads_enabled"]) == (plan, squads)
    assert (shown["invite_limit"], shown["invites_used"], shown["invites_remaining"]) == (limit, 0, limit)
    assert shown["meta"] == {
        "plan": plan,
        "invite_limit": limit,
        "invites_used": 0,
        "invites_remaining": limit,
    }
    assert shown["notify_on_candidate_completion"] is False
    assert owner.test.get("/org/").json() == shown


def test_the_quota_is_that_of_live_invitations_in_both_modes(tenant: Tenant) -> None:
    tenant.live.invitation(tenant.live.assessment()["slug"])
    tenant.test.invitation(tenant.test.assessment()["slug"])
    for api in (tenant.live, tenant.test):
        shown = api.get("/org/").json()
        assert (shown["invites_used"], shown["invites_remaining"]) == (1, 999)


def test_only_what_is_sent_changes(tenant: Tenant) -> None:
    before = tenant.live.get("/org/").json()
    assert tenant.live.patch("/org/", {}).json() == {k: v for k, v in before.items() if k != "meta"}
    renamed = tenant.live.patch("/org/", {"name": "Südwind & Söhne 🦄"}).json()
    assert (renamed["name"], renamed["slug"]) == ("Südwind & Söhne 🦄", before["slug"])
    told = tenant.test.patch("/org/", {"notify_on_candidate_completion": True}).json()
    assert (told["name"], told["notify_on_candidate_completion"]) == ("Südwind & Söhne 🦄", True)
    assert "meta" not in told
    assert tenant.live.get("/org/").json() == before | {
        "name": "Südwind & Söhne 🦄",
        "notify_on_candidate_completion": True,
    }


def test_another_organisation_stays_as_it_is(tenant: Tenant, other: Tenant) -> None:
    tenant.live.patch("/org/", {"name": "Changed"})
    assert other.live.get("/org/").json()["name"] == other.organisation.name


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"name": ""}, "/name"),
        ({"name": " \t"}, "/name"),
        ({"name": "x" * 201}, "/name"),
        ({"name": None}, "/name"),
        ({"notify_on_candidate_completion": "yes"}, "/notify_on_candidate_completion"),
        ({"notify_on_candidate_completion": None}, "/notify_on_candidate_completion"),
        ({"plan": "enterprise"}, "/plan"),
        ({"slug": "mine"}, "/slug"),
        ({"invite_limit": 1_000_000}, "/invite_limit"),
        ({"id": "019a9b1e-7c1d-7a42-9f4e-5d0c8a3b2f10"}, "/id"),
    ],
)
def test_what_cannot_be_changed_is_refused(tenant: Tenant, body: dict, pointer: str) -> None:
    assert pointer in faults(tenant.live.patch("/org/", body))
    assert tenant.live.get("/org/").json()["plan"] == "growth"


def test_a_name_of_200_characters_fits(tenant: Tenant) -> None:
    assert tenant.live.patch("/org/", {"name": "ü" * 200}).json()["name"] == "ü" * 200


# --- Integrations


def integrations(api: Api) -> dict[str, dict[str, Any]]:
    return {one["provider"]: one for one in api.get("/integrations/").json()["integrations"]}


def test_without_endpoints_and_a_model_only_mail_is_connected(tenant: Tenant) -> None:
    found = integrations(tenant.live)
    assert {name: (one["kind"], one["is_active"]) for name, one in found.items()} == {
        "webhooks": ("signed_events", False),
        "mail": ("files", True),
        "assistant": ("openai_compatible", False),
    }
    assert {one["last_synced_at"] for one in found.values()} == {None}


def test_webhooks_are_connected_in_the_mode_in_which_an_endpoint_is_switched_on(tenant: Tenant) -> None:
    with receiver.running() as running:
        made = tenant.live.post("/webhooks/create/", {"url": running.url, "events": ["*"]}).json()
        assert not integrations(tenant.live)["webhooks"]["is_active"]
        assert tenant.live.post(f"/webhooks/{made['id']}/test/").status_code == 200
    found = integrations(tenant.live)["webhooks"]
    shown = tenant.live.get(f"/webhooks/{made['id']}/").json()
    assert found["is_active"]
    assert found["last_synced_at"] == shown["last_triggered_at"]
    assert not integrations(tenant.test)["webhooks"]["is_active"]


def test_mail_goes_out_as_it_is_set_up_but_for_the_test_mode(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(mail, "_settings", None)
    mail.configure(smtp_url="smtp://mail.example.com", mail_from="hiring@example.com", mail_dir=tmp_path)
    assert integrations(tenant.live)["mail"]["kind"] == "smtp"
    assert integrations(tenant.test)["mail"]["kind"] == "files"


def test_a_model_that_is_set_up_is_connected(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(briefs, "_model", briefs.Model("http://127.0.0.1:1", "a-model", ""))
    assert integrations(tenant.live)["assistant"]["is_active"]
