"""The candidate's page, played in a real browser against the real service."""

import re
from datetime import timedelta

import pytest
from playwright.sync_api import expect

import gateways.judging
import gateways.sandbox
from tests.browser.taking import (
    editor,
    expect_code,
    expect_done,
    expect_offline,
    expect_saved,
    go_to,
    hide,
    open_page,
    service_unreachable,
    start,
    submit,
    tab_to,
    violations,
    write,
)
from tests.sittings import CHOICE, CHOICES, CODE, EVERY_KIND, NUMBER, TEXT, invite


def test_a_candidate_takes_the_whole_assessment(page, new_context):
    invited = invite(*EVERY_KIND)
    open_page(page, invited)
    expect(page.get_by_role("heading", name="Backend engineer")).to_be_visible()
    expect(page.locator("body")).to_contain_text("Hello Amina Diallo, Northwind Labs invites you")
    expect(page.locator("body")).to_contain_text("45 minutes")
    assert invited.session() is None

    page.get_by_role("button", name="Start the assessment").click()
    expect(page).to_have_title("Case 1 of 5 · Backend engineer")
    expect(page.get_by_role("timer")).to_contain_text(re.compile(r"4[45]:\d\d"))
    page.get_by_label("201 Created").check()
    page.get_by_role("button", name="Next").click()
    page.get_by_label("GET").check()
    page.get_by_label("HEAD").check()
    page.get_by_role("button", name="Next").click()
    write(page, "1.0")
    page.get_by_role("button", name="Next").click()
    write(page, "When rows are written.")
    page.get_by_role("button", name="Next").click()
    expect_code(page, CODE["starter_code"])
    write(page, "print(sum(map(int, input().split())))\n")
    expect(page.locator("#progress")).to_have_text("5 of 5 answered")
    expect_saved(page)
    assert invited.answers() == [
        "b",
        ["g", "h"],
        1,
        "When rows are written.",
        "print(sum(map(int, input().split())))\n",
    ]

    page.locator("#next").click()
    expect(page.get_by_role("dialog")).to_contain_text("All 5 cases are answered.")
    page.get_by_role("dialog").get_by_role("button", name="Submit").click()
    expect_done(page)
    assert invited.invitation().status == "completed"
    assert [event.type for event in invited.events()] == ["assessment.started", "assessment.completed"]
    assert len(invited.grading_asked()) == 1
    page.reload()
    expect(page.locator("[data-state=completed]")).to_contain_text("Your assessment is submitted.")
    elsewhere = new_context().new_page()
    open_page(elsewhere, invited)
    expect(elsewhere.get_by_role("heading", name="Thank you, Amina Diallo")).to_be_visible()


def test_the_review_names_what_is_not_answered_and_leads_there(page):
    invited = invite(CHOICE, TEXT, NUMBER)
    start(page, invited)
    page.get_by_label("201 Created").check()
    page.locator("#open-review").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("2 of 3 cases are not answered.")
    dialog.get_by_role("button", name="Case 2: Explain an index").click()
    expect(dialog).to_be_hidden()
    expect(page.locator("#case-title")).to_have_text("Explain an index")
    page.locator("#open-review").click()
    dialog.get_by_role("button", name="Back to the cases").click()
    assert invited.invitation().status == "started"


def test_a_reload_in_the_middle_loses_nothing(page):
    invited = invite(*EVERY_KIND)
    start(page, invited)
    page.get_by_label("201 Created").check()
    go_to(page, 4)
    write(page, "Half a sentence, and then")
    page.reload()  # before the save was due
    expect(page.locator("#case-title")).to_have_text("Explain an index")
    expect(page.locator("#answer")).to_have_value("Half a sentence, and then")
    expect(page.locator("#progress")).to_have_text("2 of 5 answered")
    expect_saved(page)
    assert invited.answers() == ["b", None, None, "Half a sentence, and then", None]
    go_to(page, 1)
    expect(page.get_by_label("201 Created")).to_be_checked()


