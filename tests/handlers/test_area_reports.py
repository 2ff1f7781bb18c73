"""The area's pages of results: the report, its links and files, and candidates side by side."""

import csv
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pypdfium2
import pytest

import store
from handlers import assessments
from rules.caller import Caller
from rules.roles import ROLES
from schemas import reports
from store.assessing import results
from store.database import listing
from store.database.engine import Reading
from tests import recording
from tests.api import Tenant, address
from tests.handlers.test_area_pages import EVIL, Person
from tests.handlers.test_results import CHOICE, CODE, ESSAY, Taken, assessment, report, take
from tests.operations import states
from tests.probes import refusal


@pytest.fixture
def me(tenant: Tenant) -> Person:
    return Person(tenant, "recruiter", livemode=True)


@pytest.fixture
def taken(tenant: Tenant) -> Taken:
    """A session with a choice, a text and a program, graded but for the text."""
    essay = {**ESSAY, "question": "Why **indexes**?"}
    slug = assessment(tenant, {**CHOICE, "tags": ["reading"]}, essay, CODE)
    made = take(tenant, slug, "a", "It depends on the reads.", "a, b = input().split()\nprint(3)")
    made.grade()
    return made


def at(taken: Taken, part: str = "report") -> str:
    return f"/area/invitations/{taken.token}/{part}/"


def share(taken: Taken) -> dict[str, Any]:
    return dict(taken.tenant.live.post(f"/invites/{taken.token}/report/share/", {}).json())


def words(pdf: bytes) -> str:
    return " ".join(
        " ".join(one.get_textpage().get_text_range() for one in pypdfium2.PdfDocument(pdf)).split()
    )


# --- The report


def test_a_result_says_what_was_asked(taken: Taken) -> None:
    choice, essay, code = taken.result()["cases"]
    assert [one["id"] for one in choice["options"]] == ["a", "b", "c", "d"]
    assert (essay["question"], essay["options"], code["options"]) == ("Why **indexes**?", [], [])
    assert choice["question"] is None


def test_the_page_the_link_and_the_pdf_say_the_same(taken: Taken, me: Person) -> None:
    taken.tenant.live.post(
        f"/invites/{taken.token}/result/review/",
        {"cases": [{"case_order": 2, "score": 7.5, "comment": "Clear & short."}]},
    )
    page, shared = me.get(at(taken)).text, taken.tenant.http.get(f"/report/{share(taken)['token']}").text
    printed = words(me.get(at(taken, "pdf")).content)
    for said in (
        "Ada",
        "Engineer",
        "Judge it.",
        "It depends on the reads.",
        "a, b = input().split()",
        "reading",
    ):
        assert said in page, said
        assert said in shared, said
        assert said in printed, said
    for said in (
        "Clear &amp; short.",
        "Why <strong>indexes</strong>?",
        "Tests: 1 of 2 passed",
        "Case 2 answered",
    ):
        assert said in page, said
        assert said in shared, said
    for said in (
        "Clear & short.",
        "Why indexes?",
        "1 of 2 tests passed",
        "Test 1: passed",
        "What happened when",
    ):
        assert said in printed, said
    assert printed == report(taken.tenant.live, taken.token)


def test_a_report_that_is_too_long_is_printed_in_part(taken: Taken, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "LONGEST", 60)
    printed = report(taken.tenant.live, taken.token)
    assert "too long to be printed" in printed
    assert "It depends on the reads." not in printed
    assert "What happened when" in printed


@pytest.mark.parametrize("make", [states.an_invitation, states.a_sitting, states.an_expired_invitation])
def test_before_the_end_the_page_says_how_far_the_candidate_is(tenant: Tenant, me: Person, make: Any) -> None:
    token = make(tenant.live)["token"]
    # Without a session there is nothing to share.
    page = me.get(f"/area/invitations/{token}/report/")
    assert page.status_code == 200
    assert "The candidate" in page.text or "The invitation expired" in page.text
    assert 'value="share"' not in page.text
    assert me.get(f"/area/invitations/{token}/pdf/").status_code == 400


def test_recordings_are_linked_in_the_area_alone(tenant: Tenant, me: Person) -> None:
    made = recording.a_sitting(tenant.live)
    recording.send(tenant.live, made)
    tenant.http.post(f"/api/v1/candidate/invites/{made['token']}/submit/")
    page = me.get(f"/area/invitations/{made['token']}/report/").text
    assert len(re.findall(r'href="[^"]+/recordings/', page)) == 1


