"""Every page of the documents in every view: the accessibility engine finds nothing, and nothing stands out."""

from collections.abc import Callable
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import BrowserContext

from rules import links
from tests.api import Tenant, owner_session
from tests.browser.accessibility import everything
from tests.documents import Documented
from tests.hooks import nothing_else_is_due, wired
from tests.operations.rows import Row, fill, path
from tests.operations.table.every import each

__all__ = ["nothing_else_is_due", "wired"]

WIDE, PHONE, TWICE, FOUR_TIMES = (1180, 800), (360, 740), (590, 400), (320, 256)
VIEWS: dict[str, tuple[tuple[int, int], dict[str, Any]]] = {
    "light": (WIDE, {"color_scheme": "light"}),
    "dark": (WIDE, {"color_scheme": "dark"}),
    "forced colours": (WIDE, {"color_scheme": "light", "forced_colors": "active"}),
    "phone": (PHONE, {"forced_colors": "none"}),
    "200 %": (TWICE, {}),
    "400 %": (FOUR_TIMES, {}),
}
BESIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
# Swagger UI makes it; tests/browser/test_reference.py holds it.
REFERENCE = "show_reference"


def is_page(operation: Documented) -> bool:
    return operation.method == "GET" and operation.shows and operation.id != REFERENCE


@each(is_page)
def test_a_page_is_for_everybody(
    operation: Documented,
    row: Row,
    tenant: Tenant,
    base_url: str,
    new_context: Callable[..., BrowserContext],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(links, "_base_url", base_url)
    shown = next(one for one in (row, *row.also) if one.status == 200)
    cookies = SimpleCookie(owner_session(tenant.live)["Cookie"]) if shown.is_signed_in else {}
    context = new_context()
    context.add_cookies([{"name": one.key, "value": one.value, "url": base_url} for one in cookies.values()])
    page = context.new_page()
    ids = shown.state(tenant.live)
    answer = page.goto(f"{path(operation, ids)}?{urlencode(fill(dict(shown.query), ids), doseq=True)}")
    assert answer is not None
    assert answer.status == 200, answer.url
    found = {}
    for name, ((width, height), media) in VIEWS.items():
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(**media)
        found[name] = everything(page) + (["stands out"] if page.evaluate(BESIDE) else [])
    assert found == {name: [] for name in VIEWS}
