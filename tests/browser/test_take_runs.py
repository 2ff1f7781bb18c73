"""What a candidate sees of a run, in a real browser."""

import json

import pytest
from playwright.sync_api import Page, Route, expect

import gateways.sandbox
from tests.browser.taking import editor, expect_saved, start, write
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
        (gateways.sandbox.Run("tick\n", "", "timeout", 10_004), ["took too long", "10.0 s", "tick"]),
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


def choosing(page: Page) -> None:
    """Have the case allow two languages."""

    def more(route: Route) -> None:
        response = route.fetch()
        session = response.json()
        session["cases"][0]["languages"] = ["python", "javascript"]
        route.fulfill(response=response, json=session)

    page.route("**/start/", more)


def test_ones_own_input_is_run_and_not_judged(page):
    asked = []

    def answer(route: Route) -> None:
        asked.append(json.loads(route.request.post_data))
        ran = {
            "input": "8 9\n", "expected_output": None, "stdout": "17\n", "stderr": "", "outcome": "ok", "passed": None,
            "judged": False, "message": "", "difference": None, "checked": False, "exit_code": 0, "time_ms": 28,
        }  # fmt: skip
        route.fulfill(json={"available": True, "results": [ran]})

    choosing(page)
    page.route("**/run/", answer)
    start(page, invite(CODE))
    editor(page)
    page.get_by_text("An input of your own").click()
    page.get_by_label("What your program reads").fill("8 9\n")
    page.get_by_role("button", name="Run with this input").click()
    expect(page.locator(".run-summary")).to_contain_text("this is not judged")
    expect(page.locator(".result")).to_contain_text("Your own input")
    expect(page.locator(".result")).to_contain_text("17")
    expect(page.locator(".result")).not_to_contain_text("passed")
    assert asked == [{"answer": CODE["starter_code"], "input": "8 9\n", "language": "python"}]


def test_the_language_that_is_chosen_goes_with_the_answer_and_the_run(page):
    asked = []

    def answer(route: Route) -> None:
        asked.append(json.loads(route.request.post_data))
        if route.request.url.endswith("/run/"):
            return route.fulfill(json={"available": False, "results": []})
        return route.fulfill(json={"saved_at": "2026-11-21T10:00:00.000Z", "deadline_at": None})

    choosing(page)
    page.route("**/answers/**", answer)
    start(page, invite(CODE))
    editor(page)
    page.get_by_label("Language").select_option("javascript")
    assert asked == [], "choosing is no answer"
    page.get_by_role("button", name="Run the visible tests").click()
    expect(page.locator(".run-summary")).to_contain_text("cannot be run here")
    write(page, "print(1)")
    expect_saved(page)
    assert asked == [
        {"answer": CODE["starter_code"], "language": "javascript"},
        {"answer": "print(1)", "language": "javascript"},
    ]
