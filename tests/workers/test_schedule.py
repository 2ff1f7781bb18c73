import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest
from prometheus_client import REGISTRY
from sqlalchemy import func, select, text

import store
from rules.clock import now
from store import outbox
from store.accounts import idempotency
from store.database.aside import Row
from store.database.ids import new_id
from store.delivering import fanout
from store.delivering.webhooks import Delivery, WebhookEndpoint
from store.events import Event
from store.operating import retention
from store.outbox import OutboxItem
from tests.hooks import caller, deliveries_of, endpoint_of, happen, new_endpoint, wired
from workers import schedule
from workers.schedule import Kind

__all__ = ["caller", "wired"]


def made(name, next_due, do):
    """Make a kind of a test's own, whose rows nobody keeps."""
    due = SimpleNamespace(kind=name, next=next_due, choose=lambda session, limit: [Row(new_id())])
    return Kind(due, lambda session, rows: do(session))


def age(table, days):
    with store.transaction() as session:
        session.execute(
            text(f"UPDATE {table} SET created_at = created_at - make_interval(days => :days)"), {"days": days}
        )


def count(model):
    with store.transaction() as session:
        return session.scalar(select(func.count()).select_from(model))


@pytest.fixture
def kept(caller):
    """One event with its delivery, one finished and one waiting piece of work, and nothing else."""
    with store.transaction() as session:
        session.execute(text("TRUNCATE invitations, events, deliveries, outbox CASCADE"))
    id, _ = new_endpoint(caller)
    happen(caller, "job.created")
    with store.transaction() as session:
        outbox.add(session, None, "test")
        outbox.add(session, None, "test")
    with store.transaction() as session:
        while fanout.fan_out(session, limit=100).events:
            pass
    with store.transaction() as session:
        items = session.scalars(select(OutboxItem).order_by(OutboxItem.id.desc()).limit(2)).all()
        items[0].finished_at = now()
    return id


def turn(kinds=schedule.KINDS):
    for kind in kinds:
        schedule.turn(kind, threading.Event())


def test_what_is_30_days_old_goes_and_what_is_younger_stays(kept):
    for table in ("events", "deliveries", "outbox"):
        age(table, 29)
    turn()
    assert len(deliveries_of(kept)) == 1
    for table in ("events", "deliveries", "outbox"):
        age(table, 2)
    turn()
    assert deliveries_of(kept) == []
    assert endpoint_of(kept).pending_delivery_count == 0
    assert count(Delivery) == 0
    with store.transaction() as session:  # other tests leave what falls due at this turn, and is told of
        old = select(func.count()).where(Event.type == "job.created")
        assert session.scalar(old) == 0
    with store.transaction() as session:
        assert session.scalar(select(func.count()).where(OutboxItem.finished_at.is_not(None))) == 0
    assert count(OutboxItem) >= 1


def test_the_schedule_knows_when_to_look_again(kept):
    for kind in schedule.KINDS:
        moment = schedule.turn(kind, threading.Event())
        assert moment is None or moment > now()
    with store.transaction() as session:
        assert now() + timedelta(days=29) < retention.EVENTS.next(session) <= now() + timedelta(days=30)


def test_batches_are_caught_up_until_nothing_is_due(wired):
    left = [5]

    def run_batch(session):
        left[0] -= 1
        return 1

    kind = made("test", lambda session: now() if left[0] else None, run_batch)
    assert schedule.turn(kind, threading.Event()) is None
    assert left == [0]


def test_what_another_schedule_has_in_hand_is_left_to_it(wired):
    kind = made("test", lambda session: now(), lambda session: 0)
    assert schedule.turn(kind, threading.Event()) > now() - timedelta(seconds=1)


# --- What becomes due in the main journey


def schedules(names, count=4, **changes):
    """Run schedules side by side until nothing is due."""
    kinds = [replace(kind, **changes) for kind in schedule.KINDS if kind.name in names]
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(lambda _: [schedule.turn(kind, threading.Event()) for kind in kinds], range(count)))


