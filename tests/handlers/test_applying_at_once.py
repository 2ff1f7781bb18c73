"""Many apply for one job while it closes and is looked at: each is counted, and none slips in after the close."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

import store
from rules.caller import Caller
from store.applying import applying
from store.hiring import tallies
from store.hiring.jobs import Job
from store.hiring.tallies import ApplicationTally
from store.people import candidates
from tests.api import Api, Tenant, address
from tests.waiting import BLOCKED, TRIES
from workers import schedule

[FOLDING] = [kind for kind in schedule.KINDS if kind.due is tallies.DUE]


@pytest.fixture
def job(tenant: Tenant) -> str:
    return str(tenant.live.job(published=True)["slug"])


@contextmanager
def applying_for(tenant: Tenant, slug: str) -> Iterator[Session]:
    """Somebody's application that is made and not committed yet."""
    caller = Caller(tenant.organisation.id, livemode=True, plan_name="growth")
    person: dict[str, Any] = {
        "email": address(),
        "full_name": "Grace Hopper",
        "phone": "",
        "source": "import",
    }
    with store.transaction() as session:
        [found] = applying.look(session, caller, [slug], person["email"])
        held = applying.hold(session, caller, found.id)
        met = {"email": person["email"], "name": person["full_name"], "source": "import"}
        [person["candidate_id"]] = candidates.meet_all(session, caller, [met]).values()
        applying.make(session, caller, applying.new(caller, held, person), [])
        yield session


def apply(api: Api, slug: str) -> int:
    person = {"job_slug": slug, "email": address(), "full_name": "Ada Lovelace"}
    return int(api.post("/applications/create/", person).status_code)


def counts(api: Api, slug: str) -> set[int]:
    """Return what says how many have applied: the job, the list of jobs, the list of applications."""
    job = api.get(f"/jobs/{slug}/").json()
    [listed] = [one for one in api.get("/jobs/").json()["results"] if one["slug"] == slug]
    found = api.get("/applications/", params={"job_slug": slug, "page_size": 100}).json()["results"]
    return {job["application_count"], listed["application_count"], len(found)}


def waits(session: Session) -> bool:
    """Say whether somebody comes to wait for a transaction."""
    return any(session.scalar(BLOCKED) for _ in range(TRIES))


def test_nobody_waits_for_the_commit_of_another_applicant(tenant: Tenant, job: str) -> None:
    with applying_for(tenant, job), ThreadPoolExecutor(20) as pool:
        assert set(pool.map(lambda _: apply(tenant.live, job), range(20))) == {201}
        assert counts(tenant.live, job) == {20}
    assert counts(tenant.live, job) == {21}


def test_a_job_closes_after_whoever_applies_just_then(tenant: Tenant, job: str) -> None:
    with ThreadPoolExecutor(1) as pool:
        with applying_for(tenant, job) as session:
            closed = pool.submit(tenant.live.post, f"/jobs/{job}/close/")
            assert waits(session)
            assert not closed.done()
        assert closed.result().json()["application_count"] == 1
    assert apply(tenant.live, job) == 400


def test_who_applies_while_a_job_closes_is_refused(tenant: Tenant, job: str) -> None:
    with ThreadPoolExecutor(1) as pool:
        with store.transaction() as session:
            mine = update(Job).where(Job.organisation_id == tenant.organisation.id)
            session.execute(mine.values(status="closed"))
            late = pool.submit(apply, tenant.live, job)
            assert waits(session)
        assert late.result() == 400
    assert counts(tenant.live, job) == {0}


def test_in_the_feed_no_application_comes_after_the_close(tenant: Tenant, job: str) -> None:
    begun = threading.Semaphore(0)

    def flood(_: int) -> list[int]:
        found = []
        while not found or found[-1] == 201:
            found.append(apply(tenant.live, job))
            begun.release()
        return found

    with ThreadPoolExecutor(8) as pool:
        floods = pool.map(flood, range(8))
        for _ in range(12):
            assert begun.acquire(timeout=30)
        assert tenant.live.post(f"/jobs/{job}/close/").status_code == 200  # in time, however many apply
        answers = [status for found in floods for status in found]
    assert sorted(set(answers)) == [201, 400]
    told = tenant.live.get("/events/", params={"page_size": 100}).json()["results"]
    kinds = [one["type"] for one in told if one["type"] in ("application.submitted", "job.closed")]
    assert kinds == ["application.submitted"] * answers.count(201) + ["job.closed"]
    assert counts(tenant.live, job) == {answers.count(201)}


def test_the_count_is_right_while_the_schedule_adds_it_to_the_job(tenant: Tenant, job: str) -> None:
    stopping = threading.Event()

    def fold() -> None:
        while not stopping.is_set():
            FOLDING.batch()

    def look(_: int) -> list[int]:
        return [tenant.live.get(f"/jobs/{job}/").json()["application_count"] for _ in range(10)]

    with ThreadPoolExecutor(8) as pool:
        folding = pool.submit(fold)
        looks = [pool.submit(look, 0) for _ in range(2)]
        made = list(pool.map(lambda _: apply(tenant.live, job), range(40)))
        stopping.set()
        folding.result()
    assert made == [201] * 40
    assert counts(tenant.live, job) == {40}
    for one in looks:
        assert one.result() == sorted(one.result())  # it never falls


def test_a_job_has_changed_once_the_schedule_has_counted(tenant: Tenant, job: str) -> None:
    before = tenant.live.get(f"/jobs/{job}/").json()["updated_at"]
    for _ in range(3):
        tenant.live.application(job)
    own = select(func.count(), func.sum(ApplicationTally.count)).where(
        ApplicationTally.organisation_id == tenant.organisation.id
    )
    with store.transaction() as session:
        assert session.execute(own).one() == (1, 3)  # one after the other need one row
    while FOLDING.batch()[1]:
        pass
    with store.transaction() as session:
        assert session.execute(own).one() == (0, None)
        counted = select(Job.counted).where(Job.organisation_id == tenant.organisation.id)
        assert session.scalar(counted) == 3
    assert counts(tenant.live, job) == {3}
    changed = tenant.live.get("/jobs/", params={"updated_after": before}).json()["results"]
    assert [one["slug"] for one in changed] == [job]


def test_a_job_that_somebody_applies_for_is_counted_later(tenant: Tenant, job: str) -> None:
    tenant.live.application(job)
    with applying_for(tenant, job):
        while FOLDING.batch()[1]:
            pass
        with store.transaction() as session:
            kept = select(func.sum(ApplicationTally.count)).where(
                ApplicationTally.organisation_id == tenant.organisation.id
            )
            assert session.scalar(kept) == 1  # nobody waited
        assert counts(tenant.live, job) == {1}
    while FOLDING.batch()[1]:
        pass
    assert counts(tenant.live, job) == {2}


def test_what_was_rolled_back_is_not_counted(tenant: Tenant, job: str) -> None:
    with pytest.raises(ZeroDivisionError), applying_for(tenant, job):
        raise ZeroDivisionError
    assert counts(tenant.live, job) == {0}
