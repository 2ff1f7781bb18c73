"""Events to a real receiver, through a real broker and a real database."""

import dataclasses
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from functools import partial
from types import SimpleNamespace
from uuid import uuid4

import pytest
import redis
import stripe
from sqlalchemy import select, update

import store
from app.instance import processes
from app.instance.settings import ROOT
from rules.clock import now
from store.database.aside import Row, SetAside
from store.database.ids import new_id
from store.delivering import fanout, webhooks
from store.delivering.deliveries import retry
from store.delivering.sending import Due
from store.delivering.webhooks import Delivery
from tests import receiver as receivers
from tests.hooks import (
    caller,
    deliveries_of,
    endpoint_of,
    happen,
    let_time_pass,
    new_caller,
    new_endpoint,
    wait_until,
    wired,
)
from tests.receiver import NOT_BY_ITSELF, Answer
from tests.workers import falling_due
from workers import refused
from workers.deliveries import Sender
from workers.refused import Refused
from workers.shares import CONNECTIONS, LEASE

__all__ = ["caller", "wired"]


@pytest.fixture
def receiver():
    with receivers.running() as running:
        yield running


@pytest.fixture
def worker(wired):
    """A worker in this process."""
    with processes.working(wired):
        yield


@contextmanager
def worker_process(settings):
    """A worker in a process of its own; ready when it says so."""
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "from app.instance import processes, settings; processes.work(settings.read())",
        ],
        cwd=ROOT,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "DATABASE_URL": settings.database_url,
            "REDIS_URL": settings.redis_url,
            "BASE_URL": settings.base_url,
            "SECRET_KEY": settings.secret_key,
            "MAIL_DIR": str(settings.mail_dir),
            "WEBHOOK_ALLOW_PRIVATE": "1",
        },
        stderr=subprocess.PIPE,
        text=True,
    )
    lines = []
    ready = threading.Event()

    def read():
        for line in process.stderr:
            lines.append(line)
            if "is ready" in line:
                ready.set()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        assert ready.wait(30), "".join(lines)
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        reader.join()
        process.stderr.close()


def settled(endpoint_id, count):
    wait_until(lambda: len([one for one in deliveries_of(endpoint_id) if one.status == "delivered"]) == count)


def test_an_event_arrives_signed_in_both_forms(worker, caller, receiver):
    id, secret = new_endpoint(caller, receiver.url)
    happen(caller, "job.created", name="Zoë")
    (request,) = receiver.wait_for(1)
    envelope = request.verify(secret)
    assert envelope["type"] == "job.created"
    assert envelope["data"]["name"] == "Zoë"
    assert request.id == envelope["id"]
    header = request.headers["x-service-signature"]
    assert stripe.WebhookSignature.verify_header(request.body.decode(), header, secret, tolerance=300)
    settled(id, 1)
    assert deliveries_of(id)[0].payload == envelope


@pytest.mark.parametrize("status", [200, 500])
def test_who_holds_an_endpoint_keeps_nobody_elses_results_from_being_written(
    worker, caller, receiver, status
):
    held, _ = new_endpoint(caller, receiver.url)
    other = new_caller()
    free, _ = new_endpoint(other, receiver.url)
    is_held = threading.Event()

    def respond(_):
        assert is_held.wait(30)
        return Answer(status, NOT_BY_ITSELF)

    receiver.answer(respond)
    happen(caller, *["job.created"] * 3)
    receiver.wait_for(3)
    with store.transaction() as session:
        webhooks.get(session, caller, held, lock=True)
        receiver.answer(200)
        is_held.set()
        happen(other, "job.created")
        settled(free, 1)
        assert {one.attempts for one in deliveries_of(held)} == {0}
    wait_until(lambda: {one.attempts for one in deliveries_of(held)} == {1})
    assert endpoint_of(held).pending_delivery_count == (0 if status == 200 else 3)
    assert len({request.id for request in receiver.wait_for(4)}) == 4  # none was sent twice


