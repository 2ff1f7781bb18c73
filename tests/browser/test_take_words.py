"""What authors write in Markdown, as candidates see it in a real browser."""

from playwright.sync_api import Page, expect

from tests.browser.taking import go_to, start
from tests.sittings import CHOICE, TEXT, invite

WORDED = CHOICE | {
    "title": "What is `201`?",
    "question": "Compare $x^2$ with **this**: ![a parabola that opens upwards](https://x.example/y.png)",
    "options": [
        {"id": "a", "text": "`ETag` and **If-Match**", "is_correct": True},
        {"id": "b", "text": "$\\frac{1}{2}$", "is_correct": False},
        {"id": "c", "text": "<b>plain</b> & simple", "is_correct": False},
    ],
}


def test_titles_and_options_show_code_and_formulas(page: Page) -> None:
    start(page, invite(WORDED, TEXT))
    expect(page.locator("#case-title code")).to_have_text("201")
    options = page.locator(".option span")
    expect(options.nth(0).locator("code")).to_have_text("ETag")
    expect(options.nth(0).locator("strong")).to_have_text("If-Match")
    expect(options.nth(1).locator("mfrac")).to_be_visible()
    expect(options.nth(2)).to_have_text("<b>plain</b> & simple")
    expect(page.locator(".question msup")).to_be_visible()
    expect(page.locator(".question em")).to_have_text("a parabola that opens upwards")
    expect(page.locator(".question img")).to_have_count(0)
    page.get_by_label("ETag and If-Match").check()
    go_to(page, 2)
    page.locator("#open-review").click()
    expect(page.get_by_role("dialog")).to_contain_text("Case 1: What is 201?")
