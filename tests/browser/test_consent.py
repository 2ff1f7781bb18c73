"""Agreeing to a privacy notice in a real browser: before an application and before an assessment."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import select

import store
from rules.caller import Caller
from rules.clock import now
from store.accounts import organisations
from store.applying.applications import Application
from store.branding import settings
from store.hiring.jobs import Job
from tests.browser.accessibility import contrast, serious
from tests.sittings import TEXT, Invited, invite

BOX = "I agree to the privacy notice of Northwind Labs"
ASKED = {
    "consent_required": True,
    "source_tracking": True,
    "privacy_html": "<p>We keep your data for six months.</p>",
    "privacy_url": "https://northwind.example/privacy",
}


@pytest.fixture
def careers(base_url: str) -> str:
    """The path of the careers page of an organisation that asks, with one open job."""
    with store.transaction() as session:
        owner = organisations.create(session, name="Northwind Labs", plan="growth")
        settings.change(session, Caller(owner.id, livemode=True, plan_name="growth"), ASKED)
        job = Job(
            organisation_id=owner.id,
            livemode=True,
            slug="engineer",
            title="Engineer",
            status="open",
            published_at=now(),
        )
        session.add(job)
    return f"/careers/{owner.slug}/"


def applied(careers: str) -> list[Application]:
    with store.transaction() as session:
        owner = organisations.by_slug(session, careers.split("/")[2])
        assert owner is not None
        return list(session.scalars(select(Application).where(Application.organisation_id == owner.id)))


def asked() -> Invited:
    """Somebody invited by an organisation that asks."""
    invited = invite(TEXT)
    owner = invited.invitation().organisation_id
    with store.transaction() as session:
        settings.change(session, Caller(owner, livemode=True, plan_name="growth"), ASKED)
    return invited


def test_somebody_applies_with_the_box_ticked_and_without_scripts(new_context: Any, careers: str) -> None:
    page = new_context(java_script_enabled=False).new_page()
    page.goto(f"{careers}?utm_source=newsletter&gclid=1")
    page.get_by_role("link", name="Engineer").click()
    page.get_by_label("Name").fill("Ada Lovelace")
    page.get_by_label("Email").fill("ada@example.com")
    page.get_by_role("button", name="Send application").click()
    page.get_by_role("alert").get_by_role("link", name="Privacy notice").click()
    expect(page.get_by_label(BOX)).to_be_in_viewport()
    assert applied(careers) == []
    page.get_by_label(BOX).check()
    page.get_by_role("button", name="Send application").click()
    expect(page.get_by_role("heading", name="Thank you for applying")).to_be_visible()
    [made] = applied(careers)
    assert made.consent_at is not None
    assert made.source_detail == {"utm_source": "newsletter"}


def test_an_assessment_starts_once_the_box_is_ticked(page: Page) -> None:
    invited = asked()
    page.goto(f"/take/{invited.token}")
    page.get_by_role("button", name="Start the assessment").click()
    expect(page.get_by_role("alert").filter(has_text="tick the box")).to_be_visible()
    expect(page.get_by_label(BOX)).to_be_focused()
    assert invited.session() is None
    page.keyboard.press("Space")
    expect(page.get_by_role("alert").filter(has_text="tick the box")).to_be_hidden()
    page.get_by_role("button", name="Start the assessment").click()
    expect(page.locator("#case-title")).to_be_visible()
    found = invited.session()
    assert found is not None
    assert found.consent_at is not None


def test_a_notice_that_comes_while_the_page_is_open_is_shown_before_the_start(page: Page) -> None:
    invited = invite(TEXT)
    page.goto(f"/take/{invited.token}")
    with store.transaction() as session:
        owner = Caller(invited.invitation().organisation_id, livemode=True, plan_name="growth")
        settings.change(session, owner, ASKED)
    page.get_by_role("button", name="Start the assessment").click()
    expect(page.get_by_label(BOX)).to_be_visible()  # the page is there anew
    assert invited.session() is None


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_engine_finds_nothing_serious_where_consent_is_asked_for(
    new_context: Any, careers: str, scheme: str
) -> None:
    page = new_context(
        color_scheme=scheme, bypass_csp=True, viewport={"width": 360, "height": 740}
    ).new_page()
    page.goto(f"{careers}engineer/")
    found = {"form": serious(page) + contrast(page)}
    page.get_by_role("button", name="Send application").click()
    expect(page.get_by_role("alert")).to_be_visible()
    found["faults"] = serious(page) + contrast(page)
    page.goto(f"/take/{asked().token}")
    page.get_by_role("button", name="Start the assessment").click()
    expect(page.get_by_role("alert").filter(has_text="tick the box")).to_be_visible()
    found["take"] = serious(page) + contrast(page)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert found == {name: [] for name in found}
