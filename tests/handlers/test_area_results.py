"""The area's pages of invitations and results: what can be clicked in each state, and by whom."""

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from sqlalchemy import update

import store
from rules import invitations as rules
from rules.clock import now
from rules.roles import ROLES
from schemas import area_results
from store.assessing.invitations import Invitation
from tests.api import Tenant, address
from tests.handlers.test_area_pages import EVIL, Person
from tests.handlers.test_invitations import use_up
from tests.operations import states
from tests.probes import refusal

INVITE, INVITATIONS = "/area/invite/", "/area/invitations/"
TERMS = {"expires_days": "7", "extra_time_percent": "25", "send_email": "true", "tags": "spring, berlin"}


@pytest.fixture
def recruiter(tenant: Tenant) -> Person:
    return Person(tenant, "recruiter", livemode=True)


def at(ids: dict[str, str]) -> str:
    return f"/area/invitations/{ids['token']}/"


def offered(page: Any) -> set[str]:
    return set(re.findall(r'name="action" value="(\w+)"', page.text)) - {"mode", "sign_out"}


def send(person: Person, file: bytes, **fields: str) -> Any:
    """Send a file without a script."""
    data = {"csrf_token": person.token, "action": "preview"}
    data |= {f"fields.{name}": value for name, value in fields.items()}
    sent = {"file": ("candidates.csv", file, "text/csv")}
    return person.api.request("POST", INVITE, data=data, files=sent)


# --- The list


def test_invitations_are_found_by_what_the_operation_offers(tenant: Tenant, recruiter: Person) -> None:
    made = states.an_invitation(tenant.live)
    states.a_sitting(tenant.live)
    for query, count in (
        ({}, 2), ({"status": "started"}, 1), ({"status": "expired"}, 0), ({"email": made["person"].upper()}, 1),
        ({"external_id": made["external"]}, 1), ({"tag": "spring"}, 2), ({"assessment": made["slug"]}, 1),
    ):  # fmt: skip
        page = recruiter.get(INVITATIONS, params=query)
        assert page.status_code == 200
        assert len(re.findall(r'scope="row"', page.text)) == count, query
    assert recruiter.get(INVITATIONS, params={"status": "lost"}).status_code == 400


def test_the_next_page_keeps_what_was_asked_for(tenant: Tenant, recruiter: Person) -> None:
    slug = states.an_assessment(tenant.live)["slug"]
    people = [{"email": address()} for _ in range(25)]
    tenant.live.post(f"/assessments/{slug}/invites/bulk/", {"candidates": people, "tags": ["a & b"]})
    first = recruiter.get(INVITATIONS, params={"tag": "a & b"}).text
    [following] = re.findall(r'href="\?([^"]+)">Next', first)
    assert "tag=a+%26+b" in following
    second = recruiter.get(f"{INVITATIONS}?{following.replace('&amp;', '&')}").text
    assert len(re.findall(r'scope="row"', second)) == 5


@pytest.mark.parametrize("role", ROLES)
def test_who_may_not_invite_is_not_shown_how(tenant: Tenant, role: str) -> None:
    person, token = Person(tenant, role, livemode=True), at(states.an_invitation(tenant.live))
    may = "invitations:write" in ROLES[role].scopes
    assert ('href="/area/invite/"' in person.get(INVITATIONS).text) == may
    assert (offered(person.get(token)) == {"change", "remind", "cancel"}) == may
    assert person.get(INVITE).status_code == (200 if may else 403)
    assert person.act(token, "remind").status_code == (303 if may else 403)


def test_another_organisation_and_the_other_mode_see_nothing(
    tenant: Tenant, other: Tenant, recruiter: Person
) -> None:
    for ids in (states.an_invitation(other.live), states.an_invitation(tenant.test)):
        assert recruiter.get(at(ids)).status_code == 404
        assert recruiter.act(at(ids), "cancel").status_code == 404
        assert ids["token"] not in recruiter.get(INVITATIONS).text


# --- One invitation

MAKE = {
    "pending": states.an_invitation,
    "started": states.a_sitting,
    "completed": states.a_pass,
    "expired": states.an_expired_invitation,
}
FORMS = {
    "pending": {"change", "remind", "cancel"},
    "started": {"change", "remind"},
    "completed": {"retake"},
    "expired": {"reopen", "cancel"},
}


@pytest.mark.parametrize("status", MAKE)
def test_a_page_offers_what_the_state_allows(tenant: Tenant, recruiter: Person, status: str) -> None:
    assert set().union(*area_results.OFFERED.values()) == set(MAKE)
    ids = MAKE[status](tenant.live)
    assert tenant.live.get(f"/invites/{ids['token']}/").json()["status"] == status
    page = recruiter.get(at(ids))
    assert offered(page) == FORMS[status]
    fields = {"expires_days": "3", "extra_time_percent": "50"}
    for action in FORMS[status]:
        done = recruiter.act(at(MAKE[status](tenant.live)), action, **fields)
        assert done.status_code == 303, (action, done.text)
        assert 'role="status"' in recruiter.get(done.headers["Location"]).text
    for action in set().union(*FORMS.values()) - FORMS[status]:
        assert recruiter.act(at(ids), action, **fields).status_code == 400, action


