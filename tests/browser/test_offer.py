"""The page of an offer, read and answered in a real browser, with and without scripts, wide and narrow."""

from datetime import date, timedelta
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from sqlalchemy import select

import rules.offers
import store
from rules.caller import Caller
from rules.clock import now
from rules.moves import take
from schemas import applications as application_schemas
from schemas import html
from schemas import offers as schemas
from store import events
from store.accounts import organisations
from store.applying import applications, applying
from store.applying.applications import Application
from store.hiring.jobs import Job
from store.offering import moves, offers
from store.offering.offers import Offer
from store.people import candidates
from tests.api import address
from tests.browser.accessibility import contrast, serious

LETTER = """
<p>Dear Ada,</p><p>we would like you to <b>join us</b>. See <a href="https://example.com/terms">our terms</a>.</p>
<h2>What you get</h2><ul><li>30 days of leave</li><li>a bicycle</li></ul>
<table><tr><th>Year</th><th>Salary</th></tr><tr><td>2031</td><td>84,000</td></tr></table>
"""


def offer(**changes: Any) -> Offer:
    """An offer that was sent."""
    with store.transaction() as session:
        owner = organisations.create(session, name="Northwind Labs", plan="growth")
        caller = Caller(owner.id, livemode=True, plan_name="growth")
        job = Job(organisation_id=owner.id, livemode=True, slug="engineer", title="Engineer", status="open")
        session.add(job)
        session.flush()
        email = address()
        person = {"email": email, "full_name": changes.pop("name", "Ada Lovelace"), "phone": ""}
        met = {"email": email, "name": person["full_name"], "source": "public_api"}
        [candidate_id] = candidates.meet_all(session, caller, [met]).values()
        more = {"candidate_id": candidate_id, "source": "public_api", "external_id": None}
        applied = applying.new(caller, job, person | more)
        applying.make(session, caller, applied, [])
        application = applications.get(session, caller, applied.id)
        settings = {
            "title": "Engineer at Northwind Labs",
            "body_html": html.clean(LETTER),
            "compensation_text": "EUR 84,000 a year\n30 days of leave",
            "start_date": date(2031, 1, 4),
            "expires_at": now() + timedelta(days=3),
        }
        made = offers.create(session, caller, application, settings | changes)
        moves.send(session, caller, made, schemas, lambda texts: [])
        return made


def status(made: Offer) -> tuple[str, str, str]:
    with store.transaction() as session:
        found = session.get_one(Offer, made.id)
        application = session.get_one(Application, made.application_id)
        return found.status, found.decline_reason, application.status


def withdraw(made: Offer) -> None:
    with store.transaction() as session:
        found = session.scalars(select(Offer).where(Offer.id == made.id).with_for_update()).one()
        events.apply(session, found, take(rules.offers.MOVES, "withdraw", found.status))


def heading(page: Page, name: str) -> None:
    expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()


def accept(page: Page, made: Offer) -> None:
    page.goto(f"/offer/{made.token}")
    heading(page, "Dear Ada Lovelace, Northwind Labs would like you to join")
    for said in ("EUR 84,000 a year", "4 January 2031", "join us", "30 days of leave"):
        expect(page.get_by_text(said).first).to_be_visible()
    page.get_by_role("link", name="Accept").click()
    heading(page, "Accept this offer?")
    assert status(made)[0] == "sent"
    page.get_by_role("link", name="Back to the letter").click()
    page.get_by_role("link", name="Accept").click()
    page.get_by_role("button", name="Yes, I accept").click()
    heading(page, "Thank you, Ada Lovelace")


def test_somebody_accepts_without_scripts(new_context: Any) -> None:
    context: BrowserContext = new_context(java_script_enabled=False)
    page, made = context.new_page(), offer()
    accept(page, made)
    assert status(made) == ("accepted", "", "hired")
    page.reload()
    heading(page, "Thank you, Ada Lovelace")
    page.goto(f"/offer/{made.token}?answer=decline")
    heading(page, "Thank you, Ada Lovelace")


def test_somebody_declines_with_a_reason(page: Page) -> None:
    made = offer()
    page.goto(f"/offer/{made.token}")
    page.get_by_role("link", name="Decline").click()
    page.get_by_label("Your reason").fill("Too far away.\nSorry!")
    page.get_by_role("button", name="Decline the offer").click()
    heading(page, "Your answer is received")
    assert status(made) == ("declined", "Too far away.\nSorry!", "submitted")


