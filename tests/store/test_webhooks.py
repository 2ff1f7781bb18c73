from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from random import Random

import pytest
from sqlalchemy import select, text, update

import store
from gateways.webhooks import encode
from rules.clock import now
from rules.errors import DuplicateKey, NotFound, NotVerified
from rules.events import NAMES
from rules.retries import Outcome
from store.database.ids import new_id
from store.delivering import again, deliveries, fanout, sending, webhooks
from store.delivering.sending import Attempt
from store.delivering.webhooks import Delivery, WebhookEndpoint
from store.events import Event
from tests.hooks import (
    caller,
    deliveries_of,
    endpoint_of,
    happen,
    let_time_pass,
    new_caller,
    new_endpoint,
    other_mode,
    wired,
)

__all__ = ["caller", "wired"]

URL = "https://example.com/hook"
LEASE = timedelta(minutes=1)


def fan_out():
    """Fan out everything, also what other tests have left."""
    while True:
        with store.transaction() as session:
            turn = fanout.fan_out(session, limit=100)
        if not turn.events:
            return


def alone(endpoint_id):
    """Switch off what other tests have left, so that this endpoint's deliveries are all there is to claim."""
    with store.transaction() as session:
        session.execute(
            update(WebhookEndpoint)
            .where(WebhookEndpoint.id != endpoint_id, WebhookEndpoint.is_active)
            .values(is_active=False)
        )


def due(*, full=()):
    with store.transaction() as session:
        return sending.due(session, full=full)


def take(*, limit=100, lease=LEASE):
    """Claim of each endpoint that something is due for."""
    with store.transaction() as session:
        rooms = {one.endpoint_id: limit for one in sending.due(session, full=[])}
        return sending.claim(session, rooms, lease=lease)


def claim(endpoint_id, **changes):
    alone(endpoint_id)
    return take(**changes)


def attempt(one, outcome, moment=None, *, counts=True):
    number = one.attempts + counts
    return Attempt(one.id, one.endpoint_id, number, moment or now(), outcome, one.lease_until)


def settle(claimed, outcome, moment=None):
    with store.transaction() as session:
        return sending.settle(session, [attempt(one, outcome, moment) for one in claimed])


def change(caller, id, **changes):
    with store.transaction() as session:
        webhooks.change(session, webhooks.get(session, caller, id, lock=True), changes)


# --- Endpoints


def test_a_new_endpoint_is_inactive_and_unverified(caller):
    id, secret = new_endpoint(caller, verified=False)
    endpoint = endpoint_of(id)
    assert not endpoint.is_active
    assert not endpoint.is_verified
    assert secret not in endpoint.secret
    assert webhooks.secrets_of(endpoint) == [secret]


def test_the_same_address_and_events_twice_is_refused_however_many_ask_at_once(caller):
    def register(order):
        try:
            return new_endpoint(caller, events=order, verified=False)
        except DuplicateKey:
            return None

    orders = [("job.closed", "job.created"), ("job.created", "job.closed", "job.created")] * 10
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(register, orders))
    assert len([one for one in made if one]) == 1
    new_endpoint(caller, events=("job.created",), verified=False)
    new_endpoint(other_mode(caller), events=("job.created", "job.closed"), verified=False)


def test_a_change_into_a_duplicate_is_refused_and_changes_nothing(caller):
    new_endpoint(caller, URL)
    id, _ = new_endpoint(caller, URL + "2")
    with pytest.raises(DuplicateKey):
        change(caller, id, url=URL, name="new")
    assert (endpoint_of(id).url, endpoint_of(id).name) == (URL + "2", "")


def test_the_longest_url_with_all_events_fits_the_index(caller):
    url = URL + "".join(Random(1).choices("abcdefghijklmnopqrstuvwxyz0123456789", k=1975))
    new_endpoint(caller, url, events=NAMES)


def test_the_other_mode_and_the_other_organisation_do_not_see_an_endpoint(caller):
    id, _ = new_endpoint(caller)
    for stranger in (other_mode(caller), new_caller()):
        with store.transaction() as session, pytest.raises(NotFound):
            webhooks.get(session, stranger, id)


