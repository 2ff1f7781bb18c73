"""Reports that are shared: a link for some days, and the page that it opens."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, text, update

import store
from app.instance.logs import redact
from rules.clock import now
from store.assessing.shares import ReportShare
from tests import recording
from tests.api import Tenant
from tests.handlers.test_results import CHOICE, CODE, ESSAY, Taken, assessment, report, take
from tests.operations import states
from tests.probes import refusal


def share(taken: Taken, **body: Any) -> Any:
    return taken.tenant.live.post(f"/invites/{taken.token}/report/share/", body)


def page(taken: Taken, token: str) -> Any:
    return taken.tenant.http.get(f"/report/{token}")


@pytest.fixture
def taken(tenant: Tenant) -> Taken:
    """A session with a choice, a text and a program, graded but for the text."""
    skilled = {**CHOICE, "tags": ["reading"]}
    slug = assessment(tenant, skilled, ESSAY, {**CODE, "starter_code": "# begin"})
    made = take(tenant, slug, "a", "<script>alert(1)</script>", "a, b = input().split()\nprint(3)")
    made.grade()
    return made


def test_a_link_is_for_some_days_and_kept_as_a_hash(taken: Taken) -> None:
    made = share(taken, expires_days=3).json()
    assert made["url"].endswith(f"/report/{made['token']}")
    for asked, days in ((made, 3), (share(taken).json(), 14)):
        assert asked["expires_at"][:10] == (now() + timedelta(days=days)).date().isoformat()
    for days in (0, 91):
        refusal(share(taken, expires_days=days), 400)
    with store.transaction() as session:
        mine = select(ReportShare.hash).where(ReportShare.session_id == taken.session_id)
        hashes = session.scalars(mine).all()
    assert len(hashes) == 2
    assert made["token"] not in hashes
    assert made["token"] not in redact(f"GET /report/{made['token']} took long")


@pytest.mark.parametrize("status", ["pending", "started"])
def test_there_is_no_report_before_the_end(tenant: Tenant, status: str) -> None:
    make = {"pending": states.an_invitation, "started": states.a_sitting}[status]
    token = make(tenant.live)["token"]
    refused = refusal(tenant.live.post(f"/invites/{token}/report/share/", {}), 400, "VALIDATION_ERROR")
    assert refused["details"]["status"] == status


def test_the_page_says_what_the_result_says(taken: Taken) -> None:
    taken.tenant.live.post(
        f"/invites/{taken.token}/result/review/",
        {"cases": [{"case_order": 2, "score": 7.5, "comment": "Clear <b>and</b> short."}]},
    )
    shown = page(taken, share(taken).json()["token"])
    assert shown.status_code == 200
    for said in (
        "Ada", "Engineer", "Judge it.", "Clear &lt;b&gt;and&lt;/b&gt; short.", "7.5 / 10", "hidden from candidates",
        "&lt;script&gt;alert(1)&lt;/script&gt;", "a, b = input().split()", "Tests: 1 of 2 passed", "reading",
        "Case 2 answered",
    ):  # fmt: skip
        assert said in shown.text, said
    assert "<script" not in shown.text
    assert shown.headers["Cache-Control"] == "no-store"
    assert shown.headers["Referrer-Policy"] == "no-referrer"
    assert '<meta name="robots" content="noindex">' in shown.text


def test_the_pdf_tells_of_skills(taken: Taken) -> None:
    assert "Skill Share of the points reading 100.00 %" in report(taken.tenant.live, taken.token)


def test_while_an_answer_waits_the_page_says_so(taken: Taken) -> None:
    shown = page(taken, share(taken).json()["token"]).text
    assert "Waits for review" in shown
    assert "<dd>Waits for review</dd>" in shown


def test_a_link_that_is_over_or_none_leads_to_a_page_that_says_so(taken: Taken) -> None:
    token = share(taken).json()["token"]
    with store.transaction() as session:
        over = {"expires_at": now() - timedelta(seconds=1)}
        session.execute(update(ReportShare).where(ReportShare.session_id == taken.session_id).values(**over))
    for one in (token, "x" * 43, taken.token):
        shown = page(taken, one)
        assert shown.status_code == 404
        assert "This report cannot be seen" in shown.text
        assert "Ada" not in shown.text


def test_a_link_ends_with_the_erasure_of_its_candidate(taken: Taken) -> None:
    token = share(taken).json()["token"]
    person = taken.tenant.live.get(f"/invites/{taken.token}/").json()["candidate_id"]
    states.post(taken.tenant.live, f"/candidates/{person}/erase/")
    assert page(taken, token).status_code == 404
    with store.transaction() as session:
        left = text("SELECT count(*) FROM report_shares WHERE session_id = :id")
        assert session.scalar(left, {"id": taken.session_id}) == 0


def test_a_link_that_was_made_beside_the_erasure_shows_nothing(taken: Taken) -> None:
    token = share(taken).json()["token"]
    with store.transaction() as session:
        found = session.scalars(select(ReportShare).where(ReportShare.session_id == taken.session_id)).one()
        kept = {"session_id": found.session_id, "hash": found.hash, "expires_at": found.expires_at}
    person = taken.tenant.live.get(f"/invites/{taken.token}/").json()["candidate_id"]
    states.post(taken.tenant.live, f"/candidates/{person}/erase/")
    with store.transaction() as session:
        session.add(ReportShare(**kept))
    assert page(taken, token).status_code == 404


def test_a_link_stays_when_profiles_are_merged(taken: Taken) -> None:
    token = share(taken).json()["token"]
    person = taken.tenant.live.get(f"/invites/{taken.token}/").json()["candidate_id"]
    survivor = states.a_candidate(taken.tenant.live)["candidate_id"]
    states.post(taken.tenant.live, f"/candidates/{survivor}/merge/", {"source_id": person})
    assert page(taken, token).status_code == 200


def test_recordings_are_not_on_the_page(tenant: Tenant) -> None:
    made = recording.a_sitting(tenant.live)
    recording.send(tenant.live, made)
    tenant.http.post(f"/api/v1/candidate/invites/{made['token']}/submit/")
    assert len(tenant.live.get(f"/invites/{made['token']}/result/").json()["recordings"]) == 1
    token = tenant.live.post(f"/invites/{made['token']}/report/share/", {}).json()["token"]
    shown = tenant.http.get(f"/report/{token}")
    assert shown.status_code == 200
    assert "/recordings/" not in shown.text


def test_a_long_test_is_cut_short(tenant: Tenant) -> None:
    case = {**CODE, "test_cases": [{"input": "7" * 5_000, "expected_output": "3"}]}
    made = take(tenant, assessment(tenant, case), "print(3)")
    made.grade()
    shown = page(made, share(made).json()["token"]).text
    assert "7" * 2_000 + "…" in shown
    assert "7" * 2_001 not in shown


def test_the_pages_language_is_the_readers(taken: Taken) -> None:
    token = share(taken).json()["token"]
    shown = taken.tenant.http.get(f"/report/{token}", headers={"Accept-Language": "de"})
    assert '<html lang="de"' in shown.text
