"""A reload of a running assessment without any network, in a real browser with its service worker."""

import re

from playwright.sync_api import expect

from tests.browser.taking import editor, expect_code, expect_done, expect_offline, go_to, start, submit, write
from tests.sittings import CODE, TEXT, invite

KEPT = "async () => (await (await caches.open('take')).keys()).map((one) => new URL(one.url).pathname)"


def is_kept(page, path: str) -> None:
    page.wait_for_function(
        "async () => (await navigator.serviceWorker.getRegistration('/take/'))?.active != null"
    )
    for _ in range(50):
        if path in page.evaluate(KEPT):
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"{path} is not kept.")


def test_a_reload_while_the_service_is_gone_shows_the_page_with_every_answer(new_context, webs):
    invited = invite(TEXT, CODE)
    page = new_context(base_url=webs[0].url, service_workers="allow").new_page()
    start(page, invited)
    is_kept(page, "/static/editor.js")
    write(page, "typed before")
    go_to(page, 2)
    webs[0].kill()
    editor(page)
    write(page, "print(1)")
    expect_offline(page)
    page.reload()
    expect_code(page, "print(1)")
    expect_offline(page)
    expect(page.get_by_role("timer")).to_contain_text(re.compile(r"4[45]:\d\d"))
    write(page, "print(2)")
    go_to(page, 1)
    expect(page.locator("#answer")).to_have_value("typed before")
    webs[0].start()
    expect(page.locator("#save-state")).to_have_text("Saved", timeout=30_000)
    assert invited.answers() == ["typed before", "print(2)"]
    page.reload()
    assert page.evaluate("document.documentElement.dataset.kept") is None, (
        "the service's own page comes first"
    )
    submit(page)
    expect_done(page)
    page.wait_for_function("async () => !(await caches.has('take'))")


def test_nothing_is_kept_of_a_page_that_is_not_running(new_context, webs):
    invited = invite(TEXT)
    page = new_context(base_url=webs[0].url, service_workers="allow").new_page()
    start(page, invited)
    is_kept(page, f"/take/{invited.token}")
    invited.ends_in(-1)
    page.reload()
    expect(page.locator("[data-state=completed]")).to_be_visible()
    assert page.evaluate("caches.has('take')") is False
