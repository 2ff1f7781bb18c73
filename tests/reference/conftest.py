"""The reference page of a whole instance in a real browser, open over all the tests of this folder."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect, sync_playwright

from tests.app.instances import ENVIRON, up, walkable
from tests.browser.conftest import FLAGS, installed

ENDLESS = '{"growth": {"reads": 1000000, "writes": 1000000, "invites": 1000000, "interviews": 1000000}}'
PATIENCE = 40_000  # ms: some things have to happen first, a grade or an expiry


@dataclass
class Reference:
    """The page, and the environment of somebody who pastes what it shows into files."""

    page: Page
    folder: Path
    environ: dict[str, str]
    opened: str = ""
    tag: str = ""

    def open(self, tag: str, name: str) -> Locator:
        """Open an operation as a reader does, and wait for it to be filled in; each tag begins with the page anew."""
        if tag != self.tag:
            self.tag, self.opened = "", ""
            self.page.goto("/docs/")
            expect(self.page.locator("#reference")).to_have_attribute("aria-busy", "false", timeout=60_000)
            self.page.locator(f"#operations-tag-{tag}").click()
            self.tag = tag
        if self.opened:
            self.page.locator(f"#{self.opened} .opblock-summary-control").click()
        self.opened = f"operations-{tag}-{name}"
        shown = self.page.locator(f"#{self.opened}")
        shown.locator(".opblock-summary-control").click()
        expect(shown.locator(".filled")).to_contain_text("Ready", timeout=PATIENCE)
        return shown

    def fill_anew(self, shown: Locator) -> None:
        shown.get_by_role("button", name="Fill in anew").click()
        expect(shown.locator(".filled")).to_contain_text("Ready", timeout=PATIENCE)


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reference]:
    path = installed("chromium")
    if path is None:
        pytest.skip("There is no Chromium here: set CHROMIUM, or put chromium on the PATH.")
    environ = {"PLANS": ENDLESS, "CANDIDATE_LIMIT": "1000000"}
    with walkable() as data, up(data / "data", environ=environ) as instance:
        base_url, key = instance.facts["base_url"], instance.facts["test_key"]
        folder = tmp_path_factory.mktemp("samples")
        (folder / "cv.txt").write_text("Ada Lovelace\nada@example.com\n\nSkills: Python\n")
        (folder / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(64))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
            page = browser.new_page(base_url=base_url, viewport={"width": 1280, "height": 900})
            yield Reference(page, folder, ENVIRON | {"API_KEY": key, "PATH": os.environ["PATH"]})
            browser.close()
