"""The page that an invite to the team opens, read and answered in a real browser."""

from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from sqlalchemy import func, select

import store
from rules.clock import now
from store.accounts import members, organisations
from store.accounts.members import Member
from tests.api import address
from tests.browser.accessibility import contrast, serious


def invited(*, until: timedelta | None = None, revoked: bool = False) -> tuple[str, str]:
    """The token of a link, and the address that it was sent to."""
    email = address()
    with store.transaction() as session:
        owner = organisations.create(session, name="Northwind Labs", plan="growth")
        ada = members.add(session, organisation=owner, email=address(), name="Ada Lovelace", role="owner")
        made, token = members.invite(
            session, organisation=owner, email=email, role="recruiter", invited_by=ada.user_id
        )
        if until is not None:
            made.expires_at = now() + until
        if revoked:
            made.revoked_at = now()
    return token, email


def member(email: str) -> str | None:
    with store.transaction() as session:
        return session.scalar(select(Member.name).where(func.lower(Member.email) == email.lower()))


def heading(page: Page, name: str) -> None:
    expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()


def test_somebody_joins_without_scripts_and_the_link_is_used_then(new_context: Any) -> None:
    context: BrowserContext = new_context(java_script_enabled=False)
    page = context.new_page()
    token, email = invited()
    page.goto(f"/join/{token}")
    heading(page, "Ada Lovelace invites you to join the hiring team of Northwind Labs")
    for said in ("recruiter", email, "You set no password"):
        expect(page.get_by_text(said).first).to_be_visible()
    page.get_by_role("button", name="Join Northwind Labs").click()
    expect(page.get_by_text("Please write your name.")).to_be_visible()
    assert member(email) is None
    page.get_by_label("Your name").fill("Grace Hopper")
    page.get_by_role("button", name="Join Northwind Labs").click()
    heading(page, "Welcome, Grace Hopper")
    assert member(email) == "Grace Hopper"
    page.goto(f"/join/{token}")
    heading(page, "This invite has been used")


def test_somebody_joins_on_a_phone_with_the_keyboard_alone(new_context: Any) -> None:
    page = new_context(viewport={"width": 360, "height": 740}).new_page()
    token, email = invited()
    page.goto(f"/join/{token}")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    for _ in range(2):  # the way to the content, then the name
        page.keyboard.press("Tab")
    page.keyboard.type("Grace Hopper")
    page.keyboard.press("Enter")
    heading(page, "Welcome, Grace Hopper")
    assert member(email) == "Grace Hopper"


def test_an_invite_that_is_taken_back_while_the_page_is_open_says_so(page: Page) -> None:
    token, email = invited()
    page.goto(f"/join/{token}")
    page.get_by_label("Your name").fill("Grace Hopper")
    with store.transaction() as session:
        found = members.invited(session, token)
        assert found is not None
        found[0].revoked_at = now()
    page.get_by_role("button", name="Join Northwind Labs").click()
    heading(page, "This invite was taken back")
    assert member(email) is None


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_engine_finds_nothing_serious_on_the_pages_of_an_invite(new_context: Any, scheme: str) -> None:
    page = new_context(color_scheme=scheme, bypass_csp=True).new_page()
    tokens = {
        "open": invited()[0],
        "expired": invited(until=timedelta(seconds=-1))[0],
        "revoked": invited(revoked=True)[0],
        "unknown": "x" * 43,
    }
    found = {}
    for name, token in tokens.items():
        page.goto(f"/join/{token}")
        found[name] = serious(page) + contrast(page)
    page.goto(f"/join/{tokens['open']}")
    for name, written in {"nameless": "", "joined": "Grace Hopper"}.items():
        page.get_by_label("Your name").fill(written)
        page.get_by_role("button", name="Join Northwind Labs").click()
        page.wait_for_load_state()
        found[name] = serious(page) + contrast(page)
    heading(page, "Welcome, Grace Hopper")
    page.goto(f"/join/{tokens['open']}")
    found["used"] = serious(page) + contrast(page)
    assert found == {name: [] for name in found}
