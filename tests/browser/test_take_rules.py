"""What the candidate's page notes, what it understands, and an assessment without cases."""

import pytest
from playwright.sync_api import expect

from tests.browser.accessibility import everything
from tests.browser.taking import (
    editor,
    expect_code,
    expect_done,
    expect_saved,
    hide,
    open_page,
    start,
    submit,
    violations,
    write,
)
from tests.sittings import CODE, NUMBER, TEXT, invite


@pytest.fixture
def clipboard(context):
    context.grant_permissions(["clipboard-read", "clipboard-write"])


def test_cutting_ones_own_text_and_putting_it_back_is_no_violation(page, clipboard):
    invited = invite(TEXT, copy_paste_disabled=True)
    start(page, invited)
    write(page, "my own words")
    page.locator("#answer").focus()
    page.keyboard.press("Control+A")
    page.keyboard.press("Control+X")
    expect(page.locator("#answer")).to_have_value("")
    page.keyboard.press("Control+V")
    page.keyboard.press("Control+V")
    expect(page.locator("#answer")).to_have_value("my own wordsmy own words")
    expect_saved(page)
    assert violations(invited) == []
    expect(page.locator("#notice")).to_be_hidden()


def test_in_the_editor_ones_own_code_moves_and_others_does_not_come_in(page, clipboard):
    invited = invite(CODE, copy_paste_disabled=True)
    start(page, invited)
    editor(page)
    write(page, "one\ntwo")
    page.keyboard.press("Control+Home")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Control+X")
    expect_code(page, "two")
    page.keyboard.press("Control+End")
    page.keyboard.press("Enter")
    page.keyboard.press("Control+V")
    expect_code(page, "two\none\n")
    assert violations(invited) == []
    page.evaluate("navigator.clipboard.writeText('somebody else wrote this')")
    with page.expect_response("**/violations/"):
        page.keyboard.press("Control+V")
    expect_code(page, "two\none\n")
    assert violations(invited) == [("copy_paste", 1)]


def test_what_takes_the_focus_and_hides_nothing_is_not_noted(page):
    invited = invite(TEXT, copy_paste_disabled=True)
    start(page, invited)
    page.evaluate("dispatchEvent(new Event('blur'))")
    expect(page.locator("#notice")).to_be_hidden()
    with page.expect_response("**/violations/"):
        hide(page)
    expect(page.locator("#notice-text")).to_have_text(
        "You went to another tab or window, and this page was hidden. This has been noted for Northwind Labs."
    )
    assert violations(invited) == [("focus_loss", 1)]


@pytest.mark.parametrize(
    ("typed", "understood"),
    [("1.000", "1"), ("3,5", "3.5"), ("5400", "5,400"), ("-.5", "-0.5"), ("1e3", "1,000"), ("−2", "-2")],
)
def test_what_was_understood_of_a_number_is_said(page, typed, understood):
    start(page, invite(NUMBER))
    write(page, typed)
    expect(page.locator("#understood")).to_have_text(f"Understood as {understood}.")
    expect_saved(page)


@pytest.mark.parametrize("typed", ["1,000", "1.000.000", "1.5.2", "0x10", "Infinity", "1e999"])
def test_what_may_mean_two_numbers_or_none_is_asked_again(page, typed):
    invited = invite(NUMBER)
    start(page, invited)
    write(page, typed)
    expect(page.locator("#case-fault")).to_contain_text("Please")
    expect(page.locator("#understood")).to_be_empty()
    assert invited.answers() == [None]


def test_in_a_language_with_a_comma_a_point_may_part_thousands(page):
    invited = invite(NUMBER)
    page.route(
        f"**/take/{invited.token}",
        lambda route: route.fulfill(
            response=(got := route.fetch()), body=got.text().replace('<html lang="en-GB"', '<html lang="de"')
        ),
    )
    start(page, invited)
    write(page, "1,5")
    expect(page.locator("#understood")).to_have_text("Understood as 1,5.")
    expect_saved(page)
    assert invited.answers() == [1.5]
    write(page, "1.000")
    expect(page.locator("#case-fault")).to_contain_text("without thousands separators, and with a comma")


def test_an_assessment_without_cases_says_so_and_can_be_submitted(page):
    invited = invite()
    open_page(page, invited)
    expect(page.locator("#intro")).to_contain_text("There are no cases in this assessment yet.")
    page.get_by_role("button", name="Start the assessment").click()
    title = page.get_by_role("heading", name="There are no cases in this assessment")
    expect(title).to_be_focused()
    assert everything(page) == []
    page.reload()
    expect(title).to_be_visible()
    submit(page)
    expect_done(page)
    assert invited.invitation().status == "completed"
