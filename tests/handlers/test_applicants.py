"""What applicants are mailed, and what they see and change by the link in it."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select, update

import store
from rules import applications as rules
from store.applying.applications import Application
from store.applying.status_links import StatusLink
from store.outbox import OutboxItem
from tests.api import Api, Tenant, address
from tests.handlers.test_careers import CHOICES, TEXT, ask, jobs, page
from tests.probes import faults, refusal

PERSON = {"full_name": "Ada Lovelace"}
FIT = {"rules": [{"field_key": "fit", "operator": "truthy"}]}


@pytest.fixture
def world(tenant: Tenant) -> Api:
    """Anybody, without a key."""
    return Api(tenant.http, None, "")


def mails(to: str, template: str | None = None) -> list[dict[str, Any]]:
    with store.transaction() as session:
        found = session.scalars(select(OutboxItem).where(OutboxItem.job == "mail").order_by(OutboxItem.id))
        return [
            one.arguments
            for one in found
            if one.arguments.get("to") == to and template in (None, one.arguments["template"])
        ]


def apply(world: Api, tenant: Tenant, job: str, email: str, **more: Any) -> None:
    answer = world.post(f"{jobs(tenant)}{job}/apply/", PERSON | {"email": email} | more)
    assert (answer.status_code, answer.json()) == (201, {"status": "submitted"})


def link(tenant: Tenant, world: Api, job: str, **more: Any) -> tuple[str, str]:
    """Apply; return the token of the confirming mail's link, and the application's id."""
    assert tenant.live.patch("/org/settings/", {"receipt_mail": True}).status_code == 200
    email = address()
    apply(world, tenant, job, email, **more)
    [mail] = mails(email, "receipt")
    [made] = tenant.live.get("/applications/", params={"email": email}).json()["results"]
    return mail["status_url"].rpartition("/")[2], made["id"]


def place(token: str) -> str:
    return f"/api/v1/candidate/applications/{token}/"


def a_day_passes(**columns: Any) -> None:
    with store.transaction() as session:
        back = timedelta(days=1, minutes=1)
        session.execute(update(StatusLink).values(created_at=StatusLink.created_at - back))
        session.execute(update(Application).values(submitted_at=Application.submitted_at - back))


# --- Mails


def test_who_had_applied_before_learns_of_it_by_mail_once_a_day(world: Api, tenant: Tenant) -> None:
    job, email = tenant.live.job(published=True, title="Zoologist")["slug"], address()
    apply(world, tenant, job, email)
    assert mails(email) == []  # the organisation does not confirm
    for written in (email, email.upper().replace("@", "@"), email):
        apply(world, tenant, job, written)
    [mail] = mails(email)
    assert (mail["template"], mail["job_title"], mail["candidate_name"]) == (
        "applied_before", "Zoologist", "Ada Lovelace",
    )  # fmt: skip
    shown = world.get(place(mail["status_url"].rpartition("/")[2]))
    assert (shown.status_code, shown.json()["email"]) == (200, email)
    a_day_passes()
    apply(world, tenant, job, email)
    first, second = mails(email)
    assert first["status_url"] != second["status_url"]
    for one in (first, second):  # both links work
        assert world.get(place(one["status_url"].rpartition("/")[2])).status_code == 200


def test_second_applications_at_once_bring_one_mail(world: Api, tenant: Tenant) -> None:
    job, email = tenant.live.job(published=True)["slug"], address()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: apply(world, tenant, job, email), range(12)))
    assert [one["template"] for one in mails(email)] == ["applied_before"]


def test_nobody_is_flooded_through_the_form(
    world: Api, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "MOST_MAILED", 2)
    assert tenant.live.patch("/org/settings/", {"receipt_mail": True}).status_code == 200
    email = address()
    for _ in range(4):
        job = tenant.live.job(published=True, rejection_visibility="immediate")["slug"]
        ask(tenant, job, "fit", "boolean")
        tenant.live.put(f"/jobs/{job}/knockout-rules/replace/", FIT)
        for _ in range(2):
            apply(world, tenant, job, email, answers={"fit": False})
    sent = [one["template"] for one in mails(email)]
    assert {name: sent.count(name) for name in sent} == {"receipt": 2, "rejection": 2, "applied_before": 2}
    other = address()
    apply(world, tenant, job, other)
    assert [one["template"] for one in mails(other)] == ["receipt", "rejection"]


def test_an_application_by_a_key_reminds_nobody(tenant: Tenant) -> None:
    job, email = tenant.live.job(published=True)["slug"], address()
    for _ in range(2):
        tenant.live.post("/applications/create/", {"job_slug": job, "email": email, **PERSON})
    assert mails(email) == []


@pytest.mark.parametrize(("visibility", "sent"), [("immediate", 1), ("delayed", 0), ("hidden", 0)])
def test_a_knockout_that_rejects_is_mailed_as_a_rejection_is(
    world: Api, tenant: Tenant, visibility: str, sent: int
) -> None:
    job, email = tenant.live.job(published=True, rejection_visibility=visibility)["slug"], address()
    ask(tenant, job, "fit", "boolean")
    tenant.live.put(f"/jobs/{job}/knockout-rules/replace/", FIT)
    apply(world, tenant, job, email, answers={"fit": False})
    assert len(mails(email, "rejection")) == sent
    [made] = tenant.live.get("/applications/", params={"email": email}).json()["results"]
    assert made["status"] == "knockout_failed"
    with store.transaction() as session:
        row = session.get_one(Application, UUID(made["id"]))
        assert (row.rejection_mail_at is not None) == (visibility == "delayed")
    tenant.live.post(f"/applications/{made['id']}/reject/", {})
    assert len(mails(email, "rejection")) == sent  # who was told is not told again


def test_who_is_advanced_after_a_knockout_hears_no_rejection_and_may_hear_one_later(
    world: Api, tenant: Tenant
) -> None:
    job, email = tenant.live.job(published=True, rejection_visibility="immediate")["slug"], address()
    ask(tenant, job, "fit", "boolean")
    tenant.live.put(f"/jobs/{job}/knockout-rules/replace/", FIT)
    apply(world, tenant, job, email, answers={"fit": False})
    [made] = tenant.live.get("/applications/", params={"email": email}).json()["results"]
    tenant.live.post(f"/applications/{made['id']}/advance/", {})
    tenant.live.post(f"/applications/{made['id']}/reject/", {})
    assert len(mails(email, "rejection")) == 2


def test_who_was_imported_hears_of_no_knockout(tenant: Tenant) -> None:
    job = tenant.live.job(published=True, rejection_visibility="immediate")["slug"]
    ask(tenant, job, "fit", "boolean")
    tenant.live.put(f"/jobs/{job}/knockout-rules/replace/", FIT)
    made = tenant.live.application(job, source="import")
    assert (made["status"], mails(made["email"])) == ("knockout_failed", [])


# --- Seeing


def test_the_link_shows_what_was_sent_and_its_token_is_kept_as_a_hash(world: Api, tenant: Tenant) -> None:
    job = tenant.live.job(published=True, title="Zoologist")["slug"]
    ask(tenant, job, "years", "number")
    ask(tenant, job, "languages", "multi_select", options=CHOICES)
    ask(tenant, job, "remote", "boolean")
    given = {"years": 5, "languages": ["de"], "remote": False}
    token, id = link(tenant, world, job, answers=given)
    shown = world.get(place(token)).json()
    assert (shown["status"], shown["job_title"]) == ("in_review", "Zoologist")
    assert shown["answers"] == given | {"years": "5"}
    assert [one["key"] for one in shown["application_fields"]] == ["years", "languages", "remote"]
    assert id not in str(shown)
    assert {"l3_score", "screening", "events", "candidate_id"}.isdisjoint(shown)
    with store.transaction() as session:
        kept = session.scalars(select(StatusLink).where(StatusLink.application_id == UUID(id))).all()
        assert token not in [one.hash for one in kept]
    refusal(world.get(place(id)), 404, "NOT_FOUND")
    refusal(world.get(place("nothing")), 404, "NOT_FOUND")
    assert world.get("/application/nothing").status_code == 404


@pytest.mark.parametrize(
    ("visibility", "moves", "seen"),
    [
        ("immediate", ["reject"], "rejected"),
        ("delayed", ["reject"], "in_review"),
        ("hidden", ["reject"], "in_review"),
        ("hidden", ["reject", "hold"], "in_review"),
        ("immediate", ["hold"], "in_review"),
        ("immediate", ["advance"], "in_review"),
        ("immediate", ["advance", "hire"], "hired"),
        ("immediate", ["withdraw"], "withdrawn"),
    ],
)
def test_an_applicant_sees_no_more_than_they_were_told(
    world: Api, tenant: Tenant, visibility: str, moves: list[str], seen: str
) -> None:
    token, id = link(tenant, world, tenant.live.job(published=True, rejection_visibility=visibility)["slug"])
    for move in moves:
        assert tenant.live.post(f"/applications/{id}/{move}/", {}).status_code == 200
    assert world.get(place(token)).json()["status"] == seen


def test_an_erased_application_has_no_link_any_more(world: Api, tenant: Tenant) -> None:
    token, id = link(tenant, world, tenant.live.job(published=True)["slug"])
    person = tenant.live.get(f"/applications/{id}/").json()["candidate_id"]
    assert tenant.live.post(f"/candidates/{person}/erase/").status_code == 200
    refusal(world.get(place(token)), 404, "NOT_FOUND")
    with store.transaction() as session:
        assert session.scalars(select(StatusLink).where(StatusLink.application_id == UUID(id))).all() == []


# --- Correcting


def test_what_was_sent_can_be_corrected_and_the_organisation_sees_it(world: Api, tenant: Tenant) -> None:
    job = tenant.live.job(published=True)["slug"]
    ask(tenant, job, "years", "number", is_required=True)
    ask(tenant, job, "story", "long_text")
    token, id = link(tenant, world, job, answers={"years": 5, "story": "Long."})
    changed = world.patch(place(token), {"phone": "+44 1", "answers": {"years": 6, "story": ""}})
    assert changed.status_code == 200, changed.text
    assert (changed.json()["phone"], changed.json()["answers"]) == ("+44 1", {"years": "6"})
    files = {"cv": ("cv.txt", TEXT)}
    assert world.patch(place(token), data={"full_name": "Ada King"}, files=files).status_code == 200
    whole = tenant.live.get(f"/applications/{id}/").json()
    assert (whole["full_name"], whole["phone"]) == ("Ada King", "+44 1")
    assert [one["value_number"] for one in whole["answers"]] == ["6"]
    assert [one["filename"] for one in whole["attachments"]] == ["cv.txt"]
    told = [one for one in whole["events"] if one["type"] == "corrected"]
    assert [(one["actor"], one["details"]["fields"]) for one in told] == [
        ("candidate", ["phone", "answers.years", "answers.story"]),
        ("candidate", ["full_name", "cv"]),
    ]
    again = world.patch(place(token), {"full_name": "Ada King"})
    assert again.status_code == 200
    assert tenant.live.get(f"/applications/{id}/").json()["events"] == whole["events"]


def test_a_bad_correction_is_refused_with_every_fault_and_changes_nothing(world: Api, tenant: Tenant) -> None:
    job = tenant.live.job(published=True)["slug"]
    ask(tenant, job, "years", "number", is_required=True)
    token, _ = link(tenant, world, job, answers={"years": 5})
    before = world.get(place(token)).json()
    answer = world.patch(
        place(token),
        data={"full_name": "Ada", "answers.years": "many", "answers.other": "x"},
        files={"cv": ("cv.doc", b"\xd0\xcf\x11\xe0\0\0")},
    )
    assert set(faults(answer)) == {"/answers/years", "/answers/other", "/cv"}
    assert "/answers/years" in faults(world.patch(place(token), {"answers": {"years": ""}}))
    assert "/full_name" in faults(world.patch(place(token), {"full_name": " "}))
    assert "/email" in faults(world.patch(place(token), {"email": "eve@example.com"}))
    assert world.get(place(token)).json() == before


def test_corrections_end_with_the_review_and_after_so_many(
    world: Api, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "MOST_CORRECTIONS", 2)
    job = tenant.live.job(published=True, rejection_visibility="immediate")["slug"]
    token, id = link(tenant, world, job)
    for number in range(2):
        assert world.patch(place(token), {"phone": str(number)}).status_code == 200
    refusal(world.patch(place(token), {"phone": "3"}), 403, "LIMIT_REACHED")
    shown = world.post(f"/application/{token}", data={"step": "correct", **PERSON, "phone": "3"})
    assert (shown.status_code, shown.headers["content-type"].partition(";")[0]) == (403, "text/html")
    tenant.live.post(f"/applications/{id}/reject/", {})
    refused = refusal(world.patch(place(token), {"phone": "4"}), 400, "VALIDATION_ERROR")
    assert refused["details"]["status"] == "rejected"


# --- Withdrawing


def test_withdrawing_tells_the_organisation_once(world: Api, tenant: Tenant) -> None:
    job = tenant.live.job(published=True)["slug"]
    token, id = link(tenant, world, job)
    for _ in range(2):
        assert world.post(f"{place(token)}withdraw/").json()["status"] == "withdrawn"
    whole = tenant.live.get(f"/applications/{id}/").json()
    assert whole["status"] == "withdrawn"
    assert [one["actor"] for one in whole["events"] if one["type"] == "withdrawn"] == ["candidate"]
    refusal(world.patch(place(token), {"phone": "1"}), 400, "VALIDATION_ERROR")
    apply(world, tenant, job, whole["email"])
    assert len(tenant.live.get("/applications/", params={"email": whole["email"]}).json()["results"]) == 2


@pytest.mark.parametrize("moves", [["reject"], ["reject", "hold"]])
def test_who_was_rejected_in_secret_withdraws_like_everybody(
    world: Api, tenant: Tenant, moves: list[str]
) -> None:
    job = tenant.live.job(published=True, rejection_visibility="delayed")["slug"]
    token, id = link(tenant, world, job)
    for move in moves:
        tenant.live.post(f"/applications/{id}/{move}/", {})
    assert world.patch(place(token), {"phone": "1"}).status_code == 200
    assert world.post(f"{place(token)}withdraw/").json()["status"] == "withdrawn"
    with store.transaction() as session:
        row = session.get_one(Application, UUID(id))
        assert (row.rejection_mail_at, row.withdrawn_at is not None) == (None, True)
    whole = tenant.live.get(f"/applications/{id}/").json()
    assert whole["status"] == {"reject": "rejected", "hold": "on_hold"}[moves[-1]]
    apply(world, tenant, job, whole["email"])
    assert len(tenant.live.get("/applications/", params={"email": whole["email"]}).json()["results"]) == 2


@pytest.mark.parametrize(("moves", "status"), [(["reject"], "rejected"), (["advance", "hire"], "hired")])
def test_what_is_decided_cannot_be_withdrawn(
    world: Api, tenant: Tenant, moves: list[str], status: str
) -> None:
    token, id = link(tenant, world, tenant.live.job(published=True, rejection_visibility="immediate")["slug"])
    for move in moves:
        tenant.live.post(f"/applications/{id}/{move}/", {})
    refused = refusal(world.post(f"{place(token)}withdraw/"), 400, "VALIDATION_ERROR")
    assert refused["details"]["status"] == status


# --- Erasing


def test_asking_to_be_erased_leaves_a_note_once(world: Api, tenant: Tenant) -> None:
    token, id = link(tenant, world, tenant.live.job(published=True)["slug"])
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: world.post(f"{place(token)}erasure/"), range(4)))
    assert {one.status_code for one in answers} == {200}
    assert all(one.json()["erasure_requested_at"] for one in answers)
    whole = tenant.live.get(f"/applications/{id}/").json()
    assert [one["type"] for one in whole["events"]].count("erasure_requested") == 1
    [note] = tenant.live.get(f"/candidates/{whole['candidate_id']}/").json()["notes"]
    assert (note["author"], "erased" in note["body"]) == ("candidate", True)
    assert whole["email"]  # nobody is erased by asking


# --- The page


def test_the_page_does_what_the_interface_does_without_a_script(world: Api, tenant: Tenant) -> None:
    job = tenant.live.job(published=True)["slug"]
    ask(tenant, job, "years", "number", is_required=True)
    ask(tenant, job, "languages", "multi_select", options=CHOICES)
    token, id = link(tenant, world, job, answers={"years": 5, "languages": ["de", "en"]})
    where = f"/application/{token}"
    html = world.get(where).text
    assert "in review" in html
    assert "German, English" in html
    form = world.get(where, params={"step": "correct"}).text
    assert 'value="de" checked' in form
    sent = {"step": "correct", "full_name": "Ada King", "phone": "", "answers.years": "many"}
    wrong = world.post(where, data=sent)
    assert (wrong.status_code, 'href="#answers-years"' in wrong.text, "many" in wrong.text) == (
        400, True, True,
    )  # fmt: skip
    right = world.post(where, data=sent | {"answers.years": "7"}, follow_redirects=False)
    assert (right.status_code, right.headers["location"]) == (303, f"{where}?done=correct")
    assert "is corrected" in world.get(right.headers["location"]).text
    whole = tenant.live.get(f"/applications/{id}/").json()
    assert [(one["field_key"], one["value_number"]) for one in whole["answers"]] == [("years", "7")]
    assert world.post(where, data={"step": "erase"}, follow_redirects=False).status_code == 303
    assert world.post(where, data={"step": "withdraw"}, follow_redirects=False).status_code == 303
    assert "Your application is withdrawn" in world.get(where).text
    late = world.post(where, data=sent | {"answers.years": "8"})
    assert (late.status_code, "was not done" in late.text) == (400, True)
    assert "noindex" in html


def test_applying_on_the_page_leads_to_a_page_that_can_be_loaded_again(world: Api, tenant: Tenant) -> None:
    job = tenant.live.job(published=True)["slug"]
    email = address()
    for _ in range(2):
        sent = world.post(
            page(tenant, job), data={"email": email, "full_name": "Ada"}, follow_redirects=False
        )
        assert (sent.status_code, sent.headers["location"]) == (303, f"{page(tenant, job)}applied/")
        shown = world.get(sent.headers["location"])
        assert (shown.status_code, "Thank you for applying" in shown.text) == (200, True)
