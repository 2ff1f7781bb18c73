"""The editor of the candidate's page, in a real browser."""

import gzip
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

import gateways.sandbox
from app.instance.settings import ROOT
from tests.browser.accessibility import everything
from tests.browser.taking import (
    code,
    editor,
    expect_code,
    expect_offline,
    expect_saved,
    go_to,
    open_page,
    start,
    submit,
    tab_to,
    write,
)
from tests.sittings import CHOICE, CODE, TEXT, invite

EDITOR = "**/static/editor.js"
MOST_COMPRESSED = 250_000  # bytes, of everything that a page with code loads

PROGRAMS = {
    "python": "def total(line):\n    return 42  # all",
    "javascript": "function total(line) { return 42; } // all",
    "typescript": "const total = (line: string): number => 42; // all",
    "sql": "SELECT name, 42 FROM people -- all",
    "bash": "if true; then echo 42; fi # all",
    "java": "public class Main { int total() { return 42; } } // all",
    "go": "func total() int { return 42 } // all",
}


def program(page: Page, text: str) -> None:
    """Put a program into the editor."""
    editor(page)
    write(page, text)
    expect_code(page, text)


@pytest.mark.parametrize("language", PROGRAMS)
def test_each_language_has_its_colours(page, language):
    invited = invite(CODE)

    def spoken(route):
        response = route.fetch()
        session = response.json()
        session["cases"][0] |= {"language": language, "starter_code": PROGRAMS[language]}
        route.fulfill(response=response, json=session)

    page.route("**/start/", spoken)
    start(page, invited)
    expect_code(page, PROGRAMS[language])
    # It is coloured from its beginning on, on a busy machine in more steps than one: the comment comes last.
    expect(page.locator("#answer .cm-line span").filter(has_text="all")).not_to_have_count(0)
    colours = page.locator("#answer .cm-line span").evaluate_all(
        "spans => [...new Set(spans.map((one) => getComputedStyle(one).color))]"
    )
    assert len(colours) >= 3, "a keyword, a number and a comment are told apart"
    expect(page.locator(".cm-lineNumbers")).to_contain_text("1")


def test_the_editor_is_loaded_only_where_there_is_code(page):
    loaded = []
    page.on("request", lambda request: loaded.append(urlsplit(request.url).path))
    start(page, invite(CHOICE, TEXT))
    page.reload()
    expect(page.locator("#case-title")).to_be_visible()
    assert "/static/editor.js" not in loaded
    start(page, invite(CHOICE, CODE))
    go_to(page, 2)
    editor(page)
    assert "/static/editor.js" in loaded


def test_a_page_with_code_is_light(page, base_url):
    invited = invite(CODE)
    start(page, invited)
    page.reload()
    loaded = []
    page.on("request", lambda request: loaded.append(request.url))
    page.reload()
    editor(page)
    sizes = {}
    for url in dict.fromkeys(loaded):
        assert url.startswith(base_url), "nothing comes from another host"
        path = urlsplit(url).path
        made = ROOT / path.lstrip("/")
        content = made.read_bytes() if made.is_file() else page.request.get(url).body()
        sizes[path] = len(gzip.compress(content))
    assert sum(sizes.values()) <= MOST_COMPRESSED, sizes


def test_without_the_editors_script_a_field_indents_and_keeps_what_is_selected(page):
    page.route(EDITOR, lambda route: route.abort())
    invited = invite(CODE)
    start(page, invited)
    expect(page.locator("textarea#answer")).to_have_value(CODE["starter_code"])
    write(page, "a\nb\nc")
    page.keyboard.press("Control+A")
    page.keyboard.press("Tab")
    expect(page.locator("#answer")).to_have_value("    a\n    b\n    c")
    page.keyboard.press("Shift+Tab")
    expect(page.locator("#answer")).to_have_value("a\nb\nc")
    page.keyboard.press("Control+End")
    page.keyboard.press("Tab")
    expect(page.locator("#answer")).to_have_value("a\nb\nc    ")
    expect_saved(page)
    assert invited.answers() == ["a\nb\nc    "]
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Run the visible tests")).to_be_focused()


def test_an_editor_that_comes_late_takes_over_where_one_writes(page):
    late = []

    def hold(route: Route) -> None:
        late.append(route)

    page.route(EDITOR, hold)
    invited = invite(CODE)
    start(page, invited)
    write(page, "print()")
    page.keyboard.press("ArrowLeft")
    page.keyboard.type("1")
    late[0].continue_()
    expect(page.locator(".editor .cm-content")).to_be_focused()
    page.keyboard.type(", 2")
    expect_code(page, "print(1, 2)")
    expect_saved(page)
    assert invited.answers() == ["print(1, 2)"]


