"""The reference in a real browser: read, searched and linked to; tests/reference tries every operation of it."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from rules.events import EVENTS
from tests.api import Tenant
from tests.browser import accessibility
from tests.documents import operations

RESOLVED = """async (at) => {
  const { prepared, resolved } = await import("/static/reference-document.js");
  const whole = await (await fetch(at)).json();
  prepared(whole);
  const found = {};
  for (const [path, item] of Object.entries(whole.paths)) {
    for (const method of Object.keys(item)) found[item[method].operationId] = resolved(whole, ["paths", path, method]);
  }
  return found;
}"""
# The first time that something was drawn which a reader can read, in milliseconds from the click.
FIRST_PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


def reference(page: Page, at: str = "") -> Page:
    page.set_default_timeout(30_000)  # it draws 150 operations, beside other browsers
    page.goto(f"/docs/{at}")
    expect(page.locator("#reference")).to_have_attribute("aria-busy", "false", timeout=30_000)
    return page


def operation(page: Page, tag: str, name: str) -> Locator:
    shown = reference(page, f"#/{tag}/{name}").locator(f"#operations-{tag}-{name}")
    expect(shown.get_by_role("button", name="Execute")).to_be_visible(timeout=30_000)
    return shown


def test_a_link_to_an_operation_opens_it(page: Page) -> None:
    shown = operation(page, "assessments", "create_assessment")
    expect(shown).to_contain_text("/assessments/create/")
    expect(shown.locator(".filled")).to_contain_text("Give a key above")


def test_what_an_operation_refers_to_stands_in_its_place(page: Page) -> None:
    page.goto("/docs/")
    shown = page.evaluate(RESOLVED, "/api/v1/public/openapi-3.1.json")
    assert '"$ref"' not in json.dumps(shown)
    assert {name: parameters(one["parameters"]) for name, one in shown.items()} == {
        one.id: parameters(one.parameters) for one in operations("openapi").values()
    }


def parameters(given: list[dict[str, Any]]) -> set[tuple[str, str]]:
    return {(one["in"], one["name"]) for one in given}


def test_a_try_goes_out_with_a_key_of_its_own_each_time(page: Page, tenant: Tenant) -> None:
    reference(page)
    page.get_by_label("API key").fill(tenant.test.key or "")
    page.locator("#operations-tag-assessments").click()
    page.locator("#operations-assessments-create_assessment .opblock-summary-control").click()
    shown = page.locator("#operations-assessments-create_assessment")
    expect(shown.locator(".filled")).to_contain_text("Ready")
    names = set()
    for _ in range(2):
        with page.expect_response(lambda answer: answer.request.method == "POST") as answered:
            shown.get_by_role("button", name="Execute").click()
        assert answered.value.status == 201, answered.value.text()
        names.add(answered.value.request.headers["idempotency-key"])
    assert len(names) == 2


def test_what_changes_something_is_not_filled_in_with_a_live_key(page: Page, tenant: Tenant) -> None:
    tenant.live.post("/assessments/create/", {"title": "Somebody's own"})
    reference(page)
    page.get_by_label("API key").fill(tenant.live.key or "")
    page.locator("#operations-tag-assessments").click()
    for name, said in (("update_assessment", "With a live key nothing"), ("get_assessment", "Ready")):
        page.locator(f"#operations-assessments-{name} .opblock-summary-control").click()
        expect(page.locator(f"#operations-assessments-{name} .filled")).to_contain_text(said)
    assert len(tenant.live.get("/assessments/").json()["results"]) == 1


def test_operations_are_found_by_what_they_are_called_and_where_they_are(page: Page) -> None:
    reference(page)
    page.keyboard.press("/")
    page.keyboard.type("invites remind")
    expect(page.locator("[id^='operations-tag-']")).to_have_count(1)
    expect(page.locator("[id^='operations-invitations-']")).to_have_count(1)
    expect(page.locator("#operations-invitations-remind_invitation")).to_contain_text(
        "/invites/{token}/remind/"
    )
    page.get_by_label("Find an operation").fill("")
    expect(page.locator("[id^='operations-tag-']")).not_to_have_count(1)


def test_events_are_found_by_their_type(page: Page) -> None:
    reference(page)
    search = page.get_by_label("Find an operation or event")
    events = page.locator("[id^='operations-webhooks-receive_']")
    search.fill("invitation.expired")
    expect(events).to_have_count(1)
    expect(events).to_contain_text("invitation.expired")
    expect(events).to_be_in_viewport()
    expect(page.get_by_text("No operation is called so.")).to_be_visible()
    search.fill("POST /invites/{token}")
    expect(page.locator("#operations-invitations-remind_invitation")).to_be_visible()
    expect(events).to_have_count(0)
    search.fill("")
    expect(events).to_have_count(len(EVENTS))


def test_every_event_is_shown(page: Page) -> None:
    shown = reference(page).locator("#reference").inner_text()
    assert [name for name in EVENTS if name not in shown] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1180, 390])
def test_the_reference_has_no_fault_that_axe_knows(
    new_context: Callable[..., BrowserContext], tenant: Tenant, scheme: str, width: int
) -> None:
    page = new_context(color_scheme=scheme, viewport={"width": width, "height": 800}).new_page()
    reference(page)
    assert accessibility.everything(page) == []
    page.get_by_label("API key").fill(tenant.test.key or "")
    for name in ("create_assessment", "list_assessments", "get_assessment"):
        if not page.locator(f"#operations-assessments-{name}").count():
            page.locator("#operations-tag-assessments").click()
        page.locator(f"#operations-assessments-{name} .opblock-summary-control").click()
        shown = page.locator(f"#operations-assessments-{name}")
        expect(shown.locator(".filled")).to_contain_text("Ready")
        assert accessibility.everything(page) == []
        shown.get_by_role("button", name="Execute").click()
        expect(shown.locator(".live-responses-table")).to_be_visible()
        assert accessibility.everything(page) == []


def test_the_reference_can_be_used_without_a_mouse(page: Page) -> None:
    reference(page)
    page.locator("#operations-tag-webhooks button").first.focus()
    page.keyboard.press("Enter")
    control = page.locator("#operations-webhooks-list_webhooks .opblock-summary-control")
    control.focus()
    page.keyboard.press("Enter")
    shown = page.locator("#operations-webhooks-list_webhooks")
    expect(shown.get_by_role("button", name="Execute")).to_be_visible()
    shown.get_by_role("button", name="TypeScript").focus()
    page.keyboard.press("Space")
    expect(shown.locator("pre.sample")).to_contain_text("await fetch(")


def test_the_page_is_there_before_its_script(new_context: Callable[..., BrowserContext]) -> None:
    page = new_context(java_script_enabled=False).new_page()
    page.goto("/docs/")
    expect(page.get_by_role("link", name="POST /assessments/create/")).to_be_visible()


def test_the_first_paint_is_told(page: Page, record_property: Callable[[str, object], None]) -> None:
    reference(page)
    milliseconds = page.evaluate(FIRST_PAINT)
    record_property("first_paint_ms", milliseconds)
    print(f"reference: first contentful paint after {milliseconds:.0f} ms")
    assert milliseconds > 0