def told(tenant, type):
    return tenant.live.get("/events/", params={"type": type}).json()["results"]


def test_an_invitation_that_nobody_started_in_time_expires_once(tenant):
    made = tenant.live.invitation(tenant.live.assessment()["slug"])
    schedules({"invitations"})
    assert told(tenant, "invitation.expired") == []
    with store.transaction() as session:
        session.execute(
            text("UPDATE invitations SET expires_at = now() - interval '1 second' WHERE token = :token"),
            {"token": made["invite_token"]},
        )
    schedules({"invitations"})
    assert tenant.live.get(f"/invites/{made['invite_token']}/").json()["status"] == "expired"
    (event,) = told(tenant, "invitation.expired")
    assert event["data"]["invite_token"] == made["invite_token"]


def test_a_session_whose_time_is_up_is_completed_once_and_asks_for_its_grades(tenant):
    slug = tenant.live.assessment(cases=1, time_limit_minutes=30)["slug"]
    token = tenant.live.invitation(slug)["invite_token"]
    started = tenant.http.post(f"/api/v1/candidate/invites/{token}/start/")
    assert started.status_code == 200, started.text
    schedules({"sessions"})
    assert told(tenant, "assessment.completed") == []
    with store.transaction() as session:
        session.execute(
            text(
                "UPDATE sessions SET deadline_at = now() - interval '1 second', started_at = now() - interval '1 hour'"
                " WHERE invitation_id = (SELECT id FROM invitations WHERE token = :token)"
            ),
            {"token": token},
        )
    schedules({"sessions"})
    assert len(told(tenant, "assessment.completed")) == 1
    assert tenant.live.get(f"/invites/{token}/").json()["status"] == "completed"
    session_id = told(tenant, "assessment.completed")[0]["data"]["session_id"]
    with store.transaction() as session:
        jobs = session.scalars(select(OutboxItem).where(OutboxItem.job == "grade")).all()
    assert len([one for one in jobs if one.arguments["session_id"] == session_id]) == 1


def test_the_schedule_wakes_for_what_is_due_next(tenant):
    tenant.live.invitation(tenant.live.assessment()["slug"])
    (kind,) = (kind for kind in schedule.KINDS if kind.name == "invitations")
    moment = schedule.turn(kind, threading.Event())
    assert now() < moment <= now() + timedelta(days=7)


def test_a_stop_of_days_is_caught_up_in_the_order_in_which_it_became_due(tenant):
    slug = tenant.live.assessment()["slug"]
    tokens = [tenant.live.invitation(slug)["invite_token"] for _ in range(7)]
    days = [3, 6, 1, 5, 2, 7, 4]
    with store.transaction() as session:
        for token, day in zip(tokens, days, strict=True):
            session.execute(
                text(
                    "UPDATE invitations SET expires_at = now() - make_interval(days => :day) WHERE token = :token"
                ),
                {"day": day, "token": token},
            )
    with store.transaction() as session:
        assert schedule.lags(session)["invitations"] > 6.9 * 86_400
    schedules({"invitations"}, count=1, size=2)
    expired = [one["data"]["invite_token"] for one in told(tenant, "invitation.expired")]
    assert expired == [token for _, token in sorted(zip(days, tokens, strict=True), reverse=True)]
    with store.transaction() as session:
        assert schedule.lags(session)["invitations"] == 0


def test_several_schedules_at_once_catch_up_a_backlog_each_row_once(tenant):
    slug = tenant.live.assessment()["slug"]
    tokens = {tenant.live.invitation(slug)["invite_token"] for _ in range(30)}
    with store.transaction() as session:
        session.execute(
            text("UPDATE invitations SET expires_at = now() - interval '2 days' WHERE token = ANY (:tokens)"),
            {"tokens": list(tokens)},
        )
    while True:  # a schedule that finds all that is due in others' hands looks again a second later
        schedules({"invitations"}, count=4, size=3)
        with store.transaction() as session:
            if not schedule.lags(session)["invitations"]:
                break
    expired = []
    after = 0
    while page := tenant.live.get("/events/", params={"type": "invitation.expired", "after": after}).json()[
        "results"
    ]:
        expired += [one["data"]["invite_token"] for one in page]
        after = page[-1]["sequence"]
    assert len(expired) == 30
    assert set(expired) == tokens


