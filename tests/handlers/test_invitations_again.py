"""Invitations that are changed, opened again and taken again."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

import store
from rules.clock import iso, now
from schemas import invitations as schemas
from store.assessing import invitations
from store.assessing.invitations import Invitation
from store.assessing.sessions import CandidateSession
from store.events import Event
from store.outbox import OutboxItem
from tests.api import Api, Tenant
from tests.operations import states
from tests.pipelines import MANUAL, enroll, measured, pipeline, shown, sit
from workers import schedule

MINUTES = 60


def invited(api: Api, **fields: Any) -> str:
    """Invite somebody to an assessment with a limit; return the token."""
    made = states.post(
        api,
        "/assessments/create/",
        {"title": states.title("Timed"), "time_limit_minutes": MINUTES, "cases": cases(api)},
    )
    assert api.patch(f"/assessments/{made['slug']}/update/", {"status": "active"}).status_code == 200
    return str(api.invitation(made["slug"], **fields)["invite_token"])


def cases(api: Api) -> list[dict[str, str]]:
    return [{"case_id": states.a_case(api, **states.NUMBER)["id"], "source": "org"}]


def completed(api: Api, **fields: Any) -> str:
    token = invited(api, **fields)
    sit(api, token, answer=1)
    return token


def seen(api: Api, token: str) -> dict[str, Any]:
    return dict(api.get(f"/invites/{token}/").json())


def side(api: Api, token: str) -> dict[str, Any]:
    """What the candidate sees."""
    return dict(states.candidate(api).get(f"/invites/{token}/").json())


def start(api: Api, token: str) -> dict[str, Any]:
    return dict(states.post(states.candidate(api), f"/invites/{token}/start/"))


def change(api: Api, token: str, **body: Any) -> Any:
    return api.patch(f"/invites/{token}/", body)


def reopen(api: Api, token: str, **body: Any) -> Any:
    return api.post(f"/invites/{token}/reopen/", body)


def set_fields(token: str, **fields: object) -> None:
    with store.transaction() as session:
        session.execute(update(Invitation).where(Invitation.token == token).values(**fields))


def expire(token: str) -> None:
    set_fields(token, expires_at=now() - timedelta(seconds=1))
    with store.transaction() as session:
        invitations.expire(session, invitations.DUE.choose(session, 1000), schemas.event)


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def refused(answer: Any, status: str) -> None:
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, "VALIDATION_ERROR"), answer.text
    assert error["details"]["status"] == status


def mails(token: str, template: str) -> int:
    with store.transaction() as session:
        sent = select(OutboxItem.arguments).where(OutboxItem.job == "mail")
        return sum(
            one.get("template") == template and one.get("invite_url", "").endswith(token)
            for one in session.scalars(sent)
        )


def told(tenant: Tenant, type: str) -> list[dict[str, Any]]:
    with store.transaction() as session:
        found = select(Event.data).where(Event.organisation_id == tenant.organisation.id, Event.type == type)
        return list(session.scalars(found.order_by(Event.sequence)))


# --- Changing


def test_a_pending_invitation_is_changed_and_the_rest_of_it_stays(tenant: Tenant) -> None:
    token = invited(tenant.live, name="Ada", role="Engineer", tags=["berlin"], external_id="ats-1")
    before = seen(tenant.live, token)
    later = iso(now() + timedelta(days=30))
    body = {"expires_at": later, "extra_time_percent": 50, "name": "Ada L.", "role": "Lead", "tags": []}
    changed = change(tenant.live, token, **body)
    assert changed.status_code == 200
    after = seen(tenant.live, token)
    assert after == before | body | {"updated_at": changed.json()["updated_at"]}
    assert after == changed.json() | {"meta": after["meta"]}
    assert after["updated_at"] > before["updated_at"]
    assert start(tenant.live, token)["assessment"]["time_allowed_seconds"] == MINUTES * 90


def test_a_change_of_nothing_changes_nothing(tenant: Tenant) -> None:
    token = invited(tenant.live)
    before = seen(tenant.live, token)
    assert change(tenant.live, token).json() | {"meta": before["meta"]} == before


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"expires_at": "2020-01-01T00:00:00Z"}, "/expires_at"),
        ({"expires_at": iso(now() + timedelta(days=366))}, "/expires_at"),
        ({"expires_at": "2027-01-01T00:00:00"}, "/expires_at"),
        ({"expires_at": None}, "/expires_at"),
        ({"extra_time_percent": 10}, "/extra_time_percent"),
        ({"name": "x" * 201}, "/name"),
        ({"role": "x" * 201}, "/role"),
        ({"tags": ["x"] * 21}, "/tags"),
        ({"tags": ["x" * 65]}, "/tags/0"),
        ({"email": "ada@example.com"}, "/email"),
        ({"status": "expired"}, "/status"),
        ({"external_id": "ats-2"}, "/external_id"),
    ],
)
def test_a_bad_change_is_refused_in_its_place(tenant: Tenant, body: dict[str, Any], pointer: str) -> None:
    token = invited(tenant.live)
    answer = change(tenant.live, token, **body)
    assert answer.status_code == 400
    assert [one["pointer"] for one in answer.json()["error"]["details"]["fields"]] == [pointer]


def test_extra_time_moves_the_deadline_of_a_running_session(tenant: Tenant) -> None:
    token = invited(tenant.live)
    begun = start(tenant.live, token)
    [case] = begun["cases"]
    assert moment(begun["deadline_at"]) - moment(begun["started_at"]) == timedelta(minutes=MINUTES)
    for percent in (50, 25, 100, 0):
        assert change(tenant.live, token, extra_time_percent=percent).json()["extra_time_percent"] == percent
        shown = side(tenant.live, token)
        own = timedelta(minutes=MINUTES) * (100 + percent) / 100
        assert moment(shown["deadline_at"]) - moment(begun["started_at"]) == own
        assert shown["assessment"]["time_allowed_seconds"] == own.total_seconds()
        assert shown["assessment"]["time_limit_minutes"] == MINUTES
        saved = states.candidate(tenant.live).put(
            f"/invites/{token}/answers/{case['assessment_case_id']}/", {"answer": percent}
        )
        assert saved.json()["deadline_at"] == shown["deadline_at"]


def test_a_session_without_a_limit_has_no_deadline_with_extra_time_either(tenant: Tenant) -> None:
    token = states.a_sitting(tenant.live, states.NUMBER)["token"]
    assert change(tenant.live, token, extra_time_percent=50).json()["extra_time_percent"] == 50
    assert side(tenant.live, token)["deadline_at"] is None


def test_time_is_up_when_the_moved_deadline_says_so(tenant: Tenant) -> None:
    token = invited(tenant.live)
    start(tenant.live, token)
    began = now() - timedelta(minutes=MINUTES + 5)  # it would have been over five minutes ago
    change(tenant.live, token, extra_time_percent=25)
    sitting = select(CandidateSession).join(Invitation).where(Invitation.token == token)
    with store.transaction() as session:
        row = session.scalars(sitting).one()
        row.started_at, row.deadline_at = began, began + timedelta(minutes=MINUTES * 1.25)
    [kind] = [one for one in schedule.KINDS if one.name == "sessions"]
    kind.batch()
    assert seen(tenant.live, token)["status"] == "started"
    late = change(tenant.live, token, extra_time_percent=0)
    assert late.json()["error"]["details"]["fields"][0]["pointer"] == "/extra_time_percent"
    assert seen(tenant.live, token)["extra_time_percent"] == 25
    with store.transaction() as session:
        session.scalars(sitting).one().deadline_at = now() - timedelta(seconds=1)
    # The schedule is about to come by.
    refused(change(tenant.live, token, extra_time_percent=100), "completed")
    kind.batch()
    assert seen(tenant.live, token)["status"] == "completed"


@pytest.mark.parametrize("body", [{"name": "Ada"}, {"extra_time_percent": 50, "tags": ["x"]}])
def test_of_a_started_invitation_the_extra_time_alone_is_changed(
    tenant: Tenant, body: dict[str, Any]
) -> None:
    token = invited(tenant.live)
    start(tenant.live, token)
    answer = change(tenant.live, token, **body)
    refused(answer, "started")
    wrong = [one["pointer"] for one in answer.json()["error"]["details"]["fields"]]
    assert wrong == [f"/{name}" for name in body if name != "extra_time_percent"]
    assert seen(tenant.live, token)["extra_time_percent"] == 0


def test_what_is_over_is_not_changed(tenant: Tenant) -> None:
    token, late = completed(tenant.live), invited(tenant.live)
    refused(change(tenant.live, token, extra_time_percent=50), "completed")
    set_fields(late, expires_at=now() - timedelta(seconds=1))
    refused(change(tenant.live, late, name="Ada"), "expired")  # before the schedule comes by
    expire(late)
    refused(change(tenant.live, late, name="Ada"), "expired")


# --- Opening again


def test_an_expired_invitation_is_reopened_under_its_link_and_costs_nothing(tenant: Tenant) -> None:
    token = invited(tenant.live)
    expire(token)
    answer = reopen(tenant.live, token, expires_days=3)
    assert (answer.status_code, answer.json()["status"]) == (200, "pending")
    left = moment(answer.json()["expires_at"]) - now()
    assert timedelta(days=2, hours=23) < left <= timedelta(days=3)
    assert tenant.live.get("/org/").json()["invites_used"] == 1
    assert not mails(token, "invitation") + mails(token, "reminder")
    assert tenant.live.post(f"/invites/{token}/remind/").status_code == 200
    sit(tenant.live, token)
    assert seen(tenant.live, token)["status"] == "completed"


def test_what_has_just_expired_is_reopened_before_the_schedule_comes_by(tenant: Tenant) -> None:
    token = invited(tenant.live)
    set_fields(token, expires_at=now() - timedelta(seconds=1))
    assert reopen(tenant.live, token).json()["status"] == "pending"
    with store.transaction() as session:
        invitations.expire(session, invitations.DUE.choose(session, 1000), schemas.event)
    assert seen(tenant.live, token)["status"] == "pending"
    assert told(tenant, "invitation.expired") == []


def test_what_has_not_expired_is_not_reopened(tenant: Tenant) -> None:
    token = invited(tenant.live)
    refused(reopen(tenant.live, token), "pending")
    start(tenant.live, token)
    refused(reopen(tenant.live, token), "started")
    states.post(states.candidate(tenant.live), f"/invites/{token}/submit/")
    refused(reopen(tenant.live, token), "completed")


@pytest.mark.parametrize("days", [0, 366, "soon", None])
def test_an_invitation_is_reopened_for_a_day_to_a_year(tenant: Tenant, days: Any) -> None:
    token = invited(tenant.live)
    expire(token)
    answer = reopen(tenant.live, token, expires_days=days)
    assert answer.json()["error"]["details"]["fields"][0]["pointer"] == "/expires_days"


def test_a_stage_that_waited_for_an_expired_invitation_goes_on_when_it_is_reopened(tenant: Tenant) -> None:
    api = tenant.live
    made = enroll(api, pipeline(api, measured(api), MANUAL))
    expire(made["invite_token"])
    assert shown(api, made["id"])["status"] == "active"
    reopen(api, made["invite_token"])
    sit(api, made["invite_token"])
    assert shown(api, made["id"])["current_stage"] == 1


def test_two_hundred_who_reopen_change_and_begin_at_once_end_in_one_state(tenant: Tenant) -> None:
    token = invited(tenant.live)
    expire(token)
    begin = states.candidate(tenant.live)

    def ask(number: int) -> int:
        asked = (
            lambda: reopen(tenant.live, token),
            lambda: change(tenant.live, token, extra_time_percent=(0, 25, 50, 100)[number // 4 % 4]),
            lambda: begin.post(f"/invites/{token}/start/"),
            lambda: begin.post(f"/invites/{token}/submit/"),
        )
        return int(asked[number % 4]().status_code)

    with ThreadPoolExecutor(16) as pool:
        codes = list(pool.map(ask, range(200)))
    assert set(codes) <= {200, 400, 409}
    assert codes[0::4].count(200) == 1
    states.post(begin, f"/invites/{token}/start/")
    states.post(begin, f"/invites/{token}/submit/")
    assert seen(tenant.live, token)["status"] == "completed"
    for type in ("assessment.started", "assessment.completed"):
        assert len(told(tenant, type)) == 1


def test_a_deadline_is_that_of_the_extra_time_however_many_change_it_at_once(tenant: Tenant) -> None:
    token = invited(tenant.live)
    begun = start(tenant.live, token)
    with ThreadPoolExecutor(16) as pool:
        list(
            pool.map(lambda turn: change(tenant.live, token, extra_time_percent=turn), [0, 25, 50, 100] * 15)
        )
    percent, shown = seen(tenant.live, token)["extra_time_percent"], side(tenant.live, token)
    own = timedelta(minutes=MINUTES) * (100 + percent) / 100
    assert abs(moment(shown["deadline_at"]) - moment(begun["started_at"]) - own) < timedelta(milliseconds=2)
