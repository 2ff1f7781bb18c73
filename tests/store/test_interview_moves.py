"""Rooms move with their events, and fall due at the moment that the rules say."""

from datetime import timedelta
from uuid import UUID

import store
from store.interviewing.rooms import Interview
from tests.api import Tenant
from tests.interviews import later, make, moved, shown, told


def due_at(id: str) -> object:
    with store.transaction() as session:
        return session.get_one(Interview, UUID(id)).due_at


def test_an_interview_begins_and_ends_with_its_events(tenant: Tenant) -> None:
    made = make(tenant.live, candidate_email="ada@example.com", time_limit_minutes=30)
    moved(made["id"], "wait", "start")
    [started] = told(tenant.live)
    assert (started["type"], started["data"]["status"]) == ("interview.started", "active")
    assert started["data"]["started_at"] == shown(tenant.live, made["id"])["started_at"]
    moved(made["id"], "end")
    ended = told(tenant.live)[-1]
    assert (ended["type"], ended["data"]["status"]) == ("interview.completed", "ended")
    assert ended["data"]["ended_at"] is not None


def test_a_room_falls_due_by_its_time_and_then_by_its_limit(tenant: Tenant) -> None:
    made = make(tenant.live, time_limit_minutes=30)
    with store.transaction() as session:
        row = session.get_one(Interview, UUID(made["id"]))
        assert row.due_at == row.created_at + timedelta(days=30)
    tenant.live.post(f"/interviews/{made['id']}/reschedule/", {"scheduled_at": later()})
    with store.transaction() as session:
        row = session.get_one(Interview, UUID(made["id"]))
        assert row.scheduled_at is not None
        assert row.due_at == row.scheduled_at + timedelta(minutes=15)
    moved(made["id"], "wait", "start")
    with store.transaction() as session:
        row = session.get_one(Interview, UUID(made["id"]))
        assert row.started_at is not None
        assert row.due_at == row.started_at + timedelta(minutes=30)
    moved(made["id"], "end")
    assert due_at(made["id"]) is None
    without = make(tenant.live, time_limit_minutes=0)
    moved(without["id"], "wait", "start")
    assert due_at(without["id"]) is None