def test_a_choice_can_be_taken_back(page):
    invited = invite(CHOICE)
    start(page, invited)
    page.get_by_label("201 Created").check()
    page.get_by_role("button", name="Clear my choice").click()
    expect(page.locator("#progress")).to_have_text("0 of 1 answered")
    expect_saved(page)
    assert invited.answers() == [None]


def test_two_tabs_show_the_same_and_the_newest_text_wins(context):
    invited = invite(TEXT, NUMBER)
    one, two = context.new_page(), context.new_page()
    start(one, invited)
    open_page(two, invited)
    write(one, "written in the first tab")
    expect(two.locator("#answer")).to_have_value("written in the first tab")
    expect_saved(two)
    write(two, "written in the first tab, finished in the second")
    expect(one.locator("#answer")).to_have_value("written in the first tab, finished in the second")
    expect_saved(one)
    expect_saved(two)
    assert invited.answers()[0] == "written in the first tab, finished in the second"
    assert len(invited.events("assessment.started")) == 1
    go_to(two, 2)
    write(two, "7")
    expect(one.locator("#progress")).to_have_text("2 of 2 answered")
    submit(one)
    expect_done(one)
    expect_done(two)


def test_a_tab_sends_what_a_closed_tab_could_not(context):
    invited = invite(TEXT)
    one, two = context.new_page(), context.new_page()
    start(one, invited)
    open_page(two, invited)
    with service_unreachable(one):
        write(one, "typed in the tab that closes")
        expect_offline(one)
        expect(two.locator("#answer")).to_have_value("typed in the tab that closes")
        one.close()
    expect_saved(two)
    assert invited.answers() == ["typed in the tab that closes"]


def test_another_device_is_seen_when_the_page_comes_back_to_the_front(page, new_context):
    invited = invite(TEXT)
    start(page, invited)
    phone = new_context().new_page()
    open_page(phone, invited)
    write(phone, "from the phone")
    expect_saved(phone)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.locator("#answer")).to_have_value("from the phone")


def test_an_answer_that_was_on_its_way_brings_no_older_text_back(page):
    invited = invite(TEXT)
    start(page, invited)
    write(page, "first")
    expect_saved(page)
    stale = page.request.get(invited.url).json()
    write(page, "first and second")
    expect_saved(page)
    page.route(f"**{invited.url}", lambda route: route.fulfill(json=stale))
    with page.expect_response(f"**{invited.url}"):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    write(page, page.locator("#answer").input_value() + " and third")
    expect(page.locator("#answer")).to_have_value("first and second and third")
    expect_saved(page)
    assert invited.answers() == ["first and second and third"]


def test_when_time_is_up_the_page_hands_in_what_was_typed(page):
    invited = invite(TEXT, NUMBER)
    start(page, invited)
    invited.ends_in(6)
    page.reload()
    write(page, "typed in the last seconds")
    expect(page.get_by_text("Your time was up, so your assessment was submitted by itself.")).to_be_visible(
        timeout=20_000
    )
    expect_done(page)
    expect(page.locator("#done-unsent")).to_be_hidden()
    assert invited.answers() == ["typed in the last seconds", None]
    done = invited.session()
    assert done.completed_at == done.deadline_at
    assert len(invited.events("assessment.completed")) == 1
    page.reload()
    expect(page.locator("[data-state=completed]")).to_contain_text("Your time was up")


def test_time_that_is_given_meanwhile_shows_with_the_next_save(page):
    invited = invite(TEXT)
    start(page, invited)
    expect(page.get_by_role("timer")).to_contain_text(re.compile(r"\b4[45]:\d\d"))
    invited.ends_in(90 * 60)
    write(page, "one more thing")
    expect_saved(page)
    expect(page.get_by_role("timer")).to_contain_text(re.compile(r"1:(29|30):\d\d"))


