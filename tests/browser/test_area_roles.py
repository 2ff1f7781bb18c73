"""A journey for each role, from an empty folder: the owner invites everybody, and each does what the role is for."""

import email
import email.policy
import re
from collections.abc import Callable
from pathlib import Path

import httpx
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.app.instances import Up, eventually, up, walkable
from tests.browser.test_area import heading
from tests.sittings import TEXT

ROLES = ("admin", "developer", "recruiter", "reviewer", "member")
ANSWER = "Where there are more writes than reads."
KEYS = "API keys"


def mailed(folder: Path, to: str, pattern: str) -> str:
    """Wait for a mail to somebody and return what in it meets a pattern."""

    def look() -> str | None:
        for path in sorted(folder.rglob("*.eml"), key=lambda one: one.stat().st_mtime, reverse=True):
            read = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
            body = read.get_body(("plain",))
            found = re.search(pattern, body.get_content()) if body and to in str(read["To"]) else None
            if found:
                return found[0]
        return None

    return str(eventually(look, 60))


def goes_to(page: Page, name: str) -> None:
    page.get_by_role("navigation", name="Area").get_by_role("link", name=name, exact=True).click()
    heading(page, name)


def told(page: Page, name: str, what: Locator) -> bool:
    """Look at a page until it has what a worker or another process tells it."""

    def look() -> bool:
        goes_to(page, name)
        return what.is_visible()

    return bool(eventually(look))


def done(page: Page, words: str) -> None:
    expect(page.get_by_role("status")).to_contain_text(words)


class House:
    """One instance, with a browser for each of its people."""

    def __init__(self, instance: Up, folder: Path, new_context: Callable[..., BrowserContext]) -> None:
        self.base, self.link = instance.facts["base_url"], instance.facts["sign_in_url"]
        self.folder, self.new_context = folder, new_context

    def page(self, **options: object) -> Page:
        return self.new_context(base_url=self.base, **options).new_page()

    def comes_in(self, role: str, **options: object) -> Page:
        """Join by the invite's mail, and sign in with the code of another."""
        page, address = self.page(**options), f"{role}@example.com"
        page.goto(mailed(self.folder, address, r"http\S+/join/[\w-]+"))
        page.get_by_label("Your name").fill(role.title())
        page.get_by_role("button", name="Join").click()
        heading(page, f"Welcome, {role.title()}")
        page.get_by_role("link", name="Sign in").click()
        page.get_by_label("Your address").fill(address)
        page.get_by_role("button", name="Mail me a code").click()
        page.get_by_label("Code from the mail").fill(mailed(self.folder, address, r"\b\d{8}\b"))
        page.get_by_role("button", name="Sign in", exact=True).click()
        heading(page, "Overview")
        return page


def the_owner(house: House) -> None:
    page = house.page()
    page.goto(house.link)
    page.get_by_role("button", name="Sign in", exact=True).click()
    heading(page, "Overview")
    goes_to(page, "Settings")
    page.get_by_label("Name", exact=True).fill("Northwind Labs")
    page.get_by_role("button", name="Save").click()
    done(page, "It is saved.")
    goes_to(page, "Members")
    for role in ROLES:
        page.get_by_text("Invite somebody").click()
        page.get_by_label("Address").fill(f"{role}@example.com")
        page.get_by_label("Role in the team", exact=True).select_option(role)
        page.get_by_role("button", name="Send the invite").click()
        done(page, "on its way")


def the_admin(house: House) -> None:
    page = house.comes_in("admin")
    goes_to(page, "Settings")
    page.get_by_role("link", name="Squads").click()
    page.get_by_text("Make a squad").click()
    page.get_by_label("Name", exact=True).fill("Backend")
    page.get_by_role("button", name="Make the squad").click()
    page.get_by_role("link", name="Backend").click()
    page.get_by_label("Who joins it").select_option(label="Admin (admin@example.com)")
    page.get_by_role("button", name="Add to the squad").click()
    done(page, "belong to it now")
    page.get_by_role("link", name="Audit log").click()
    page.get_by_role("button", name="Verify the newest rows").click()
    expect(page.get_by_text("All is as it was sealed")).to_be_visible()
    goes_to(page, "Members")
    owner = page.get_by_role("row").filter(has_text="owner")
    expect(owner.get_by_text("Remove")).to_have_count(0)


