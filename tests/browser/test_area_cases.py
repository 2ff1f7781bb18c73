"""A case is made in a real browser: by keyboard alone, without scripts, and looked at by the engine."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from gateways import sandbox
from gateways.languages import LANGUAGES
from tests.api import Tenant
from tests.browser.accessibility import LOOKS, opened
from tests.browser.test_area import heading, here, link, owner
from tests.browser.test_area_settings import into, press

__all__ = ["here", "owner"]
BOTH = pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without_scripts"])


def to_the_form(page: Page, tenant: Tenant) -> None:
    page.goto(link(tenant, "recruiter"))
    press(page, "Sign in")
    heading(page, "Overview")
    press(page, "Cases")
    heading(page, "Cases")
    press(page, "Make a case")
    heading(page, "New case")
    press(page, "Program")
    expect(page.get_by_role("heading", level=2, name="Program")).to_be_visible()


@BOTH
def test_a_recruiter_makes_a_case_with_the_keyboard_alone(
    new_context: Callable[..., BrowserContext], owner: Tenant, monkeypatch: pytest.MonkeyPatch, scripts: bool
) -> None:
    monkeypatch.setattr(sandbox, "missing", lambda: tuple(LANGUAGES.keys() - {"sql", "python"}))
    page = new_context(java_script_enabled=scripts).new_page()
    to_the_form(page, owner)
    into(page, "Title", "Double it")
    into(page, "Language", "SQL")  # typing chooses
    into(page, "Input", "21")
    into(page, "Weight", "heavy")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    weight = page.get_by_role("group", name="Test 1").get_by_label("Weight")
    expect(weight).to_have_attribute("aria-invalid", "true")
    expect(weight).to_have_value("heavy")
    expect(page.get_by_label("Language")).to_have_value("sql")
    into(page, "Weight", "2")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")  # hidden
    press(page, "Make the case")
    expect(page.get_by_role("status")).to_contain_text("The case is made.")
    expect(page.get_by_role("row", name="Double it Program medium 10")).to_be_visible()
    [made] = owner.test.get("/cases/").json()["results"]
    test = {"input": "21", "expected_output": "", "weight": 2.0, "hidden": True, "check": ""}
    assert (made["language"], made["test_cases"]) == ("sql", [test])


@LOOKS
def test_the_engine_finds_nothing_on_the_forms_of_cases(
    new_context: Callable[..., BrowserContext],
    owner: Tenant,
    monkeypatch: pytest.MonkeyPatch,
    look: dict[str, Any],
) -> None:
    page = new_context(bypass_csp=True, **look).new_page()
    found = {}
    to_the_form(page, owner)
    for case_type in ("mcq", "numeric", "text", "coding"):
        page.goto(f"/area/cases/new/?case_type={case_type}")
        found[case_type] = opened(page)
        page.get_by_role("button", name="Make the case").click()
        expect(page.get_by_role("alert")).to_be_visible()
        found[f"{case_type}, refused"] = opened(page)
    monkeypatch.setattr(sandbox, "missing", lambda: tuple(LANGUAGES))
    page.goto("/area/cases/new/?case_type=coding")
    found["no language"] = opened(page)
    assert found == {name: [] for name in found}