@pytest.mark.parametrize("is_noted", [True, False])
def test_a_delivery_that_cannot_be_taken_keeps_nobody_elses_from_being_sent(
    worker, caller, receiver, monkeypatch, is_noted
):
    monkeypatch.setattr(refused, "SECONDS", 2.0)
    bad, _ = new_endpoint(caller, receiver.url)
    other = new_caller()
    free, _ = new_endpoint(other, receiver.url)
    receiver.answer(500)
    for owner, id in ((caller, bad), (other, free)):
        happen(owner, "job.created")
        wait_until(lambda id=id: [one.attempts for one in deliveries_of(id)] == [1])
    receiver.answer(200)
    taken = f"TG_OP = 'UPDATE' AND OLD.endpoint_id = '{bad}' AND NEW.lease_until IS NOT NULL"
    with falling_due.refusing("taken", "deliveries", taken):
        let_time_pass(bad)
        let_time_pass(free)  # it is due together with the other one, which waits longer
        wait_until(lambda: [one.status for one in deliveries_of(free)] == ["delivered"])
        assert [one.attempts for one in deliveries_of(bad)] == [1]
        wait_until(lambda: set_aside() == {(bad, caller.organisation_id)})
    if is_noted:
        wait_until(lambda: [one.status for one in deliveries_of(bad)] == ["delivered"])
        assert set_aside() == set()
    else:
        with falling_due.refusing("noted", "set_aside", "TG_OP = 'DELETE'"):
            wait_until(lambda: [one.status for one in deliveries_of(bad)] == ["delivered"])


def set_aside():
    """Of whom deliveries could not be taken: endpoints, and whose they are."""
    with store.transaction() as session:
        found = select(SetAside.row_id, SetAside.organisation_id).where(SetAside.kind == refused.DELIVERIES)
        return {tuple(row) for row in session.execute(found)}


def test_where_nothing_can_be_taken_of_anybody_it_is_taken_soon_after_it_can_be(
    worker, caller, receiver, caplog
):
    owners = caller, new_caller()
    urls = zip((*owners, caller), (receiver.url, receiver.url, f"{receiver.url}?second"), strict=True)
    ids = [new_endpoint(owner, url)[0] for owner, url in urls]
    receiver.answer(500)
    for owner in owners:
        happen(owner, "job.created")
    wait_until(lambda: {one.attempts for id in ids for one in deliveries_of(id)} == {1})
    receiver.answer(200)
    with falling_due.refusing("taken", "deliveries", "TG_OP = 'UPDATE' AND NEW.lease_until IS NOT NULL"):
        past = now() - timedelta(seconds=1)
        with store.transaction() as session:
            session.execute(
                update(Delivery).where(Delivery.endpoint_id.in_(ids)).values(next_attempt_at=past)
            )
        wait_until(lambda: caplog.text.count("Deliveries of an endpoint cannot be taken") > len(ids))
        assert "Deliveries could not be taken" not in caplog.text  # which would be tried all the time
    began = time.monotonic()
    wait_until(lambda: {one.status for id in ids for one in deliveries_of(id)} == {"delivered"})
    assert time.monotonic() - began < refused.LONGEST / 2