def test_another_organisation_and_the_other_mode_have_no_report_here(
    taken: Taken, other: Tenant, tenant: Tenant
) -> None:
    for person in (Person(other, livemode=True), Person(tenant)):
        for part in ("report", "pdf"):
            assert person.get(at(taken, part)).status_code == 404
        for part in ("results", "export"):
            assert person.get(f"/area/assessments/{taken.slug}/{part}/").status_code == 404
        assert person.act(at(taken), "share", expires_days="7").status_code == 404


@pytest.mark.parametrize("role", ROLES)
def test_every_role_that_reads_results_reads_reports(taken: Taken, tenant: Tenant, role: str) -> None:
    person = Person(tenant, role, livemode=True)
    assert person.get(at(taken)).status_code == 200
    assert person.get("/area/results/").status_code == 200
    assert ('href="/area/invite/' in person.get(f"/area/assessments/{taken.slug}/results/").text) == (
        "invitations:write" in ROLES[role].scopes
    )


# --- Links


def test_a_link_is_made_shown_once_listed_and_taken_back(taken: Taken, me: Person) -> None:
    made = me.act(at(taken), "share", expires_days="3")
    [token] = re.findall(r"/report/([\w-]{43})<", made.text)
    assert taken.tenant.http.get(f"/report/{token}").status_code == 200
    page = me.get(at(taken)).text
    assert token not in page
    [id] = re.findall(r'name="fields.share_id" value="([^"]+)"', page)
    assert me.act(at(taken), "revoke", share_id=id).headers["Location"] == f"{at(taken)}?done=revoke"
    assert taken.tenant.http.get(f"/report/{token}").status_code == 404
    assert "There is no link to this report." in me.get(at(taken)).text
    assert me.act(at(taken), "revoke", share_id=id).status_code == 404
    assert me.act(at(taken), "share", expires_days="91").status_code == 400


def test_links_are_listed_without_their_tokens_while_they_work(taken: Taken, other: Tenant) -> None:
    first, second = share(taken), share(taken)
    at_ = f"/invites/{taken.token}/report/shares/"
    found = taken.tenant.live.get(at_).json()["results"]
    assert [one["id"] for one in found] == [second["id"], first["id"]]
    assert set(found[0]) == {"id", "created_at", "expires_at"}
    refusal(other.live.delete(f"{at_}{first['id']}/"), 404)
    another = states.a_share(taken.tenant.live)
    refusal(taken.tenant.live.delete(f"{at_}{another['share_id']}/"), 404)  # of another report
    assert taken.tenant.live.delete(f"{at_}{first['id']}/").status_code == 204
    assert [one["id"] for one in taken.tenant.live.get(at_).json()["results"]] == [second["id"]]


# --- Many


def test_results_are_listed_narrowed_and_compared(tenant: Tenant, me: Person) -> None:
    slug = assessment(tenant, {**CHOICE, "tags": ["reading"]}, {**CHOICE, "title": "Second"})
    right, wrong = take(tenant, slug, "a", "a"), take(tenant, slug, "b", "a")
    for one in (right, wrong):
        one.grade()
    here = f"/area/assessments/{slug}/results/"
    assert len(re.findall(r'name="invite_token" value', me.get(here).text)) == 2
    assert len(re.findall(r'name="invite_token" value', me.get(here, params={"passed": "true"}).text)) == 1
    assert me.get(here, params={"passed": "perhaps"}).status_code == 400
    side = f"/area/assessments/{slug}/comparison/"
    page = me.get(side, params={"invite_token": [right.token, wrong.token]})
    assert page.status_code == 200
    for said in ("100%", "50%", "reading", "Second", "The median is of the newest 2 results."):
        assert said in page.text, said
    for some in ([right.token, right.token], [right.token] * 11):
        assert me.get(side, params={"invite_token": some}).status_code == 400
    for few in ([right.token], []):
        assert "Tick two to ten candidates" in me.get(side, params={"invite_token": few}).text
    assert me.get(side, params={"invite_token": [right.token, "x" * 43]}).status_code == 404


