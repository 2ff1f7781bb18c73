"""The form of an application and the page of its applicant in a real browser, with and without scripts."""

import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import UUID

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from sqlalchemy import select

import store
from store.applying import status_links
from store.applying.applications import Application
from tests.browser.accessibility import serious
from tests.browser.test_careers import CV, applied, careers, fill, send

__all__ = ["careers"]

LARGE = {"name": "large.txt", "mimeType": "text/plain", "buffer": b"x" * (11 << 20)}
DROP = """(field) => {
  const data = new DataTransfer();
  data.items.add(new File(["Ada Lovelace"], "dropped.txt", { type: "text/plain" }));
  for (const type of ["dragenter", "dragover", "drop"]) {
    field.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
  }
}"""


@pytest.fixture
def own(page: Page, careers: str) -> str:
    """The path of an applicant's own page."""
    page.goto(f"{careers}backend-engineer/")
    fill(page)
    send(page)
    expect(page.get_by_role("heading", name="Thank you for applying")).to_be_visible()
    [made] = applied(careers)
    with store.transaction() as session:
        there = session.get_one(Application, made.id)
        return f"/application/{status_links.make(session, there, 'receipt')}"


def as_kept(id: UUID) -> Application:
    with store.transaction() as session:
        return session.scalars(select(Application).where(Application.id == id)).one()


@pytest.mark.parametrize("scripts", [True, False])
def test_what_is_wrong_has_the_focus(new_context: Any, careers: str, scripts: bool) -> None:
    page = new_context(java_script_enabled=scripts).new_page()
    page.goto(f"{careers}backend-engineer/")
    send(page)
    expect(page.get_by_role("alert")).to_be_focused()


def test_thanks_can_be_loaded_again_and_send_nothing(page: Page, careers: str) -> None:
    page.goto(f"{careers}backend-engineer/")
    fill(page)
    send(page)
    expect(page).to_have_url(re.compile("/backend-engineer/applied/$"))
    page.reload()
    expect(page.get_by_role("heading", name="Thank you for applying")).to_be_visible()
    assert len(applied(careers)) == 1


def test_a_file_that_is_too_large_is_said_before_it_is_sent(new_context: Any, careers: str) -> None:
    page = new_context(bypass_csp=True).new_page()
    page.goto(f"{careers}backend-engineer/")
    fill(page)
    page.get_by_label("CV").set_input_files(LARGE)
    expect(page.get_by_role("alert")).to_contain_text("larger than 10 MiB")
    send(page)
    expect(page.get_by_label("CV")).to_be_focused()
    expect(page.get_by_label("Name")).to_have_value("Ada Lovelace")
    assert serious(page) == []
    page.get_by_label("CV").set_input_files(CV)
    expect(page.get_by_role("alert")).to_have_count(0)
    send(page)
    expect(page.get_by_role("heading", name="Thank you for applying")).to_be_visible()


def test_without_scripts_going_back_finds_what_was_written(new_context: Any, careers: str) -> None:
    page = new_context(java_script_enabled=False).new_page()
    page.goto(f"{careers}backend-engineer/")
    fill(page)
    page.get_by_label("CV").set_input_files(LARGE)
    send(page)
    expect(page.get_by_role("heading", name="The files are too large")).to_be_visible()
    page.go_back()
    expect(page.get_by_label("Name")).to_have_value("Ada Lovelace")
    expect(page.get_by_label("Email")).to_have_value("ada@example.com")


def test_a_file_can_be_dropped_where_it_is_asked_for(page: Page, careers: str) -> None:
    page.goto(f"{careers}backend-engineer/")
    page.locator("[data-drop]").first.evaluate(DROP)
    assert page.get_by_label("CV").evaluate("input => input.files[0].name") == "dropped.txt"


def test_an_applicant_corrects_and_withdraws_without_scripts(
    new_context: Any, own: str, careers: str
) -> None:
    context: BrowserContext = new_context(java_script_enabled=False, viewport={"width": 360, "height": 740})
    page = context.new_page()
    page.goto(own)
    expect(page.get_by_role("heading", name="Your application is in review")).to_be_visible()
    expect(page.get_by_text("German, English")).to_be_visible()
    page.get_by_role("link", name="Correct it").click()
    page.get_by_label("How many years of Python?").fill("")
    page.get_by_label("Name").fill("")
    page.get_by_role("button", name="Save the corrections").click()
    expect(page.get_by_role("alert")).to_be_focused()
    expect(page.get_by_role("alert")).to_contain_text("Nothing is changed yet")
    page.get_by_label("Name").fill("Ada King")
    page.get_by_label("How many years of Python?").fill("7")
    page.get_by_role("button", name="Save the corrections").click()
    expect(page.get_by_text("What you sent is corrected.")).to_be_visible()
    expect(page.get_by_text("Ada King")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.get_by_role("link", name="Ask to be erased").click()
    page.get_by_role("button", name="Ask to be erased").click()
    expect(page.get_by_text("You asked on")).to_be_visible()
    page.get_by_role("link", name="Withdraw it").click()
    page.get_by_role("button", name="Withdraw it").click()
    expect(page.get_by_role("heading", name="Your application is withdrawn")).to_be_visible()
    [made] = applied(careers)
    assert (as_kept(made.id).status, as_kept(made.id).full_name) == ("withdrawn", "Ada King")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_engine_finds_nothing_serious_on_the_applicants_page(
    new_context: Any, own: str, careers: str, scheme: str
) -> None:
    page = new_context(color_scheme=scheme, bypass_csp=True).new_page()
    found = {}
    for name in ("", "?step=correct", "?step=withdraw", "?step=erase", "?done=correct"):
        page.goto(f"{own}{name}")
        found[name] = serious(page)
    page.goto(f"{careers}embed/")
    found["embed"] = serious(page)
    page.goto(f"{careers}?search=nothing")
    found["search"] = serious(page)
    assert found == {name: [] for name in found}


@pytest.fixture
def elsewhere(careers: str, base_url: str) -> Iterator[str]:
    """Another site, with the list in a frame."""
    frame = f'<!doctype html><iframe src="{base_url}{careers}embed/"></iframe>'.encode()

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(frame)

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_the_list_shows_in_a_frame_of_another_site(page: Page, elsewhere: str) -> None:
    page.goto(elsewhere)
    inside = page.frame_locator("iframe")
    expect(inside.get_by_role("link", name="Backend engineer")).to_be_visible()
    with page.context.expect_page() as opened:
        inside.get_by_role("link", name="Backend engineer").click()
    expect(opened.value.get_by_role("heading", name="Apply for this job")).to_be_visible()
