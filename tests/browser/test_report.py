"""A shared report in a real browser: read by anybody, on a screen, a phone and paper."""

from collections.abc import Iterator
from typing import Any

import httpx
import pypdfium2
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests import api
from tests.browser.accessibility import contrast, everything
from tests.handlers.test_results import CHOICE, CODE, ESSAY, NOTHING, Taken, assessment, take

CODED = (
    "def total(line):\n    return sum(map(int, line.split()))\n\n\nprint(total(input()), "
    + "'x' * 0, " * 30
    + ")"
)


@pytest.fixture(scope="module")
def taken(base_url: str) -> Iterator[Taken]:
    """A session with an answer of each kind, graded and reviewed."""
    with httpx.Client(base_url=base_url, timeout=60) as http:
        tenant = api.tenant(http)  # type: ignore[arg-type]  # all that it asks of a client
        cases = ({**CHOICE, "tags": ["http"]}, {**ESSAY, "question": "Why **indexes**?"}, CODE, ESSAY)
        made = take(tenant, assessment(tenant, *cases), "a", "Reads. " * 60, CODED, NOTHING)
        made.grade()
        tenant.live.post(
            f"/invites/{made.token}/result/review/",
            {"cases": [{"case_order": 2, "score": 7.5, "comment": "Writes are missing."}]},
        )
        yield made


@pytest.fixture(scope="module")
def link(taken: Taken) -> str:
    shared = taken.tenant.live.post(f"/invites/{taken.token}/report/share/", {}).json()
    return f"/report/{shared['token']}"


def test_a_report_is_read_without_scripts(new_context: Any, link: str) -> None:
    context: BrowserContext = new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(link)
    expect(page.get_by_role("heading", level=1, name="Ada")).to_be_visible()
    for said in ("Writes are missing.", "Judge it.", "Tests: 2 of 2 passed", "What happened when"):
        expect(page.get_by_text(said).first).to_be_visible()
    expect(page.locator("meter")).to_have_count(1)


def test_the_keyboard_alone_opens_what_is_closed(page: Page, link: str) -> None:
    page.goto(link)
    tests = page.locator(".tests details").first
    expect(tests.get_by_text("Expected output")).to_be_hidden()
    tests.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(tests.get_by_text("Expected output")).to_be_visible()
    page.get_by_role("link", name="2. Case 1").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#case-2")).to_be_in_viewport()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1180, 360])
def test_a_report_is_for_everybody(new_context: Any, link: str, scheme: str, width: int) -> None:
    page = new_context(
        color_scheme=scheme, viewport={"width": width, "height": 800}, bypass_csp=True
    ).new_page()
    for path in (link, "/report/" + "x" * 43):
        page.goto(path)
        for one in page.locator("details").all():
            one.evaluate("one => { one.open = true }")
        assert everything(page) + contrast(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_all_of_a_report_is_on_paper(new_context: Any, link: str) -> None:
    page = new_context(color_scheme="dark").new_page()
    page.goto(link)
    printed = pypdfium2.PdfDocument(page.pdf(format="A4"))
    text = "".join(one.get_textpage().get_text_range() for one in printed)
    for said in ("Ada", "Why indexes?", "Expected output", "Writes are missing.", "Only to look at"):
        assert said in text, said
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
