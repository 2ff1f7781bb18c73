"""The organisation through the API."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from gateways import mail, models
from rules.plans import PLANS
from tests import receiver
from tests.api import Api, Tenant, address, tenant
from tests.operations import states
from tests.operations.states import post
from tests.probes import faults, refusal


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
    monkeypatch.setattr(models, "_model", models.Model("http://127.0.0.1:1", "a-model", ""))
    assert integrations(tenant.live)["assistant"]["is_active"]


# --- Billing and the month


def at(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Set the clock by which months are told apart."""
    monkeypatch.setattr("rules.clock.now", lambda: datetime.fromisoformat(text))


def test_billing_shows_what_the_plan_has_and_what_is_used_of_it(tenant: Tenant) -> None:
    api = tenant.live
    slug = api.assessment()["slug"]
    api.invitation(slug)
    archived = api.assessment()["slug"]
    api.patch(f"/assessments/{archived}/update/", {"status": "archived"})
    api.job(published=True)
    api.job()
    tenant.test.invitation(tenant.test.assessment()["slug"])
    tenant.test.job(published=True)
    shown = api.get("/org/billing/").json()
    assert tenant.test.get("/org/billing/").json() == shown
    shown.pop("meta")
    start, end = (datetime.fromisoformat(shown.pop(name)) for name in ("cycle_start", "cycle_end"))
    assert start <= datetime.now(UTC) < end
    assert shown == {
        "plan": "growth",
        "seats_used": 0,
        "seat_limit": 15,
        "invite_limit": 1000,
        "invites_used": 1,
        "invites_remaining": 999,
        "assessment_limit": 50,
        "assessments_used": 1,
        "open_job_limit": 25,
        "open_jobs_used": 1,
        "interview_limit": 100,
        "interviews_used": 0,
    }


def test_an_enterprise_has_no_limits(http: TestClient) -> None:
    shown = tenant(http, "enterprise").live.get("/org/billing/").json()
    limits = {name: one for name, one in shown.items() if name.endswith(("_limit", "_remaining"))}
    assert set(limits.values()) == {None}
    assert len(limits) == 6


def test_the_months_invitations_begin_anew_at_midnight_utc(
    http: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PLANS, "starter", replace(PLANS["starter"], invites=2))
    owner = tenant(http, "starter")
    slug = owner.live.assessment()["slug"]

    def invite() -> int:
        return owner.live.post(f"/assessments/{slug}/invites/", {"email": address()}).status_code

    def used() -> tuple[int, str, str]:
        shown = owner.live.get("/org/billing/").json()
        assert shown["invites_used"] == owner.live.get("/org/").json()["invites_used"]
        assert shown["invites_used"] == shown["meta"]["invites_used"]
        return shown["invites_used"], shown["cycle_start"], shown["cycle_end"]

    at(monkeypatch, "2031-12-31T23:59:59.999999+00:00")
    assert [invite() for _ in range(3)] == [201, 201, 403]
    assert used() == (2, "2031-12-01T00:00:00.000Z", "2032-01-01T00:00:00.000Z")
    at(monkeypatch, "2032-01-01T00:00:00+00:00")
    assert used() == (0, "2032-01-01T00:00:00.000Z", "2032-02-01T00:00:00.000Z")
    assert [invite() for _ in range(3)] == [201, 201, 403]
    at(monkeypatch, "2031-12-31T23:59:59.999999+00:00")
    assert used()[0] == 2


# --- Figures


def figures(api: Api, **query: str) -> dict[str, Any]:
    return {name: one for name, one in api.get("/org/stats/", params=query).json().items() if name != "meta"}


NOTHING = {
    "total_invites": 0,
    "total_candidates": 0,
    "completed_assessments": 0,
    "passed_candidates": 0,
    "pass_rate": None,
    "average_score_percentage": None,
    "active_assessments": 0,
}


def test_figures_count_people_once_and_sessions_when_their_grades_are_final(
    tenant: Tenant, other: Tenant
) -> None:
    api = tenant.live
    assert figures(api) == NOTHING
    states.a_pass(api)
    states.a_submission(api)  # a text waits for review
    failed = states.a_sitting(api, states.NUMBER)
    post(states.candidate(api), f"/invites/{failed['token']}/submit/")
    states.graded(api)
    states.a_sitting(api)
    slug = api.assessment()["slug"]
    email = failed["person"].upper()
    api.invitation(slug, email)
    api.assessment(active=False)
    assert figures(api) == {
        "total_invites": 5,
        "total_candidates": 4,
        "completed_assessments": 3,
        "passed_candidates": 1,
        "pass_rate": "0.5000",
        "average_score_percentage": "50.00",
        "active_assessments": 5,
    }
    assert figures(tenant.test) == figures(other.live) == NOTHING


def test_figures_of_a_squad_are_of_its_assessments(tenant: Tenant) -> None:
    api, squad = tenant.live, tenant.live.squad()
    of_squad = api.assessment(team_id=squad["id"])["slug"]
    api.invitation(of_squad)
    api.invitation(of_squad)
    api.invitation(api.assessment()["slug"])
    assert figures(api)["total_invites"] == 3
    assert figures(api, team_slug=squad["slug"])["total_invites"] == 2
    assert figures(api, team_slug="null") == NOTHING | {
        "total_invites": 1, "total_candidates": 1, "active_assessments": 1,
    }  # fmt: skip
    assert figures(tenant.test, team_slug=squad["slug"]) == NOTHING
    assert figures(api, team_slug="unknown") == NOTHING


def test_figures_of_a_squad_need_the_growth_plan(http: TestClient) -> None:
    starter = tenant(http, "starter").live
    assert figures(starter) == NOTHING
    refusal(starter.get("/org/stats/", params={"team_slug": "null"}), 403, "PLAN_REQUIRED")
