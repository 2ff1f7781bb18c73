"""The careers pages, read and used in a real browser, with and without scripts, wide and narrow."""

from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from sqlalchemy import select

import store
from rules.clock import now
from store.accounts import organisations
from store.applying.applications import Application, answers
from store.applying.attachments import Attachment
from store.hiring.fields import ApplicationField
from store.hiring.jobs import Job
from tests.browser.accessibility import serious
from tests.sittings import EVERY_KIND, invite

CV = {"name": "ada.txt", "mimeType": "text/plain", "buffer": b"Ada Lovelace\nPython\n"}
LANGUAGES = [{"value": "de", "label": "German"}, {"value": "en", "label": "English"}]
QUESTIONS: list[dict[str, Any]] = [
    {"key": "years", "label": "How many years of Python?", "field_type": "number", "is_required": True},
    {"key": "languages", "label": "Which languages?", "field_type": "multi_select", "options": LANGUAGES},
    {"key": "start", "label": "Which first?", "field_type": "single_select", "options": LANGUAGES},
    {"key": "remote", "label": "Remote?", "field_type": "boolean", "help_text": "From home."},
    {"key": "site", "label": "Your site", "field_type": "url", "placeholder": "https://"},
    {"key": "story", "label": "Tell us more", "field_type": "long_text"},
]


@pytest.fixture
def careers(base_url: str) -> str:
    """The path of an organisation's careers page, with one open job and one of the test mode."""
    with store.transaction() as session:
        owner = organisations.create(session, name="Northwind Labs", plan="growth")
        for livemode, title in ((True, "Backend engineer"), (False, "Only a test")):
            job = Job(
                organisation_id=owner.id,
                livemode=livemode,
                slug=title.lower().replace(" ", "-"),
                title=title,
                status="open",
                published_at=now(),
                position_types=["full_time"],
                workplace_type="hybrid",
                location_text="Berlin",
                cv_required=True,
                sample_task="Make a slow page fast.",
                description_html="<h3>You</h3><p>build the services that <b>others</b> use.</p><ul><li>SQL</li></ul>",
            )
            session.add(job)
            session.flush()
            session.add_all(
                ApplicationField(job_id=job.id, sort_order=place, **one)
                for place, one in enumerate(QUESTIONS)
            )
    return f"/careers/{owner.slug}/"


def applied(careers: str) -> list[Application]:
    with store.transaction() as session:
        owner = organisations.by_slug(session, careers.split("/")[2])
        assert owner is not None
        return list(session.scalars(select(Application).where(Application.organisation_id == owner.id)))


def fill(page: Page) -> None:
    page.get_by_label("Name").fill("Ada Lovelace")
    page.get_by_label("Email").fill("ada@example.com")
    page.get_by_label("CV").set_input_files(CV)
    page.get_by_label("How many years of Python?").fill("5.5")
    page.get_by_label("German").first.check()
    page.get_by_label("English").first.check()
    page.get_by_label("Yes").check()


def send(page: Page) -> None:
    page.get_by_role("button", name="Send application").click()


def walk(page: Page, careers: str) -> None:
    """From the list to the thanks, with everything forgotten first."""
    page.goto(careers)
    expect(page.get_by_role("heading", name="Open jobs at Northwind Labs")).to_be_visible()
    expect(page.get_by_text("Only a test")).to_have_count(0)
    page.get_by_role("link", name="Backend engineer").click()
    expect(page.get_by_role("heading", level=1, name="Backend engineer")).to_be_visible()
    expect(page.get_by_text("Berlin · Hybrid · Full time")).to_be_visible()
    page.get_by_label("Name").fill("Ada Lovelace")
    send(page)
    expect(page.get_by_role("alert")).to_contain_text("not sent yet")
    expect(page.get_by_label("Name")).to_have_value("Ada Lovelace")
    page.get_by_role("alert").get_by_role("link", name="How many years of Python?").click()
    expect(page.get_by_label("How many years of Python?")).to_be_in_viewport()
    fill(page)
    send(page)
    expect(page.get_by_role("heading", name="Thank you for applying")).to_be_visible()


def test_somebody_applies_without_scripts(new_context: Any, careers: str) -> None:
    context: BrowserContext = new_context(java_script_enabled=False)
    walk(context.new_page(), careers)
    [made] = applied(careers)
    assert (made.email, made.source, made.livemode) == ("ada@example.com", "public_careers", True)
    with store.transaction() as session:
        given = {one.field_key: one for one in answers(session, made)}
        files = session.scalars(select(Attachment).where(Attachment.application_id == made.id)).all()
    assert (str(given["years"].value_number), given["languages"].value_json) == ("5.500000", ["de", "en"])
    assert given["remote"].value_boolean is True
    assert [one.filename for one in files] == ["ada.txt"]


def test_somebody_applies_on_a_phone(new_context: Any, careers: str) -> None:
    context: BrowserContext = new_context(
        viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    walk(page, careers)
    for path in (careers, f"{careers}backend-engineer/"):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), path
    for control in page.get_by_role("button").all() + page.locator(".option").all():
        box = control.bounding_box()
        assert box is not None
        assert box["height"] >= 44
    assert len(applied(careers)) == 1


def test_somebody_applies_with_the_keyboard_alone(page: Page, careers: str) -> None:
    page.goto(f"{careers}backend-engineer/")
    page.get_by_label("Name").focus()
    page.keyboard.type("Ada Lovelace")
    page.keyboard.press("Tab")
    page.keyboard.type("ada@example.com")
    for _ in range(4):  # phone, CV, letter, years
        page.keyboard.press("Tab")
    page.keyboard.type("7")
    page.get_by_label("CV").set_input_files(CV)
    page.get_by_role("button", name="Send application").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Thank you for applying")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_engine_finds_nothing_serious_on_the_careers_pages(
    new_context: Any, careers: str, scheme: str
) -> None:
    page = new_context(color_scheme=scheme, bypass_csp=True).new_page()
    found = {}
    for name, path in (
        ("list", careers),
        ("job", f"{careers}backend-engineer/"),
        ("gone", f"{careers}nothing/"),
    ):
        page.goto(path)
        found[name] = serious(page)
    page.goto(f"{careers}backend-engineer/")
    send(page)
    expect(page.get_by_role("alert")).to_be_visible()
    found["faults"] = serious(page)
    fill(page)
    send(page)
    expect(page.get_by_role("heading", name="Thank you for applying")).to_be_visible()
    found["thanks"] = serious(page)
    assert found == {name: [] for name in found}


def test_the_engine_finds_nothing_serious_on_the_candidates_page(new_context: Any) -> None:
    page = new_context(bypass_csp=True).new_page()
    page.goto(f"/take/{invite(*EVERY_KIND).token}")
    found = {"before": serious(page)}
    page.get_by_role("button", name="Start the assessment").click()
    for number in range(len(EVERY_KIND)):
        page.locator("#case-list button").nth(number).click()
        expect(page.locator("#case-list button").nth(number)).to_have_attribute("aria-current", "step")
        found[f"case {number + 1}"] = serious(page)
    page.locator("#open-review").click()
    found["review"] = serious(page)
    page.get_by_role("dialog").get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    found["thanks"] = serious(page)
    assert found == {name: [] for name in found}
