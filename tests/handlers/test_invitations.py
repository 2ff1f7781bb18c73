"""Invitations through the API."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import func, select, update

import store
from app.http import security
from rules.caller import Caller
from rules.clock import now
from schemas import invitations as schemas
from store.accounts import organisations
from store.assessing import at_once, invitations, inviting
from store.assessing.invitations import Invitation
from store.database.engine import Change
from store.database.usage import InviteUsage
from store.events import Event
from store.outbox import OutboxItem
from tests.api import Tenant, address


def events(tenant: Tenant, type: str) -> list[dict]:
    with store.transaction() as session:
        found = select(Event.data).where(Event.organisation_id == tenant.organisation.id, Event.type == type)
        return list(session.scalars(found.order_by(Event.sequence)))


def use_up(tenant: Tenant, used: int) -> None:
    with store.transaction() as session:
        session.add(
            InviteUsage(organisation_id=tenant.organisation.id, month=now().date().replace(day=1), used=used)
        )


def test_an_invitation_is_answered_with_its_link_and_told_once(tenant: Tenant) -> None:
    slug = tenant.live.assessment()["slug"]
    answer = tenant.live.invitation(slug, "Ada@Example.com", name="Ada", external_id="ats-1", expires_days=3)
    assert answer["status"] == "pending"
    assert answer["invite_url"].endswith(f"/take/{answer['invite_token']}")
    assert answer["external_id"] == "ats-1"
    [told] = events(tenant, "invitation.created")
    assert told["invite_token"] == answer["invite_token"]
    assert told["assessment_slug"] == slug
    assert told["candidate_name"] == "Ada"
    assert "enrollment_id" not in told


def test_inviting_again_answers_the_invitation_that_exists(tenant: Tenant) -> None:
    slug = tenant.live.assessment()["slug"]
    first = tenant.live.invitation(slug, "ada@example.com", external_id="ats-1")
    for again in ({"email": "ADA@example.com"}, {"email": address(), "external_id": "ats-1"}):
        answer = tenant.live.post(f"/assessments/{slug}/invites/", again)
        assert answer.status_code == 200
        assert answer.json()["invite_token"] == first["invite_token"]
        assert "already exists" in answer.json()["message"]
    assert len(events(tenant, "invitation.created")) == 1


def test_a_reference_counts_before_an_address(tenant: Tenant) -> None:
    slug = tenant.live.assessment()["slug"]
    tenant.live.invitation(slug, "ada@example.com", external_id="one")
    grace = tenant.live.invitation(slug, "grace@example.com", external_id="two")
    answer = tenant.live.post(
        f"/assessments/{slug}/invites/", {"email": "ada@example.com", "external_id": "two"}
    )
    assert answer.json()["invite_token"] == grace["invite_token"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "VALIDATION_ERROR"),
        ({"email": ""}, "MISSING_EMAIL"),
        ({"email": "   "}, "MISSING_EMAIL"),
        ({"email": "nobody"}, "VALIDATION_ERROR"),
        ({"email": "a@example.com", "extra_time_percent": 10}, "VALIDATION_ERROR"),
        ({"email": "a@example.com", "expires_days": 0}, "VALIDATION_ERROR"),
        ({"email": "a@example.com", "expires_days": 366}, "VALIDATION_ERROR"),
        ({"email": "a@example.com", "tags": ["x"] * 21}, "VALIDATION_ERROR"),
        ({"email": "a@example.com", "tags": ["x" * 65]}, "VALIDATION_ERROR"),
        ({"email": "a@example.com", "status": "started"}, "VALIDATION_ERROR"),
    ],
)
def test_a_bad_invitation_is_refused(tenant: Tenant, body: dict, code: str) -> None:
    slug = tenant.live.assessment()["slug"]
    answer = tenant.live.post(f"/assessments/{slug}/invites/", body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)


@pytest.mark.parametrize("status", ["draft", "archived"])
def test_only_active_assessments_take_invitations(tenant: Tenant, status: str) -> None:
    slug = tenant.live.assessment(active=False)["slug"]
    if status == "archived":
        tenant.live.patch(f"/assessments/{slug}/update/", {"status": "archived"})
    for path, body in (("", {"email": address()}), ("bulk/", {"candidates": [{"email": address()}]})):
        answer = tenant.live.post(f"/assessments/{slug}/invites/{path}", body)
        assert answer.json()["error"]["code"] == "ASSESSMENT_NOT_ACTIVE"
        assert answer.json()["error"]["details"]["status"] == status


def test_forty_parallel_invites_of_one_address_make_one_invitation_and_one_event(tenant: Tenant) -> None:
    slug, email = tenant.live.assessment()["slug"], address()
    with ThreadPoolExecutor(40) as pool:
        answers = list(
            pool.map(lambda _: tenant.live.post(f"/assessments/{slug}/invites/", {"email": email}), range(40))
        )
    assert sorted(answer.status_code for answer in answers) == [200] * 39 + [201]
    assert len({answer.json()["invite_token"] for answer in answers}) == 1
    assert len(events(tenant, "invitation.created")) == 1
    assert tenant.live.get("/org/").json()["invites_used"] == 1


def test_forty_parallel_invites_with_five_units_left_make_exactly_five(tenant: Tenant) -> None:
    slug = tenant.live.assessment()["slug"]
    use_up(tenant, 995)
    with ThreadPoolExecutor(40) as pool:
        answers = list(
            pool.map(
                lambda _: tenant.live.post(f"/assessments/{slug}/invites/", {"email": address()}), range(40)
            )
        )
    assert sorted(answer.status_code for answer in answers) == [201] * 5 + [403] * 35
    refused = next(answer for answer in answers if answer.status_code == 403).json()["error"]
    assert refused["code"] == "INVITE_QUOTA_EXCEEDED"
    assert refused["details"]["limit"] == refused["details"]["used"] == 1000
    assert tenant.live.get("/org/").json()["meta"]["invites_remaining"] == 0
    assert len(events(tenant, "invitation.created")) == 5


def test_an_invitation_that_exists_is_answered_when_the_quota_is_spent(tenant: Tenant) -> None:
    slug = tenant.live.assessment()["slug"]
    tenant.live.invitation(slug, "ada@example.com")
    with store.transaction() as session:
        session.execute(
            update(InviteUsage).where(InviteUsage.organisation_id == tenant.organisation.id).values(used=1000)
        )
    assert tenant.live.post(f"/assessments/{slug}/invites/", {"email": "ada@example.com"}).status_code == 200
    assert tenant.live.post(f"/assessments/{slug}/invites/", {"email": address()}).status_code == 403


def test_test_mode_costs_nothing(tenant: Tenant) -> None:
    use_up(tenant, 1000)
    tenant.test.invitation(tenant.test.assessment()["slug"])
    assert tenant.live.get("/org/").json()["invites_used"] == 1000


def test_a_bulk_invite_skips_what_cannot_be_invited_and_says_why(tenant: Tenant) -> None:
    slug = tenant.live.assessment()["slug"]
    tenant.live.invitation(slug, "known@example.com", external_id="known")
    rows = [
        {"email": "new@example.com", "name": "New", "external_id": "new"},
        {"email": "NEW@example.com"},
        {"email": "known@example.com"},
        {"email": "other@example.com", "external_id": "known"},
        {"email": ""},
        {},
        {"email": None},
        {"email": "no address"},
    ]
    answer = tenant.live.post(f"/assessments/{slug}/invites/bulk/", {"candidates": rows})
    assert answer.status_code == 201
    [invited] = answer.json()["invited"]
    assert (invited["email"], invited["external_id"]) == ("new@example.com", "new")
    assert [row["reason"] for row in answer.json()["skipped"]] == [
        *["already_invited"] * 3,
        *["missing_email"] * 3,
        "invalid_email",
    ]
    assert tenant.live.get("/org/").json()["invites_used"] == 2
    assert tenant.live.get(f"/assessments/{slug}/").json()["invitation_count"] == 2


def test_whatever_stands_where_an_address_should_skips_its_row_alone(tenant: Tenant) -> None:
    slug = tenant.live.assessment()["slug"]
    bad = [5, True, ["x"], {"a": 1}, "x" * 2_000]
    rows = [*({"email": one} for one in bad), {"email": address()}]
    answer = tenant.live.post(f"/assessments/{slug}/invites/bulk/", {"candidates": rows})
    assert answer.status_code == 201, answer.text
    assert len(answer.json()["invited"]) == 1
    assert [row["reason"] for row in answer.json()["skipped"]] == ["invalid_email"] * len(bad)


def test_a_bulk_invite_takes_what_is_left_of_the_quota(tenant: Tenant) -> None:
    slug = tenant.live.assessment()["slug"]
    use_up(tenant, 998)
    rows = [{"email": address()} for _ in range(4)]
    answer = tenant.live.post(f"/assessments/{slug}/invites/bulk/", {"candidates": rows}).json()
    assert [row["email"] for row in answer["invited"]] == [row["email"] for row in rows[:2]]
    assert answer["skipped"] == [{"email": row["email"], "reason": "quota_exhausted"} for row in rows[2:]]
    refused = tenant.live.post(f"/assessments/{slug}/invites/bulk/", {"candidates": [{"email": address()}]})
    assert refused.json()["error"]["code"] == "INVITE_QUOTA_EXCEEDED"


def test_parallel_bulk_invites_of_the_same_people_invite_each_once(tenant: Tenant) -> None:
    slug = tenant.live.assessment()["slug"]
    emails = [address() for _ in range(50)]

    def invite(turn: int) -> int:
        rows = [{"email": email} for email in (emails if turn % 2 else emails[::-1])]
        answer = tenant.live.post(f"/assessments/{slug}/invites/bulk/", {"candidates": rows})
        assert answer.status_code == 201, answer.text
        return len(answer.json()["invited"])

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(invite, range(8))) == 50
    assert tenant.live.get("/org/").json()["invites_used"] == 50
    assert len(events(tenant, "invitation.created")) == 50


def test_cancelling_removes_a_pending_invitation_and_keeps_the_unit(tenant: Tenant) -> None:
    slug = tenant.live.assessment()["slug"]
    token = tenant.live.invitation(slug)["invite_token"]
    assert tenant.live.delete(f"/invites/{token}/").status_code == 204
    assert tenant.live.get(f"/invites/{token}/").status_code == 404
    assert tenant.live.get("/org/").json()["invites_used"] == 1
    assert tenant.live.get(f"/assessments/{slug}/").json()["invitation_count"] == 0


@pytest.mark.parametrize(
    ("status", "code"), [("started", "ALREADY_STARTED"), ("completed", "ALREADY_COMPLETED")]
)
def test_what_was_started_cannot_be_cancelled(tenant: Tenant, status: str, code: str) -> None:
    token = tenant.live.invitation(tenant.live.assessment()["slug"])["invite_token"]
    set_fields(token, status=status)
    answer = tenant.live.delete(f"/invites/{token}/")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)


def set_fields(token: str, **fields: object) -> None:
    with store.transaction() as session:
        session.execute(update(Invitation).where(Invitation.token == token).values(**fields))


def test_a_reminder_goes_out_once_a_day(tenant: Tenant) -> None:
    token = tenant.live.invitation(tenant.live.assessment()["slug"])["invite_token"]
    assert tenant.live.post(f"/invites/{token}/remind/").status_code == 200
    assert tenant.live.post(f"/invites/{token}/remind/").json()["error"]["code"] == "REMINDER_COOLDOWN"
    set_fields(token, reminded_at=now() - timedelta(hours=25))
    assert tenant.live.post(f"/invites/{token}/remind/").status_code == 200
    with store.transaction() as session:
        mails = session.scalar(
            select(func.count()).where(
                OutboxItem.job == "mail", OutboxItem.arguments["invite_url"].astext.endswith(token)
            )
        )
    assert mails == 2


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"status": "completed"}, "ALREADY_COMPLETED"),
        ({"status": "expired"}, "INVITATION_EXPIRED"),
        ({"expires_at": now() - timedelta(seconds=1)}, "INVITATION_EXPIRED"),
    ],
)
def test_what_is_over_is_not_reminded_of(tenant: Tenant, fields: dict, code: str) -> None:
    token = tenant.live.invitation(tenant.live.assessment()["slug"])["invite_token"]
    set_fields(token, **fields)
    assert tenant.live.post(f"/invites/{token}/remind/").json()["error"]["code"] == code


def test_invitations_are_found_by_each_filter(tenant: Tenant) -> None:
    slug, second = tenant.live.assessment()["slug"], tenant.live.assessment()["slug"]
    wanted = tenant.live.invitation(slug, "ada@example.com", external_id="ats-1", tags=["berlin"])[
        "invite_token"
    ]
    tenant.live.invitation(second, "grace@example.com")
    for query in (
        {"assessment": slug},
        {"email": "ADA@example.com"},
        {"external_id": "ats-1"},
        {"tag": "berlin"},
        {"assessment": slug, "status": "pending"},
    ):
        found = tenant.live.get("/invites/", params=query).json()["results"]
        assert [one["invite_token"] for one in found] == [wanted], query
    assert tenant.live.get("/invites/", params={"status": "expired"}).json()["results"] == []
    assert tenant.live.get("/invites/", params={"assessment": "nothing"}).json()["results"] == []
    later = (now() + timedelta(minutes=1)).isoformat()
    assert tenant.live.get("/invites/", params={"updated_after": later}).json()["results"] == []


def test_pages_go_both_ways_and_miss_nobody(tenant: Tenant) -> None:
    slug = tenant.live.assessment()["slug"]
    rows = [{"email": address()} for _ in range(7)]
    tenant.live.post(f"/assessments/{slug}/invites/bulk/", {"candidates": rows})
    path, pages = f"/assessments/{slug}/invites/?page_size=3", []
    first = path
    while path:
        page = tenant.live.get(path).json()
        pages.append(page)
        path = page["next"] and page["next"].split("/api/v1/public")[1]
    assert [len(page["results"]) for page in pages] == [3, 3, 1]
    seen = [row["invite_token"] for page in pages for row in page["results"]]
    assert len(set(seen)) == 7
    assert pages[0]["previous"] is None
    back = tenant.live.get(pages[2]["previous"].split("/api/v1/public")[1]).json()
    assert back["results"] == pages[1]["results"]
    back = tenant.live.get(back["previous"].split("/api/v1/public")[1]).json()
    assert back["results"] == pages[0]["results"]
    assert back["previous"] is None
    assert tenant.live.get(first).json()["results"] == pages[0]["results"]


def test_a_month_has_its_own_quota(tenant: Tenant) -> None:
    with store.transaction() as session:
        session.add(InviteUsage(organisation_id=tenant.organisation.id, month=date(2020, 1, 1), used=1000))
    tenant.live.invitation(tenant.live.assessment()["slug"])
    assert tenant.live.get("/org/").json()["invites_used"] == 1


def test_expiry_tells_each_invitation_once(tenant: Tenant) -> None:
    token = tenant.live.invitation(tenant.live.assessment()["slug"])["invite_token"]
    set_fields(token, expires_at=now() - timedelta(seconds=1))

    def expire(_: int) -> int:
        with store.transaction() as session:
            return invitations.expire(session, invitations.DUE.choose(session, 100), schemas.event)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(expire, range(4)))
    assert tenant.live.get(f"/invites/{token}/").json()["status"] == "expired"
    [told] = events(tenant, "invitation.expired")
    assert (told["invite_token"], told["status"]) == (token, "expired")
    assert tenant.live.delete(f"/invites/{token}/").status_code == 204


def test_after_a_change_to_a_lower_plan_a_bulk_invite_is_refused(tenant: Tenant) -> None:
    slug = tenant.live.assessment()["slug"]
    use_up(tenant, 800)
    with store.transaction() as session:
        session.execute(
            update(organisations.Organisation)
            .where(organisations.Organisation.id == tenant.organisation.id)
            .values(plan="starter")
        )
    security.forget()
    answer = tenant.live.post(f"/assessments/{slug}/invites/bulk/", {"candidates": [{"email": address()}]})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "INVITE_QUOTA_EXCEEDED")
    assert answer.json()["error"]["details"]["used"] == 800


def test_an_invitation_that_is_cancelled_while_another_is_made_is_in_nobodys_way(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    slug = tenant.live.assessment()["slug"]
    create, lost = inviting._create, [True]

    def take(session: Change, caller: Caller) -> bool:
        return organisations.take_invites(session, caller, 1)[0] == 1

    def meet_one_at_once(session: Change, caller: Caller, *_: Any) -> Any:
        nobody = SimpleNamespace(id=None)
        granted = take(session, caller)
        return SimpleNamespace(page_status="active", was=nobody, id=None, granted=granted, sender="")

    def meet_one_that_is_gone_after(session: Change, caller: Caller, *given: Any) -> Any:
        if lost and lost.pop():
            return None, take(session, caller)
        return create(session, caller, *given)

    monkeypatch.setattr(at_once, "_try", meet_one_at_once)
    monkeypatch.setattr(inviting, "_create", meet_one_that_is_gone_after)
    body = {"email": address(), "name": "Ada"}
    made = tenant.live.post(f"/assessments/{slug}/invites/", body, headers={"Idempotency-Key": "one"})
    assert made.status_code == 201
    assert tenant.live.get("/org/").json()["invites_used"] == 1
    assert lost == []
