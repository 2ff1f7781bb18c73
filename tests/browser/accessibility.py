"""The axe engine: what is wrong with a page for people who do not see it, or do not use a mouse."""

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

SERIOUS = ("serious", "critical")


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


def _found(page: Page, **options: Any) -> list[dict[str, Any]]:
    page.evaluate(STILL)
    # The engine is put into the page, which its own policy does not let in: it runs in a world beside it.
    return list(Axe().run(page, options=options or None).response["violations"])
