"""What time does to interviews: nobody came, nobody used the room, the time is up."""

import pytest
from sqlalchemy import text

import store
from tests.api import Tenant
from tests.interviews import arrange, due, make, moved, run, shown, told


@pytest.mark.parametrize(
    ("status", "found"), [("prepared", "expired"), ("scheduled", "no_show"), ("waiting", "no_show")]
)
def test_what_nobody_came_to_is_closed_once(tenant: Tenant, status: str, found: str) -> None:
    made = arrange(tenant.live, status)
    due(made["id"])
    run()
    assert shown(tenant.live, made["id"])["status"] == found
    assert [one["type"] for one in told(tenant.live)].count("interview.no_show") == 1
    assert told(tenant.live)[-1]["data"]["status"] == found


def test_a_candidate_who_waits_in_a_room_without_a_time_is_not_left_by_the_clock(tenant: Tenant) -> None:
    made = make(tenant.live)
    moved(made["id"], "wait")
    run()
    assert shown(tenant.live, made["id"])["status"] == "waiting"
    due(made["id"])
    assert shown(tenant.live, made["id"])["status"] == "expired"


def test_an_interview_ends_when_its_time_is_up_at_that_moment(tenant: Tenant) -> None:
    made = make(tenant.live, time_limit_minutes=30)
    moved(made["id"], "wait", "start")
    back = "UPDATE interviews SET started_at = started_at - interval '1 hour', due_at = due_at - interval '1 hour'"
    with store.transaction() as session:
        session.execute(text(back))
    run()
    after = shown(tenant.live, made["id"])
    assert after["status"] == "ended"
    with store.transaction() as session:
        late = text("SELECT ended_at = started_at + interval '30 minutes' FROM interviews WHERE id = :id")
        assert session.scalar(late, {"id": made["id"]})
    assert told(tenant.live)[-1]["type"] == "interview.completed"
    events = tenant.live.get(f"/interviews/{made['id']}/replay/").json()["events"]
    assert [(one["kind"], one["actor"], one["data"]) for one in events] == [
        ("end", "system", {"reason": "time_up"})
    ]
