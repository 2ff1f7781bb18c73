"""What organisations keep for as long as they have set, and no longer."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, text

import store
from rules.clock import now
from store.events import Event
from store.operating import retention
from store.people import untouched
from tests.api import Api, Tenant, address
from tests.hooks import wired
from workers import schedule

__all__ = ["wired"]

BY_NAME = {kind.name: kind for kind in schedule.KINDS}


def come_true(name: str) -> None:
    """Do what is due of a kind."""
    while BY_NAME[name].batch()[1]:
        pass


def keep(api: Api, **days: int | None) -> None:
    answer = api.patch("/org/settings/", {"retention_days": days})
    assert answer.status_code == 200, answer.text


def aged(table: str, column: str, days: int, **where: Any) -> None:
    """Let rows be so many days old."""
    conditions = " AND ".join(f"{name} = :{name}" for name in where)
    with store.transaction() as session:
        session.execute(
            text(f"UPDATE {table} SET {column} = now() - make_interval(days => :days) WHERE {conditions}"),
            {"days": days, **where},
        )


def applied(api: Api, days: int, **more: int) -> dict[str, Any]:
    """Somebody who applied so long ago, and of whom nothing happened since but what is named."""
    made = api.application(api.job(published=True)["slug"], address())
    aged("applications", "updated_at", more.get("application", days), id=made["id"])
    aged("candidates", "updated_at", days, id=made["candidate_id"])
    return made


def is_there(api: Api, made: dict[str, Any]) -> bool:
    return bool(api.get(f"/candidates/{made['candidate_id']}/").status_code == 200)


def test_candidates_are_kept_for_ever_unless_an_organisation_says_otherwise(
    tenant: Tenant, other: Tenant
) -> None:
    mine, theirs = applied(tenant.live, 400), applied(other.live, 400)
    come_true("candidates")
    assert is_there(tenant.live, mine)
    keep(tenant.live, candidates=365)
    come_true("candidates")
    assert (is_there(tenant.live, mine), is_there(other.live, theirs)) == (False, True)


def test_who_was_not_touched_for_so_long_is_erased_in_both_modes_and_others_stay(tenant: Tenant) -> None:
    keep(tenant.live, candidates=30)
    for api in (tenant.live, tenant.test):
        old, young = applied(api, 31), applied(api, 29)
        come_true("candidates")
        assert (is_there(api, old), is_there(api, young)) == (False, True)
        shown = api.get(f"/applications/{old['id']}/").json()
        assert (shown["email"], shown["full_name"], shown["status"]) == ("", "", "withdrawn")
        with store.transaction() as session:
            left = session.scalar(select(Event.id).where(Event.data["email"].astext == old["email"]))
        assert left is None


def test_the_audit_log_tells_that_the_service_erased(tenant: Tenant) -> None:
    keep(tenant.live, candidates=30)
    old = applied(tenant.live, 31)
    come_true("candidates")
    come_true("audit rows")
    query = {"action": "candidate.erased"}
    [row] = tenant.live.get("/org/audit-log/", params=query).json()["results"]
    assert (row["channel"], row["actor"]["type"], row["resource_id"]) == (
        "system",
        "system",
        old["candidate_id"],
    )


def test_whatever_happens_to_a_person_keeps_the_profile(tenant: Tenant) -> None:
    keep(tenant.live, candidates=30)
    made = applied(tenant.live, 31, application=10)
    come_true("candidates")
    assert is_there(tenant.live, made)
    with store.transaction() as session:  # and is not looked at again before its time
        due = untouched.DUE.next(session)
    assert due is None or due > now()
    shown = tenant.live.get(f"/candidates/{made['candidate_id']}/").json()
    assert shown["updated_at"] == tenant.live.get(f"/applications/{made['id']}/").json()["updated_at"]


def test_several_schedules_erase_a_person_once(tenant: Tenant) -> None:
    keep(tenant.live, candidates=30)
    applied(tenant.live, 31)
    with store.transaction() as first:
        chosen = untouched.DUE.choose(first, 1)
        assert len(chosen) == 1
        with store.transaction() as second:
            assert untouched.DUE.choose(second, 1) == []


def test_events_go_as_early_as_their_organisation_says(tenant: Tenant, other: Tenant) -> None:
    for one in (tenant, other):
        one.live.job()
        with store.transaction() as session:
            session.execute(text("UPDATE events SET fanned_out_at = now() WHERE fanned_out_at IS NULL"))
        aged("events", "created_at", 8, organisation_id=one.organisation.id)
    keep(tenant.live, events=7)
    come_true("events kept shorter")
    assert tenant.live.get("/events/").json()["results"] == []
    assert len(other.live.get("/events/").json()["results"]) == 1
    with store.transaction() as session:
        due = retention.EVENTS_SOONER.next(session)
    assert due is None or due > now() - timedelta(seconds=1)


@pytest.mark.parametrize(
    ("days", "pointer", "word"),
    [
        ({"recordings": 0}, "/retention_days/recordings", "1"),
        ({"candidates": 29}, "/retention_days/candidates", "30"),
        ({"events": 31}, "/retention_days/events", "30"),
        ({"events": None}, "/retention_days/events", ""),
        ({"logs": 3}, "/retention_days/logs", ""),
    ],
)
def test_what_cannot_be_kept_so_is_refused_where_it_stands(
    tenant: Tenant, days: dict[str, Any], pointer: str, word: str
) -> None:
    answer = tenant.live.patch("/org/settings/", {"retention_days": days, "help_contact": "x"})
    assert answer.status_code == 400
    [fault] = answer.json()["error"]["details"]["fields"]
    assert fault["pointer"] == pointer
    assert word in fault["message"]
    assert tenant.live.get("/org/settings/").json()["help_contact"] == ""


def test_one_number_of_days_changes_and_the_others_stay(tenant: Tenant) -> None:
    keep(tenant.live, candidates=365, recordings=60)
    keep(tenant.live, events=7)
    shown = tenant.test.get("/org/settings/").json()["retention_days"]
    assert shown == {"candidates": 365, "recordings": 60, "events": 7}
    keep(tenant.live, candidates=None)
    assert tenant.live.get("/org/settings/").json()["retention_days"]["candidates"] is None
