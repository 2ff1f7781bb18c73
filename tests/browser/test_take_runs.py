"""What a candidate sees of a run, in a real browser."""

import pytest
from playwright.sync_api import Page, Route, expect

import gateways.sandbox
from tests.browser.taking import editor, open_page, start, write
from tests.sittings import CODE, invite

SQL = CODE | {
    "language": "sql",
    "starter_code": "SELECT 1",
    "test_cases": [
        {"input": "", "expected_output": "ink|OSL|3\npen||1\nrum|PAR|0\n", "weight": 1, "hidden": False}
    ],
}


def run(page: Page) -> None:
    editor(page)
    page.get_by_role("button", name="Run the visible tests").click()
    expect(page.locator(".result").first).to_be_visible()


@pytest.fixture
def programs(monkeypatch):
    """Have programs run as a test says."""

    def set(*ran: gateways.sandbox.Run) -> None:
        monkeypatch.setattr(gateways.sandbox, "available", lambda language: True)
        monkeypatch.setattr(gateways.sandbox, "run", lambda *_, **__: list(ran))

    return set


def test_expected_and_given_are_compared_line_by_line(page, programs):
    lines = [f"line {number}" for number in range(1, 21)]
    wanted = "\n".join(lines)
    got = "\n".join([*lines[:9], "line ten", *lines[10:15], *lines[16:], "more"])
    case = CODE | {
        "test_cases": [{"input": "", "expected_output": wanted + "\n", "weight": 1, "hidden": False}]
    }
    programs(gateways.sandbox.Run(got + " \n\n", "", "ok", 30, 0))
    start(page, invite(case))
    run(page)
    diff = page.locator(".diff")
    expect(diff.locator("[data-kind=expected] td")).to_have_text(["line 10", "line 16"])
    expect(diff.locator("[data-kind=got] td")).to_have_text(["line ten", "more"])
    expect(diff.locator("mark")).to_have_text(["1", "t"])
    expect(diff.locator(".skipped td:last-child").first).to_have_text("… 6 equal lines")
    expect(diff.get_by_role("rowheader", name="yours")).to_have_count(2)


def test_rows_of_a_query_are_shown_as_a_table(page, programs):
    programs(gateways.sandbox.Run("ink|OSL|4\npen||1\nrum|PAR|0\n", "", "ok", 30, 0))
    start(page, invite(SQL))
    run(page)
    rows = page.locator(".diff tr")
    expect(rows).to_have_count(4)
    expect(rows.nth(0).locator("td")).to_have_text(["ink", "OSL", "3"])
    expect(rows.nth(1).locator("td")).to_have_text(["ink", "OSL", "4"])
    expect(rows.nth(2).locator("td")).to_have_text(["", "pen", "", "1"])
    expect(page.locator(".diff mark")).to_have_text(["3", "4"])


def test_rows_of_a_query_that_is_right_are_shown_too(page, programs):
    programs(gateways.sandbox.Run("ink|OSL|3\npen||1\nrum|PAR|0\n", "", "ok", 30, 0))
    start(page, invite(SQL))
    run(page)
    expect(page.locator(".result")).to_contain_text("Test 1: passed")
    expect(page.locator(".rows tr").nth(1).locator("td")).to_have_text(["pen", "", "1"])


@pytest.mark.parametrize(
    ("ran", "said"),
    [
        (gateways.sandbox.Run("tick\n", "", "timeout", 10_004), ["took too long", "10 sec", "tick"]),
        (gateways.sandbox.Run("tick\n", "", "memory", 812), ["more memory", "812 ms", "tick"]),
        (gateways.sandbox.Run("tick\n", "", "output_limit", 5), ["printed more", "tick"]),
        (
            gateways.sandbox.Run("tick\n", "oh no\n", "error", 31, 3),
            ["exit code 3", "31 ms", "tick", "oh no"],
        ),
    ],
    ids=["time", "memory", "output", "exit"],
)
def test_how_a_program_ended_is_said_with_what_it_printed(page, programs, ran, said):
    programs(ran, ran)
    start(page, invite(CODE))
    run(page)
    for words in said:
        expect(page.locator(".result").first).to_contain_text(words)


def test_an_endless_program_is_told_that_it_never_ends(page):
    if not gateways.sandbox.available("python"):
        pytest.skip("No program can be run here.")
    start(page, invite(CODE))
    editor(page)
    write(page, "print('tick', flush=True)\nwhile True: pass")
    page.get_by_role("button", name="Run the visible tests").click()
    first = page.locator(".result").first
    expect(first).to_contain_text("took too long", timeout=60_000)
    expect(first).to_contain_text("tick")


def test_ones_own_input_is_run_and_not_judged(page, programs):
    programs(gateways.sandbox.Run("17\n", "", "ok", 28, 0))
    start(page, invite(CODE))
    editor(page)
    page.get_by_text("An input of your own").click()
    page.get_by_label("What your program reads").fill("8 9\n")
    with page.expect_request("**/run/") as asked:
        page.get_by_role("button", name="Run with this input").click()
    assert asked.value.post_data_json == {"answer": CODE["starter_code"], "input": "8 9\n"}
    expect(page.locator(".run-summary")).to_contain_text("this is not judged")
    expect(page.locator(".result")).to_contain_text("Your own input")
    expect(page.locator(".result")).to_contain_text("17")
    expect(page.locator(".result")).not_to_contain_text("passed")


def test_the_language_that_is_chosen_goes_with_the_run_and_the_answer(page, new_context, programs):
    programs(*[gateways.sandbox.Run("3\n", "", "ok", 28, 0)] * 2)
    invited = invite(CODE | {"languages": ["python", "javascript"]})
    start(page, invited)
    editor(page)
    page.get_by_label("Language").select_option("javascript")
    with page.expect_request("**/run/") as asked:
        page.get_by_role("button", name="Run the visible tests").click()
    assert asked.value.post_data_json == {"answer": CODE["starter_code"], "language": "javascript"}
    expect(page.locator(".run-summary")).to_contain_text("1 of 2")
    assert invited.answers() == [None], "choosing is no answer"
    with page.expect_response("**/answers/*/") as saved:
        write(page, "print(1)")
    assert saved.value.request.post_data_json == {"answer": "print(1)", "language": "javascript"}
    assert saved.value.status == 200
    elsewhere = new_context().new_page()
    open_page(elsewhere, invited)
    expect(elsewhere.get_by_label("Language")).to_have_value("javascript")
    with elsewhere.expect_response("**/answers/*/"):
        elsewhere.get_by_label("Language").select_option("python")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.get_by_label("Language")).to_have_value("python")


def test_who_waits_for_others_programs_sees_the_place_in_the_queue(page):
    start(page, invite(CODE))
    editor(page)
    runs = []

    def wait(route: Route) -> None:
        runs.append(route)

    page.route("**/run/", lambda route: route.fulfill(json={"state": "waiting", "place": 3}))
    page.route("**/answers/*/run/", wait)
    page.get_by_role("button", name="Run the visible tests").click()
    expect(page.locator(".run-summary")).to_contain_text("yours is number 3 in the queue")
    runs[0].fulfill(json={"available": False, "results": []})
    expect(page.locator(".run-summary")).to_contain_text("cannot be run here")
