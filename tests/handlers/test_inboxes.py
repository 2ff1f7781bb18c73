"""Inboxes of the test world: what is delivered there is kept, and live endpoints never come to one."""

import json
from typing import Any
from uuid import UUID

import pytest
from standardwebhooks import Webhook

import store
from gateways import webhooks as gateway
from rules import inboxes
from rules.retries import Outcome
from store.delivering.webhooks import WebhookEndpoint
from tests.api import Api, Tenant, address
from tests.hooks import deliveries_of, endpoint_of
from tests.operations import states
from tests.probes import refusal
from workers import posting

DAY = 86_400


def did(answer: Any) -> Any:
    assert answer.is_success, answer.text
    return answer.json()


def advance(api: Api, seconds: int) -> Any:
    return did(api.post("/test/clock/advance/", {"seconds": seconds}))


def shown(api: Api, inbox: Any) -> Any:
    return did(api.get(f"/test/inboxes/{inbox['id']}/"))


def endpoint(api: Api, *answers: dict[str, Any]) -> tuple[Any, Any]:
    """An inbox, and a verified endpoint with its address; the ping has the first answer."""
    inbox = did(api.post("/test/inboxes/", {"answers": [{"status": 200}, *answers]}))
    hook = did(api.post("/webhooks/create/", {"url": inbox["url"], "events": ["*"]}))
    did(api.post(f"/webhooks/{hook['id']}/test/"))
    return inbox, hook


@pytest.fixture(autouse=True)
def no_private_addresses() -> Any:
    """Addresses are checked as they are in production."""
    gateway.configure(allow_private=False)
    yield
    gateway.configure(allow_private=True)


def test_what_is_delivered_is_there_with_its_signature(tenant: Tenant) -> None:
    inbox, hook = endpoint(tenant.test)
    tenant.test.job()
    advance(tenant.test, 1)
    found = shown(tenant.test, inbox)
    assert found["received_count"] == 2
    assert [json.loads(one["body"])["type"] for one in found["requests"]] == ["webhook.test", "job.created"]
    assert all(one["verified"] and one["status"] == 200 for one in found["requests"])
    for one in found["requests"]:
        headers = {header["name"]: header["value"] for header in one["received_headers"]}
        Webhook(hook["secret_key"]).verify(one["body"], headers)
    [delivery] = deliveries_of(hook["id"])
    assert (delivery.status, delivery.attempts) == ("delivered", 1)


def test_answers_are_given_one_after_the_other(tenant: Tenant) -> None:
    answers = [{"status": 500}, {"status": 503, "retry_after_seconds": 7200}, {"status": 204}]
    inbox, hook = endpoint(tenant.test, *answers)
    tenant.test.job()
    advance(tenant.test, 3600)
    [delivery] = deliveries_of(hook["id"])
    assert (delivery.status, delivery.attempts, delivery.response_status_code) == ("pending", 2, 503)
    advance(tenant.test, 3700)
    [delivery] = deliveries_of(hook["id"])
    assert (delivery.status, delivery.attempts) == ("delivered", 3)
    assert [one["status"] for one in shown(tenant.test, inbox)["requests"]] == [200, 500, 503, 204]


def test_an_endpoint_that_is_gone_is_switched_off(tenant: Tenant) -> None:
    _, hook = endpoint(tenant.test, {"status": 410})
    tenant.test.job()
    moved = advance(tenant.test, 1)
    assert [one["kind"] for one in moved["happened"]] == ["webhook.disabled"]
    assert not endpoint_of(hook["id"]).is_active


def test_an_endpoint_that_was_down_is_probed_in_its_inbox(tenant: Tenant) -> None:
    _, hook = endpoint(tenant.test, *[{"status": 500}] * 11, {"status": 200})
    tenant.test.job()
    advance(tenant.test, 4 * DAY)
    tenant.test.job()
    moved = advance(tenant.test, 4 * DAY)
    assert endpoint_of(hook["id"]).is_active, moved


def test_an_answer_may_take_its_time(tenant: Tenant) -> None:
    _, hook = endpoint(tenant.test, {"delay_seconds": 1})
    tenant.test.job()
    advance(tenant.test, 1)
    [delivery] = deliveries_of(hook["id"])
    assert delivery.response_time_ms is not None
    assert delivery.response_time_ms >= 1000