def test_only_a_verified_endpoint_can_be_switched_on(caller):
    id, _ = new_endpoint(caller, verified=False)
    with pytest.raises(NotVerified):
        change(caller, id, is_active=True)


def test_a_new_url_is_unverified_and_inactive(caller):
    id, _ = new_endpoint(caller)
    with pytest.raises(NotVerified):
        change(caller, id, url=URL + "2", is_active=True)
    change(caller, id, url=URL + "2")
    endpoint = endpoint_of(id)
    assert (endpoint.is_active, endpoint.is_verified, endpoint.verified_at) == (False, False, None)


def test_the_same_url_again_changes_nothing(caller):
    id, _ = new_endpoint(caller)
    change(caller, id, url=URL)
    assert endpoint_of(id).is_active


def test_both_secrets_sign_until_the_overlap_is_over(caller):
    id, old = new_endpoint(caller)
    with store.transaction() as session:
        endpoint = webhooks.get(session, caller, id, lock=True)
        new = webhooks.rotate(session, endpoint, overlap=timedelta(hours=1))
        assert webhooks.secrets_of(endpoint) == [new, old]
        endpoint.previous_secret_until = now()
        assert webhooks.secrets_of(endpoint) == [new]


# --- Fan-out


def test_an_event_reaches_those_who_subscribe_in_its_mode_and_organisation(caller):
    every, _ = new_endpoint(caller)
    jobs, _ = new_endpoint(caller, events=("job.created",))
    others = [
        new_endpoint(caller, events=("job.closed",))[0],
        new_endpoint(other_mode(caller))[0],
        new_endpoint(new_caller())[0],
        new_endpoint(caller, URL + "/unverified", verified=False)[0],
    ]
    happen(caller, "job.created")
    fan_out()
    assert [one.event_type for one in deliveries_of(every)] == ["job.created"]
    assert [one.event_type for one in deliveries_of(jobs)] == ["job.created"]
    assert all(deliveries_of(other) == [] for other in others)
    assert endpoint_of(every).pending_delivery_count == 1


def test_what_happened_before_the_verification_is_not_delivered(caller):
    happen(caller, "job.created")
    id, _ = new_endpoint(caller)
    happen(caller, "job.closed")
    fan_out()
    assert [one.event_type for one in deliveries_of(id)] == ["job.closed"]


def test_the_envelope_says_what_the_event_says(caller):
    id, _ = new_endpoint(caller)
    happen(caller, "job.created", name="Zoë", number=1.5, big=2**53, nothing=None)
    fan_out()
    (delivery,) = deliveries_of(id)
    with store.transaction() as session:
        event = session.scalars(select(Event).where(Event.id == delivery.event_id)).one()
    assert delivery.payload == fanout.envelope(event)
    assert delivery.payload["id"] == f"evt_{event.id.hex}"
    assert delivery.payload["sequence"] == 1
    assert delivery.payload["api_version"] == "1.1.0"
    assert delivery.payload["livemode"] is True
    assert delivery.payload["data"]["name"] == "Zoë"


def test_the_bytes_that_are_sent_are_the_same_every_time(caller):
    id, _ = new_endpoint(caller)
    happen(caller, "job.created", zebra=1, a={"bb": 1, "a": [1.0, 2.50, 1e3]}, long_name="x")
    fan_out()
    first = encode(claim(id)[0].payload)
    let_time_pass(id)
    assert encode(claim(id)[0].payload) == first
    assert first.startswith(b'{"id":"evt_')


def test_deliveries_are_numbered_in_the_order_of_events(caller):
    id, _ = new_endpoint(caller)
    for _ in range(5):
        happen(caller, "job.created", "job.closed")
    fan_out()
    assert [one.payload["sequence"] for one in deliveries_of(id)] == list(range(1, 11))


def test_two_relays_at_once_make_each_delivery_once(caller):
    endpoints = [new_endpoint(caller, f"{URL}/{number}")[0] for number in range(3)]
    for _ in range(40):
        happen(caller, "job.created")

    def relay(_):
        for _ in range(20):
            try:
                store.in_transaction(partial(fanout.fan_out, limit=3))
            except store.WaitRanOut:  # an endpoint's lock is waited for shortly, and then passed by
                store.in_transaction(partial(fanout.fan_out, limit=3, wait=False))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(relay, range(4)))
    fan_out()
    for endpoint in endpoints:
        assert sorted(one.payload["sequence"] for one in deliveries_of(endpoint)) == list(range(1, 41))
        assert endpoint_of(endpoint).pending_delivery_count == 40