def test_tab_indents_what_is_selected_and_shift_tab_takes_it_back(page):
    invited = invite(CODE)
    start(page, invited)
    program(page, "a\nb")
    page.keyboard.press("Control+A")
    page.keyboard.press("Tab")
    expect_code(page, "    a\n    b")
    page.keyboard.press("Shift+Tab")
    expect_code(page, "a\nb")
    page.keyboard.press("Control+End")
    page.keyboard.press("Tab")
    expect_code(page, "a\nb   ")
    expect_saved(page)
    assert invited.answers() == ["a\nb   "]
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Run the visible tests")).to_be_focused()


def test_undo_outlives_another_case_and_a_reload(page):
    invited = invite(CODE, TEXT)
    start(page, invited)
    program(page, "first")
    page.wait_for_timeout(600)  # a pause makes a step of its own
    page.keyboard.press("Control+End")
    page.keyboard.type(" second")
    go_to(page, 2)
    go_to(page, 1)
    page.locator("#answer").focus()
    page.keyboard.press("Control+z")
    expect_code(page, "first")
    page.keyboard.press("Control+y")
    expect_code(page, "first second")
    page.reload()
    expect_code(page, "first second")
    page.locator("#answer").focus()
    page.keyboard.press("Control+z")
    expect_code(page, "first")
    page.keyboard.press("Control+z")
    expect_code(page, CODE["starter_code"])
    expect_saved(page)
    assert invited.answers()[0] == CODE["starter_code"]


def test_what_another_tab_wrote_cannot_be_undone_here(context):
    invited = invite(CODE)
    one, two = context.new_page(), context.new_page()
    start(one, invited)
    open_page(two, invited)
    editor(two)
    program(one, "print(1)")
    expect_code(two, "print(1)")
    two.locator("#answer").focus()
    two.keyboard.press("Control+End")
    two.keyboard.type("\nprint(2)")
    expect_code(one, "print(1)\nprint(2)")
    two.keyboard.press("Control+z")
    expect_code(two, "print(1)")
    two.keyboard.press("Control+z")
    expect_code(two, "print(1)")
    expect_saved(two)
    assert invited.answers() == ["print(1)"]


def test_comments_brackets_and_search_are_a_key_away(page):
    start(page, invite(CODE))
    program(page, "alpha\nbeta")
    page.keyboard.press("Control+Home")
    page.keyboard.press("Control+/")
    expect_code(page, "# alpha\nbeta")
    page.keyboard.press("Control+/")
    page.keyboard.press("Control+End")
    page.keyboard.type("(")
    expect_code(page, "alpha\nbeta()")
    page.keyboard.press("Control+f")
    page.keyboard.type("alpha")
    expect(page.locator(".cm-searchMatch")).to_have_text(["alpha"])
    assert everything(page) == []
    page.keyboard.press("Escape")
    expect(page.locator(".cm-search")).to_have_count(0)


def test_typing_while_everything_fails_loses_nothing(new_context, webs):
    invited = invite(CODE)
    context = new_context(base_url=webs[0].url)
    page, second = context.new_page(), context.new_page()
    start(page, invited)
    open_page(second, invited)
    editor(second)
    program(page, "one = 1")
    expect_saved(page)
    context.set_offline(True)
    page.keyboard.press("Control+End")
    page.keyboard.type("\ntwo = 2")
    expect_offline(page)
    expect_code(second, "one = 1\ntwo = 2")
    context.set_offline(False)
    expect_saved(page)
    webs[0].kill()
    page.keyboard.type("\nthree = 3")
    expect_offline(page)
    second.locator("#answer").focus()
    second.keyboard.press("Control+End")
    second.keyboard.type("\nfour = 4")
    webs[0].start()
    for one in (page, second):
        expect(one.locator("#save-state")).to_have_text("Saved", timeout=30_000)
        expect_code(one, "one = 1\ntwo = 2\nthree = 3\nfour = 4")
    assert invited.answers() == ["one = 1\ntwo = 2\nthree = 3\nfour = 4"]
    page.reload()
    expect_code(page, "one = 1\ntwo = 2\nthree = 3\nfour = 4")


def test_the_starter_code_comes_back_and_so_does_ones_own(page):
    invited = invite(CODE)
    start(page, invited)
    program(page, "print(1)")
    page.get_by_role("button", name="Reset to the starter code").click()
    expect_code(page, CODE["starter_code"])
    page.get_by_role("button", name="Bring my code back").click()
    expect_code(page, "print(1)")
    page.get_by_role("button", name="Reset to the starter code").click()
    page.locator("#answer").focus()
    page.keyboard.press("Control+z")
    expect_code(page, "print(1)")
    expect_saved(page)
    assert invited.answers() == ["print(1)"]