def test_a_reason_is_optional_and_one_that_is_too_long_is_shown_again(page: Page) -> None:
    made = offer()
    page.goto(f"/offer/{made.token}?answer=decline")
    page.get_by_label("Your reason").evaluate("box => { box.maxLength = 9000; box.value = 'x'.repeat(2001) }")
    page.get_by_role("button", name="Decline the offer").click()
    expect(page.get_by_role("alert")).to_contain_text("at most 2000 characters")
    expect(page.get_by_label("Your reason")).to_have_value("x" * 2001)
    assert status(made)[0] == "sent"
    page.get_by_label("Your reason").fill("")
    page.get_by_role("button", name="Decline the offer").click()
    heading(page, "Your answer is received")
    assert status(made)[:2] == ("declined", "")


def test_a_double_click_answers_once(page: Page) -> None:
    made = offer()
    page.goto(f"/offer/{made.token}?answer=accept")
    page.get_by_role("button", name="Yes, I accept").dblclick()
    heading(page, "Thank you, Ada Lovelace")
    assert status(made) == ("accepted", "", "hired")


def test_an_offer_that_is_withdrawn_or_expires_while_the_page_is_open_says_so(page: Page) -> None:
    made = offer()
    page.goto(f"/offer/{made.token}?answer=accept")
    withdraw(made)
    page.get_by_role("button", name="Yes, I accept").click()
    heading(page, "This offer was withdrawn")
    expect(page.get_by_role("alert")).to_contain_text("not taken")
    assert status(made) == ("withdrawn", "", "submitted")
    made = offer()
    page.goto(f"/offer/{made.token}?answer=decline")
    with store.transaction() as session:
        session.get_one(Offer, made.id).expires_at = now() - timedelta(seconds=1)
    page.get_by_role("button", name="Decline the offer").click()
    heading(page, "This offer has expired")
    assert status(made) == ("sent", "", "submitted")  # until the schedule comes by


def test_the_other_answer_in_another_tab_comes_too_late(context: BrowserContext) -> None:
    made = offer()
    first, second = context.new_page(), context.new_page()
    first.goto(f"/offer/{made.token}?answer=decline")
    second.goto(f"/offer/{made.token}?answer=accept")
    second.get_by_role("button", name="Yes, I accept").click()
    first.get_by_role("button", name="Decline the offer").click()
    heading(first, "Thank you, Ada Lovelace")
    expect(first.get_by_role("alert")).to_contain_text("not taken")


def test_a_link_that_leads_nowhere_says_so(page: Page) -> None:
    for token in ("x" * 43, "unknown"):
        answer = page.goto(f"/offer/{token}")
        assert answer is not None
        assert answer.status == 404
        heading(page, "This link leads nowhere")


def test_an_offer_is_accepted_on_a_phone(new_context: Any) -> None:
    context: BrowserContext = new_context(
        viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True
    )
    page, made = context.new_page(), offer(body_html=html.clean(LETTER + f"<p>{'x' * 300}</p>"))
    for path in ("", "?answer=accept", "?answer=decline"):
        page.goto(f"/offer/{made.token}{path}")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), path
        for control in page.locator(".button").all():
            box = control.bounding_box()
            assert box is not None
            assert box["height"] >= 44
    accept(page, made)


def test_an_offer_is_accepted_with_the_keyboard_alone(page: Page) -> None:
    made = offer(body_html="<p>Welcome.</p>")
    page.goto(f"/offer/{made.token}")
    for _ in range(2):  # the way to the content, then the first answer
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    heading(page, "Accept this offer?")
    for _ in range(2):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    heading(page, "Thank you, Ada Lovelace")


def test_a_letter_from_right_to_left_is_read_so(page: Page) -> None:
    made = offer(body_html="<p>ברוכה הבאה</p>", name="שירה לוי")
    page.goto(f"/offer/{made.token}")
    letter = page.locator(".document-text")
    assert letter.evaluate("one => getComputedStyle(one).direction") == "rtl"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_engine_finds_nothing_serious_on_an_offers_pages(new_context: Any, scheme: str) -> None:
    page = new_context(color_scheme=scheme, bypass_csp=True).new_page()
    made, declined, withdrawn, expired = offer(), offer(), offer(), offer()
    withdraw(withdrawn)
    with store.transaction() as session:
        session.get_one(Offer, expired.id).expires_at = now() - timedelta(seconds=1)
        found = offers.hold_seen(session, declined.token)
        moves.answer(session, found, "decline", schemas, application_schemas)
    found_on = {}
    for name, path in {
        "letter": made.token,
        "accepting": f"{made.token}?answer=accept",
        "declining": f"{made.token}?answer=decline",
        "declined": declined.token,
        "withdrawn": withdrawn.token,
        "expired": expired.token,
        "unknown": "x" * 43,
    }.items():
        page.goto(f"/offer/{path}")
        found_on[name] = serious(page) + contrast(page)
    page.goto(f"/offer/{made.token}?answer=accept")
    page.get_by_role("button", name="Yes, I accept").click()
    heading(page, "Thank you, Ada Lovelace")
    found_on["accepted"] = serious(page) + contrast(page)
    assert found_on == {name: [] for name in found_on}