def test_the_sequence_has_no_gaps_and_follows_the_commits_of_many_threads(caller):
    id, _ = new_endpoint(caller)

    def work(number):
        for turn in range(5):
            try:
                with store.transaction() as session:
                    store.events.record(session, "job.created", caller, {"thread": number, "turn": turn})
                    if turn == 2:
                        raise InterruptedError
            except InterruptedError:
                pass

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(work, range(20)))
    fan_out()
    payloads = [one.payload for one in deliveries_of(id)]
    payloads.sort(key=lambda one: one["sequence"])
    assert [one["sequence"] for one in payloads] == list(range(1, 81))
    for number in range(20):
        turns = [one["data"]["turn"] for one in payloads if one["data"]["thread"] == number]
        assert turns == [0, 1, 3, 4]


# --- Sending


def test_what_is_claimed_is_not_claimed_again_until_its_lease_is_over(caller):
    id, _ = new_endpoint(caller)
    happen(caller, "job.created")
    fan_out()
    assert len(claim(id)) == 1
    assert claim(id) == []
    let_time_pass(id)
    assert len(claim(id)) == 1


def test_no_more_is_claimed_of_an_endpoint_than_there_is_room_for(caller):
    id, _ = new_endpoint(caller)
    happen(caller, *["job.created"] * 10)
    fan_out()
    assert len(claim(id, limit=4)) == 4
    assert len(claim(id, limit=1)) == 1
    assert [one.payload["sequence"] for one in claim(id)] == [6, 7, 8, 9, 10]


def test_endpoints_are_due_in_the_order_in_which_they_wait_but_for_who_has_enough(caller):
    stranger = new_caller()
    first, _ = new_endpoint(caller)
    second, _ = new_endpoint(caller, URL + "2")
    third, _ = new_endpoint(stranger)
    alone(first)
    with store.transaction() as session:
        session.execute(
            update(WebhookEndpoint).where(WebhookEndpoint.id.in_([second, third])).values(is_active=True)
        )
    for one in (stranger, caller):
        happen(one, "job.created")
        fan_out()
    assert due()[0].endpoint_id == third
    assert {one.endpoint_id for one in due()} == {first, second, third}
    assert [one.organisation_id for one in due(full=[caller.organisation_id])] == [stranger.organisation_id]
    assert {one.endpoint_id for one in due(full=[second])} == {first, third}
    assert not any(one.failing for one in due())


def test_senders_at_once_claim_each_delivery_once(caller):
    id, _ = new_endpoint(caller)
    happen(caller, *["job.created"] * 60)
    fan_out()
    alone(id)
    with ThreadPoolExecutor(6) as pool:
        claimed = [one.id for batch in pool.map(lambda _: take(limit=7), range(12)) for one in batch]
    assert len(claimed) == len(set(claimed)) == 60


def test_success_settles_a_delivery_and_the_endpoints_record(caller):
    id, _ = new_endpoint(caller)
    happen(caller, "job.created", "job.closed")
    fan_out()
    before = endpoint_of(id).updated_at
    first, second = claim(id)
    settle([first], Outcome(500, 12, "no"))
    assert endpoint_of(id).failure_count == 1
    settle([second], Outcome(204, 7, ""))
    delivery = deliveries_of(id)[1]
    assert (delivery.status, delivery.attempts, delivery.response_status_code) == ("delivered", 1, 204)
    assert (delivery.response_time_ms, delivery.last_error, delivery.next_attempt_at) == (7, None, None)
    assert delivery.delivered_at
    endpoint = endpoint_of(id)
    assert (endpoint.failure_count, endpoint.failing_since, endpoint.pending_delivery_count) == (0, None, 1)
    assert endpoint.last_triggered_at
    assert endpoint.updated_at > before


def test_an_answer_that_no_text_column_takes_is_kept_all_the_same(caller):
    id, _ = new_endpoint(caller)
    happen(caller, "job.created")
    fan_out()
    settle(claim(id), Outcome(200, 1, "a\x00b\udcff"))
    assert deliveries_of(id)[0].response_body == "a\ufffdb?"