def test_retention_goes_in_batches_and_never_in_one_sweep(kept, caller):
    id, _ = new_endpoint(caller, "https://example.com/batches")
    happen(caller, *["job.created"] * 35)
    with store.transaction() as session:
        while fanout.fan_out(session, limit=100).events:
            pass
    age("deliveries", 31)
    sizes = []

    def counted(session, rows):
        sizes.append(retention.delete_deliveries(session, rows))
        return sizes[-1]

    kinds = {kind.name: replace(kind, size=10) for kind in schedule.KINDS}
    turn([replace(kinds["deliveries"], do=counted)])
    assert max(sizes) == 10 + 1  # and one of the newest
    assert sum(sizes) >= 35
    assert deliveries_of(id) == []


def test_no_delivery_outlives_its_event(kept, caller):
    id, _ = new_endpoint(caller, "https://example.com/together")
    happen(caller, *["job.created"] * 3)
    with store.transaction() as session:
        while fanout.fan_out(session, limit=100).events:
            pass
        first = session.scalars(
            select(Delivery).where(Delivery.endpoint_id == id).order_by(Delivery.id)
        ).first()
        first.status = "delivered"
        session.get(WebhookEndpoint, id).counted = -1  # two with the three of the tally
    age("events", 31)
    schedules({"events"})
    assert deliveries_of(id) == []
    with store.transaction() as session:
        assert session.get(WebhookEndpoint, id).pending_delivery_count == 0


def test_what_is_done_and_what_fails_is_counted(wired):
    def value(name, kind):
        return REGISTRY.get_sample_value(name, {"kind": kind}) or 0.0

    left, failed = [2], []

    def run_batch(session):
        left[0] -= 1
        return 7

    def fail(session):
        failed.append(session)
        raise ValueError

    schedule.turn(made("counted", lambda session: now() if left[0] else None, run_batch), threading.Event())
    schedule.turn(made("failing", lambda session: None if failed else now(), fail), threading.Event())
    assert value("hiring_schedule_done_total", "counted") == 14
    assert value("hiring_schedule_faults_total", "failing") == 1


def indexes(plan):
    """Name the indexes that a plan reads."""
    below = [name for one in plan.get("Plans", ()) for name in indexes(one)]
    return [plan["Index Name"], *below] if "Index Name" in plan else below


@pytest.mark.parametrize(
    "kind",
    [one for one in schedule.KINDS if one.due is not idempotency.DUE],  # whose key is no id
    ids=lambda one: one.name,
)
def test_a_batch_is_found_by_its_ids_and_not_among_all_that_is_due(wired, kind):
    due = kind.due
    found = select(due.model.id).where(*due.among([Row(new_id()) for _ in range(50)]))
    table = due.model.__tablename__
    with store.transaction() as session:
        # One that is never analysed stands for it: of a few rows that are known it is cheaper to read all.
        session.execute(text(f"CREATE TEMPORARY TABLE {table} (LIKE public.{table} INCLUDING ALL)"))
        session.execute(text("SET LOCAL enable_seqscan = off"))
        compiled = found.compile(session.connection().engine)
        driver = session.connection().connection.driver_connection
        [(plan,)] = driver.execute(f"EXPLAIN (FORMAT JSON) {compiled}", compiled.params).fetchall()
        session.rollback()
    mine = {name for name in indexes(plan[0]["Plan"]) if name.startswith(f"{table}_")}
    assert mine == {f"{table}_pkey"}
