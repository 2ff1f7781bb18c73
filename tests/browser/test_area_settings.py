"""The pages of settings in a real browser: as an owner by mouse and by keyboard alone, and looked at by the engine."""

from collections.abc import Callable
from typing import Any

from playwright.sync_api import BrowserContext, Page, expect

from schemas.area import SECTIONS
from schemas.area_settings import SETTINGS
from tests.api import Tenant
from tests.browser.accessibility import LOOKS, on_each
from tests.browser.test_area import heading, here, link, owner, reach, signed_in
from tests.signing import a_member

__all__ = ["here", "owner"]
LOGO = (
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\xf8\xcf\xc0\xf0"
    b"\x1f\0\x05\0\x01\xff\x89\x99=\x1d\0\0\0\0IEND\xaeB`\x82"
)
PAGES = [
    *(one.path for one in SECTIONS.values() if SETTINGS in (one.path, one.under) and "{" not in one.path),
    f"{SETTINGS}mail/invitation/en/",
]


def saved(page: Page, words: str = "It is saved.") -> None:
    expect(page.get_by_role("status")).to_contain_text(words)


def test_an_owner_sets_everything_up_with_the_mouse(page: Page, owner: Tenant) -> None:
    colleague = a_member(owner, "recruiter")
    signed_in(page, owner)
    page.get_by_role("link", name="Settings").click()
    page.get_by_label("Name", exact=True).fill("Northwind Labs")
    page.get_by_text("Mail owners, admins and recruiters").click()
    page.get_by_role("button", name="Save").click()
    saved(page)
    expect(page.locator(".brand")).to_have_text("Northwind Labs")
    page.get_by_role("link", name="Branding").click()
    page.get_by_label("Picture").set_input_files({"name": "a.png", "mimeType": "image/png", "buffer": LOGO})
    page.get_by_role("button", name="Keep this logo").click()
    expect(page.get_by_alt_text("The logo")).to_be_visible()
    page.get_by_label("Colour of buttons").fill("#fefefe")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Colour of buttons")).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Colour of buttons").fill("#1f5eff")
    page.get_by_role("button", name="Save").click()
    saved(page)
    page.get_by_role("link", name="Privacy and retention").click()
    page.get_by_label("Days that events are kept").fill("14")
    page.get_by_role("button", name="Save").last.click()
    saved(page)
    page.get_by_role("link", name="Mails", exact=True).click()
    page.get_by_role("link", name="en invitation").click()
    page.get_by_label("Subject").fill("Come in, {{ candidate_name }}")
    page.get_by_role("button", name="Save").click()
    saved(page)
    expect(page.get_by_text("Come in, Ada Lovelace")).to_be_visible()
    page.get_by_role("link", name="Squads").click()
    page.get_by_text("Make a squad").click()
    page.get_by_label("Name", exact=True).fill("Backend")
    page.get_by_role("button", name="Make the squad").click()
    page.get_by_role("link", name="Backend").click()
    page.get_by_label("Who joins it").select_option(str(colleague.user_id))
    page.get_by_role("button", name="Add to the squad").click()
    saved(page, "They belong to it now.")
    page.get_by_text("Delete the squad").click()
    page.get_by_role("button", name="Delete it for good").click()
    saved(page, "The squad is deleted.")
    page.get_by_role("link", name="Audit log").click()
    page.get_by_role("button", name="Verify the newest rows").click()
    expect(page.get_by_role("heading", name="All is as it was sealed")).to_be_visible()
    with page.expect_download() as loading:
        page.get_by_role("button", name="Download as CSV").click()
    assert loading.value.suggested_filename.endswith(".csv")


def press(page: Page, name: str) -> None:
    reach(page, name)
    page.keyboard.press("Enter")


def into(page: Page, label: str, text: str) -> None:
    """Go on by the tabulator until a field has the focus, and write it anew."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if label in page.evaluate("document.activeElement.labels?.[0]?.innerText || ''"):
            page.keyboard.press("Control+A")
            return page.keyboard.type(text)
    raise AssertionError(f"{label} cannot be reached")


def test_an_owner_changes_settings_with_the_keyboard_alone(page: Page, owner: Tenant) -> None:
    page.goto(link(owner))
    press(page, "Sign in")
    heading(page, "Overview")
    press(page, "Settings")
    heading(page, "Settings")
    into(page, "Name", "By keyboard")
    press(page, "Save")
    saved(page)
    press(page, "Privacy and retention")
    heading(page, "Privacy and retention")
    into(page, "Days that recordings are kept", "30")
    press(page, "Save")
    saved(page)
    press(page, "Squads")
    heading(page, "Squads")
    press(page, "Make a squad")
    into(page, "Name", "Backend")
    page.keyboard.press("Enter")
    saved(page, "The squad is made.")
    press(page, "Backend")
    heading(page, "Backend")
    assert owner.live.get("/org/").json()["name"] == "By keyboard"
    assert owner.live.get("/org/settings/").json()["retention_days"]["recordings"] == 30


@LOOKS
def test_the_engine_finds_nothing_on_the_pages_of_settings(
    new_context: Callable[..., BrowserContext], owner: Tenant, look: dict[str, Any]
) -> None:
    page = new_context(bypass_csp=True, **look).new_page()
    squad = owner.live.squad("Backend")
    a_member(owner, "recruiter")
    signed_in(page, owner)
    found = on_each(page, (*PAGES, f"{SETTINGS}squads/{squad['id']}/"))
    assert found == {name: [] for name in found}