def test_a_reminder_is_offered_once_a_day(tenant: Tenant, recruiter: Person) -> None:
    ids = states.an_invitation(tenant.live)
    recruiter.act(at(ids), "remind")
    page = recruiter.get(at(ids))
    assert "remind" not in offered(page)
    assert "can be reminded again after" in page.text
    assert recruiter.act(at(ids), "remind").status_code == 400
    with store.transaction() as session:
        mine = update(Invitation).where(Invitation.token == ids["token"])
        session.execute(mine.values(reminded_at=now() - rules.REMIND_EVERY - timedelta(seconds=1)))
    assert "remind" in offered(recruiter.get(at(ids)))


def test_a_change_sends_what_the_form_has_and_no_more(tenant: Tenant, recruiter: Person) -> None:
    ids = states.an_invitation(tenant.live)
    before = tenant.live.get(f"/invites/{ids['token']}/").json()
    fields = {
        "name": "Ada King",
        "role": "",
        "tags": "north, south",
        "extra_time_percent": "100",
        "expires_at": "",
    }
    assert recruiter.act(at(ids), "change", **fields).status_code == 303
    after = tenant.live.get(f"/invites/{ids['token']}/").json()
    assert (after["name"], after["role"], after["tags"]) == ("Ada King", "", ["north", "south"])
    assert (after["extra_time_percent"], after["expires_at"]) == (100, before["expires_at"])
    late = recruiter.act(at(ids), "change", **{**fields, "expires_at": "2020-01-01"})
    assert late.status_code == 400
    assert 'id="change-expires_at" aria-invalid="true"' in late.text


def test_a_retake_leads_to_the_new_invitation_and_back(tenant: Tenant, recruiter: Person) -> None:
    ids = states.a_pass(tenant.live)
    done = recruiter.act(at(ids), "retake", expires_days="3")
    page = recruiter.get(done.headers["Location"])
    assert "invited once more" in page.text
    assert f'href="{at(ids)}"' in page.text


def test_of_somebody_who_was_erased_nothing_is_offered(tenant: Tenant, recruiter: Person) -> None:
    ids = states.a_pass(tenant.live)
    person = tenant.live.get(f"/invites/{ids['token']}/").json()["candidate_id"]
    states.post(tenant.live, f"/candidates/{person}/erase/")
    assert recruiter.get(at(ids)).status_code == 404  # its link is another one now
    [left] = tenant.live.get("/invites/", params={"assessment": ids["slug"]}).json()["results"]
    page = recruiter.get(at({"token": left["invite_token"]}))
    assert offered(page) == set()
    assert "Somebody who was erased" in page.text
    assert "Somebody who was erased" in recruiter.get(INVITATIONS).text


# --- Inviting


def test_one_candidate_is_invited_and_the_link_is_shown(tenant: Tenant, recruiter: Person) -> None:
    slug, email = states.an_assessment(tenant.live)["slug"], address()
    assert f'value="{slug}" selected' in recruiter.get(INVITE, params={"assessment": slug}).text
    fields = {"slug": slug, "email": email, "name": "Ada", "role": "", "external_id": "", **TERMS}
    page = recruiter.act(INVITE, "create", **fields)
    assert page.status_code == 200
    [url] = re.findall(r"http\S+/take/[\w-]{43}", page.text)
    made = tenant.live.get(f"/invites/{url[-43:]}/").json()
    assert (made["email"], made["extra_time_percent"], made["tags"]) == (email, 25, ["spring", "berlin"])
    assert "was invited before" in recruiter.act(INVITE, "create", **fields).text
    wrong = recruiter.act(INVITE, "create", **{**fields, "email": "nobody", "expires_days": "x"})
    assert wrong.status_code == 400
    assert 'id="create-email" aria-invalid="true"' in wrong.text
    assert 'value="nobody"' in wrong.text
    nowhere = recruiter.act(INVITE, "create", **{**fields, "slug": "nothing"})
    assert nowhere.status_code == 404


