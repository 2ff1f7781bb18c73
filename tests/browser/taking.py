"""What tests do on the candidate's page."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page, expect

from tests.sittings import Invited

ANSWERS = "**/api/v1/candidate/**"


def open_page(page: Page, invited: Invited) -> None:
    page.goto(f"/take/{invited.token}")


def start(page: Page, invited: Invited) -> None:
    open_page(page, invited)
    page.get_by_role("button", name="Start the assessment").click()
    expect(page.locator("#case-title")).to_be_visible()


def go_to(page: Page, number: int) -> None:
    page.locator("#case-list button").nth(number - 1).click()
    expect(page.locator("#case-list button").nth(number - 1)).to_have_attribute("aria-current", "step")


def write(page: Page, text: str) -> None:
    """Answer with the text alone, in a field or in the editor."""
    answer = page.locator("#answer")
    if answer.get_attribute("contenteditable") is None:
        answer.fill(text)
        return
    # By the keys of the editor: it may not see what a driver selects while it gains focus.
    answer.focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(text)


def expect_saved(page: Page) -> None:
    expect(page.locator("#save-state")).to_have_text("Saved")


def expect_offline(page: Page) -> None:
    expect(page.locator("#save-state")).to_have_text("Offline – kept on this device")


def submit(page: Page) -> None:
    page.locator("#open-review").click()
    page.get_by_role("dialog").get_by_role("button", name="Submit").click()


def expect_done(page: Page) -> None:
    expect(page.get_by_role("heading", name="Thank you, Amina Diallo")).to_be_visible()
    expect(page.locator("#workspace")).to_be_hidden()


@contextmanager
def service_unreachable(page: Page) -> Iterator[None]:
    """The page itself still loads; its requests do not get through, not even those it makes while it goes."""
    page.route(ANSWERS, lambda route: route.abort())
    page.evaluate(
        "() => { window.reach = fetch; window.fetch = () => Promise.reject(new TypeError('offline')); }"
    )
    yield
    if not page.is_closed():
        page.unroute(ANSWERS)
        page.evaluate("() => { window.fetch = window.reach ?? fetch; }")


def tab_to(page: Page, selector: str) -> None:
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.locator(selector).evaluate("element => element === element.getRootNode().activeElement"):
            return
    raise AssertionError(f"Tab never reaches {selector}.")


def violations(invited: Invited) -> list[tuple[str, int]]:
    events = invited.events("candidate.violation")
    return [(event.data["violation_type"], event.data["case_order"]) for event in events]


def editor(page: Page) -> None:
    """Wait until a program is written in the editor, and go there."""
    expect(page.locator(".editor .cm-content")).to_be_visible()
    page.locator("#answer").focus()


def code(page: Page) -> str:
    """What stands in the editor."""
    return "\n".join(
        page.locator("#answer .cm-line").evaluate_all("lines => lines.map(one => one.textContent)")
    )


def expect_code(page: Page, text: str) -> None:
    page.wait_for_function(
        """text => [...document.querySelector(".editor")?.shadowRoot.querySelectorAll(".cm-line") ?? []]
            .map((line) => line.textContent).join("\\n") === text""",
        arg=text,
    )


def hide(page: Page) -> None:
    """Have the page be hidden, as behind another tab."""
    page.evaluate(
        """() => {
            Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
            document.dispatchEvent(new Event("visibilitychange"));
            delete document.visibilityState;
        }"""
    )