def test_a_failure_waits_for_its_next_attempt(caller):
    id, _ = new_endpoint(caller)
    happen(caller, "job.created")
    fan_out()
    settle(claim(id), Outcome(503, 5, "busy", retry_after="60"))
    (delivery,) = deliveries_of(id)
    assert (delivery.status, delivery.attempts, delivery.response_body) == ("pending", 1, "busy")
    assert delivery.last_error == "The endpoint answered 503."
    assert timedelta(seconds=50) < delivery.next_attempt_at - now() <= timedelta(seconds=60)
    let_time_pass(id)
    (again,) = claim(id)
    assert again.failing


def test_an_attempt_that_our_own_limits_prevented_counts_for_nothing(caller):
    id, _ = new_endpoint(caller)
    happen(caller, "job.created")
    fan_out()
    (claimed,) = claim(id)
    before = endpoint_of(id)
    with store.transaction() as session:
        outcome = Outcome(error="Too many names are being looked up.", ours=True)
        sending.settle(session, [attempt(claimed, outcome, counts=False)])
    (delivery,) = deliveries_of(id)
    assert (delivery.status, delivery.attempts, delivery.last_error) == ("pending", 0, outcome.error)
    assert timedelta(seconds=20) < delivery.next_attempt_at - now() < timedelta(seconds=40)
    after = endpoint_of(id)
    for name in (
        "failure_count",
        "failing_since",
        "is_active",
        "last_triggered_at",
        "pending_delivery_count",
    ):
        assert getattr(after, name) == getattr(before, name), name


def test_ten_failures_are_the_end(caller):
    id, _ = new_endpoint(caller)
    happen(caller, "job.created")
    fan_out()
    for _ in range(10):
        let_time_pass(id)
        settle(claim(id), Outcome(error="Could not connect: refused"))
    (delivery,) = deliveries_of(id)
    assert (delivery.status, delivery.attempts, delivery.next_attempt_at) == ("failed", 10, None)
    assert delivery.last_error == "Could not connect: refused"
    assert endpoint_of(id).pending_delivery_count == 0


def test_gone_switches_the_endpoint_off_and_everything_waits(caller):
    id, _ = new_endpoint(caller)
    happen(caller, "job.created", "job.closed")
    fan_out()
    first, second = claim(id)
    assert len(settle([first], Outcome(410)).disabled) == 1
    settle([second], Outcome(500))
    endpoint = endpoint_of(id)
    assert not endpoint.is_active
    assert "410" in endpoint.disabled_reason
    let_time_pass(id)
    assert claim(id) == []
    happen(caller, "job.created")
    fan_out()
    assert [one.status for one in deliveries_of(id)] == ["pending"] * 3


def test_a_test_releases_what_waits(caller):
    id, _ = new_endpoint(caller)
    happen(caller, "job.created")
    fan_out()
    settle(claim(id), Outcome(410))
    with store.transaction() as session:
        webhooks.verify(session, webhooks.get(session, caller, id, lock=True))
    endpoint = endpoint_of(id)
    assert (endpoint.is_active, endpoint.disabled_reason, endpoint.failing_since) == (True, None, None)
    assert len(claim(id)) == 1


def test_five_days_of_failures_switch_the_endpoint_off(caller):
    id, _ = new_endpoint(caller)
    happen(caller, "job.created", "job.closed")
    fan_out()
    first, second = claim(id)
    settle([first], Outcome(500), moment=now() - timedelta(days=5))
    assert endpoint_of(id).is_active
    settle([second], Outcome(500))
    assert not endpoint_of(id).is_active
    assert "five days" in endpoint_of(id).disabled_reason


def test_a_result_that_comes_late_changes_nothing(caller):
    id, _ = new_endpoint(caller)
    happen(caller, "job.created")
    fan_out()
    claimed = claim(id)
    settle(claimed, Outcome(200, 1, ""))
    settle(claimed, Outcome(500, 1, ""))
    assert deliveries_of(id)[0].status == "delivered"
    assert endpoint_of(id).pending_delivery_count == 0