def test_what_could_not_be_sent_before_the_end_is_said(page):
    invited = invite(TEXT)
    start(page, invited)
    invited.ends_in(5)
    page.reload()
    with service_unreachable(page):
        write(page, "too late")
        expect(page.get_by_text("Your time was up")).to_be_visible(timeout=20_000)
    expect(page.locator("#done-unsent")).to_have_text(
        "The last change to case 1 could not reach the server in time."
    )


@pytest.mark.parametrize(
    ("seconds", "level", "warning"),
    [(301, "soon", "Less than five minutes left."), (61, "last", "Less than one minute left.")],
)
def test_the_clock_warns_before_the_end(page, seconds, level, warning):
    invited = invite(TEXT)
    start(page, invited)
    invited.ends_in(seconds)
    page.reload()
    expect(page.get_by_role("alert").filter(has_text=warning)).to_have_count(1)
    expect(page.get_by_role("timer")).to_have_attribute("data-level", level)


def test_a_clock_set_wrong_on_the_device_changes_nothing(new_context):
    invited = invite(TEXT)
    context = new_context()
    # All that a page knows of the time: with a half of it the clock would be at zero until the server disagrees.
    context.add_init_script(
        "{ const [real, origin, off] = [Date.now, performance.timeOrigin, 3 * 3600 * 1000];"
        " Date.now = () => real() + off;"
        " Object.defineProperty(performance, 'timeOrigin', { value: origin + off }); }"
    )
    page = context.new_page()
    start(page, invited)
    expect(page.get_by_role("timer")).to_contain_text(re.compile(r"4[45]:\d\d"))
    page.reload()
    write(page, "still open")
    expect_saved(page)
    expect(page.get_by_role("timer")).to_contain_text(re.compile(r"4[45]:\d\d"))
    assert invited.invitation().status == "started"


def test_without_a_limit_there_is_no_clock_to_fear(page):
    start(page, invite(TEXT, time_limit_minutes=None))
    expect(page.get_by_role("timer")).to_contain_text("No time limit")


def test_a_lost_connection_keeps_what_is_typed_and_sends_it_later(page, context):
    invited = invite(TEXT, NUMBER)
    start(page, invited)
    write(page, "before")
    expect_saved(page)
    context.set_offline(True)
    write(page, "before and during")
    expect_offline(page)
    go_to(page, 2)
    write(page, "12")
    expect_offline(page)
    assert invited.answers() == ["before", None]
    context.set_offline(False)
    expect_saved(page)
    assert invited.answers() == ["before and during", 12]


def test_a_reload_without_connection_keeps_what_is_typed(page):
    invited = invite(TEXT)
    start(page, invited)
    with service_unreachable(page):
        write(page, "typed while nothing gets through")
        expect_offline(page)
        page.reload()
        expect(page.locator("#answer")).to_have_value("typed while nothing gets through")
        expect_offline(page)
        assert invited.answers() == [None]
    expect_saved(page)
    assert invited.answers() == ["typed while nothing gets through"]


def test_a_page_lost_offline_comes_back_with_everything(page, context):
    invited = invite(TEXT)
    start(page, invited)
    context.set_offline(True)
    write(page, "typed on a train")
    expect_offline(page)
    page.close()
    context.set_offline(False)
    again = context.new_page()
    open_page(again, invited)
    expect(again.locator("#answer")).to_have_value("typed on a train")
    expect_saved(again)
    assert invited.answers() == ["typed on a train"]


def test_a_server_in_trouble_is_tried_again(page):
    invited = invite(TEXT)
    start(page, invited)
    refused = []

    def stumble(route):
        if len(refused) == 2:
            return route.continue_()
        refused.append(route.request.url)
        return route.fulfill(status=503, json={"error": {"code": "UNAVAILABLE", "message": "Later."}})

    page.route("**/answers/**", stumble)
    write(page, "third time lucky")
    expect_saved(page)
    assert len(refused) == 2
    assert invited.answers() == ["third time lucky"]