def test_live_endpoints_never_come_to_an_inbox(tenant: Tenant, other: Tenant) -> None:
    inbox = did(tenant.test.post("/test/inboxes/"))
    body = {"url": inbox["url"], "events": ["*"]}
    for stranger in (tenant.live, other.test, other.live):
        refused = refusal(stranger.post("/webhooks/create/", body), 400, "VALIDATION_ERROR")
        assert refused["details"]["fields"][0]["pointer"] == "/url"
    gateway.configure(allow_private=True)
    hook = states.a_webhook(tenant.live)["id"]
    gateway.configure(allow_private=False)
    refusal(tenant.live.patch(f"/webhooks/{hook}/", {"url": inbox["url"]}), 400, "VALIDATION_ERROR")
    with store.transaction() as session:  # even where one had the address
        session.get_one(WebhookEndpoint, UUID(hook)).url = inbox["url"]
    refusal(tenant.live.post(f"/webhooks/{hook}/test/"), 400, "WEBHOOK_REQUEST_FAILED")
    for owner, livemode in ((tenant.organisation.id, True), (other.organisation.id, False)):
        outcome = posting.post_now(inbox["url"], b"{}", {}, owner=owner, livemode=livemode)
        assert isinstance(outcome, Outcome)
        assert outcome.status_code is None
    assert shown(tenant.test, inbox)["received_count"] == 0


def test_an_inbox_is_its_organisations_and_they_have_an_end(
    tenant: Tenant, other: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    inbox = did(tenant.test.post("/test/inboxes/"))
    refusal(other.test.get(f"/test/inboxes/{inbox['id']}/"), 404, "NOT_FOUND")
    refusal(tenant.live.get(f"/test/inboxes/{inbox['id']}/"), 403, "LIVE_KEY")
    refusal(tenant.live.post("/test/inboxes/"), 403, "LIVE_KEY")
    monkeypatch.setattr(inboxes, "MOST", 1)
    refusal(tenant.test.post("/test/inboxes/"), 403, "LIMIT_REACHED")
    for wrong in ({"status": 199}, {"status": 600}, {"delay_seconds": 11}, {"retry_after_seconds": -1}):
        refusal(tenant.test.post("/test/inboxes/", {"answers": [wrong]}), 400, "VALIDATION_ERROR")


def test_so_many_requests_are_kept(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inboxes, "MOST_KEPT", 2)
    inbox, _ = endpoint(tenant.test)
    for _ in range(3):
        tenant.test.job()
    advance(tenant.test, 1)
    found = shown(tenant.test, inbox)
    assert (found["received_count"], len(found["requests"])) == (4, 2)


def test_who_is_erased_is_gone_from_inboxes_too(tenant: Tenant) -> None:
    inbox, _ = endpoint(tenant.test)
    made = states.an_application(tenant.test)
    advance(tenant.test, 1)
    person = did(tenant.test.get(f"/applications/{made['application_id']}/"))
    assert person["email"] in str(shown(tenant.test, inbox)["requests"])
    did(tenant.test.post(f"/candidates/{person['candidate_id']}/erase/"))
    assert person["email"] not in str(shown(tenant.test, inbox)["requests"])


# --- Mails


def test_mails_are_there_with_their_links(tenant: Tenant, other: Tenant) -> None:
    email, slug = address(), tenant.test.assessment(cases=1)["slug"]
    made = tenant.test.invitation(slug, email, send_email=True)
    [mail] = did(tenant.test.get("/test/mails/", params={"to": email.upper()}))["mails"]
    assert (mail["kind"], mail["to"], mail["sent_at"]) == ("invitation", email, None)
    assert made["invite_url"] in mail["links"]
    advance(tenant.test, 1)
    [mail] = did(tenant.test.get("/test/mails/", params={"to": email}))["mails"]
    assert mail["sent_at"] is not None
    assert did(other.test.get("/test/mails/", params={"to": email}))["mails"] == []
    refusal(tenant.live.get("/test/mails/", params={"to": email}), 403, "LIVE_KEY")
    refusal(tenant.test.get("/test/mails/"), 400, "VALIDATION_ERROR")


def test_an_offers_mail_leads_to_the_offer(tenant: Tenant) -> None:
    made = states.a_sent_offer(tenant.test)
    to = did(tenant.test.get(f"/applications/{made['application_id']}/"))["email"]
    mails = did(tenant.test.get("/test/mails/", params={"to": to}))["mails"]
    assert any(made["token"] in link for one in mails for link in one["links"])