def test_what_somebody_else_has_claimed_is_settled_by_them_or_by_success(caller):
    id, _ = new_endpoint(caller)
    happen(caller, "job.created")
    fan_out()
    slow = claim(id, lease=timedelta(seconds=-1))  # over already
    (mine,) = claim(id)
    settle(slow, Outcome(500, 1, ""))
    (delivery,) = deliveries_of(id)
    assert (delivery.attempts, delivery.lease_until) == (0, mine.lease_until)
    with store.transaction() as session:
        sending.release(session, slow)
    assert deliveries_of(id)[0].lease_until == mine.lease_until
    settle(slow, Outcome(200, 1, ""))
    assert deliveries_of(id)[0].status == "delivered"


def test_an_endpoint_deleted_while_sending_is_no_fault(caller):
    id, _ = new_endpoint(caller)
    happen(caller, "job.created")
    fan_out()
    claimed = claim(id)
    with store.transaction() as session:
        webhooks.remove(session, webhooks.get(session, caller, id, lock=True))
    settle(claimed, Outcome(200, 1, ""))
    assert deliveries_of(id) == []


def test_batches_that_share_endpoints_never_wait_for_each_other_in_a_circle(caller):
    ids = sorted(new_endpoint(caller, f"https://example.com/{number}")[0] for number in range(6))
    good, bad = Outcome(200, 1), Outcome(500, 1)

    def write(failing):
        for _ in range(40):
            batch = [Attempt(new_id(), id, 1, now(), bad if id in failing else good, now()) for id in ids]
            with store.transaction() as session:
                sending.settle(session, batch)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, [set(), {ids[-1]}, {ids[3], ids[-1]}, set()]))
    assert [endpoint_of(id).failing_since is None for id in ids[:3]] == [True] * 3


# --- Again


def test_a_failed_delivery_can_be_retried_by_hand(caller):
    id, _ = new_endpoint(caller)
    happen(caller, "job.created")
    fan_out()
    with store.transaction() as session:
        session.execute(
            update(Delivery).where(Delivery.endpoint_id == id).values(status="failed", attempts=10)
        )
        endpoint = webhooks.get(session, caller, id, lock=True)
        endpoint.counted = -1  # with that of the tally
        deliveries.retry(
            session, endpoint, deliveries.get(session, caller, endpoint, deliveries_of(id)[0].id)
        )
    assert endpoint_of(id).pending_delivery_count == 1
    assert len(claim(id)) == 1


@pytest.mark.parametrize(("only_failed", "count"), [(True, 1), (False, 2)])
def test_a_replay_makes_due_what_was_delivered_or_failed(caller, only_failed, count):
    id, _ = new_endpoint(caller)
    start = now()
    happen(caller, "job.created", "job.closed", "job.published")
    fan_out()
    settle(claim(id, limit=2), Outcome(200))
    with store.transaction() as session:
        session.execute(
            text(
                "UPDATE deliveries SET status = 'failed' WHERE endpoint_id = :id AND event_type = 'job.closed'"
            ),
            {"id": id},
        )
        replayed = again.replay(session, id, since=start, until=None, types=None, only_failed=only_failed)
    assert replayed == count
    assert endpoint_of(id).pending_delivery_count == 1 + count
    assert len(claim(id)) == 1 + count


def test_deliveries_are_listed_newest_first_and_filtered(caller):
    id, _ = new_endpoint(caller)
    happen(caller, "job.created", "job.closed", "job.created")
    fan_out()
    nothing = {
        "status": None,
        "event_type": None,
        "since": None,
        "until": None,
        "cursor": None,
        "page_size": 2,
    }

    def listed(**changes):
        with store.transaction() as session:
            endpoint = webhooks.get(session, caller, id)
            page = deliveries.LIST.page(session, caller, endpoint_id=endpoint.id, **(nothing | changes))
        return [one.payload["sequence"] for one in page.results], page.next

    first, cursor = listed()
    assert first == [3, 2]
    assert listed(cursor=cursor) == ([1], None)
    assert listed(event_type="job.closed")[0] == [2]
    assert listed(status="delivered")[0] == []
    assert listed(since=now())[0] == []
    assert listed(until=now())[0] == [3, 2]
