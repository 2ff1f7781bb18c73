"""The pages in another language in a real browser: to the left in Arabic, and numbers as German writes them."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests import rooms
from tests.api import Tenant
from tests.browser.accessibility import serious
from tests.browser.taking import go_to
from tests.handlers.test_languages import english
from tests.rooms import Prepared
from tests.sittings import CHOICE, CODE, NUMBER, TEXT, Invited, invite

# What is inside of an editor or of what somebody wrote is no text of ours.
SEEN = """() => {
  const said = [];
  const walk = (node) => {
    if (node.nodeType === Node.TEXT_NODE) said.push(node.textContent);
    else if (node.nodeType === Node.ELEMENT_NODE && !["SCRIPT", "STYLE", "NOSCRIPT"].includes(node.tagName)) {
      const names = ["aria-label", "placeholder", "title", "aria-valuetext"];
      for (const name of names) said.push(node.getAttribute(name) ?? "");
      for (const child of [...node.childNodes, ...(node.shadowRoot?.childNodes ?? [])]) walk(child);
    }
  };
  walk(document.body);
  return said.join("\\n");
}"""


@pytest.fixture
def arabic(new_context: Callable[..., BrowserContext]) -> Page:
    return new_context(locale="ar-EG").new_page()


def expect_arabic(page: Page) -> None:
    """The page is written to the left, holds no English of ours, and harms nobody who listens to it."""
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    text = " ".join(page.evaluate(SEEN).split())
    assert [part for part in english() if part in text] == []
    assert serious(page) == []
    # Nothing stands out of the page on either side.
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def open_page(page: Page, invited: Invited) -> None:
    page.goto(f"/take/{invited.token}")


def test_an_assessment_is_taken_in_arabic_from_its_start_to_its_end(arabic: Page) -> None:
    invited = invite(CHOICE, NUMBER, TEXT, CODE, time_limit_minutes=60, copy_paste_disabled=True)
    open_page(arabic, invited)
    expect(arabic.locator("#start")).to_be_enabled()
    expect_arabic(arabic)
    arabic.locator("#practice summary").click()
    arabic.locator("#practice-types button").first.click()
    expect_arabic(arabic)
    arabic.locator("#start").click()
    for number in (1, 2, 3, 4):
        go_to(arabic, number)
        expect(arabic.locator("#case-title")).to_be_visible()
        if number == 2:
            arabic.locator("#answer").fill("1,5")
            expect(arabic.locator("#understood")).to_contain_text("1.5")
        if number == 3:
            arabic.locator("#answer").fill("هذه إجابتي")
            expect(arabic.locator("#save-state")).to_have_attribute("data-state", "saved")
        if number == 4:
            expect(arabic.locator(".editor .cm-content")).to_be_visible()
            # Programs are written to the right.
            assert arabic.locator(".editor").evaluate("one => getComputedStyle(one).direction") == "ltr"
        expect_arabic(arabic)
    arabic.locator("#open-review").click()
    expect(arabic.get_by_role("dialog")).to_be_visible()
    expect_arabic(arabic)
    arabic.locator("#review-submit").click()
    expect(arabic.locator("#done")).to_be_visible()
    expect_arabic(arabic)


def test_the_divider_moves_with_the_pointer_where_the_task_is_on_the_right(arabic: Page) -> None:
    open_page(arabic, invite(CODE))
    arabic.locator("#start").click()
    divider = arabic.locator(".divider")
    expect(divider).to_be_visible()
    before = int(divider.get_attribute("aria-valuenow") or 0)
    divider.focus()
    arabic.keyboard.press("ArrowLeft")
    assert int(divider.get_attribute("aria-valuenow") or 0) > before


def test_an_applicant_sees_what_is_wrong_in_arabic(arabic: Page, tenant: Tenant) -> None:
    job = tenant.live.job(published=True, title="Engineer")["slug"]
    arabic.goto(f"/careers/{tenant.organisation.slug}/")
    expect_arabic(arabic)
    arabic.goto(f"/careers/{tenant.organisation.slug}/{job}/")
    expect_arabic(arabic)
    arabic.locator("form .button.primary").click()
    expect(arabic.locator("#faults")).to_be_visible()
    expect_arabic(arabic)


def test_an_interview_is_held_in_arabic(arabic: Page) -> None:
    room: Prepared = rooms.prepare()
    arabic.goto(f"/interview/{room.candidate}")
    expect_arabic(arabic)
    arabic.locator("#consent").check()
    arabic.locator("#join").click()
    expect(arabic.locator("#save-state")).to_have_attribute("data-state", "saved", timeout=20_000)
    expect_arabic(arabic)
    assert "Hello" not in (room.row().consent_text or "")


def test_numbers_are_understood_as_german_writes_them(new_context: Callable[..., BrowserContext]) -> None:
    page = new_context(locale="de-DE").new_page()
    open_page(page, invite(NUMBER))
    page.get_by_role("button", name="Den Test beginnen").click()
    page.locator("#answer").fill("1234,5")
    expect(page.locator("#understood")).to_have_text("Verstanden als 1.234,5.")
    page.locator("#answer").fill("1.000")
    expect(page.locator("#case-fault")).to_contain_text("ohne Tausendertrennzeichen und mit einem Komma")
