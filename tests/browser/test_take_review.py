"""Looking again before submitting: flags, the list of every case, the clock, and the browser's Back."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.accessibility import everything
from tests.browser.taking import expect_saved, go_to, open_page, start, submit, write
from tests.sittings import CHOICE, CHOICES, NUMBER, TEXT, invite


def test_a_flag_is_seen_in_the_list_after_a_reload_and_in_another_tab(page, context):
    invited = invite(CHOICE, TEXT)
    start(page, invited)
    other = context.new_page()
    open_page(other, invited)
    flag = page.get_by_role("button", name="Flag for review")
    expect(flag).to_have_attribute("aria-pressed", "false")
    flag.click()
    expect(flag).to_have_attribute("aria-pressed", "true")
    for one in (page, other):
        expect(one.locator("#case-list button").first).to_contain_text("not answered, flagged")
    page.reload()
    expect(flag).to_have_attribute("aria-pressed", "true")
    flag.click()
    expect(page.locator("#case-list button").first).not_to_contain_text("flagged")
    expect(other.get_by_role("button", name="Flag for review")).to_have_attribute("aria-pressed", "false")


def test_the_review_lists_every_case_with_its_state(page):
    start(page, invite(CHOICE, TEXT, NUMBER))
    page.get_by_label("201 Created").check()
    go_to(page, 2)
    page.get_by_role("button", name="Flag for review").click()
    go_to(page, 3)
    write(page, "about three")
    expect(page.locator("#save-state")).to_contain_text("not saved")
    page.locator("#open-review").click()
    expect(page.locator("#review-list li")).to_have_text(
        [
            re.compile("Case 1: A created resource *answered"),
            re.compile("Case 2: Explain an index *not answered, flagged for review"),
            re.compile("Case 3: Requests per second *needs a look"),
        ]
    )
    expect(page.locator("#review-text")).to_contain_text("One of 3 cases is not answered.")
    expect(page.locator("#review-text")).to_contain_text("You flagged some for review.")
    assert everything(page) == []
    page.get_by_role("dialog").get_by_role("button", name="Case 2").click()
    expect(page.locator("#case-title")).to_have_text("Explain an index")


def test_words_are_counted_while_one_writes(page):
    start(page, invite(TEXT))
    expect(page.locator("#words")).to_have_text("0 words")
    write(page, "When")
    expect(page.locator("#words")).to_have_text("1 word")
    write(page, "When rows are written – often.")
    expect(page.locator("#words")).to_have_text("5 words")
    expect_saved(page)
    page.reload()
    expect(page.locator("#words")).to_have_text("5 words")


def test_the_clock_can_be_hidden_and_still_says_when_time_runs_out(page):
    invited = invite(TEXT)
    start(page, invited)
    page.get_by_role("button", name="Hide the time").click()
    expect(page.get_by_role("timer")).to_be_hidden()
    invited.ends_in(301)
    write(page, "one more word")
    expect_saved(page)
    expect(page.locator("#time-notice")).to_have_text(re.compile("Less than five minutes left."))
    expect(page.get_by_role("timer")).to_be_hidden()
    page.get_by_role("button", name="Show the time").click()
    expect(page.get_by_role("timer")).to_be_visible()
    page.locator("#time-notice-dismiss").click()
    expect(page.locator("#time-notice")).to_be_hidden()


@pytest.mark.parametrize(
    ("seconds", "words"), [(901, "fifteen minutes"), (301, "five minutes"), (61, "one minute")]
)
def test_the_last_minutes_are_said_for_eyes_and_ears(page, seconds, words):
    invited = invite(TEXT)
    start(page, invited)
    invited.ends_in(seconds)
    page.reload()
    expect(page.locator("#time-notice")).to_contain_text(f"Less than {words} left.")
    expect(page.get_by_role("alert").filter(has_text=words)).to_have_count(1)


def test_a_short_assessment_warns_of_no_time_that_it_never_had(page):
    start(page, invite(TEXT, time_limit_minutes=10))
    expect(page.get_by_role("timer")).to_contain_text(re.compile(r"09:5\d"))
    expect(page.locator("#time-notice")).to_be_hidden()


def test_back_goes_to_the_case_before_and_asks_before_it_leaves(page):
    invited = invite(CHOICE, TEXT)
    page.goto("/")
    start(page, invited)
    go_to(page, 2)
    write(page, "half a thought")
    page.go_back()
    expect(page.locator("#case-title")).to_have_text("A created resource")
    page.go_forward()
    expect(page.locator("#answer")).to_have_value("half a thought")
    page.go_back()
    page.go_back()
    expect(page.locator("#notice-text")).to_contain_text("Going back once more leaves your assessment.")
    expect(page.locator("#case-title")).to_be_visible()
    page.go_back()
    expect(page).not_to_have_url(re.compile("/take/"))
    page.go_forward()
    go_to(page, 2)
    expect(page.locator("#answer")).to_have_value("half a thought")


def test_one_word_is_used_for_each_thing(page):
    start(page, invite(CHOICE))
    words = page.content()
    submit(page)
    expect(page.locator("#done-title")).to_be_visible()
    words += page.content()
    shown = re.sub(r'"question(_html)?":|class="question"', "", words)
    assert not re.search(r"hand(ed|ing)? (it )?in\b", shown, re.IGNORECASE)
    assert "Questions" not in shown


@pytest.mark.parametrize(
    "options",
    [
        {"color_scheme": "light"},
        {"color_scheme": "dark"},
        {"viewport": {"width": 390, "height": 780}},
        {"forced_colors": "active"},
        {"viewport": {"width": 320, "height": 256}},
    ],
    ids=["light", "dark", "phone", "forced", "four-times"],
)
def test_every_page_and_kind_of_case_is_for_everybody(new_context, options):
    invited = invite(CHOICE, CHOICES, NUMBER, TEXT, enforce_fullscreen=True, copy_paste_disabled=True)
    page = new_context(**options).new_page()
    open_page(page, invited)
    assert everything(page) == []
    start(page, invited)
    invited.ends_in(301)
    page.reload()
    expect(page.locator("#time-notice")).to_be_visible()
    for number in range(1, 5):
        go_to(page, number)
        page.get_by_role("button", name="Flag for review").click()
        assert everything(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    submit(page)
    expect(page.locator("#done-title")).to_be_visible()
    assert everything(page) == []


def test_focus_on_a_heading_shows(page):
    start(page, invite(CHOICE, TEXT))
    page.locator("#next").focus()
    page.keyboard.press("Enter")
    title = page.locator("#case-title")
    expect(title).to_be_focused()
    assert title.evaluate("one => getComputedStyle(one).outlineStyle") == "solid"


def test_forced_colours_show_which_cases_are_answered(new_context):
    page = new_context(forced_colors="active").new_page()
    start(page, invite(CHOICE, TEXT))
    page.get_by_label("201 Created").check()
    marks = page.locator("#case-list .mark")
    looks = marks.evaluate_all(
        "marks => marks.map((one) => [getComputedStyle(one).borderTopWidth, getComputedStyle(one, '::after').content])"
    )
    assert looks[0] != looks[1]
    assert looks[0][1] == '"✓"'
