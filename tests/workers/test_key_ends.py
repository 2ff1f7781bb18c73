"""People are mailed before a key of theirs ends: a week and a day before, once each."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select

import store
from rules import keys as rules
from rules.clock import now
from store.accounts import keys
from store.accounts.keys import ApiKey
from store.outbox import OutboxItem
from tests.api import Api, Tenant
from tests.signing import a_member, area
from workers import mail, schedule

KIND = next(one for one in schedule.KINDS if one.due is keys.DUE)
DAY = timedelta(days=1)


@pytest.fixture
def people(tenant: Tenant) -> dict[str, str]:
    return {
        role: a_member(tenant, role).email for role in ("owner", "admin", "developer", "recruiter", "member")
    }


def made(tenant: Tenant, ends_in: timedelta | None) -> UUID:
    with store.transaction() as session:
        end = now() + ends_in if ends_in else None
        row, _ = keys.create(
            session, organisation=tenant.organisation, name="Nightly sync", livemode=True, expires_at=end
        )
        return row.id


def due(id: UUID) -> Any:
    with store.transaction() as session:
        return session.get_one(ApiKey, id).expiry_mail_at


def come(id: UUID, *, ends_in: timedelta) -> None:
    """Let time pass until a key ends so soon; its mail's moment passes with it."""
    with store.transaction() as session:
        key = session.get_one(ApiKey, id)
        assert key.expires_at
        by = key.expires_at - now() - ends_in
        key.expires_at -= by
        key.expiry_mail_at = key.expiry_mail_at and key.expiry_mail_at - by


def told(tenant: Tenant) -> Iterator[dict[str, Any]]:
    """Do what is due, and return the mails that it asks for."""
    while KIND.batch()[1]:
        pass
    with store.transaction() as session:
        asked = select(OutboxItem).where(
            OutboxItem.organisation_id == tenant.organisation.id,
            OutboxItem.arguments["template"].astext == "key-ending",
        )
        for item in session.scalars(asked.order_by(OutboxItem.id)):
            yield item.arguments
            session.delete(item)


def test_who_makes_keys_is_mailed_a_week_and_a_day_before_and_once_each(
    tenant: Tenant, people: dict[str, str]
) -> None:
    key = made(tenant, 30 * DAY)
    assert list(told(tenant)) == []
    makers = {people[role] for role in ("owner", "admin", "developer")}
    for left in (7 * DAY, DAY):
        come(key, ends_in=left - timedelta(minutes=1))
        mails = list(told(tenant))
        assert {one["to"] for one in mails} == makers
        assert len(mails) == len(makers)
        assert list(told(tenant)) == []
    assert due(key) is None


def test_the_mail_says_which_key_until_when_and_where(tenant: Tenant, people: dict[str, str]) -> None:
    come(made(tenant, 30 * DAY), ends_in=6 * DAY)
    asked = next(iter(list(told(tenant))))
    sent = mail.compose(UUID(int=1), asked)
    assert "Nightly sync" in sent.subject
    assert "/area/keys/" in sent.text
    assert "ct_live_" in sent.text
    assert sent.livemode


@pytest.mark.parametrize("ends_in", [None, timedelta(hours=23)])
def test_nobody_is_mailed_of_a_key_without_an_end_or_made_for_a_day(
    tenant: Tenant, ends_in: timedelta | None
) -> None:
    assert due(made(tenant, ends_in)) is None


def test_a_key_made_for_less_than_a_week_is_told_of_a_day_before(tenant: Tenant) -> None:
    moment = due(made(tenant, 3 * DAY))
    assert abs(moment - (now() + 2 * DAY)) < timedelta(minutes=1)


def test_nobody_is_mailed_of_a_key_that_is_revoked_or_ends_later_now(
    tenant: Tenant, people: dict[str, str]
) -> None:
    me: Api = area(tenant.member("admin"))
    revoked, moved = made(tenant, 8 * DAY), made(tenant, 8 * DAY)
    me.post(f"/keys/{revoked}/revoke/")
    end = (now() + 60 * DAY).isoformat()
    assert me.patch(f"/keys/{moved}/", {"expires_at": end}).status_code == 200
    assert due(revoked) is None
    assert due(moved) > now() + 50 * DAY


def test_a_schedule_that_comes_too_late_says_nothing_of_a_key_that_has_ended(
    tenant: Tenant, people: dict[str, str]
) -> None:
    key = made(tenant, 30 * DAY)
    come(key, ends_in=-DAY)
    assert list(told(tenant)) == []
    assert due(key) is None


def test_an_end_that_is_near_is_told_of_at_the_moments_that_are_left() -> None:
    moment = now()
    assert rules.next_mail(moment + 8 * DAY, moment) == moment + DAY
    assert rules.next_mail(moment + 7 * DAY, moment) == moment + 6 * DAY
    assert rules.next_mail(moment + DAY, moment) is None
    assert rules.next_mail(None, moment) is None
