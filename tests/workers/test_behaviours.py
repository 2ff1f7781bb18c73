"""What the best dedicated webhook services are tested for, end to end: real API, worker, database and receivers."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from uuid import UUID

import pytest
import standardwebhooks
import stripe
import svix.webhooks
from sqlalchemy import text

import store
from app.instance import processes
from app.instance.settings import Settings
from gateways import webhooks as gateway
from rules.caller import Caller
from rules.retries import Outcome
from store.delivering import again
from tests import receiver as receivers
from tests.api import Api, Tenant, address
from tests.hooks import deliveries_of, endpoint_of, happen, let_time_pass, wait_until, wired
from tests.receiver import Answer, Received, Receiver

__all__ = ["wired"]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receivers.running() as running:
        yield running


@pytest.fixture(autouse=True)
def worker(wired: Settings) -> Iterator[None]:
    with processes.working(wired):
        yield


def register(api: Api, url: str, *events: str) -> tuple[UUID, str]:
    """Register an endpoint and let its test succeed; return its id and secret."""
    made = api.post("/webhooks/create/", {"url": url, "events": list(events or ("*",))}).json()
    tested = api.post(f"/webhooks/{made['id']}/test/")
    assert tested.status_code == 200, tested.text
    return UUID(made["id"]), made["secret_key"]


def owner(tenant: Tenant) -> Caller:
    return Caller(tenant.organisation.id, livemode=True, plan_name="growth")


def statuses(id: UUID) -> list[str]:
    return [one.status for one in deliveries_of(id)]


def change(statement: str, **values: object) -> None:
    with store.transaction() as session:
        session.execute(text(statement), values)


def accepts(secret: str, request: Received) -> list[bool]:
    """Ask the three published verifiers, unmodified."""
    header = request.headers["x-service-signature"]

    def asked(verify: Callable[[], Any]) -> bool:
        try:
            verify()
        except (standardwebhooks.WebhookVerificationError, stripe.SignatureVerificationError):
            return False
        return True

    return [
        asked(lambda: standardwebhooks.Webhook(secret).verify(request.body, request.headers)),
        asked(lambda: svix.webhooks.Webhook(secret).verify(request.body, request.headers)),
        asked(lambda: stripe.WebhookSignature.verify_header(request.body.decode(), header, secret, tolerance=300)),
    ]  # fmt: skip


# --- Secrets


def test_a_rotation_from_its_overlap_to_its_end(tenant: Tenant, receiver: Receiver) -> None:
    id, old = register(tenant.live, receiver.url)
    receiver.clear()
    answer = tenant.live.post(f"/webhooks/{id}/rotate-secret/", {"overlap_hours": 1})
    new = answer.json()["secret_key"]
    happen(owner(tenant), "job.created")
    (during,) = receiver.wait_for(1)
    assert accepts(old, during) == accepts(new, during) == [True] * 3
    receiver.clear()
    change(
        "UPDATE webhook_endpoints SET previous_secret_until = now() - interval '1 second' WHERE id = :id",
        id=id,
    )
    happen(owner(tenant), "job.closed")
    (after,) = receiver.wait_for(1)
    assert accepts(new, after) == [True] * 3
    assert accepts(old, after) == [False] * 3


# --- Endpoints that fail


def test_steady_failure_switches_off_after_five_days_and_everything_waits(
    tenant: Tenant, receiver: Receiver
) -> None:
    id, _ = register(tenant.live, receiver.url)
    receiver.answer(500)
    happen(owner(tenant), "job.created")
    wait_until(lambda: [one.attempts for one in deliveries_of(id)] == [1])
    change(
        "UPDATE webhook_endpoints SET failing_since = failing_since - interval '5 days' WHERE id = :id", id=id
    )
    let_time_pass(id)
    wait_until(lambda: not endpoint_of(id).is_active)
    shown = tenant.live.get(f"/webhooks/{id}/").json()
    assert shown["disabled_reason"] == "Every delivery failed for five days."
    assert (shown["is_active"], shown["is_verified"], shown["failure_count"]) == (False, True, 2)
    assert shown["pending_delivery_count"] == 1
    receiver.answer(200)
    receiver.clear()
    assert tenant.live.post(f"/webhooks/{id}/test/").status_code == 200
    receiver.wait_for(2)  # the ping, and what waited
    wait_until(lambda: statuses(id) == ["delivered"])
    shown = tenant.live.get(f"/webhooks/{id}/").json()
    assert (shown["is_active"], shown["disabled_reason"], shown["failure_count"]) == (True, None, 0)


def probes_of(id: UUID) -> list[tuple[int, bool]]:
    """How many had been made before each probe that was asked for, and whether it is done."""
    with store.transaction() as session:
        found = session.execute(
            text(
                "SELECT (arguments ->> 'made')::int, finished_at IS NOT NULL FROM outbox"
                " WHERE job = 'probe' AND arguments ->> 'endpoint_id' = :id ORDER BY id"
            ),
            {"id": str(id)},
        )
        return [(made, done) for made, done in found]


def switched_off(tenant: Tenant, receiver: Receiver) -> UUID:
    """Register an endpoint that then fails for five days; its first probe is asked for."""
    id, _ = register(tenant.live, receiver.url, "job.created")
    receiver.answer(500)
    happen(owner(tenant), "job.created")
    wait_until(lambda: [one.attempts for one in deliveries_of(id)] == [1])
    change(
        "UPDATE webhook_endpoints SET failing_since = failing_since - interval '5 days' WHERE id = :id", id=id
    )
    let_time_pass(id)
    wait_until(lambda: probes_of(id) == [(0, False)])
    return id


def test_an_endpoint_that_was_switched_off_is_probed_until_it_is_back(
    tenant: Tenant, receiver: Receiver
) -> None:
    id = switched_off(tenant, receiver)
    due = "UPDATE outbox SET due_at = now() WHERE job = 'probe' AND finished_at IS NULL"
    receiver.clear()
    change(due)
    wait_until(lambda: probes_of(id) == [(0, True), (1, False)])
    assert [one.json["type"] for one in receiver.requests] == ["webhook.test"]
    assert not endpoint_of(id).is_active
    receiver.answer(200)
    change(due)
    wait_until(lambda: statuses(id) == ["delivered"])
    assert [one.json["type"] for one in receiver.requests] == ["webhook.test", "webhook.test", "job.created"]
    assert endpoint_of(id).is_active
    wait_until(lambda: probes_of(id) == [(0, True), (1, True)])


def test_a_probe_that_our_own_limits_prevent_is_tried_again_however_often(
    tenant: Tenant, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = switched_off(tenant, receiver)
    post, busy = gateway.post, Outcome(error="Too many names are being looked up.", ours=True)
    monkeypatch.setattr(gateway, "post", lambda *_, **__: busy)
    its = (
        "job = 'probe' AND finished_at IS NULL AND arguments ->> 'endpoint_id' = :id"  # others left some too
    )
    change(f"UPDATE outbox SET due_at = now(), attempts = 100 WHERE {its}", id=str(id))
    tried = text(f"SELECT attempts FROM outbox WHERE {its} AND last_error IS NOT NULL")

    def attempts() -> list[int]:
        with store.transaction() as session:
            return list(session.scalars(tried, {"id": str(id)}))

    wait_until(lambda: attempts() == [101])
    monkeypatch.setattr(gateway, "post", post)
    receiver.answer(200)
    change(f"UPDATE outbox SET due_at = now() WHERE {its}", id=str(id))
    wait_until(lambda: statuses(id) == ["delivered"])


def test_an_endpoint_that_says_it_is_gone_is_not_probed(tenant: Tenant, receiver: Receiver) -> None:
    id, _ = register(tenant.live, receiver.url)
    receiver.answer(410)
    happen(owner(tenant), "job.created")
    wait_until(lambda: not endpoint_of(id).is_active)
    assert probes_of(id) == []


def test_sporadic_failure_never_switches_off(tenant: Tenant, receiver: Receiver) -> None:
    id, _ = register(tenant.live, receiver.url)
    for day in range(3):
        receiver.answer(500)
        happen(owner(tenant), "job.created")
        wait_until(lambda day=day: [one.attempts for one in deliveries_of(id)][day:] == [1])
        change(
            "UPDATE webhook_endpoints SET failing_since = failing_since - interval '4 days' WHERE id = :id",
            id=id,
        )
        receiver.answer(200)
        let_time_pass(id)
        wait_until(lambda day=day: statuses(id) == ["delivered"] * (day + 1))
        assert endpoint_of(id).failing_since is None
    assert endpoint_of(id).is_active


def test_several_endpoints_each_get_theirs_whatever_becomes_of_the_others(tenant: Tenant) -> None:
    with ExitStack() as stack:
        good, bad, picky = (stack.enter_context(receivers.running()) for _ in range(3))
        good_id, _ = register(tenant.live, good.url)
        bad_id, _ = register(tenant.live, bad.url)
        picky_id, _ = register(tenant.live, picky.url, "job.closed")
        bad.answer(500)
        for one in (good, picky):
            one.clear()
        happen(owner(tenant), "job.created", "job.closed", "job.published")
        assert {one.json["type"] for one in good.wait_for(3)} == {
            "job.created",
            "job.closed",
            "job.published",
        }
        assert [one.json["type"] for one in picky.wait_for(1)] == ["job.closed"]
        wait_until(lambda: statuses(good_id) == ["delivered"] * 3 and statuses(picky_id) == ["delivered"])
        wait_until(lambda: all(one.attempts >= 1 for one in deliveries_of(bad_id)))
        assert set(statuses(bad_id)) == {"pending"}
        counts = {
            str(one["id"]): one["pending_delivery_count"]
            for one in tenant.live.get("/webhooks/").json()["results"]
        }
        assert counts == {str(good_id): 0, str(bad_id): 3, str(picky_id): 0}


def test_a_changed_filter_holds_for_what_happens_from_then_on(tenant: Tenant, receiver: Receiver) -> None:
    id, _ = register(tenant.live, receiver.url, "job.created")
    receiver.clear()
    happen(owner(tenant), "job.created", "job.closed")
    wait_until(lambda: statuses(id) == ["delivered"])
    assert tenant.live.patch(f"/webhooks/{id}/", {"events": ["job.closed"]}).status_code == 200
    happen(owner(tenant), "job.created", "job.closed")
    wait_until(lambda: statuses(id) == ["delivered"] * 2)
    assert [one.json["type"] for one in receiver.requests] == ["job.created", "job.closed"]


# --- Again


def test_a_range_is_recovered_with_exact_counts(tenant: Tenant, receiver: Receiver) -> None:
    id, _ = register(tenant.live, receiver.url)
    happen(owner(tenant), *["job.created"] * 7)
    wait_until(lambda: statuses(id) == ["delivered"] * 7)
    happen(owner(tenant), *["job.published"] * 5, *["job.closed"] * 4)
    wait_until(lambda: statuses(id) == ["delivered"] * 16)
    happen(owner(tenant), *["job.created"] * 3)
    wait_until(lambda: statuses(id) == ["delivered"] * 19)
    change(
        "UPDATE deliveries SET status = 'failed', attempts = 10"
        " WHERE endpoint_id = :id AND event_type <> 'job.created'",
        id=id,
    )
    rows = deliveries_of(id)
    since, until = rows[7].created_at.isoformat(), rows[16].created_at.isoformat()
    replay = f"/webhooks/{id}/replay/"

    def recover(**what: Any) -> list[int]:
        receiver.clear()
        answer = tenant.live.post(replay, {"since": since, "until": until, **what})
        count = answer.json()["replayed"]
        got = [one.json["sequence"] for one in receiver.wait_for(count)]
        wait_until(lambda: endpoint_of(id).pending_delivery_count == 0)
        assert len(receiver.requests) == count
        return sorted(got)

    assert recover(only_failed=True, types=["job.closed"]) == [13, 14, 15, 16]
    assert recover(only_failed=True) == [8, 9, 10, 11, 12]
    assert recover(only_failed=True) == []
    assert recover() == list(range(8, 17))
    assert statuses(id) == ["delivered"] * 19


def test_a_replay_of_more_than_a_helping_is_counted_at_once_and_sent_whole(
    tenant: Tenant, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(again, "HELPING", 10)
    id, _ = register(tenant.live, receiver.url)
    receiver.clear()
    happen(owner(tenant), *["job.created"] * 35)
    wait_until(lambda: statuses(id) == ["delivered"] * 35)
    receiver.clear()
    assert tenant.live.post(f"/webhooks/{id}/replay/").json() == {"replayed": 35}
    sent = [one.json["sequence"] for one in receiver.wait_for(35)]
    wait_until(lambda: statuses(id) == ["delivered"] * 35)
    wait_until(lambda: endpoint_of(id).pending_delivery_count == 0)
    assert sorted(sent) == sorted(set(sent)) == list(range(1, 36))
    assert len(receiver.requests) == 35


def test_deliveries_are_paged_both_ways(tenant: Tenant, receiver: Receiver) -> None:
    id, _ = register(tenant.live, receiver.url)
    happen(owner(tenant), *["job.created"] * 7)
    wait_until(lambda: statuses(id) == ["delivered"] * 7)

    def page(url: str | None) -> tuple[list[int], str | None, str | None]:
        query = {"page_size": "3"} | ({"cursor": url.partition("cursor=")[2]} if url else {})
        shown = tenant.live.get(f"/webhooks/{id}/deliveries/", params=query).json()
        sequences = [one["payload"]["sequence"] for one in shown["results"]]
        return sequences, shown["next"], shown["previous"]

    first, next, previous = page(None)
    assert (first, previous) == ([7, 6, 5], None)
    second, next, back = page(next)
    assert second == [4, 3, 2]
    last, end, back_from_last = page(next)
    assert (last, end) == ([1], None)
    assert page(back_from_last)[0] == second
    assert page(back)[0] == first
    assert page(back)[2] is None


# --- Answers and their absence


def test_an_oversized_answer_is_cut_and_counts_by_its_status(tenant: Tenant, receiver: Receiver) -> None:
    id, _ = register(tenant.live, receiver.url)
    receiver.answer(Answer(200, {}, b"x" * 5_000_000))
    happen(owner(tenant), "job.created")
    wait_until(lambda: statuses(id) == ["delivered"])
    (shown,) = tenant.live.get(f"/webhooks/{id}/deliveries/").json()["results"]
    assert shown["response_body"] == "x" * 2048


def test_an_endpoint_that_never_answers_is_given_up_in_time(
    tenant: Tenant, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    id, _ = register(tenant.live, receiver.url)
    monkeypatch.setattr(gateway, "TOTAL_SECONDS", 0.5)
    held = threading.Event()
    receiver.answer(lambda request: Answer(200 if held.wait(30) else 500))
    happen(owner(tenant), "job.created")
    wait_until(lambda: [one.attempts for one in deliveries_of(id)] == [1])
    held.set()
    (shown,) = tenant.live.get(f"/webhooks/{id}/deliveries/").json()["results"]
    assert (shown["status"], shown["response_status_code"]) == ("pending", None)
    assert shown["last_error"] == "The endpoint did not answer in time."


@contextmanager
def dripping(head: bytes, drop: bytes) -> Iterator[str]:
    """An endpoint that answers whatever it is told with a head and then drop after drop, without end."""
    ended = threading.Event()

    def serve(server: socket.socket) -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=drip, args=[connection], daemon=True).start()

    def drip(connection: socket.socket) -> None:
        with connection:
            try:
                asked = b""
                while not asked.endswith(b"}}"):
                    asked += connection.recv(65_536)
                if b"webhook.test" in asked:
                    connection.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
                    return
                connection.sendall(head)
                while not ended.wait(0.05):
                    connection.sendall(drop)
            except OSError:
                return  # the sender has had enough

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, args=[server], daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/{address()}"
        finally:
            ended.set()
            server.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    ("head", "drop", "status", "code"),
    [
        (b"HTTP/1.1 200 OK\r\nX-Slow: ", b"x", "pending", None),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", b"x", "delivered", 200),
        (b"HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n", "pending", 503),
    ],
    ids=["in its headers", "in its body", "in chunks of a failure"],
)
def test_an_endpoint_that_drips_byte_by_byte_is_cut_off_in_time(
    tenant: Tenant,
    monkeypatch: pytest.MonkeyPatch,
    head: bytes,
    drop: bytes,
    status: str,
    code: int | None,
) -> None:
    with dripping(head, drop) as url:
        id, _ = register(tenant.live, url)
        monkeypatch.setattr(gateway, "TOTAL_SECONDS", 0.6)
        happen(owner(tenant), "job.created")
        wait_until(lambda: [one.attempts for one in deliveries_of(id)] == [1])
        (shown,) = tenant.live.get(f"/webhooks/{id}/deliveries/").json()["results"]
        assert (shown["status"], shown["response_status_code"]) == (status, code)
