"""Offers that go out and end by themselves."""

from datetime import timedelta

from sqlalchemy import update

import store
from rules.clock import iso, now
from store.accounts.organisations import Organisation
from store.offering.offers import Offer
from tests.api import Tenant
from tests.handlers.test_application_moves import mails
from tests.handlers.test_offers import an_application, draft, expire, sent, shown
from tests.workers.turning import ago, as_long_as_it_takes, told, turn
from workers import schedule

KINDS = [kind for kind in schedule.KINDS if kind.name.startswith("offer")]
__all__ = ["as_long_as_it_takes"]


def test_a_scheduled_offer_is_sent_when_its_moment_comes_and_only_once(tenant: Tenant) -> None:
    application = an_application(tenant.live)
    due = draft(tenant.live, application["id"], scheduled_send_at=ago(seconds=1))
    later = draft(
        tenant.live,
        an_application(tenant.live)["id"],
        scheduled_send_at=iso(now() + timedelta(hours=1)),
    )
    turn(KINDS, 4)
    assert [shown(tenant.live, one)["status"] for one in (due, later)] == ["sent", "scheduled"]
    assert (told(tenant.live, "offer.sent"), len(mails("offer", application["email"]))) == (1, 1)


def test_one_that_is_not_fit_is_a_draft_again_and_says_why_until_it_is_changed(tenant: Tenant) -> None:
    application = an_application(tenant.live)
    made = draft(tenant.live, application["id"], title="", scheduled_send_at=ago(seconds=1))
    turn(KINDS)
    found = shown(tenant.live, made)
    assert (found["status"], found["scheduled_send_at"], found["sent_at"]) == ("draft", None, None)
    assert "title: An offer needs a title." in found["send_error"]
    assert mails("offer", application["email"]) == []
    changed = tenant.live.patch(
        f"/offers/{made['id']}/", {"title": "Engineer", "scheduled_send_at": ago(seconds=1)}
    ).json()
    assert (changed["status"], changed["send_error"]) == ("scheduled", None)
    turn(KINDS)
    assert shown(tenant.live, made)["status"] == "sent"


def test_one_whose_plan_has_no_offers_any_more_is_a_draft_again(tenant: Tenant) -> None:
    made = draft(tenant.live, an_application(tenant.live)["id"], scheduled_send_at=ago(seconds=1))
    with store.transaction() as session:
        mine = update(Organisation).where(Organisation.id == tenant.organisation.id)
        session.execute(mine.values(plan="starter"))
    turn(KINDS)
    found = shown(tenant.live, made)
    assert (found["status"], "plan" in found["send_error"]) == ("draft", True)


def test_two_that_are_due_for_one_application_end_in_one_sent(tenant: Tenant) -> None:
    application = an_application(tenant.live)
    made = [draft(tenant.live, application["id"], scheduled_send_at=ago(seconds=1)) for _ in range(2)]
    turn(KINDS, 4)
    assert sorted(shown(tenant.live, one)["status"] for one in made) == ["draft", "sent"]


def test_an_offer_that_nobody_answered_expires_once(tenant: Tenant) -> None:
    over = sent(tenant.live, expires_at=iso(now() + timedelta(hours=1)))
    open = sent(tenant.live, expires_at=iso(now() + timedelta(hours=1)))
    expire(over)
    turn(KINDS, 4)
    assert [shown(tenant.live, one)["status"] for one in (over, open)] == ["expired", "sent"]
    assert told(tenant.live, "offer.expired") == 1


def test_what_was_answered_never_expires(tenant: Tenant) -> None:
    offer = sent(tenant.live, expires_at=iso(now() + timedelta(hours=1)))
    tenant.live.post(f"/offers/{offer['id']}/withdraw/")
    with store.transaction() as session:
        past = now() - timedelta(seconds=1)
        session.execute(update(Offer).where(Offer.id == offer["id"]).values(expires_at=past))
    turn(KINDS)
    assert shown(tenant.live, offer)["status"] == "withdrawn"