def test_submitting_offline_says_so_and_works_once_the_connection_is_back(page, context):
    invited = invite(TEXT)
    start(page, invited)
    context.set_offline(True)
    write(page, "my answer")
    submit(page)
    expect(page.locator("#review-problem")).to_contain_text("We cannot reach the server just now.")
    context.set_offline(False)
    page.get_by_role("dialog").get_by_role("button", name="Try again").click()
    expect_done(page)
    assert invited.answers() == ["my answer"]


def test_what_is_not_a_number_is_kept_but_not_sent(page):
    invited = invite(NUMBER)
    start(page, invited)
    write(page, "about three")
    expect(page.locator("#case-fault")).to_have_text("Please enter a number, such as 3.5.")
    expect(page.locator("#save-state")).to_have_text("Case 1 not saved – please check it")
    assert invited.answers() == [None]
    write(page, "3,5")
    expect_saved(page)
    expect(page.locator("#case-fault")).to_be_hidden()
    assert invited.answers() == [3.5]


def test_code_is_run_on_the_visible_tests(page, monkeypatch):
    invited = invite(CODE)
    monkeypatch.setattr(gateways.sandbox, "available", lambda language: True)
    monkeypatch.setattr(
        gateways.sandbox,
        "run",
        lambda *_, **__: [
            gateways.sandbox.Run("3\n", "", "ok"),
            gateways.sandbox.Run("<b>5</b>", "Traceback", "error"),
        ],
    )
    start(page, invited)
    page.get_by_role("button", name="Run the visible tests").click()
    expect(page.locator(".run-summary")).to_contain_text("1 of 2 visible tests passed.")
    expect(page.locator(".result").nth(0)).to_contain_text("Test 1: passed")
    expect(page.locator(".result").nth(1)).to_contain_text("<b>5</b>")
    expect(page.locator(".result").nth(1)).to_contain_text("Traceback")
    assert "40000000000002" not in page.content()


def test_the_first_difference_is_shown_where_it_is(page, monkeypatch):
    monkeypatch.setattr(gateways.sandbox, "available", lambda language: True)
    ran = [
        gateways.sandbox.Run("4\n", "looking at 1 2\n", "ok", 31, 0),
        gateways.sandbox.Run("", "", "error", 30, 3),
    ]
    monkeypatch.setattr(gateways.sandbox, "run", lambda *_, **__: ran)
    start(page, invite(CODE))
    page.get_by_role("button", name="Run the visible tests").click()
    one, two = page.locator(".result").nth(0), page.locator(".result").nth(1)
    expect(one).to_contain_text("The first difference is in line 1, at character 1.")
    expect(one.locator("mark").nth(0)).to_have_text("3")
    expect(one.locator("mark").nth(1)).to_have_text("4")
    expect(one).to_contain_text("31 ms")
    expect(one).to_contain_text("looking at 1 2")
    expect(two).to_contain_text("The program ended with exit code 3.")


def test_an_output_that_could_not_be_judged_is_not_called_wrong(page, monkeypatch):
    monkeypatch.setattr(gateways.sandbox, "available", lambda language: True)
    monkeypatch.setattr(
        gateways.sandbox, "run", lambda *_, **__: [gateways.sandbox.Run("4\n", "", "ok", 31, 0)] * 2
    )
    verdicts = [gateways.judging.Verdict(None, "The check of this test failed: oh")] * 2
    monkeypatch.setattr(gateways.judging, "judge", lambda *_, **__: verdicts)
    start(page, invite(CODE))
    page.get_by_role("button", name="Run the visible tests").click()
    result = page.locator(".result").first
    expect(result).to_contain_text("Test 1: not judged")
    expect(result).to_contain_text("it does not count against you")
    expect(result).not_to_contain_text("oh")


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        ("timeout", "took too long"),
        ("memory", "more memory"),
        ("output_limit", "printed more"),
        ("error", "an error"),
    ],
)
def test_a_program_that_did_not_end_by_itself_is_told_so(page, monkeypatch, outcome, said):
    monkeypatch.setattr(gateways.sandbox, "available", lambda language: True)
    monkeypatch.setattr(gateways.sandbox, "run", lambda *_, **__: [gateways.sandbox.Run("", "", outcome)] * 2)
    start(page, invite(CODE))
    page.get_by_role("button", name="Run the visible tests").click()
    expect(page.locator(".result .ended").first).to_contain_text(said)


