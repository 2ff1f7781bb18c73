"""The test world: what takes weeks happens at once, to one organisation's test data alone."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from rules.clock import iso, now
from store.operating import clocks
from tests.api import Api, Tenant
from tests.hooks import deliveries_of, endpoint_of
from tests.probes import refusal
from tests.receiver import Answer, Receiver, running
from workers import advancing

DAY = 86_400


def advance(api: Api, seconds: int | None = None, **options: Any) -> Any:
    body = {"to": "next_due"} if seconds is None else {"seconds": seconds}
    answer = api.post("/test/clock/advance/", body, **options)
    assert answer.status_code == 200, answer.text
    return answer.json()


def clock(api: Api) -> Any:
    return api.get("/test/clock/").json()


def invited(api: Api, days: int = 14) -> Any:
    return api.invitation(api.assessment(cases=1)["slug"], expires_days=days)


def kinds(moved: Any) -> list[str]:
    return [one["kind"] for one in moved["happened"]]


def types(api: Api) -> list[str]:
    return [one["type"] for one in api.get("/events/", params={"page_size": 100}).json()["results"]]


def test_a_live_key_is_refused_by_a_code_of_its_own(tenant: Tenant) -> None:
    refusal(tenant.live.get("/test/clock/"), 403, "LIVE_KEY")
    refusal(tenant.live.post("/test/clock/advance/", {"seconds": 1}), 403, "LIVE_KEY")
    refusal(tenant.key(scopes=["jobs:read"]).get("/test/clock/"), 403, "INSUFFICIENT_SCOPE")


def test_an_advance_names_seconds_or_the_next_moment(tenant: Tenant) -> None:
    for body in (
        {},
        {"seconds": 0},
        {"seconds": 31_622_401},
        {"to": "then"},
        {"seconds": 1, "to": "next_due"},
    ):
        refusal(tenant.test.post("/test/clock/advance/", body), 400, "VALIDATION_ERROR")


def test_an_invitation_expires_when_its_days_have_passed(tenant: Tenant) -> None:
    made = invited(tenant.test)
    moved = advance(tenant.test, 13 * DAY)
    assert (moved["advanced_seconds"], moved["remaining_seconds"], kinds(moved)) == (13 * DAY, 0, [])
    moved = advance(tenant.test, 2 * DAY)
    assert kinds(moved) == ["invitation.expired"]
    shown = tenant.test.get(f"/invites/{made['invite_token']}/").json()
    assert shown["status"] == "expired"
    # What happened a day ago happened a day ago.
    at = datetime.fromisoformat(moved["happened"][0]["at"])
    assert abs(now() - timedelta(days=1) - at) < timedelta(minutes=1)
    assert clock(tenant.test)["advanced_seconds"] == 15 * DAY
    assert types(tenant.test)[-1] == "invitation.expired"


def test_the_next_moment_is_told_and_reached(tenant: Tenant) -> None:
    assert clock(tenant.test)["next_due_at"] is None
    assert advance(tenant.test)["advanced_seconds"] == 0
    made = invited(tenant.test, days=3)
    assert clock(tenant.test)["next_due_at"] == made["expires_at"]
    moved = advance(tenant.test)
    assert kinds(moved) == ["invitation.expired"]
    assert 3 * DAY - 60 < moved["advanced_seconds"] <= 3 * DAY
    assert moved["next_due_at"] is None


def test_what_happens_does_so_in_its_order(tenant: Tenant) -> None:
    api = tenant.test
    invited(api, days=5)
    opening = api.job(scheduled_publish_at=iso(now() + timedelta(days=2)))["slug"]
    closing = api.job(published=True, expires_at=iso(now() + timedelta(days=9)))["slug"]
    moved = advance(api, 30 * DAY)
    assert kinds(moved) == ["job.published", "invitation.expired", "job.closed"]
    moments = [datetime.fromisoformat(one["at"]) for one in moved["happened"]]
    gaps = [round((after - before).total_seconds() / DAY) for before, after in itertools.pairwise(moments)]
    assert gaps == [3, 4]
    assert [api.get(f"/jobs/{one}/").json()["status"] for one in (opening, closing)] == [
        "open",
        "closed",
    ]


def test_a_reminder_may_be_sent_again_a_day_later(tenant: Tenant) -> None:
    at = f"/invites/{invited(tenant.test)['invite_token']}/remind/"
    assert tenant.test.post(at).status_code == 200
    refusal(tenant.test.post(at), 400, "REMINDER_COOLDOWN")
    advance(tenant.test, DAY)
    assert tenant.test.post(at).status_code == 200


def test_an_answer_is_kept_for_a_day_and_the_clocks_own_too(tenant: Tenant) -> None:
    key = {"Idempotency-Key": "again"}
    first = tenant.test.post("/cases/create/", {"title": "A", "case_type": "text"}, headers=key).json()
    assert (
        tenant.test.post("/cases/create/", {"title": "A", "case_type": "text"}, headers=key).json() == first
    )
    own = {"Idempotency-Key": "moved"}
    moved = advance(tenant.test, 2 * DAY, headers=own)
    assert advance(tenant.test, 2 * DAY, headers=own) == moved
    assert clock(tenant.test)["advanced_seconds"] == 2 * DAY
    again = tenant.test.post("/cases/create/", {"title": "A", "case_type": "text"}, headers=key).json()
    assert again["id"] != first["id"]


@pytest.fixture
def receiver() -> Any:
    with running() as one:
        yield one


def endpoint(api: Api, receiver: Receiver) -> Any:
    made = api.post("/webhooks/create/", {"url": receiver.url, "events": ["*"]}).json()
    assert api.post(f"/webhooks/{made['id']}/test/").status_code == 200
    receiver.requests.clear()
    return made


def failing(api: Api, receiver: Receiver) -> Any:
    """An endpoint that nothing gets through to, and something to tell it of."""
    made = endpoint(api, receiver)
    receiver.answer(Answer(500))
    api.job()
    return made


def test_deliveries_are_tried_again_at_their_moments_until_they_succeed(
    tenant: Tenant, receiver: Receiver
) -> None:
    made = failing(tenant.test, receiver)
    began, moved = now(), advance(tenant.test, 7200)
    [delivery] = deliveries_of(made["id"])
    assert (delivery.status, delivery.attempts) == ("pending", 4)  # at once, after 5 s, 5 min, 30 min
    assert [(one["kind"], one["id"]) for one in moved["happened"]] == [
        ("delivery.attempted", str(delivery.id))
    ] * 3
    since = [
        began - timedelta(seconds=7200),
        *(datetime.fromisoformat(one["at"]) for one in moved["happened"]),
    ]
    waits = [(after - before).total_seconds() for before, after in itertools.pairwise(since)]
    for wait, usual in zip(waits, (5, 300, 1800), strict=True):
        assert 0.8 * usual - 2 <= wait <= 1.2 * usual + 2  # of whole seconds
    sent = [int(one.headers["webhook-timestamp"]) for one in receiver.requests]
    assert all(abs(now().timestamp() - one) < 60 for one in sent), "a receiver's tolerance holds"
    receiver.answer(200)
    moved = advance(tenant.test, 7200)
    [delivery] = deliveries_of(made["id"])
    assert (delivery.status, delivery.attempts) == ("delivered", 5)
    assert kinds(moved) == ["delivery.attempted"]


def test_an_endpoint_that_fails_for_five_days_is_switched_off_and_is_found_when_it_is_back(
    tenant: Tenant, receiver: Receiver
) -> None:
    made = failing(tenant.test, receiver)
    advance(tenant.test, 5 * DAY - 60)
    tenant.test.job()
    advance(tenant.test, 30)
    assert endpoint_of(made["id"]).is_active
    moved = advance(tenant.test, 3600)  # a third attempt of what was told last, five minutes after the second
    assert {"at": moved["happened"][-1]["at"], "kind": "webhook.disabled", "id": made["id"]} in moved[
        "happened"
    ]
    assert not endpoint_of(made["id"]).is_active
    receiver.answer(200)
    moved = advance(tenant.test, 2 * DAY)
    assert set(kinds(moved)) == {"webhook.enabled", "delivery.attempted"}
    assert endpoint_of(made["id"]).is_active


def test_what_is_old_is_forgotten(tenant: Tenant) -> None:
    tenant.test.job()
    assert types(tenant.test) == ["job.created"]
    moved = advance(tenant.test, 31 * DAY)
    assert (types(tenant.test), moved["happened"], moved["next_due_at"]) == ([], [], None)


def test_a_session_runs_out_of_time_and_is_graded(tenant: Tenant) -> None:
    slug = tenant.test.assessment(cases=1, time_limit_minutes=30)["slug"]
    token = tenant.test.invitation(slug)["invite_token"]
    assert tenant.http.post(f"/api/v1/candidate/invites/{token}/start/").status_code == 200
    moved = advance(tenant.test, 3600)
    assert "assessment.completed" in kinds(moved)
    assert tenant.test.get(f"/invites/{token}/").json()["status"] == "completed"


def test_live_data_and_other_organisations_stand_still(tenant: Tenant, other: Tenant) -> None:
    made = [(api, invited(api)["invite_token"]) for api in (tenant.live, other.test)]
    advance(tenant.test, 100 * DAY)
    for api, token in made:
        assert api.get(f"/invites/{token}/").json()["status"] == "pending"
    assert clock(other.test)["advanced_seconds"] == 0


def test_two_advances_of_one_clock_wait_for_each_other(tenant: Tenant) -> None:
    invited(tenant.test)
    with ThreadPoolExecutor(2) as pool:
        moved = list(pool.map(lambda _: advance(tenant.test, 10 * DAY), range(2)))
    assert clock(tenant.test)["advanced_seconds"] == 20 * DAY
    assert sorted(len(one["happened"]) for one in moved) == [0, 1]


def test_who_waits_too_long_for_a_clock_is_refused(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clocks, "WAIT_SECONDS", 1)
    with clocks.alone(tenant.organisation.id):
        refused = replace(tenant.test, checked=False).post("/test/clock/advance/", {"seconds": 1})
    refusal(refused, 503, "UNAVAILABLE")
    assert advance(tenant.test, 1)["advanced_seconds"] == 1


def test_what_was_reached_stays_where_the_time_of_a_request_is_over(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    for days in (1, 2, 3):
        invited(tenant.test, days)
    monkeypatch.setattr(advancing, "BUDGET_SECONDS", 0.0)
    assert advance(tenant.test, 4 * DAY) | {"next_due_at": ""} == {
        "advanced_seconds": 0, "remaining_seconds": 4 * DAY, "happened": [], "happened_count": 0, "next_due_at": ""
    }  # fmt: skip
    monkeypatch.undo()
    assert kinds(advance(tenant.test, 4 * DAY)) == ["invitation.expired"] * 3


def test_only_a_thousand_things_are_named_and_all_are_counted(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(advancing, "MOST_NAMED", 2)
    slug = tenant.test.assessment(cases=1)["slug"]
    for _ in range(3):
        tenant.test.invitation(slug)
    moved = advance(tenant.test, 15 * DAY)
    assert (len(moved["happened"]), moved["happened_count"]) == (2, 3)
