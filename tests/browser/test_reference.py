"""The reference page in a real browser: it can be read, and what it fills in works."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.api import Tenant
from tests.browser import accessibility

WITHOUT_A_PATH_OF_THEIRS = ["create_assessment", "create_case", "create_job", "create_webhook"]


def operation(page: Page, name: str) -> Locator:
    page.goto(f"/docs/#/{TAGS[name]}/{name}")
    shown = page.locator(f"[id$='-{name}']")
    expect(shown.get_by_role("button", name="Execute")).to_be_visible(timeout=30_000)
    return shown


TAGS = {
    "create_assessment": "assessments",
    "create_case": "cases",
    "create_job": "jobs",
    "create_webhook": "webhooks",
}


@pytest.mark.parametrize("name", WITHOUT_A_PATH_OF_THEIRS)
def test_the_first_try_of_a_write_works_and_the_second_is_another(
    new_context: Callable[..., BrowserContext], tenant: Tenant, name: str
) -> None:
    page = new_context(extra_http_headers={"Authorization": f"Bearer {tenant.test.key}"}).new_page()
    shown = operation(page, name)
    for _ in range(2 if name != "create_webhook" else 1):  # an endpoint is registered once
        with page.expect_response(lambda answer: answer.request.method == "POST") as answered:
            shown.get_by_role("button", name="Execute").click()
        assert answered.value.status == 201, answered.value.text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_reference_can_be_read_in_both_schemes(
    new_context: Callable[..., BrowserContext], scheme: str
) -> None:
    page = new_context(color_scheme=scheme).new_page()
    operation(page, "create_assessment")
    assert accessibility.contrast(page) == []