def test_who_is_refused_again_is_for_longer_and_at_first_shortly_once_something_was_taken(wired, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(refused, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    found, whose = Refused("test"), Row(new_id())

    def seconds() -> float:
        found.add(whose, ValueError())
        began = clock[0]
        while found.all():
            clock[0] += 0.5
        return clock[0] - began

    assert [seconds() for _ in range(7)] == [1, 2, 4, 8, 16, 30, 30]
    found.taken([whose.id])
    assert seconds() == 1
    clock[0] += refused.LONGEST
    assert seconds() == 1


def test_while_two_secrets_live_both_sign(worker, caller, receiver):
    id, old = new_endpoint(caller, receiver.url)
    with store.transaction() as session:
        endpoint = webhooks.get(session, caller, id, lock=True)
        new = webhooks.rotate(session, endpoint, overlap=timedelta(hours=1))
    happen(caller, "job.created")
    (request,) = receiver.wait_for(1)
    for secret in (old, new):
        request.verify(secret)
        header = request.headers["x-service-signature"]
        assert stripe.WebhookSignature.verify_header(request.body.decode(), header, secret, tolerance=300)


def test_a_retry_carries_the_same_id_and_body_and_a_new_signature(worker, caller, receiver):
    id, secret = new_endpoint(caller, receiver.url)
    receiver.answer(500)
    happen(caller, "job.created", zebra=1, a=[1.5, None, {"y": 1, "x": 2}])
    receiver.wait_for(1)
    wait_until(lambda: deliveries_of(id)[0].attempts == 1)
    receiver.answer(200)
    let_time_pass(id)
    first, second = receiver.wait_for(2)
    assert (first.id, first.body) == (second.id, second.body)
    assert first.verify(secret) == second.verify(secret)
    settled(id, 1)
    assert deliveries_of(id)[0].attempts == 2


def test_the_first_retry_comes_by_itself(worker, caller, receiver):
    id, _ = new_endpoint(caller, receiver.url)
    answers = iter([Answer(500), Answer(200)])
    receiver.answer(lambda request: next(answers))
    happen(caller, "job.created")
    receiver.wait_for(2)
    settled(id, 1)


def test_redirects_are_failures_and_nobody_follows_them(worker, caller, receiver):
    with receivers.running() as elsewhere:
        id, _ = new_endpoint(caller, receiver.url)
        receiver.answer(Answer(307, {"Location": elsewhere.url}))
        happen(caller, "job.created")
        receiver.wait_for(1)
        wait_until(lambda: deliveries_of(id)[0].attempts == 1)
        assert deliveries_of(id)[0].status == "pending"
        assert deliveries_of(id)[0].response_status_code == 307
        assert elsewhere.requests == []


def test_gone_switches_off_and_a_test_releases_what_waits(worker, caller, receiver):
    id, _ = new_endpoint(caller, receiver.url)
    receiver.answer(410)
    happen(caller, "job.created")
    receiver.wait_for(1)
    wait_until(lambda: not endpoint_of(id).is_active)
    happen(caller, "job.closed")
    wait_until(lambda: len(deliveries_of(id)) == 2)
    receiver.answer(200)
    receiver.clear()
    with store.transaction() as session:
        webhooks.verify(session, webhooks.get(session, caller, id, lock=True))
    assert {request.json["type"] for request in receiver.wait_for(2)} == {"job.created", "job.closed"}
    settled(id, 2)
    assert endpoint_of(id).pending_delivery_count == 0


def test_a_paused_endpoint_gets_nothing_until_it_is_switched_on(worker, caller, receiver):
    with receivers.running() as other:
        id, _ = new_endpoint(caller, receiver.url)
        witness, _ = new_endpoint(caller, other.url)
        with store.transaction() as session:
            webhooks.change(session, webhooks.get(session, caller, id, lock=True), {"is_active": False})
        happen(caller, "job.created", "job.closed")
        other.wait_for(2)
        settled(witness, 2)
        assert receiver.requests == []
        assert endpoint_of(id).pending_delivery_count == 2
        with store.transaction() as session:
            webhooks.change(session, webhooks.get(session, caller, id, lock=True), {"is_active": True})
        receiver.wait_for(2)
        settled(id, 2)


def test_a_failed_delivery_is_sent_again_by_hand(worker, caller, receiver):
    id, _ = new_endpoint(caller, receiver.url)
    receiver.answer(500)
    happen(caller, "job.created")
    receiver.wait_for(1)
    wait_until(lambda: deliveries_of(id)[0].attempts == 1)
    receiver.answer(200)
    with store.transaction() as session:
        endpoint = webhooks.get(session, caller, id, lock=True)
        (delivery,) = deliveries_of(id)
        retry(session, endpoint, session.merge(delivery))
    receiver.wait_for(2)
    settled(id, 1)


def test_endpoints_that_do_not_answer_delay_nobody(worker, caller, receiver):
    held = threading.Event()
    with ExitStack() as stack:
        dead = []
        for number in range(3):
            one = stack.enter_context(receivers.running())
            one.answer(lambda request: Answer(200 if held.wait(60) else 500))
            dead.append(new_endpoint(caller, f"{one.url}/{number}", events=("job.created",))[0])
        try:
            happen(caller, *["job.created"] * 150)
            wait_until(lambda: all(len(deliveries_of(id)) == 150 for id in dead))
            id, _ = new_endpoint(caller, receiver.url, events=("job.closed",))
            happen(caller, *["job.closed"] * 50)
            receiver.wait_for(50)
            settled(id, 50)
            assert not any(one.status == "delivered" for id in dead for one in deliveries_of(id))
        finally:
            held.set()


def test_a_closed_port_is_written_down_and_tried_again(worker, caller):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    id, _ = new_endpoint(caller, f"http://127.0.0.1:{port}/hook")
    happen(caller, "job.created")
    wait_until(lambda: [one.attempts for one in deliveries_of(id)] == [1])
    (delivery,) = deliveries_of(id)
    assert (delivery.status, delivery.response_status_code) == ("pending", None)
    assert "connect" in delivery.last_error
    assert endpoint_of(id).failing_since


def test_a_thousand_deliveries_arrive_each_once(worker, caller, receiver):
    id, _ = new_endpoint(caller, receiver.url)
    for _ in range(10):
        happen(caller, *["job.created"] * 100)
    settled(id, 1000)
    requests = receiver.requests
    assert len(requests) == len({request.id for request in requests}) == 1000
    assert sorted(request.json["sequence"] for request in requests) == list(range(1, 1001))
    assert endpoint_of(id).pending_delivery_count == 0


# --- Processes that die, and a Redis that forgets


def test_a_worker_killed_between_the_commit_and_the_delivery_loses_nothing(wired, caller, receiver):
    id, secret = new_endpoint(caller, receiver.url)
    held = threading.Event()
    receiver.answer(lambda request: Answer(200 if held.wait(60) else 500))
    with worker_process(wired) as process:
        happen(caller, "job.created")
        receiver.wait_for(1)  # it is under way, and nothing of it is written down
        process.send_signal(signal.SIGKILL)
        process.wait()
    held.set()
    happen(caller, "job.closed")  # and this one nobody has seen yet
    assert [one.status for one in deliveries_of(id)] == ["pending"]
    let_time_pass(id)  # the lease of the dead
    with worker_process(wired):
        settled(id, 2)
    ids = [request.verify(secret)["id"] for request in receiver.requests]
    first, second = (one.payload["id"] for one in deliveries_of(id))
    assert sorted(ids) == sorted([first, first, second])
    assert all(request.id in (first, second) for request in receiver.requests)


def test_a_redis_that_forgets_everything_costs_nothing_but_time(wired, caller, receiver):
    id, _ = new_endpoint(caller, receiver.url)
    receiver.answer(503)
    with processes.working(wired):
        happen(caller, "job.created")
        receiver.wait_for(1)
        wait_until(lambda: deliveries_of(id)[0].attempts == 1)
    happen(caller, "job.closed")
    with redis.Redis.from_url(wired.redis_url) as client:
        client.flushdb()
    receiver.answer(200)
    let_time_pass(id)
    with processes.working(wired):
        settled(id, 2)
    assert sorted(request.json["sequence"] for request in receiver.requests) == [1, 1, 2]


def test_without_any_redis_deliveries_go_out_all_the_same(wired, caller, receiver):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    id, _ = new_endpoint(caller, receiver.url)
    with processes.working(dataclasses.replace(wired, redis_url=f"redis://127.0.0.1:{port}/0")):
        happen(caller, "job.created")
        receiver.wait_for(1)
        settled(id, 1)


def test_two_workers_side_by_side_deliver_each_event_once(wired, caller, receiver):
    id, _ = new_endpoint(caller, receiver.url)
    with worker_process(wired), processes.working(wired):
        for _ in range(30):
            happen(caller, *["job.created"] * 10)
        settled(id, 300)
    assert len(receiver.requests) == len({request.id for request in receiver.requests}) == 300


def test_a_worker_stops_cleanly(wired, caller, receiver):
    id, _ = new_endpoint(caller, receiver.url)
    with worker_process(wired) as process:
        happen(caller, "job.created")
        settled(id, 1)
        process.terminate()
        assert process.wait(20) == 0


def test_what_is_answered_while_a_worker_stops_is_written_down_and_not_sent_again(wired, caller, receiver):
    id, _ = new_endpoint(caller, receiver.url)
    slow = threading.Event()  # nobody sets it: the endpoint takes its time
    receiver.answer(lambda request: Answer(500 if slow.wait(4) else 200))
    with worker_process(wired) as process:
        happen(caller, "job.created")
        receiver.wait_for(1)
        process.terminate()
        assert process.wait(30) == 0
    assert [one.status for one in deliveries_of(id)] == ["delivered"]
    assert len(receiver.requests) == 1


def test_what_a_stopping_worker_has_not_begun_it_leaves_to_others_at_once(wired, caller, receiver):
    id, _ = new_endpoint(caller, receiver.url)
    held = threading.Event()
    receiver.answer(lambda request: Answer(200 if held.wait(60) else 500))

    def leases():
        return [one.lease_until is not None for one in deliveries_of(id)]

    with worker_process(wired) as process:
        happen(caller, *["job.created"] * (3 * CONNECTIONS))
        receiver.wait_for(CONNECTIONS)
        wait_until(lambda: sum(leases()) == 2 * CONNECTIONS)
        process.terminate()
        wait_until(lambda: sum(leases()) == CONNECTIONS)
        held.set()
        assert process.wait(30) == 0
    found = [(one.status, one.attempts) for one in deliveries_of(id)]
    assert found == [("delivered", 1)] * CONNECTIONS + [("pending", 0)] * 2 * CONNECTIONS
    assert len(receiver.requests) == CONNECTIONS


def test_what_has_no_answer_when_the_grace_is_over_is_left_to_others(wired, caller, receiver):
    id, _ = new_endpoint(caller, receiver.url)
    held = threading.Event()
    receiver.answer(lambda request: Answer(200 if held.wait(60) else 500))
    with processes.working(dataclasses.replace(wired, grace_seconds=0.1)):
        happen(caller, "job.created")
        receiver.wait_for(1)
    held.set()
    (delivery,) = deliveries_of(id)
    assert (delivery.status, delivery.lease_until) == ("pending", None)


def test_what_is_claimed_as_it_is_made_while_a_sender_stops_is_left_to_others(wired, caller, receiver):
    id, _ = new_endpoint(caller, receiver.url)
    happen(caller, "job.created", "job.closed")
    sender = Sender(share=64, grace=10)
    sender.start()
    with sender.taking() as taking:
        sender.wind_up()
        turn = partial(fanout.fan_out, limit=10_000, rooms=taking.rooms, lease=LEASE)
        taking.taken = store.in_writing(turn).claimed
    sender.stop()
    assert {one.endpoint_id for one in taking.taken} >= {id}
    assert [(one.status, one.lease_until) for one in deliveries_of(id)] == [("pending", None)] * 2
    assert receiver.requests == []
    with sender.taking() as taking:
        assert taking.rooms([Due(id, caller.organisation_id, failing=False)]) == {}


def test_two_who_claim_never_count_on_the_same_room(wired):
    sender = Sender(share=64, grace=10)
    with sender.taking() as first, sender.taking() as second:
        due = [Due(uuid4(), uuid4(), failing=False)]
        assert set(first.rooms(due).values()) == {2 * CONNECTIONS}
        assert second.rooms(due) == {}
    with sender.taking() as third:
        assert third.rooms(due)


def test_what_is_made_beside_a_claim_has_the_room_that_was_not_promised(wired):
    sender = Sender(share=64, grace=10)
    mine, *others = [Due(uuid4(), id, failing=False) for id in [uuid4()] * 4 + [uuid4()]]
    with sender.taking() as claim, sender.taking() as made:
        assert claim.rooms([mine]) == {mine.endpoint_id: 2 * CONNECTIONS}
        rooms = made.rooms([mine, *others])
        assert rooms[others[-1].endpoint_id] == 2 * CONNECTIONS
        assert sum(rooms[one.endpoint_id] for one in others[:-1]) == 2 * 64 - 2 * CONNECTIONS
        assert mine.endpoint_id not in rooms