def test_code_is_written_in_letters_of_one_width(page):
    start(page, invite(CODE))
    editor(page)
    family = page.locator("#answer").evaluate("element => getComputedStyle(element).fontFamily")
    assert "monospace" in family


def test_where_code_cannot_be_run_the_candidate_is_told(page, monkeypatch):
    monkeypatch.setattr(gateways.sandbox, "available", lambda language: False)
    start(page, invite(CODE))
    page.get_by_role("button", name="Run the visible tests").click()
    expect(page.locator(".run-summary")).to_contain_text("cannot be run here")


def test_the_keyboard_alone_is_enough(page):
    invited = invite(CHOICE, CHOICES, CODE)
    open_page(page, invited)
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the content")).to_be_focused()
    tab_to(page, "#start")
    outline = page.locator("#start").evaluate("element => getComputedStyle(element).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("Enter")
    expect(page.locator("#case-title")).to_be_focused()
    tab_to(page, "#option-a")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#option-b")).to_be_checked()
    tab_to(page, "#next")
    page.keyboard.press("Enter")
    expect(page.locator("#case-title")).to_have_text("Safe methods")
    tab_to(page, "#option-g")
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    tab_to(page, "#case-list li:first-child button")
    page.keyboard.press("End")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#case-title")).to_have_text("Sum of a line")
    tab_to(page, "#answer")
    page.keyboard.press("Control+A")
    page.keyboard.type("if 1:\nprint(3)")
    expect_code(page, "if 1:\n    print(3)")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Run the visible tests")).to_be_focused()
    tab_to(page, "#next")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("All 3 cases are answered.")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.locator("#next")).to_be_focused()
    page.keyboard.press("Enter")
    tab_to(page, "#review-submit")
    page.keyboard.press("Enter")
    expect_done(page)
    expect(page.locator("#done-title")).to_be_focused()
    assert invited.answers() == ["b", ["g", "h"], "if 1:\n    print(3)"]


def test_a_phone_is_enough(new_context):
    invited = invite(*EVERY_KIND)
    context = new_context(viewport={"width": 360, "height": 640}, is_mobile=True, has_touch=True)
    page = context.new_page()
    open_page(page, invited)
    widths = [page.evaluate("document.documentElement.scrollWidth")]
    page.get_by_role("button", name="Start the assessment").tap()
    for number in range(1, 6):
        page.locator("#case-list button").nth(number - 1).tap()
        expect(page.locator("#case-title")).to_have_text(EVERY_KIND[number - 1]["title"])
        widths.append(page.evaluate("document.documentElement.scrollWidth"))
        expect(page.get_by_role("timer")).to_be_in_viewport()
    page.locator("#case-list button").nth(0).tap()
    page.get_by_label("201 Created").tap()
    expect_saved(page)
    page.locator("#open-review").tap()
    expect(page.get_by_role("dialog")).to_be_in_viewport()
    page.get_by_role("dialog").get_by_role("button", name="Submit").tap()
    expect_done(page)
    assert widths == [360] * 6
    assert invited.answers()[0] == "b"


def test_each_link_that_leads_to_no_assessment_says_why(page):
    response = page.goto("/take/no-such-token")
    assert response.status == 404
    expect(page.get_by_role("heading", name="This link leads nowhere")).to_be_visible()
    response = page.goto(f"/take/{invite(CHOICE, expires_in=timedelta(hours=-1)).token}")
    assert response.status == 200
    expect(page.get_by_role("heading", name="This invitation has expired")).to_be_visible()
    expect(page.get_by_role("button")).to_have_count(0)


