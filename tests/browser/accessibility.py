"""The axe engine: what is wrong with a page for people who do not see it, or do not use a mouse."""

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

SERIOUS = ("serious", "critical")


def serious(page: Page) -> list[str]:
    """What the engine finds serious or worse: the rule, and where."""
    # The engine is put into the page, which its own policy does not let in: it runs in a world beside it.
    found: list[dict[str, Any]] = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {node['html'][:200]}"
        for one in found
        if one["impact"] in SERIOUS
        for node in one["nodes"]
    ]


def contrast(page: Page) -> list[str]:
    """What the engine finds too faint to be read, and where."""
    options = {"runOnly": ["color-contrast"]}
    found: list[dict[str, Any]] = Axe().run(page, options=options).response["violations"]
    return [node["html"][:200] for one in found for node in one["nodes"]]


def everything(page: Page) -> list[str]:
    """What the engine finds at all."""
    found: list[dict[str, Any]] = Axe().run(page).response["violations"]
    return [f"{one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"]]
