"""What applicants and candidates agree to, and what is kept of where they came from."""

import hashlib
from typing import Any

import pytest
from sqlalchemy import select

import store
from rules.sources import LONGEST
from store.assessing.sessions import CandidateSession
from tests.api import Api, Tenant, address
from tests.operations import states
from tests.probes import faults

NOTICE = "<p>We keep your data for six months.</p>"
URL = "https://northwind.example/privacy"
WORDS = {"utm_source": "newsletter", "utm_medium": "email", "utm_campaign": "spring", "ref": "ada"}


@pytest.fixture
def world(tenant: Tenant) -> Api:
    """Somebody without a key."""
    return Api(tenant.http, None, "")


def change(owner: Tenant, **values: Any) -> None:
    answer = owner.live.patch("/org/settings/", values)
    assert answer.status_code == 200, answer.text


def asking(owner: Tenant) -> None:
    change(owner, consent_required=True, privacy_html=NOTICE, privacy_url=URL)


def places(owner: Tenant) -> tuple[str, str]:
    """Where a program applies, and where a person does."""
    slug, job = owner.organisation.slug, owner.live.job(published=True)["slug"]
    return f"/api/v1/careers/{slug}/jobs/{job}/", f"/careers/{slug}/{job}/"


def person() -> dict[str, Any]:
    return {"email": address(), "full_name": "Ada Lovelace"}


def made(owner: Tenant) -> list[dict[str, Any]]:
    found = owner.live.get("/applications/").json()["results"]
    return [owner.live.get(f"/applications/{one['id']}/").json() for one in found]


# --- The setting


@pytest.mark.parametrize("change_", [{"consent_required": True}, {"privacy_url": None, "privacy_html": ""}])
def test_nobody_is_asked_to_agree_to_nothing(tenant: Tenant, change_: dict[str, Any]) -> None:
    if "consent_required" not in change_:
        asking(tenant)
    before = tenant.live.get("/org/settings/").json()
    answer = tenant.live.patch("/org/settings/", change_)
    assert set(faults(answer)) == {"/consent_required"}
    assert tenant.live.get("/org/settings/").json() == before
    change(tenant, consent_required=False, privacy_url=None, privacy_html="")


# --- Applying


def test_a_program_applies_with_consent_and_is_told_where_it_lacks(
    world: Api, tenant: Tenant, other: Tenant
) -> None:
    asking(tenant)
    place, _ = places(tenant)
    shown = world.get(place).json()["privacy"]
    assert shown == {"consent_required": True, "privacy_html": NOTICE, "privacy_url": URL}
    for given in ({}, {"consent_accepted": False}):
        answer = world.post(f"{place}apply/", person() | given)
        assert set(faults(answer)) == {"/consent_accepted"}
    assert made(tenant) == []
    answer = world.post(f"{place}apply/", person() | {"consent_accepted": True})
    assert answer.status_code == 201
    [one] = made(tenant)
    text = hashlib.sha256(f"{NOTICE}\n{URL}".encode()).hexdigest()
    assert one["consent"] == {"accepted_at": one["consent"]["accepted_at"], "text_sha256": text}
    assert one["consent"]["accepted_at"] <= one["submitted_at"]
    place, _ = places(other)  # who does not ask
    assert world.post(f"{place}apply/", person()).status_code == 201
    assert [one["consent"] for one in made(other)] == [None]


def test_all_that_is_wrong_is_said_at_once(world: Api, tenant: Tenant) -> None:
    asking(tenant)
    place, _ = places(tenant)
    answer = world.post(f"{place}apply/", person() | {"phone": "1" * 41})
    assert "/phone" in faults(answer)
    job = tenant.live.job(published=True, cv_required=True)["slug"]
    place = f"/api/v1/careers/{tenant.organisation.slug}/jobs/{job}/"
    assert set(faults(world.post(f"{place}apply/", person()))) == {"/consent_accepted", "/cv"}


def test_a_person_ticks_a_box_that_names_the_notice(world: Api, tenant: Tenant) -> None:
    asking(tenant)
    _, place = places(tenant)
    page = world.get(place).text
    assert 'name="consent_accepted"' in page
    assert f'href="{URL}"' in page
    assert NOTICE in page
    form = person()
    refused = world.post(place, data=form)
    assert refused.status_code == 400
    assert 'id="consent_accepted-fault"' in refused.text
    assert form["email"] in refused.text
    assert world.post(place, data=form | {"consent_accepted": "true"}).status_code == 200
    [one] = made(tenant)
    assert one["consent"]["text_sha256"]


def test_without_the_setting_there_is_no_box(world: Api, tenant: Tenant) -> None:
    change(tenant, privacy_html=NOTICE)
    _, place = places(tenant)
    assert "consent_accepted" not in world.get(place).text
    assert world.post(place, data=person()).status_code == 200


def test_who_applies_for_others_by_the_api_is_not_asked(tenant: Tenant) -> None:
    asking(tenant)
    one = tenant.live.application(tenant.live.job(published=True)["slug"], address())
    assert (one["consent"], one["source_detail"]) == (None, None)