def test_a_program_may_be_as_long_as_the_service_takes_and_no_longer(page):
    invited = invite(CODE)
    start(page, invited)
    program(page, "x" * 1000)
    write(page, "y" * 65_537)
    expect_code(page, "x" * 1000)
    write(page, "y" * 65_536)
    page.keyboard.press("Control+End")
    page.keyboard.type("z")
    expect_saved(page)
    assert invited.answers() == ["y" * 65_536]


def test_task_and_code_stand_side_by_side_with_a_divider_for_the_keyboard(page, new_context):
    start(page, invite(CODE))
    editor(page)
    task, field = page.locator(".task").bounding_box(), page.locator(".editor").bounding_box()
    assert task["x"] + task["width"] <= field["x"]
    divider = page.get_by_role("separator")
    before = field["width"]
    divider.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    expect(divider).to_have_attribute("aria-valuenow", "50")
    assert page.locator(".editor").bounding_box()["width"] < before
    page.keyboard.press("End")
    expect(divider).to_have_attribute("aria-valuenow", "70")
    page.reload()
    expect(divider).to_have_attribute("aria-valuenow", "70")
    phone = new_context(viewport={"width": 390, "height": 780}, is_mobile=True, has_touch=True).new_page()
    start(phone, invite(CODE))
    editor(phone)
    task, field = phone.locator(".task").bounding_box(), phone.locator(".editor").bounding_box()
    assert task["y"] + task["height"] <= field["y"]
    assert phone.evaluate("document.documentElement.scrollWidth") == 390


def test_the_keyboard_runs_the_program_and_results_outlive_another_case(page, monkeypatch):
    monkeypatch.setattr(gateways.sandbox, "available", lambda language: True)
    ran = [gateways.sandbox.Run("3\n", "", "ok", 31, 0)] * 2
    monkeypatch.setattr(gateways.sandbox, "run", lambda *_, **__: ran)
    start(page, invite(CODE, TEXT))
    editor(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator(".run-summary")).to_contain_text("1 of 2 visible tests passed.")
    assert code(page) == CODE["starter_code"], "the keys write nothing"
    go_to(page, 2)
    expect(page.locator(".result")).to_have_count(0)
    go_to(page, 1)
    expect(page.locator(".run-summary")).to_contain_text("1 of 2 visible tests passed.")
    expect(page.locator(".result")).to_have_count(2)


@pytest.mark.parametrize(
    "options",
    [
        {"color_scheme": "light"},
        {"color_scheme": "dark"},
        {"color_scheme": "dark", "viewport": {"width": 390, "height": 780}},
        {"forced_colors": "active"},
        {"viewport": {"width": 590, "height": 400}},  # 200 %
        {"viewport": {"width": 320, "height": 256}},  # 400 %
    ],
    ids=["light", "dark", "phone", "forced", "twice", "four-times"],
)
def test_a_case_with_code_is_for_everybody(new_context, monkeypatch, options):
    monkeypatch.setattr(gateways.sandbox, "available", lambda language: True)
    ran = [
        gateways.sandbox.Run("4\n", "a note\n", "ok", 31, 0),
        gateways.sandbox.Run("", "", "timeout", 10_004),
    ]
    monkeypatch.setattr(gateways.sandbox, "run", lambda *_, **__: ran)
    page = new_context(**options).new_page()
    deep = CODE | {"question": "# Sum\n\n### Input\n\n```\n1 2 3\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"}
    start(page, invite(deep, TEXT))
    editor(page)
    page.get_by_role("button", name="Run the visible tests").click()
    expect(page.locator(".result")).to_have_count(2)
    page.get_by_text("Visible tests (2)").click()
    assert everything(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    page.locator("#open-review").click()
    assert everything(page) == []


def test_what_scrolls_is_reached_by_keyboard(page):
    long = CODE | {"question": "```\n" + "1 " * 400 + "\n```\n"}
    start(page, invite(long))
    editor(page)
    page.keyboard.press("Escape")
    tab_to(page, ".question pre")
    assert page.locator(".question pre").get_attribute("aria-label") == "Code"


def test_nothing_of_a_program_stays_on_the_device_once_it_is_submitted(page):
    invited = invite(CODE)
    start(page, invited)
    program(page, "print(1)")
    page.get_by_role("button", name="Flag for review").click()
    page.reload()
    expect_code(page, "print(1)")
    assert page.evaluate("Object.keys(sessionStorage).some((key) => key.startsWith('take-undo:'))")
    submit(page)
    expect(page.locator("#done-title")).to_be_visible()
    assert invited.answers() == ["print(1)"]
    page.goto("/")
    kept = page.evaluate("[...Object.keys(sessionStorage), ...Object.keys(localStorage)]")
    left = {key.split(":")[0] + key[-5:] for key in kept if invited.token in key}
    assert left == {"take:over"}, "nothing of the program stays on the device"