def the_developer(house: House) -> None:
    """Make a key, and with it what the others need."""
    page = house.comes_in("developer")
    goes_to(page, KEYS)
    page.get_by_text("Make a key").click()
    page.get_by_role("textbox", name="Name").fill("Everyday")
    for scope in ("assessments:write", "cases:write", "invitations:read", "candidates:read"):
        page.get_by_role("checkbox", name=scope).check()
    page.get_by_role("button", name="Make the key").click()
    key = page.get_by_label("The key").inner_text()
    mine = httpx.Client(
        base_url=f"{house.base}/api/v1/public", headers={"Authorization": f"Bearer {key}"}, timeout=30
    )
    case = mine.post("/cases/create/", json=TEXT).json()["id"]
    made = {"title": "Backend engineer", "cases": [{"case_id": case, "source": "org"}]}
    slug = mine.post("/assessments/create/", json=made).json()["slug"]
    assert mine.patch(f"/assessments/{slug}/update/", json={"status": "active"}).status_code == 200
    assert mine.get("/jobs/").status_code == 403
    assert told(page, "Requests", page.get_by_role("link", name="INSUFFICIENT_SCOPE").first)
    goes_to(page, "Settings")
    expect(page.get_by_role("button", name="Save")).to_have_count(0)


def the_recruiter(house: House) -> Page:
    """Invite somebody, who answers."""
    page = house.comes_in("recruiter")
    expect(page.get_by_role("navigation", name="Area").get_by_role("link", name=KEYS)).to_have_count(0)
    goes_to(page, "Invitations")
    page.get_by_role("link", name="Invite candidates").click()
    page.locator("#create-slug").select_option("backend-engineer")
    page.get_by_label("Address").first.fill("ada@example.com")
    page.get_by_role("button", name="Invite the candidate").click()
    token = re.search(r"/take/([\w-]+)", page.locator("main").inner_text())
    assert token
    place = httpx.Client(base_url=f"{house.base}/api/v1/candidate/invites/{token[1]}")
    [case] = place.post("/start/").json()["cases"]
    place.put(f"/answers/{case['assessment_case_id']}/", json={"answer": ANSWER})
    assert place.post("/submit/").status_code == 200
    return page


def the_reviewer(house: House) -> None:
    page = house.comes_in("reviewer", viewport={"width": 360, "height": 740})
    names = page.get_by_role("navigation", name="Area").get_by_role("link").all_inner_texts()
    assert set(names) == {"Overview", "Invitations", "Results", "Reviews", "Your sign-in", "API reference"}
    begins = page.get_by_role("button", name="Begin with the first")
    assert told(page, "Reviews", begins)
    begins.click()
    expect(page.get_by_text(ANSWER)).to_be_visible()
    page.get_by_label("Points").fill("9")
    page.get_by_role("button", name="Keep and go on").click()
    done(page, "Nothing waits")


def the_recruiter_reads(page: Page) -> None:
    goes_to(page, "Results")
    page.get_by_role("link", name="Backend engineer").click()
    page.get_by_role("link", name="ada@example.com").click()
    expect(page.get_by_text(ANSWER)).to_be_visible()
    expect(page.locator("main")).to_contain_text("Passed")


def the_member(house: House) -> None:
    """Reads, and finds nothing to change."""
    page = house.comes_in("member")
    for name in ("Invitations", "Results", "Reviews", "Members", "Settings"):
        goes_to(page, name)
        for button in page.locator("main").get_by_role("button").all_inner_texts():
            assert button in ("Show", "Download as CSV", "Compare those that are ticked"), (name, button)
    refused = page.goto("/area/keys/")
    assert refused
    assert refused.status == 403
    expect(page.locator("main")).to_contain_text("The role does not include what this needs")


def test_everybody_does_what_their_role_is_for(new_context: Callable[..., BrowserContext]) -> None:
    with walkable() as folder, up(folder / "data") as instance:
        house = House(instance, folder, new_context)
        the_owner(house)
        the_admin(house)
        the_developer(house)
        recruiter = the_recruiter(house)
        the_reviewer(house)
        the_recruiter_reads(recruiter)
        the_member(house)