# --- Starting an assessment


def consent_of(token: str) -> tuple[Any, Any]:
    with store.transaction() as session:
        mine = select(CandidateSession).join(CandidateSession.invitation)
        one = session.scalars(
            mine.where(CandidateSession.invitation.property.mapper.class_.token == token)
        ).one()
        return one.consent_at, one.consent_text_hash


def test_an_assessment_starts_with_consent(tenant: Tenant) -> None:
    asking(tenant)
    candidate = states.candidate(tenant.live)
    token = states.an_invitation(tenant.live)["token"]
    place = f"/invites/{token}/"
    assert candidate.get(place).json()["privacy"]["consent_required"] is True
    assert set(faults(candidate.post(f"{place}start/"))) == {"/consent_accepted"}
    assert candidate.get(place).json()["status"] == "pending"
    started = candidate.post(f"{place}start/", {"consent_accepted": True})
    assert (started.status_code, started.json()["status"]) == (200, "started")
    assert "privacy" not in started.json()
    moment, text = consent_of(token)
    assert text == hashlib.sha256(f"{NOTICE}\n{URL}".encode()).hexdigest()
    change(tenant, privacy_html="<p>Something else.</p>")
    again = candidate.post(f"{place}start/")  # a reload: nothing is asked twice, and nothing changes
    assert again.status_code == 200
    assert consent_of(token) == (moment, text)
    candidate.post(f"{place}submit/")
    assert tenant.live.get(f"{place}result/").json()["consent"]["text_sha256"] == text


def test_an_assessment_of_who_does_not_ask_starts_without_a_body(tenant: Tenant) -> None:
    token = states.an_invitation(tenant.live)["token"]
    assert states.candidate(tenant.live).post(f"/invites/{token}/start/").status_code == 200
    assert consent_of(token) == (None, None)


# --- Where they came from


def test_what_the_link_says_goes_with_the_application(world: Api, tenant: Tenant) -> None:
    change(tenant, source_tracking=True)
    _, place = places(tenant)
    career = f"/careers/{tenant.organisation.slug}/"
    listed = world.get(career, params={**WORDS, "other": "word"}).text
    query = "?utm_source=newsletter&amp;utm_medium=email&amp;utm_campaign=spring&amp;ref=ada"
    assert f'{place.removeprefix(career)}{query}"' in listed
    page = world.get(place, params=WORDS).text
    for word, text in WORDS.items():
        assert f'<input type="hidden" name="{word}" value="{text}">' in page
    refused = world.post(place, data=WORDS | {"email": ""})
    assert 'name="utm_source" value="newsletter"' in refused.text
    world.post(place, data=WORDS | person())
    [one] = made(tenant)
    assert one["source_detail"] == WORDS


def test_nothing_is_kept_where_nobody_wants_to_know(world: Api, tenant: Tenant) -> None:
    api, place = places(tenant)
    assert "newsletter" not in world.get(place, params=WORDS).text
    world.post(place, data=WORDS | person())
    world.post(f"{api}apply/", WORDS | person())
    assert [one["source_detail"] for one in made(tenant)] == [None, None]


def test_a_program_may_say_where_its_applicant_came_from(world: Api, tenant: Tenant) -> None:
    change(tenant, source_tracking=True)
    api, _ = places(tenant)
    assert set(faults(world.post(f"{api}apply/", person() | {"ref": "x" * (LONGEST + 1)}))) == {"/ref"}
    world.post(f"{api}apply/", person() | {"ref": " a \n friend "})
    world.post(f"{api}apply/", person() | {"ref": "  "})
    assert sorted(str(one["source_detail"]) for one in made(tenant)) == ["None", "{'ref': 'a friend'}"]


def test_a_link_that_says_too_much_opens_the_page_all_the_same(world: Api, tenant: Tenant) -> None:
    change(tenant, source_tracking=True)
    _, place = places(tenant)
    page = world.get(place, params=[("ref", "x" * 999), ("ref", "y"), ("utm_source", '"><script>')])
    assert page.status_code == 200
    assert f'value="{"x" * LONGEST}"' in page.text
    assert "<script>" not in page.text
    world.post(place, data=person() | {"ref": "x" * 999})
    assert [one["source_detail"] for one in made(tenant)] == [{"ref": "x" * LONGEST}]


def test_erasing_takes_it_out_and_leaves_that_there_was_consent(world: Api, tenant: Tenant) -> None:
    asking(tenant)
    change(tenant, source_tracking=True)
    api, _ = places(tenant)
    world.post(f"{api}apply/", person() | WORDS | {"consent_accepted": True})
    [one] = made(tenant)
    exported = tenant.live.get(f"/candidates/{one['candidate_id']}/export/").json()["applications"][0]
    assert (exported["source_detail"], exported["consent_text_hash"]) == (
        WORDS,
        one["consent"]["text_sha256"],
    )
    tenant.live.post(f"/candidates/{one['candidate_id']}/erase/")
    [left] = made(tenant)
    assert (left["source_detail"], left["consent"]) == (None, one["consent"])
