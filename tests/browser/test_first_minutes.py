"""The first five minutes of somebody new, from an empty folder to a result, in a real browser.

`PICTURES=write` takes the pictures of docs/guides/first-five-minutes.md on the way.
"""

import os
import re
from collections.abc import Callable

import httpx
from playwright.sync_api import BrowserContext, Page, expect

from app.instance.settings import ROOT
from tests.app.instances import up, walkable
from tests.browser.taking import submit
from tests.browser.test_area import heading
from tests.receiver import running
from tests.sittings import CHOICE

IMAGES = ROOT / "docs" / "guides" / "images"


def picture(page: Page, name: str, *, top: bool = True) -> None:
    """Take a picture of what is seen now, where that is asked for."""
    if os.environ.get("PICTURES") == "write":
        page.evaluate(
            f"() => {{ document.activeElement?.blur(); if ({str(top).lower()}) window.scrollTo(0, 0); }}"
        )
        page.screenshot(path=IMAGES / f"{name}.png", animations="disabled")


def test_somebody_new_goes_from_an_empty_folder_to_a_result(
    new_context: Callable[..., BrowserContext],
) -> None:
    with walkable() as folder, up(folder / "data") as instance, running() as receiver:
        base = instance.facts["base_url"]
        page = new_context(base_url=base).new_page()

        # Follow the printed link.
        page.goto(instance.facts["sign_in_url"])
        page.get_by_role("button", name="Sign in", exact=True).click()
        heading(page, "Overview")
        picture(page, "overview")

        # Make a key.
        page.get_by_role("link", name="Make an API key").click()
        page.get_by_text("Make a key").click()
        page.get_by_role("textbox", name="Name").fill("First steps")
        page.get_by_role("button", name="Make the key").click()
        key = page.get_by_label("The key").inner_text()
        assert re.fullmatch(r"ct_test_[\w-]{43}", key)
        picture(page, "key")
        mine = httpx.Client(
            base_url=f"{base}/api/v1/public", headers={"Authorization": f"Bearer {key}"}, timeout=30
        )

        # Receive a webhook.
        page.get_by_role("link", name="Webhooks").first.click()
        page.get_by_role("textbox", name="Name").fill("Our system")
        page.get_by_role("textbox", name="Address").fill(receiver.url)
        page.get_by_role("button", name="Add the webhook").click()
        secret = page.get_by_label("The secret").inner_text()
        page.get_by_role("link", name="Go to the webhook").click()
        page.get_by_role("button", name="Send a test").click()
        expect(page.get_by_role("status")).to_contain_text("verified and active")
        webhook = page.url.partition("?")[0]

        # Invite somebody.
        case = mine.post("/cases/create/", json=CHOICE).json()["id"]
        made = {"title": "Backend engineer", "cases": [{"case_id": case, "source": "org"}]}
        slug = mine.post("/assessments/create/", json=made).json()["slug"]
        assert mine.patch(f"/assessments/{slug}/update/", json={"status": "active"}).status_code == 200
        person = {"email": "amina@example.com", "name": "Amina Diallo"}
        invited = mine.post(f"/assessments/{slug}/invites/", json=person).json()

        # Be the candidate.
        candidate = new_context(base_url=base).new_page()
        candidate.goto(invited["invite_url"])
        candidate.get_by_role("button", name="Start the assessment").click()
        candidate.get_by_label("201 Created").check()
        submit(candidate)
        expect(candidate.get_by_role("heading", name="Thank you, Amina Diallo")).to_be_visible()

        # Hear of the result, and read it.
        [told] = receiver.wait_for(1, lambda one: one.json["type"] == "candidate.passed")
        assert told.verify(secret)["data"]["candidate_email"] == person["email"]
        result = mine.get(f"/invites/{invited['invite_token']}/result/").json()
        assert (result["score_percentage"], result["passed"]) == ("100.00", True)
        page.goto(f"/area/invitations/{invited['invite_token']}/report/")
        expect(page.locator("main")).to_contain_text("Amina Diallo")
        expect(page.locator("main")).to_contain_text(CHOICE["title"])
        picture(page, "report")
        page.goto(webhook)
        delivery = page.locator("details.delivery").filter(has_text="candidate.passed")
        delivery.locator("summary").click()
        expect(delivery.get_by_label("What was sent")).to_contain_text("amina@example.com")
        delivery.scroll_into_view_if_needed()
        picture(page, "webhook", top=False)