def test_an_invitation_that_expires_on_the_open_page_says_so(page):
    invited = invite(CHOICE)
    open_page(page, invited)
    invited.change(expires_at=invited.invitation().created_at)
    page.get_by_role("button", name="Start the assessment").click()
    expect(page.get_by_role("heading", name="This invitation has expired")).to_be_visible()


def test_without_javascript_the_instructions_are_readable(new_context):
    page = new_context(java_script_enabled=False).new_page()
    open_page(page, invite(CHOICE, enforce_fullscreen=True))
    # Where a browser only pretends to have no scripts, `noscript` stays unrendered: its words are there.
    assert "This page needs JavaScript to start." in page.content()
    expect(page.get_by_text("Leaving full screen is noted.")).to_be_visible()
    expect(page.get_by_role("button", name="Start the assessment")).to_be_disabled()


def test_signals_reach_the_organisation_and_the_candidate_is_told(page):
    invited = invite(TEXT, TEXT | {"title": "Second"}, enforce_fullscreen=True, copy_paste_disabled=True)
    start(page, invited)
    expect(page.locator(":fullscreen")).to_have_count(1)
    expect(page.locator("#notice")).to_be_hidden()

    with page.expect_response("**/violations/") as reported:
        page.evaluate("document.exitFullscreen()")
    assert reported.value.status == 201
    expect(page.locator("#notice-text")).to_have_text(
        "You left full screen. This has been noted for Northwind Labs."
    )
    page.get_by_role("button", name="Return to full screen").click()
    expect(page.locator(":fullscreen")).to_have_count(1)
    expect(page.locator("#notice")).to_be_hidden()

    go_to(page, 2)
    write(page, "my own words")
    page.locator("#answer").focus()
    page.keyboard.press("Control+A")
    page.locator("#case-title").select_text()
    with page.expect_response("**/violations/"):
        page.keyboard.press("Control+C")
    expect(page.locator("#notice-text")).to_contain_text(
        "Copying the tasks and pasting from elsewhere are switched off"
    )
    page.get_by_role("button", name="Dismiss").click()

    with page.expect_response("**/violations/"):
        hide(page)
    expect(page.locator("#notice-text")).to_contain_text("You went to another tab or window")
    assert violations(invited) == [("fullscreen", 1), ("copy_paste", 2), ("focus_loss", 2)]


def test_a_paste_is_stopped(page, context):
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    invited = invite(TEXT, copy_paste_disabled=True)
    start(page, invited)
    page.evaluate("navigator.clipboard.writeText('somebody else wrote this')")
    page.locator("#answer").focus()
    with page.expect_response("**/violations/"):
        page.keyboard.press("Control+V")
    expect(page.locator("#answer")).to_have_value("")
    assert violations(invited) == [("copy_paste", 1)]


def test_a_signal_that_cannot_be_sent_is_sent_later(page, context):
    invited = invite(TEXT, copy_paste_disabled=True)
    start(page, invited)
    context.set_offline(True)
    hide(page)
    expect(page.locator("#notice-text")).to_contain_text("You went to another tab or window")
    with page.expect_response("**/violations/"):
        context.set_offline(False)
    assert violations(invited) == [("focus_loss", 1)]


def test_a_reload_is_no_signal(page):
    invited = invite(TEXT, copy_paste_disabled=True)
    start(page, invited)
    page.reload()
    write(page, "after the reload")
    expect_saved(page)
    assert violations(invited) == []


def test_an_assessment_without_rules_reports_nothing(page):
    invited = invite(TEXT)
    start(page, invited)
    assert page.evaluate("document.fullscreenElement === null")
    hide(page)
    write(page, "copied")
    page.locator("#answer").focus()
    page.keyboard.press("Control+A")
    page.keyboard.press("Control+C")
    page.keyboard.press("End")
    page.keyboard.press("Control+V")
    expect(page.locator("#answer")).to_have_value("copiedcopied")
    expect_saved(page)
    assert violations(invited) == []
    expect(page.locator("#notice")).to_be_hidden()
