import dataclasses
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest

from app.instance import processes
from app.instance.settings import Settings
from gateways import webhooks as gateway
from rules.events import NAMES
from rules.retries import Outcome
from tests import receiver as receivers
from tests.api import Api, Tenant, address
from tests.hooks import wait_until
from tests.receiver import Answer, Receiver


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receivers.running() as running:
        yield running


@pytest.fixture
def strict(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rules of production for addresses."""
    monkeypatch.setattr(gateway, "_allow_private", False)


def register(api: Api, url: str | None = None, **fields: Any) -> dict[str, Any]:
    hook = {"url": url or f"https://hooks.example.com/{address()}", "events": ["*"], **fields}
    made = api.post("/webhooks/create/", hook)
    assert made.status_code == 201, made.text
    return dict(made.json())


def verified(api: Api, receiver: Receiver, **fields: Any) -> dict[str, Any]:
    made = register(api, receiver.url, **fields)
    assert api.post(f"/webhooks/{made['id']}/test/").status_code == 200
    receiver.clear()
    return made


def error(answer: Any, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    return dict(answer.json()["error"])


def pointers(answer: Any) -> list[str]:
    refused = error(answer, 400)
    assert refused["code"] == "VALIDATION_ERROR"
    return [field["pointer"] for field in refused["details"]["fields"]]


def test_a_new_endpoint_is_inactive_and_shows_its_secret_once(tenant: Tenant) -> None:
    made = register(tenant.live, name="ATS", description="Ours", events=["job.created", "candidate.passed"])
    assert made["secret_key"].startswith("whsec_")
    assert (made["is_active"], made["is_verified"], made["failure_count"]) == (False, False, 0)
    assert made["events"] == ["candidate.passed", "job.created"]
    shown = tenant.live.get(f"/webhooks/{made['id']}/").json()
    assert "secret_key" not in shown
    assert shown["name"] == "ATS"
    (listed,) = tenant.live.get("/webhooks/").json()["results"]
    assert listed == {name: value for name, value in shown.items() if name != "meta"}


def test_endpoints_are_listed_newest_first(tenant: Tenant) -> None:
    made = [register(tenant.live)["id"] for _ in range(3)]
    page = tenant.live.get("/webhooks/", params={"page_size": 2}).json()
    assert [one["id"] for one in page["results"]] == made[:0:-1]
    cursor = page["next"].partition("cursor=")[2]
    rest = tenant.live.get("/webhooks/", params={"cursor": cursor, "page_size": 2}).json()
    assert [one["id"] for one in rest["results"]] == made[:1]


def test_a_form_can_register_an_endpoint_too(tenant: Tenant) -> None:
    form = {"url": "https://hooks.example.com/form", "events": ["job.created", "job.closed"]}
    made = tenant.live.post("/webhooks/create/", data=form)
    assert made.status_code == 201, made.text
    assert made.json()["events"] == ["job.closed", "job.created"]


def test_an_unknown_event_is_refused_with_the_nearest_name(tenant: Tenant) -> None:
    hook = {"url": "https://hooks.example.com/x", "events": ["job.created", "invitation.create"]}
    answer = tenant.live.post("/webhooks/create/", hook)
    assert pointers(answer) == ["/events/1"]
    assert "invitation.created" in answer.text


@pytest.mark.parametrize("events", [[], None, "*", ["*", 1]])
def test_events_are_a_list_of_names(tenant: Tenant, events: Any) -> None:
    answer = tenant.live.post("/webhooks/create/", {"url": "https://hooks.example.com/x", "events": events})
    assert error(answer, 400)["code"] == "VALIDATION_ERROR"


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/hook",
        "https://127.0.0.1/hook",
        "https://2130706433/",
        "https://localhost/",
        "https://[::1]/",
        "https://169.254.169.254/latest/meta-data/",
        "https://me:secret@example.com/",
        "https://example.com:22/",
        "ftp://example.com/",
        "nonsense",
    ],
)
@pytest.mark.usefixtures("strict")
def test_addresses_that_may_not_be_reached_are_refused(tenant: Tenant, url: str) -> None:
    assert pointers(tenant.live.post("/webhooks/create/", {"url": url, "events": ["*"]})) == ["/url"]
    id = register(tenant.live, "https://8.8.8.8/hook")["id"]
    assert pointers(tenant.live.patch(f"/webhooks/{id}/", {"url": url})) == ["/url"]


def test_the_same_url_and_events_are_refused_however_many_ask_at_once(tenant: Tenant) -> None:
    hook = {"url": "https://hooks.example.com/same", "events": ["job.created", "job.closed"]}

    def ask(events: list[str]) -> int:
        return tenant.live.post("/webhooks/create/", {**hook, "events": events}).status_code

    orders = [["job.created", "job.closed"], ["job.closed", "job.created"]] * 5
    with ThreadPoolExecutor(5) as pool:
        statuses = list(pool.map(ask, orders))
    assert sorted(statuses) == [201] + [409] * 9
    assert error(tenant.live.post("/webhooks/create/", hook), 409)["code"] == "DUPLICATE_KEY"
    assert tenant.test.post("/webhooks/create/", hook).status_code == 201
    other = register(tenant.live)
    assert error(tenant.live.patch(f"/webhooks/{other['id']}/", hook), 409)["code"] == "DUPLICATE_KEY"


def test_a_successful_test_verifies_and_switches_on(tenant: Tenant, receiver: Receiver) -> None:
    made = register(tenant.live, receiver.url)
    answer = tenant.live.post(f"/webhooks/{made['id']}/test/")
    assert answer.status_code == 200, answer.text
    assert (answer.json()["status_code"], answer.json()["is_verified"]) == (200, True)
    (ping,) = receiver.requests
    envelope = ping.verify(made["secret_key"])
    assert (envelope["type"], envelope["sequence"], envelope["livemode"]) == ("webhook.test", 0, True)
    assert set(envelope["data"]) == {"message", "test_id"}
    shown = tenant.live.get(f"/webhooks/{made['id']}/").json()
    assert shown["is_active"]
    assert shown["is_verified"]
    assert shown["last_triggered_at"]
    assert tenant.live.get("/events/").json()["results"] == []


@pytest.mark.parametrize("status", [302, 404, 410, 500])
def test_an_endpoint_that_answers_otherwise_stays_off(
    tenant: Tenant, receiver: Receiver, status: int
) -> None:
    receiver.answer(status)
    id = register(tenant.live, receiver.url)["id"]
    refused = error(tenant.live.post(f"/webhooks/{id}/test/"), 400)
    assert refused["code"] == "WEBHOOK_ENDPOINT_ERROR"
    assert refused["details"]["status_code"] == status
    assert not tenant.live.get(f"/webhooks/{id}/").json()["is_verified"]


def test_an_endpoint_that_cannot_be_reached_stays_off(tenant: Tenant) -> None:
    id = register(tenant.live, "http://127.0.0.1:1/hook")["id"]
    refused = error(tenant.live.post(f"/webhooks/{id}/test/"), 400)
    assert refused["code"] == "WEBHOOK_REQUEST_FAILED"
    assert "connect" in refused["details"]["reason"]


def test_a_test_that_our_own_limits_prevented_is_not_the_endpoints_failure(
    tenant: Tenant, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = register(tenant.live, receiver.url)
    busy = Outcome(error="Too many names are being looked up.", ours=True)
    monkeypatch.setattr(gateway, "post", lambda *_, **__: busy)
    api = dataclasses.replace(tenant.live, checked=False)
    assert error(api.post(f"/webhooks/{made['id']}/test/"), 503)["code"] == "UNAVAILABLE"


def test_a_url_changed_during_its_test_is_not_verified(tenant: Tenant, receiver: Receiver) -> None:
    id = register(tenant.live, receiver.url)["id"]
    asked, changed = threading.Event(), threading.Event()

    def hold(request: receivers.Received) -> Answer:
        asked.set()
        return Answer(200 if changed.wait(30) else 500)

    receiver.answer(hold)
    with ThreadPoolExecutor(1) as pool:
        test = pool.submit(tenant.live.post, f"/webhooks/{id}/test/")
        assert asked.wait(30)
        assert tenant.live.patch(f"/webhooks/{id}/", {"url": receiver.url + "2"}).status_code == 200
        changed.set()
        assert error(test.result(), 400)["details"]["status"] == "unverified"
    assert not tenant.live.get(f"/webhooks/{id}/").json()["is_verified"]


def test_only_a_verified_endpoint_is_switched_on(tenant: Tenant, receiver: Receiver) -> None:
    id = register(tenant.live, receiver.url)["id"]
    assert error(tenant.live.patch(f"/webhooks/{id}/", {"is_active": True}), 400)["code"] == "NOT_VERIFIED"
    tenant.live.post(f"/webhooks/{id}/test/")
    off = tenant.live.patch(f"/webhooks/{id}/", {"is_active": False, "name": "off"}).json()
    assert (off["is_active"], off["is_verified"], off["name"]) == (False, True, "off")
    assert tenant.live.patch(f"/webhooks/{id}/", {"is_active": True}).json()["is_active"]
    moved = tenant.live.patch(f"/webhooks/{id}/", {"url": receiver.url + "2"}).json()
    assert (moved["is_active"], moved["is_verified"]) == (False, False)


def test_a_change_of_nothing_changes_nothing(tenant: Tenant, receiver: Receiver) -> None:
    made = verified(tenant.live, receiver)
    before = tenant.live.get(f"/webhooks/{made['id']}/").json()
    answer = tenant.live.patch(f"/webhooks/{made['id']}/", {})
    assert (answer.status_code, answer.json()) == (200, {k: v for k, v in before.items() if k != "meta"})


def test_a_deleted_endpoint_is_gone(tenant: Tenant) -> None:
    id = register(tenant.live)["id"]
    assert tenant.live.delete(f"/webhooks/{id}/").status_code == 204
    assert error(tenant.live.get(f"/webhooks/{id}/"), 404)["code"] == "NOT_FOUND"
    assert tenant.live.delete(f"/webhooks/{id}/").status_code == 404


def test_a_rotated_secret_signs_beside_the_old_one(tenant: Tenant, receiver: Receiver) -> None:
    made = verified(tenant.live, receiver)
    answer = tenant.live.post(f"/webhooks/{made['id']}/rotate-secret/", {"overlap_hours": 1})
    assert answer.status_code == 200, answer.text
    secret = answer.json()["secret_key"]
    assert secret != made["secret_key"]
    tenant.live.post(f"/webhooks/{made['id']}/test/")
    (ping,) = receiver.requests
    ping.verify(secret)
    ping.verify(made["secret_key"])
    receiver.clear()
    assert tenant.live.post(f"/webhooks/{made['id']}/rotate-secret/", {"overlap_hours": 0}).status_code == 200
    tenant.live.post(f"/webhooks/{made['id']}/test/")
    assert len(receiver.requests[0].headers["webhook-signature"].split(" ")) == 1
    assert tenant.live.post(f"/webhooks/{made['id']}/rotate-secret/").status_code == 200


def test_reading_keys_cannot_write_and_writing_keys_cannot_read(tenant: Tenant) -> None:
    reader, writer = (tenant.key(scopes=[f"webhooks:{right}"]) for right in ("read", "write"))
    made = register(writer)
    assert reader.get("/webhooks/").status_code == 200
    assert reader.get("/events/").status_code == 200
    assert error(writer.get("/webhooks/"), 403)["code"] == "INSUFFICIENT_SCOPE"
    for path in ("test", "replay", "rotate-secret"):
        assert error(reader.post(f"/webhooks/{made['id']}/{path}/"), 403)["code"] == "INSUFFICIENT_SCOPE"


# --- With a worker


@pytest.fixture
def worker(settings: Settings) -> Iterator[None]:
    with processes.working(settings):
        yield


def deliveries(api: Api, id: str, **query: Any) -> list[dict[str, Any]]:
    return list(api.get(f"/webhooks/{id}/deliveries/", params=query).json()["results"])


def until(api: Api, id: str, fits: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
    wait_until(lambda: fits(deliveries(api, id)))
    return deliveries(api, id)


@pytest.mark.usefixtures("worker")
def test_an_invitation_is_delivered_and_listed(tenant: Tenant, receiver: Receiver) -> None:
    made = verified(tenant.live, receiver)
    slug = tenant.live.assessment()["slug"]
    tenant.live.invitation(slug, "zoe@example.com")
    (request,) = receiver.wait_for(1)
    envelope = request.verify(made["secret_key"])
    assert envelope["type"] == "invitation.created"
    (one,) = until(tenant.live, made["id"], lambda rows: [row["status"] for row in rows] == ["delivered"])
    assert one["payload"] == envelope
    assert (one["event_id"], one["attempts"], one["response_status_code"]) == (request.id, 1, 200)
    assert (one["response_body"], one["last_error"]) == ("ok", "")
    assert tenant.live.get("/events/").json()["results"] == [envelope]
    assert deliveries(tenant.live, made["id"], status="failed") == []
    assert deliveries(tenant.live, made["id"], event_type="job.created") == []
    retry = f"/webhooks/{made['id']}/deliveries/{one['id']}/retry/"
    assert error(tenant.live.post(retry), 400)["code"] == "ALREADY_DELIVERED"
    assert tenant.test.get("/events/").json()["results"] == []


@pytest.mark.usefixtures("worker")
def test_a_delivery_that_was_never_tried_has_neither_answer_nor_error(
    tenant: Tenant, receiver: Receiver
) -> None:
    made = verified(tenant.live, receiver)
    tenant.live.patch(f"/webhooks/{made['id']}/", {"is_active": False})
    tenant.live.invitation(tenant.live.assessment()["slug"])
    [one] = until(tenant.live, made["id"], lambda rows: len(rows) == 1)
    assert (one["attempts"], one["response_status_code"]) == (0, None)
    assert (one["response_body"], one["last_error"]) == ("", "")


@pytest.mark.usefixtures("worker")
def test_a_delivery_is_retried_by_hand_and_a_span_of_time_replayed(
    tenant: Tenant, receiver: Receiver
) -> None:
    made = verified(tenant.live, receiver)
    receiver.answer(503)
    tenant.live.invitation(tenant.live.assessment()["slug"])
    (one,) = until(tenant.live, made["id"], lambda rows: [row["attempts"] for row in rows] == [1])
    assert (one["status"], one["last_error"]) == ("pending", "The endpoint answered 503.")
    retry = f"/webhooks/{made['id']}/deliveries/{one['id']}/retry/"
    replay = f"/webhooks/{made['id']}/replay/"
    tenant.live.patch(f"/webhooks/{made['id']}/", {"is_active": False})
    assert error(tenant.live.post(retry), 400)["code"] == "ENDPOINT_PAUSED"
    assert error(tenant.live.post(replay, {"since": one["created_at"]}), 400)["code"] == "ENDPOINT_PAUSED"
    receiver.answer(200)
    tenant.live.patch(f"/webhooks/{made['id']}/", {"is_active": True})
    until(tenant.live, made["id"], lambda rows: rows[0]["status"] == "delivered")
    receiver.clear()
    answer = tenant.live.post(replay, {"since": one["created_at"], "types": ["invitation.created"]})
    assert answer.json() == {"replayed": 1}
    (again,) = receiver.wait_for(1)
    assert again.id == one["event_id"]
    until(tenant.live, made["id"], lambda rows: rows[0]["status"] == "delivered")
    assert tenant.live.post(replay, {"since": one["created_at"], "only_failed": True}).json() == {
        "replayed": 0
    }


@pytest.mark.usefixtures("worker")
def test_a_replay_that_names_no_beginning_sends_all_that_is_kept(tenant: Tenant, receiver: Receiver) -> None:
    made = verified(tenant.live, receiver)
    slug = tenant.live.assessment()["slug"]
    sent = [tenant.live.invitation(slug) for _ in range(2)]
    forms: list[dict[str, Any]] = [{"json": {}}, {}, {"data": {"only_failed": "false"}}]
    for options in forms:
        until(tenant.live, made["id"], lambda rows: [row["status"] for row in rows] == ["delivered"] * 2)
        receiver.clear()
        answer = tenant.live.post(f"/webhooks/{made['id']}/replay/", **options)
        assert answer.json() == {"replayed": len(sent)}
        assert len(receiver.wait_for(2)) == 2


def test_events_are_listed_in_order_and_from_where_one_stopped(tenant: Tenant) -> None:
    slug = tenant.live.assessment()["slug"]
    for _ in range(3):
        tenant.live.invitation(slug)
    listed = tenant.live.get("/events/").json()["results"]
    assert [one["sequence"] for one in listed] == [1, 2, 3]
    after = tenant.live.get("/events/", params={"after": 2}).json()["results"]
    assert after == listed[2:]
    assert tenant.live.get("/events/", params={"type": "job.created"}).json()["results"] == []
    page = tenant.live.get("/events/", params={"page_size": 2}).json()
    assert [one["sequence"] for one in page["results"]] == [1, 2]
    assert page["next"]


def test_the_document_names_every_event(tenant: Tenant) -> None:
    made = register(tenant.live, events=list(NAMES))
    assert UUID(made["id"])
    assert made["events"] == sorted(NAMES)