def test_a_file_is_previewed_and_then_invited(tenant: Tenant, recruiter: Person) -> None:
    there = states.an_invitation(tenant.live)
    new = address()
    lines = [
        "email;name", f"{new};Zoë", f"{there['person']};Again", "nobody;", ";Without", f"{new};Twice",
        f"x@example.com;{'y' * 201}",
    ]  # fmt: skip
    file = "\n".join(lines)
    page = send(recruiter, file.encode(), slug=there["slug"], **TERMS)
    assert page.status_code == 200
    for said in ("1 candidate is invited", "5 lines are left out", "no good address", "without an address",
                 "Line 7", "name is longer than 200.", "Zoë"):  # fmt: skip
        assert said in page.text, said
    assert page.text.count("invited already") == 2
    assert tenant.live.get("/invites/", params={"email": new}).json()["results"] == []
    # What the next form carries is what was shown.
    form = page.text.partition('value="bulk"')[2].partition("</form>")[0]
    carried = {
        name: unescape(value) for name, value in re.findall(r'name="fields\.(\w+)" value="([^"]*)"', form)
    }
    assert carried["slug"] == there["slug"]
    done = recruiter.act(INVITE, "bulk", **carried)
    assert done.status_code == 200
    [made] = tenant.live.get("/invites/", params={"email": new}).json()["results"]
    assert (made["name"], made["extra_time_percent"]) == ("Zoë", 25)
    assert made["invite_url"] in done.text


def test_the_lines_may_be_typed_in(tenant: Tenant, recruiter: Person) -> None:
    slug = states.an_assessment(tenant.live)["slug"]
    fields = {"slug": slug, "candidates": f"{address()},Ada", **TERMS}
    # A browser sends an empty file where none was chosen.
    for page in (recruiter.act(INVITE, "preview", **fields), send(recruiter, b"", **fields)):
        assert "1 candidate is invited" in page.text


@pytest.mark.parametrize(
    ("file", "why"),
    [
        (b"email\n\xff@example.com", "Line 2 is not UTF-8"),
        (b"name\nAda", "No column is called email."),
        (b"x" * 300_000, "larger than 256 KiB"),
        (b"email\n" + b"a@example.com\n" * 1_001, "more than 1000 candidates"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_at_its_field(
    tenant: Tenant, recruiter: Person, file: bytes, why: str
) -> None:
    slug = states.an_assessment(tenant.live)["slug"]
    page = send(recruiter, file, slug=slug)
    assert page.status_code == 400
    assert why in page.text
    assert 'id="preview-file" aria-invalid="true"' in page.text


def test_a_file_of_another_session_is_not_read(tenant: Tenant, recruiter: Person) -> None:
    recruiter.token = Person(tenant).token
    assert send(recruiter, b"email\nada@example.com", slug="any").status_code == 403


def test_the_preview_says_what_the_month_has_left(tenant: Tenant) -> None:
    slug = states.an_assessment(tenant.live)["slug"]
    use_up(tenant, 999)
    rows = [{"email": address(), "name": "", "role": "", "external_id": None} for _ in range(2)]
    seen = tenant.live.post(f"/assessments/{slug}/invites/bulk/preview/", {"candidates": rows})
    assert seen.status_code == 200
    assert seen.json() == {
        "accepted": rows[:1],
        "skipped": [{"email": rows[1]["email"], "reason": "quota_exhausted"}],
    }
    assert tenant.live.get("/org/").json()["invites_remaining"] == 1
    done = tenant.live.post(f"/assessments/{slug}/invites/bulk/", {"candidates": rows}).json()
    assert done["skipped"] == seen.json()["skipped"]
    none = tenant.live.post(f"/assessments/{slug}/invites/bulk/preview/", {"candidates": rows[1:]}).json()
    assert none == {"accepted": [], "skipped": seen.json()["skipped"]}
    free = tenant.test.assessment()["slug"]
    seen = tenant.test.post(f"/assessments/{free}/invites/bulk/preview/", {"candidates": rows})
    assert seen.json() == {"accepted": rows, "skipped": []}


def test_there_is_no_preview_for_an_assessment_that_is_not_active(tenant: Tenant) -> None:
    slug = tenant.live.post("/assessments/create/", {"title": "Draft"}).json()["slug"]
    rows = {"candidates": [{"email": address()}]}
    answer = tenant.live.post(f"/assessments/{slug}/invites/bulk/preview/", rows)
    refusal(answer, 400, "ASSESSMENT_NOT_ACTIVE")


def test_what_candidates_are_called_is_text(tenant: Tenant, recruiter: Person) -> None:
    slug = tenant.live.assessment(title=EVIL)["slug"]
    token = tenant.live.invitation(slug, name=EVIL, tags=[EVIL[:64]], role=EVIL)["invite_token"]
    pages = [recruiter.get(INVITATIONS), recruiter.get(at({"token": token}))]
    pages.append(
        send(recruiter, f'email,name\n{address()},"{EVIL.replace(chr(34), "")}"'.encode(), slug=slug)
    )
    for page in pages:
        assert page.status_code == 200
        assert "<script>alert" not in page.text
        assert "<img src=x" not in page.text
