"""The organisation through the API."""

import pytest
from starlette.testclient import TestClient

from tests.api import Tenant, tenant
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
