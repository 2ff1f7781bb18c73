"""The README's pictures, taken of the real service: `./hiring test -e pictures` writes them to docs/images."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from app.instance.settings import ROOT
from tests.browser.taking import editor
from tests.browser.test_careers import careers
from tests.browser.test_room import come_in, say, type_at_end
from tests.rooms import prepare
from tests.sittings import CHOICE, CHOICES, CODE, NUMBER, TEXT, invite
from tests.webs import Web

__all__ = ["careers"]

IMAGES = ROOT / "docs" / "images"
ANSWER = "numbers = input().split()\nprint(sum(int(n) for n in numbers))\n"
DESK = {"width": 1180, "height": 1130}
BESIDE = {"width": 1180, "height": 900}
PHONE = {
    "viewport": {"width": 360, "height": 740},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}


def write_a_program(page: Page) -> None:
    """Answer two cases, and the third as far as its visible tests."""
    choose(page)
    page.locator("#next").click()
    page.get_by_label("GET").check()
    page.get_by_label("HEAD").check()
    page.locator("#next").click()
    expect(page.locator("#case-title")).to_have_text(CODE["title"])
    editor(page)
    page.locator("#answer").fill(ANSWER)
    assert "mono" in page.locator("#answer").evaluate("field => getComputedStyle(field).fontFamily")
    page.get_by_role("button", name="Run the visible tests").click()
    expect(page.locator("body")).to_contain_text("2 of 2 visible tests passed", timeout=60_000)


def choose(page: Page) -> None:
    """Answer the first case."""
    page.get_by_label("201 Created").check()


# What is in each picture, and in what kind of window.
PICTURES: dict[str, tuple[Callable[[Page], None], dict[str, Any]]] = {
    "take-light": (write_a_program, {"viewport": DESK, "color_scheme": "light"}),
    "take-dark": (write_a_program, {"viewport": DESK, "color_scheme": "dark"}),
    "take-phone": (choose, {**PHONE, "color_scheme": "light"}),
}
LOOKS = ("light", "dark")
NAMES = {*PICTURES, *(f"{page}-{look}" for page in ("job", "room") for look in LOOKS)}


@pytest.mark.parametrize("name", PICTURES)
def test_take(new_context: Callable[..., BrowserContext], name: str) -> None:
    play, window = PICTURES[name]
    page = new_context(**window).new_page()
    page.goto(f"/take/{invite(CHOICE, CHOICES, CODE, NUMBER, TEXT).token}")
    page.get_by_role("button", name="Start the assessment").click()
    play(page)
    expect(page.locator("#save-state")).to_have_text("Saved")
    take(page, name)


@pytest.mark.parametrize("look", LOOKS)
def test_job(new_context: Callable[..., BrowserContext], careers: str, look: str) -> None:
    page = new_context(viewport=BESIDE, color_scheme=look).new_page()
    page.goto(f"{careers}backend-engineer/")
    take(page, f"job-{look}")


@pytest.mark.parametrize("look", LOOKS)
def test_room(new_context: Callable[..., BrowserContext], webs: list[Web], look: str) -> None:
    room = prepare()
    candidate, interviewer = (
        new_context(viewport=BESIDE, color_scheme=look).new_page() for _ in ("candidate", "interviewer")
    )
    come_in(candidate, webs[0], room, "Amina Diallo")
    come_in(interviewer, webs[1], room, "Grace Hopper")
    say(interviewer, "What if the line is a gigabyte long?")
    say(candidate, "Then I would read it in pieces, and add as I go.")
    type_at_end(candidate, "\nprint(sum(map(int, numbers)))")
    expect(interviewer.locator("#editor")).to_contain_text("numbers)))")
    expect(interviewer.locator(".said .what")).to_have_count(2)
    take(interviewer, f"room-{look}")


def take(page: Page, name: str) -> None:
    """Keep a picture of the top of a page."""
    page.evaluate("() => { document.activeElement?.blur(); window.scrollTo(0, 0); }")
    page.screenshot(path=IMAGES / f"{name}.png", animations="disabled")
