"""Signing in otherwise than by mail, in a real browser: with a passkey of a device, and by a company."""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from starlette.testclient import TestClient

from gateways import openid
from rules import links
from store.accounts.signed_in import MemberSession
from tests import api
from tests.api import Tenant
from tests.browser.accessibility import everything
from tests.browser.test_area import heading, link
from tests.company import CLIENT, SECRET, company
from tests.handlers.test_sign_in import age
from tests.signing import a_member


@pytest.fixture
def here(base_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The service under a name: browsers keep no passkeys for addresses of machines."""
    named = base_url.replace("127.0.0.1", "localhost")
    monkeypatch.setattr(links, "_base_url", named)
    return named


@pytest.fixture
def owner(http: TestClient) -> Tenant:
    return api.tenant(http)


def with_device(page: Page) -> Any:
    """Give a browser a device that keeps passkeys and knows its person."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    device = session.send("WebAuthn.addVirtualAuthenticator", {"options": options})["authenticatorId"]
    return session, device


def add_a_passkey(page: Page, owner: Tenant) -> None:
    page.goto(link(owner))
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("link", name="Your sign-in").click()
    page.get_by_label("Name of the device").fill("Work laptop")
    page.get_by_role("button", name="Add a passkey").click()
    expect(page.get_by_role("status")).to_contain_text("The passkey is added.")


def test_somebody_signs_in_with_a_passkey_that_they_added(
    new_context: Callable[..., BrowserContext], owner: Tenant, here: str
) -> None:
    page = new_context().new_page()
    session, device = with_device(page)
    add_a_passkey(page, owner)
    expect(page.locator("main")).to_contain_text("Work laptop")
    for _ in range(2):
        page.get_by_role("button", name="Sign out").click()
        page.goto(f"{here}/area/sign-in/?next=/area/sessions/")
        page.get_by_role("button", name="Sign in with a passkey").click()
        heading(page, "Your sign-in")
    page.get_by_role("button", name="Remove Work laptop").click()
    expect(page.get_by_role("status")).to_contain_text("The passkey is removed.")
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("alert")).to_contain_text("not known here")
    # A device whose person does not show who they are.
    session.send("WebAuthn.setUserVerified", {"authenticatorId": device, "isUserVerified": False})
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("alert")).to_contain_text("was not used")
    assert re.search(r"/area/sign-in/", page.url)


def test_somebody_confirms_who_they_are_with_a_passkey(
    new_context: Callable[..., BrowserContext], owner: Tenant, here: str
) -> None:
    page = new_context().new_page()
    with_device(page)
    add_a_passkey(page, owner)
    for at in ("/area/keys/", "/area/members/", "/area/sessions/"):
        age(MemberSession, proven_at=timedelta(minutes=11))
        page.goto(f"{here}{at}")
        heading(page, {"/area/keys/": "API keys", "/area/members/": "Members"}.get(at, "Your sign-in"))
        page.get_by_role("button", name="Use a passkey instead").click()
        expect(page.get_by_role("status")).to_contain_text("You can change things for ten minutes.")
        expect(page.get_by_text("First, confirm who you are")).to_have_count(0)


def test_who_has_no_passkey_is_not_asked_for_one(
    new_context: Callable[..., BrowserContext], owner: Tenant, here: str
) -> None:
    page = new_context(bypass_csp=True).new_page()
    page.goto(link(owner))
    page.get_by_role("button", name="Sign in", exact=True).click()
    heading(page, "Overview")
    age(MemberSession, proven_at=timedelta(minutes=11))
    page.goto(f"{here}/area/keys/")
    expect(page.get_by_text("First, confirm who you are")).to_be_visible()
    expect(page.get_by_role("button", name="Use a passkey instead")).to_have_count(0)
    assert everything(page) == []


@pytest.fixture
def there(owner: Tenant) -> Iterator[Any]:
    found = company()
    openid.configure(
        issuer=found.issuer,
        client_id=CLIENT,
        client_secret=SECRET,
        organisation=owner.organisation.slug,
        name="Northwind",
        allow_private=True,
    )
    yield found
    openid.configure(issuer="", client_id="", client_secret="", organisation="", name="", allow_private=False)


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without_scripts"])
def test_somebody_signs_in_by_their_company(
    new_context: Callable[..., BrowserContext], owner: Tenant, here: str, there: Any, scripts: bool
) -> None:
    there.tell(claims={"email": a_member(owner, "developer").email})
    page = new_context(java_script_enabled=scripts).new_page()
    page.goto(f"{here}/area/keys/?done=create")
    page.get_by_role("link", name="Sign in with Northwind").click()
    heading(page, "API keys")
    page.get_by_role("button", name="Sign out").click()
    there.tell(claims={"email": "stranger@example.com", "sub": "stranger"})
    page.get_by_role("link", name="Sign in with Northwind").click()
    expect(page.get_by_role("alert").first).to_contain_text("no member here")


def test_the_page_to_sign_in_is_for_everybody_with_all_its_ways(
    new_context: Callable[..., BrowserContext], here: str, there: Any
) -> None:
    page = new_context(bypass_csp=True).new_page()
    page.goto(f"{here}/area/sign-in/")
    expect(page.get_by_role("button", name="Sign in with a passkey")).to_be_visible()
    assert everything(page) == []
