"""The developer's journey through the area in a real browser: from a link to a webhook's delivery."""

import re
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from starlette.testclient import TestClient

import store
from rules import links
from schemas.area import SECTIONS
from store.accounts import sign_ins
from store.accounts.members import Member
from tests import api
from tests.api import Api, Tenant
from tests.browser.accessibility import LOOKS, everything, on_each
from tests.operations import states
from tests.receiver import running
from tests.signing import a_member

LISTED = [one.path for one in SECTIONS.values() if one.is_listed]


@pytest.fixture(autouse=True)
def here(base_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The service knows where it is reached."""
    monkeypatch.setattr(links, "_base_url", base_url)


@pytest.fixture
def owner(http: TestClient) -> Tenant:
    return api.tenant(http)


def link(tenant: Tenant, role: str = "owner") -> str:
    """The address that a mail has."""
    person = a_member(tenant, role)
    with store.transaction() as session:
        made = sign_ins.make(session, session.get_one(Member, person.id))
        assert made
        return links.sign_in(made[2])


def signed_in(page: Page, tenant: Tenant, role: str = "owner") -> None:
    page.goto(link(tenant, role))
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1, name="Overview")).to_be_visible()


def heading(page: Page, name: str) -> None:
    expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_a_developer_goes_from_a_link_to_a_delivery(new_context: Any, owner: Tenant, scripts: bool) -> None:
    context: BrowserContext = new_context(java_script_enabled=scripts)
    page = context.new_page()
    signed_in(page, owner, "developer")
    page.get_by_role("link", name="API keys").first.click()
    page.get_by_text("Make a key").click()
    page.get_by_role("textbox", name="Name").fill("Nightly sync")
    page.get_by_role("checkbox", name="webhooks:read").check()
    page.get_by_role("button", name="Make the key").click()
    key = page.get_by_label("The key").inner_text()
    assert Api(owner.http, key).get("/webhooks/").json()["results"] == []
    with running() as receiver:
        page.get_by_role("link", name="Webhooks").first.click()
        page.get_by_role("textbox", name="Name").fill("Our system")
        page.get_by_role("textbox", name="Address").fill(f"{receiver.url}/area")
        page.get_by_role("button", name="Add the webhook").click()
        assert page.get_by_label("The secret").inner_text().startswith("whsec_")
        page.get_by_role("link", name="Go to the webhook").click()
        page.get_by_role("button", name="Send a test").click()
        expect(page.get_by_role("status")).to_contain_text("verified and active")
        owner.test.job(title="Told of")
        states.fanned_out()
        page.reload()
        delivery = page.locator("details.delivery").filter(has_text="job.created")
        delivery.locator("summary").click()
        expect(delivery.get_by_label("What was sent")).to_contain_text("Told of")
    page.get_by_role("link", name="Requests").first.click()
    heading(page, "Requests")
    page.get_by_role("button", name="Sign out").click()
    heading(page, "Sign in")
    page.goto("/area/keys/")
    expect(page).to_have_url(re.compile(r"/area/sign-in/\?next=/area/keys/"))


def test_the_switch_colours_the_whole_area(page: Page, owner: Tenant) -> None:
    signed_in(page, owner)
    expect(page.locator("body")).to_have_class("area is-test")
    page.get_by_role("button", name="Switch to live data").click()
    for at in LISTED:
        page.goto(at)
        expect(page.locator("body")).to_have_class("area is-live")
        expect(page.locator(".mode-name")).to_have_text("Live data")


def test_a_key_is_made_with_the_keyboard_alone(page: Page, owner: Tenant) -> None:
    page.goto(link(owner))
    reach(page, "Sign in")
    page.keyboard.press("Enter")
    heading(page, "Overview")
    reach(page, "API keys")
    page.keyboard.press("Enter")
    heading(page, "API keys")
    reach(page, "Make a key")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("By keyboard")
    page.keyboard.press("Enter")
    expect(page.get_by_label("The key")).to_contain_text("ct_test_")


def reach(page: Page, name: str) -> None:
    """Go on by the tabulator until something of this name has the focus."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if (page.evaluate("document.activeElement.innerText") or "").strip() == name:
            return
    raise AssertionError(f"{name} cannot be reached")


@LOOKS
def test_the_engine_finds_nothing_on_the_pages_of_the_area(
    new_context: Any, owner: Tenant, look: dict[str, Any]
) -> None:
    page = new_context(bypass_csp=True, **look).new_page()
    hook = states.a_delivery(owner.test)["id"]
    owner.test.get("/jobs/nothing/")
    found = {}
    page.goto("/area/sign-in/")
    found["sign-in"] = everything(page)
    signed_in(page, owner)
    found |= on_each(page, (*LISTED, f"/area/webhooks/{hook}/"))
    assert found == {name: [] for name in found}
