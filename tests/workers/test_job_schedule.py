"""Jobs that open and close by themselves."""

from datetime import timedelta
from typing import Any

from sqlalchemy import update

import store
from rules.clock import iso, now
from store.hiring.jobs import Job
from tests.api import Api, Tenant
from tests.api import tenant as make_tenant
from tests.workers.turning import ago, as_long_as_it_takes, told, turn
from workers import schedule

KINDS = [kind for kind in schedule.KINDS if kind.name.startswith("job ")]
__all__ = ["as_long_as_it_takes"]


def status(api: Api, job: dict[str, Any]) -> str:
    return str(api.get(f"/jobs/{job['id']}/").json()["status"])


def test_a_draft_is_published_when_its_moment_comes_and_only_once(tenant: Tenant) -> None:
    due = tenant.live.job(scheduled_publish_at=ago(seconds=1))
    later = tenant.live.job(scheduled_publish_at=iso(now() + timedelta(hours=1)))
    turn(KINDS, 4)
    assert (status(tenant.live, due), status(tenant.live, later)) == ("open", "draft")
    assert told(tenant.live, "job.published") == 1


def test_a_draft_that_is_not_fit_stays_one_until_it_is_changed(tenant: Tenant) -> None:
    job = tenant.live.job(scheduled_publish_at=ago(seconds=1), expires_at=ago(seconds=1))
    turn(KINDS)
    turn(KINDS)
    assert status(tenant.live, job) == "draft"
    with store.transaction() as session:
        assert session.get(Job, job["id"]).publish_error
    tenant.live.patch(f"/jobs/{job['id']}/update/", {"expires_at": None})
    turn(KINDS)
    assert status(tenant.live, job) == "open"


def test_the_schedule_keeps_to_the_plan(http: Any) -> None:
    owner = make_tenant(http, "starter")
    jobs = [owner.live.job(scheduled_publish_at=ago(seconds=1)) for _ in range(7)]
    turn(KINDS, 3)
    assert sorted(status(owner.live, job) for job in jobs) == ["draft"] * 2 + ["open"] * 5


def test_an_open_job_closes_when_its_time_is_over(tenant: Tenant) -> None:
    over, running = (
        tenant.live.job(published=True, expires_at=iso(now() + timedelta(hours=1))) for _ in range(2)
    )
    with store.transaction() as session:
        session.execute(update(Job).where(Job.id == over["id"]).values(expires_at=now()))
    turn(KINDS, 4)
    assert (status(tenant.live, over), status(tenant.live, running)) == ("closed", "open")
    assert told(tenant.live, "job.closed") == 1
