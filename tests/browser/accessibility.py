"""The axe engine: what is wrong with a page for people who do not see it, or do not use a mouse."""

from collections.abc import Iterable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

SERIOUS = ("serious", "critical")
PHONE = 360  # pixels
LOOKS = pytest.mark.parametrize("look", [
    {"color_scheme": "light"}, {"color_scheme": "dark"}, {"viewport": {"width": PHONE, "height": 740}},
], ids=["light", "dark", "phone"])  # fmt: skip


# Where a colour is on its way to another, neither is looked at. Nobody waits for it: a page that is not drawn just now
# never gets there.
STILL = """() => {
  for (const one of document.getAnimations()) {
    if (Number.isFinite(one.effect.getComputedTiming().endTime)) one.finish();
  }
}"""


def serious(page: Page) -> list[str]:
    """What the engine finds serious or worse: the rule, and where."""
    return [
        f"{one['id']}: {node['html'][:200]}"
        for one in _found(page)
        if one["impact"] in SERIOUS
        for node in one["nodes"]
    ]


def contrast(page: Page) -> list[str]:
    """What the engine finds too faint to be read, and where."""
    return [node["html"][:200] for one in _found(page, runOnly=["color-contrast"]) for node in one["nodes"]]


def everything(page: Page) -> list[str]:
    """What the engine finds at all."""
    return [f"{one['id']}: {node['html'][:200]}" for one in _found(page) for node in one["nodes"]]


def on_each(page: Page, places: Iterable[str]) -> dict[str, list[str]]:
    """What the engine finds at all on each of these pages, opened."""
    found = {}
    for at in places:
        page.goto(at)
        found[at] = opened(page)
    return found


def opened(page: Page) -> list[str]:
    """What the engine finds at all, with whatever can be opened open; nothing is wider than a phone."""
    page.mouse.move(0, 0)  # what it stands on looks otherwise
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    found = everything(page)
    if page.viewport_size and page.viewport_size["width"] <= PHONE:
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), page.url
    return found


def _found(page: Page, **options: Any) -> list[dict[str, Any]]:
    page.wait_for_load_state()  # a page that a form led to can be read before its colours have come
    page.evaluate(STILL)
    # The engine is put into the page, which its own policy does not let in: it runs in a world beside it.
    # All of its rules are tried; what it lets pass is not described, element by element. It loads no style sheet again,
    # which a rule alone reads that is on trial and not tried.
    options = {"resultTypes": ["violations"], "preload": {"assets": ["media"]}} | options
    return list(Axe().run(page, options=options).response["violations"])