def test_a_file_of_results_has_no_formulas(tenant: Tenant, me: Person) -> None:
    slug = assessment(tenant, CHOICE)
    token = tenant.live.invitation(slug, address(), name="=HYPERLINK(0)", role="+1")["invite_token"]
    place = f"/api/v1/candidate/invites/{token}"
    tenant.http.post(f"{place}/start/")
    tenant.http.post(f"{place}/violations/", json={"violation_type": "focus_loss"})
    tenant.http.post(f"{place}/submit/")
    file = me.get(f"/area/assessments/{slug}/export/", params={"status": "completed", "passed": ""})
    assert file.headers["Content-Disposition"].startswith(f'attachment; filename="results-{slug}-')
    [row] = csv.DictReader(io.StringIO(file.text))
    assert (row["candidate_name"], row["role"], row["invite_token"]) == ("'=HYPERLINK(0)", "'+1", token)
    assert (row["focus_loss"], row["webcam"]) == ("1", "0")


@pytest.mark.parametrize("at_once", [1, 1000])
def test_a_file_in_parts_is_the_whole_list(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    slug = assessment(tenant, CHOICE)
    for _ in range(3):
        take(tenant, slug, "a")
    listed = tenant.live.get(f"/assessments/{slug}/results/").json()["results"]
    monkeypatch.setattr(listing, "AT_ONCE", at_once)
    read = list(csv.DictReader(io.StringIO(tenant.live.get(f"/assessments/{slug}/results/export/").text)))
    assert [one["invite_token"] for one in read] == [one["invite_token"] for one in listed]
    monkeypatch.setattr(results, "EXPORTED", 2 * at_once)
    read = list(csv.DictReader(io.StringIO(tenant.live.get(f"/assessments/{slug}/results/export/").text)))
    assert len(read) == min(3, 2 * at_once)


def test_nothing_is_held_while_a_client_takes_its_time_over_a_part(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    slug = assessment(tenant, CHOICE)
    for _ in range(3):
        take(tenant, slug, "a")
    monkeypatch.setattr(listing, "AT_ONCE", 1)
    held: list[str] = []

    @contextmanager
    def readings() -> Iterator[Reading]:
        held.append("begun")
        with store.reading() as reading:
            yield reading
        held.remove("begun")

    caller = Caller(tenant.organisation.id, livemode=True, plan_name="growth")
    file = assessments.export_results(readings, caller, slug, status=None, passed=None)
    assert [held[:] for _ in file.parts] == [[], [], []]


def test_a_file_of_no_results_has_its_columns(tenant: Tenant) -> None:
    slug = assessment(tenant, CHOICE)
    text = tenant.live.get(f"/assessments/{slug}/results/export/").text
    assert text.startswith("candidate_email,candidate_name,")
    assert text.count("\n") == 1


# --- What others write


def test_what_a_candidate_writes_is_text_on_every_page(tenant: Tenant, me: Person) -> None:
    evil = f"{EVIL}</pre></textarea>"
    code = {**CODE, "test_cases": [{"input": evil, "expected_output": evil, "weight": 1, "hidden": False}]}
    slug = assessment(
        tenant, {**ESSAY, "title": evil, "rubric": evil, "question": evil, "tags": [EVIL[:64]]}, code
    )
    token = tenant.live.invitation(slug, address(), name=evil, role=evil)["invite_token"]
    place = f"/api/v1/candidate/invites/{token}"
    for case in tenant.http.post(f"{place}/start/").json()["cases"]:
        tenant.http.put(f"{place}/answers/{case['assessment_case_id']}/", json={"answer": evil})
    tenant.http.post(f"{place}/submit/")
    states.graded(tenant.live)
    tenant.live.patch(f"/assessments/{slug}/update/", {"title": evil})
    [waits] = tenant.live.get("/reviews/", params={"assessment": slug}).json()["results"]
    pages = [
        "/area/results/", f"/area/assessments/{slug}/results/", f"/area/invitations/{token}/report/",
        f"/area/invitations/{token}/", "/area/reviews/?names=true", f"/area/reviews/{waits['id']}/?names=true",
    ]  # fmt: skip
    for one in pages:
        page = me.get(one)
        assert page.status_code == 200, one
        assert not re.search(r"<(script>alert|img src=x|/pre></textarea)", page.text), one
    taken_by_review = me.act(f"/area/reviews/{waits['id']}/", "score", score="99", comment=evil)
    assert taken_by_review.status_code == 400
    assert not re.search(r"<(script>alert|img src=x)", taken_by_review.text)
