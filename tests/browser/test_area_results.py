"""The recruiter's and the reviewer's journeys through the area in a real browser, with scripts and without."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.api import Tenant, address
from tests.browser.accessibility import LOOKS, opened
from tests.browser.test_area import heading, here, owner, reach, signed_in
from tests.operations import states

__all__ = ["here", "owner"]
BOTH = pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without_scripts"])


def finish(tenant: Tenant, token: str) -> None:
    """Play the candidate: one answer, handed in."""
    place = f"/invites/{token}"
    shown = states.post(states.candidate(tenant.test), f"{place}/start/")
    for one in shown["cases"]:
        answer = 42 if one["case_type"] == "numeric" else "It depends on the reads."
        states.candidate(tenant.test).put(f"{place}/answers/{one['assessment_case_id']}/", {"answer": answer})
    states.post(states.candidate(tenant.test), f"{place}/submit/")
    states.graded(tenant.test)


@BOTH
def test_a_recruiter_goes_from_a_file_to_reports(
    new_context: Callable[..., BrowserContext], owner: Tenant, tmp_path: Path, scripts: bool
) -> None:
    page = new_context(java_script_enabled=scripts).new_page()
    there = states.an_invitation(owner.test)
    emails = [address(), address()]
    file = tmp_path / "candidates.csv"
    file.write_text(f"Email;Name\n{emails[0]};Zoë\n{emails[1]};Ada\n{there['person']};Again\nnobody;\n")
    signed_in(page, owner, "recruiter")
    page.get_by_role("link", name="Invitations").click()
    page.get_by_role("link", name="Invite candidates").click()
    page.get_by_text("Invite the candidates of a file").click()
    # Both forms have one.
    page.locator("#preview-slug").select_option(there["slug"])
    page.get_by_label("File").set_input_files(file)
    page.get_by_role("button", name="See what will happen").click()
    for said in ("2 candidates are invited", "2 lines are left out", "invited already", "no good address"):
        expect(page.get_by_text(said)).to_be_visible()
    page.get_by_role("button", name="Invite 2 candidates").click()
    expect(page.get_by_role("heading", name="2 candidates are invited")).to_be_visible()
    for email in emails:
        [made] = owner.test.get("/invites/", params={"email": email}).json()["results"]
        finish(owner, made["invite_token"])
    page.get_by_role("link", name="Results").click()
    page.locator(f'a[href="/area/assessments/{there["slug"]}/results/"]').click()
    for box in page.get_by_role("checkbox").all():
        box.check()
    page.get_by_role("button", name="Compare those that are ticked").click()
    heading(page, "Comparison")
    page.get_by_role("link", name="Zoë").click()
    heading(page, "Zoë")
    expect(page.get_by_text("It depends on the reads.").first).to_be_visible()
    page.get_by_text("Make a link").click()
    page.get_by_role("button", name="Make the link").click()
    shared = page.get_by_label("The link", exact=True).inner_text()
    with page.expect_download() as loading:
        page.get_by_role("link", name="Save as PDF").click()
    assert loading.value.suggested_filename == "report.pdf"
    reader = new_context(java_script_enabled=scripts).new_page()
    reader.goto(shared)
    heading(reader, "Zoë")
    page.get_by_role("button", name="Take back").click()
    reader.reload()
    heading(reader, "This report cannot be seen")


@BOTH
def test_a_reviewer_claims_scores_and_goes_on(
    new_context: Callable[..., BrowserContext], owner: Tenant, scripts: bool
) -> None:
    page = new_context(java_script_enabled=scripts, viewport={"width": 360, "height": 740}).new_page()
    first, second = states.a_review(owner.test), states.a_review(owner.test)
    signed_in(page, owner, "reviewer")
    page.get_by_role("link", name="Reviews").click()
    page.get_by_role("button", name="Begin with the first").click()
    expect(page.get_by_text("in your hand until")).to_be_visible()
    expect(page.get_by_text("It depends on the reads.")).to_be_visible()
    expect(page.get_by_text(second["person"])).to_have_count(0)
    page.get_by_label("Points").fill("99")
    keep(page, scripts)
    expect(page.get_by_text("Must be from 0 to").first).to_be_visible()
    page.get_by_label("Points").press("Control+A")  # what fills a number leaves the old one in Firefox
    page.keyboard.type("7.5")
    page.get_by_label("Comment").fill("Writes are missing.")
    keep(page, scripts)
    expect(page.get_by_role("status")).to_contain_text("Your score is kept")
    assert page.url.partition("?")[0].endswith(f"/area/reviews/{first['id']}/")
    page.get_by_label("Points").fill("1")
    page.get_by_label("Points").press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Nothing waits")
    [case] = [
        one
        for one in owner.test.get(f"/invites/{second['token']}/result/").json()["cases"]
        if one["case_type"] == "text"
    ]
    assert (case["score"], case["comment"]) == ("7.50", "Writes are missing.")


def keep(page: Page, scripts: bool) -> None:
    if scripts:
        page.wait_for_load_state()  # the shortcuts are a script's
        page.get_by_label("Comment").press("Control+Enter")
    else:
        page.get_by_role("button", name="Keep and go on").click()


def test_a_review_is_left_with_the_keyboard_and_another_reached(page: Page, owner: Tenant) -> None:
    first, second = states.a_review(owner.test), states.a_review(owner.test)
    signed_in(page, owner, "reviewer")
    page.goto(f"/area/reviews/{second['id']}/")
    page.keyboard.press("Control+Shift+Enter")
    expect(page.get_by_role("status")).to_contain_text("waits for somebody else")
    assert first["id"] in page.url
    reach(page, "To the points")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("A comment comes after the points.")
    expect(page.get_by_label("Comment")).to_have_value("A comment comes after the points.")


@LOOKS
def test_the_engine_finds_nothing_on_what_forms_of_results_answer(
    new_context: Callable[..., BrowserContext], owner: Tenant, look: dict[str, Any]
) -> None:
    page = new_context(bypass_csp=True, **look).new_page()
    made, review = states.two_submissions(owner.test), states.a_review(owner.test)
    waiting, over = states.an_invitation(owner.test), states.an_expired_invitation(owner.test)
    states.post(owner.test, f"/reviews/{review['id']}/claim/")
    signed_in(page, owner)
    found = {}

    def look_at(name: str) -> None:
        found[name] = opened(page)

    tokens = "&".join(f"invite_token={made[one]}" for one in ("token", "other_token"))
    for path in (
        f"/area/invitations/{waiting['token']}/", f"/area/invitations/{over['token']}/",
        f"/area/invitations/{made['token']}/", f"/area/invitations/{made['token']}/report/",
        f"/area/assessments/{made['slug']}/results/", f"/area/assessments/{made['slug']}/comparison/?{tokens}",
        f"/area/reviews/{review['id']}/?names=true", "/area/reviews/?names=true",
        f"/area/assessments/{made['slug']}/comparison/?invite_token={made['token']}",
    ):  # fmt: skip
        page.goto(path)
        look_at(path)
    page.goto(f"/area/invite/?assessment={waiting['slug']}")
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    page.get_by_label("Or its lines").fill(f"{address()},Ada\nnobody@,\n")
    page.get_by_role("button", name="See what will happen").click()
    look_at("preview")
    page.get_by_role("button", name="Invite 1 candidate").click()
    look_at("invited")
    page.goto("/area/invite/")
    page.get_by_role("button", name="Invite the candidate").click()
    look_at("refused")
    assert found == {name: [] for name in found}
