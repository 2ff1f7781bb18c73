"""In which language people are spoken to: on pages, by mail, in what they are refused and in what they agree to."""

import re
from typing import Any

import pytest

from app.instance.settings import Settings
from tests.api import Api, Tenant, address
from tests.documents import Documented
from tests.handlers.test_applicants import link
from tests.handlers.test_careers import page
from tests.handlers.test_offers import draft
from tests.handlers.test_settings import last
from tests.hooks import nothing_else_is_due, wired
from tests.operations.rows import Row, ask
from tests.operations.table.every import each
from tests.rooms import prepare
from tests.test_catalogues import forms, messages, read, shown

__all__ = ["nothing_else_is_due", "wired"]

GREETINGS = {"en": "How it works", "de": "So geht es"}


@pytest.fixture
def world(tenant: Tenant) -> Api:
    """Anybody, without a key."""
    return Api(tenant.http, None, "")


def spoken(tenant: Tenant, path: str, accept: str = "") -> str:
    """The language of a page, which says of itself the same."""
    answer = tenant.http.get(path, headers={"Accept-Language": accept, "Accept": "text/html"})
    tag = str(answer.headers["content-language"])
    assert f'<html lang="{tag}"' in answer.text
    assert "Accept-Language" in answer.headers["vary"]
    return tag


def take(tenant: Tenant, own: str | None = None, **assessment: Any) -> str:
    slug = tenant.live.assessment(**assessment)["slug"]
    return f"/take/{tenant.live.invitation(slug, language=own)['invite_token']}"


# --- The order


@pytest.mark.parametrize(
    ("invitation", "assessment", "accept", "setting", "found"),
    [
        ("fr", "de", "es", "ar", "fr"),
        ("tlh", "de-AT", "es", "ar", "de-AT"),
        (None, "de", "es", "ar", "de"),
        (None, None, "tlh, es-MX;q=0.9, de;q=0.8", "ar", "es-MX"),
        (None, None, "tlh, en;q=0.5", "ar", "en"),
        (None, None, "", "ar", "ar"),
        (None, None, "*", "tlh", "en"),
        (None, None, "", None, "en"),
    ],
)
def test_a_take_page_follows_invitation_assessment_browser_and_organisation(
    tenant: Tenant,
    invitation: str | None,
    assessment: str | None,
    accept: str,
    setting: str | None,
    found: str,
) -> None:
    if setting:
        assert tenant.live.patch("/org/settings/", {"language": setting}).status_code == 200
    assert spoken(tenant, take(tenant, invitation, language=assessment), accept) == found


def test_a_jobs_page_its_applicants_page_and_its_offer_follow_the_job(tenant: Tenant, world: Api) -> None:
    job = tenant.live.job(published=True, language="de")["slug"]
    for path in (page(tenant, job), f"{page(tenant, job)}applied/"):
        assert spoken(tenant, path, "fr") == "de"
    token, application = link(tenant, world, job)
    assert spoken(tenant, f"/application/{token}/", "fr") == "de"
    offer = draft(tenant.live, application)
    sent = tenant.live.post(f"/offers/{offer['id']}/send/").json()
    path = "/" + sent["respond_url"].split("/", 3)[3]
    assert spoken(tenant, path, "fr") == "de"


def test_pages_of_nobodys_follow_the_browser(tenant: Tenant) -> None:
    for path in ("/", "/nowhere/", "/take/x/", "/offer/x/", "/join/x/"):
        assert spoken(tenant, path, "de-CH") == "de-CH", path
    for path in ("/docs/", "/docs/guides/", "/docs/errors/NOT_FOUND/", "/docs/api-changelog/"):
        assert spoken(tenant, path, "de") == "en", path


def test_a_page_says_what_its_catalogue_says(tenant: Tenant) -> None:
    path = take(tenant)
    for tag, words in GREETINGS.items():
        html = tenant.http.get(path, headers={"Accept-Language": tag}).text
        assert words in html
        assert ('id="tongue"' in html) == (tag != "en")


@pytest.mark.parametrize("language", ["", "d", "de_DE", "de-", "German!", "a" * 36, 7])
@pytest.mark.parametrize("kind", ["assessments", "jobs"])
def test_what_is_no_tag_is_refused(tenant: Tenant, kind: str, language: Any) -> None:
    answer = tenant.live.post(f"/{kind}/create/", {"title": "A", "language": language})
    assert answer.status_code == 400
    assert answer.json()["error"]["details"]["fields"][0]["pointer"] == "/language"


def test_a_language_is_kept_changed_copied_and_taken_away(tenant: Tenant) -> None:
    made = tenant.live.assessment(language="tlh")
    assert made["language"] == "tlh"
    slug = made["slug"]
    assert tenant.live.post(f"/assessments/{slug}/duplicate/", {}).json()["language"] == "tlh"
    assert tenant.live.patch(f"/assessments/{slug}/update/", {"language": None}).json()["language"] is None
    token = tenant.live.invitation(slug, language="de")["invite_token"]
    assert tenant.live.get(f"/invites/{token}/").json()["language"] == "de"
    assert tenant.live.patch(f"/invites/{token}/", {"language": "fr"}).json()["language"] == "fr"
    rows = {"candidates": [{"email": address()}], "language": "es"}
    [bulk] = tenant.live.post(f"/assessments/{slug}/invites/bulk/", rows).json()["invited"]
    assert tenant.live.get(f"/invites/{bulk['invite_token']}/").json()["language"] == "es"


# --- Mails


@pytest.mark.parametrize(
    ("invitation", "assessment", "setting", "words"),
    [
        ("de", "fr", "fr", "lädt Sie zum Test"),
        (None, "de-AT", "fr", "lädt Sie zum Test"),
        (None, None, "de", "lädt Sie zum Test"),
        ("tlh", None, "de", "lädt Sie zum Test"),
        ("tlh", "de", "fr", "lädt Sie zum Test"),
        (None, None, None, "invites you to the assessment"),
    ],
)
def test_an_invitations_mail_follows_it_the_assessment_and_the_setting(
    tenant: Tenant,
    wired: Settings,
    nothing_else_is_due: None,
    invitation: str | None,
    assessment: str | None,
    setting: str | None,
    words: str,
) -> None:
    if setting:
        tenant.live.patch("/org/settings/", {"language": setting})
    slug = tenant.live.assessment(language=assessment)["slug"]
    tenant.live.invitation(slug, language=invitation, send_email=True)
    message, plain, html = last(wired)
    assert words in plain
    assert words in html
    german = words.startswith("lädt")
    assert f'<html lang="{"de-AT" if assessment == "de-AT" else "de" if german else "en"}" dir="ltr"' in html
    assert str(message["Subject"]).startswith("Ihr Test" if german else "Your assessment")


def test_mails_of_a_job_follow_it_and_ones_own_words_are_those_of_its_language(
    tenant: Tenant, wired: Settings, nothing_else_is_due: None
) -> None:
    tenant.live.patch("/org/mail-templates/rejection/en/", {"body_text": "In English."})
    job = tenant.live.job(published=True, rejection_visibility="immediate", language="de-CH")["slug"]
    for own in ("", "Auf Deutsch."):
        tenant.live.patch("/org/mail-templates/rejection/de/", {"body_text": own})
        made = tenant.live.application(job)
        tenant.live.post(f"/applications/{made['id']}/reject/", {})
        _, plain, _ = last(wired)
        assert own or "Wir wünschen Ihnen alles Gute" in plain
        assert own in plain
        assert "In English." not in plain


def test_a_mail_in_arabic_is_written_to_the_left(
    tenant: Tenant, wired: Settings, nothing_else_is_due: None
) -> None:
    tenant.live.invitation(tenant.live.assessment(title="Backend")["slug"], language="ar", send_email=True)
    _, plain, html = last(wired)
    assert '<html lang="ar" dir="rtl">' in html
    assert "<bdi>Backend</bdi>" in html
    assert "invites" not in plain + html


@pytest.mark.parametrize("by_pipeline", [False, True])
@pytest.mark.parametrize(("assessment", "asked"), [(None, "de-CH"), ("fr", None)])
def test_who_applied_in_a_language_takes_the_assessment_in_it_unless_that_has_its_own(
    tenant: Tenant, by_pipeline: bool, assessment: str | None, asked: str | None
) -> None:
    linked = {"assessment_id": tenant.live.assessment(language=assessment)["id"]}
    if by_pipeline:
        stages = [{"stage_type": "assessment", **linked}]
        made = tenant.live.post("/pipelines/create/", {"title": "P", "stages": stages})
        linked = {"pipeline_id": made.json()["id"]}
    job = tenant.live.job(published=True, language="de-CH", **linked)
    made = tenant.live.application(job["slug"])
    tenant.live.post(f"/applications/{made['id']}/advance/", {})
    [invitation] = tenant.live.get("/invites/").json()["results"]
    assert invitation["language"] == asked


# --- What people are refused with, and agree to


def test_refusals_are_in_the_readers_language_for_people_alone(tenant: Tenant) -> None:
    german = {"Accept-Language": "de"}
    found = tenant.http.get("/api/v1/candidate/invites/x/", headers=german).json()["error"]
    assert found["message"] == "Das gibt es hier nicht."
    assert tenant.live.get("/invites/x/", headers=german).json()["error"]["message"].startswith("There is no")
    job = page(tenant, tenant.live.job(published=True)["slug"])
    html = tenant.http.post(
        job, data={"full_name": "", "email": "x"}, headers=german | {"Accept": "text/html"}
    )
    assert "Muss eine E-Mail-Adresse sein." in html.text
    assert "Dieses Feld wird benötigt." in html.text
    missing = tenant.http.get("/careers/nobody/", headers=german | {"Accept": "text/html"}).text
    assert "Hier ist nichts" in missing


def test_what_is_agreed_to_is_kept_in_the_words_that_were_read(tenant: Tenant) -> None:
    slug = tenant.live.assessment(webcam_recording_enabled=True)["slug"]
    token = tenant.live.invitation(slug)["invite_token"]
    url = f"/api/v1/candidate/invites/{token}/"
    told = tenant.http.get(url, headers={"Accept-Language": "de"}).json()["recording"]["notice"]
    assert told.startswith("Während Sie diesen Test machen")
    begun = tenant.http.post(f"{url}start/", json={"recording_accepted": ["webcam"], "language": "de"}).json()
    assert begun["recording"]["notice"] == told
    assert tenant.http.get(url).json()["recording"]["notice"] == told


def test_a_rooms_consent_is_kept_in_the_words_that_were_read(tenant: Tenant) -> None:
    room = prepare()
    told = tenant.http.get(room.url, headers={"Accept-Language": "de"}).json()["consent"]
    assert told["recorded"][0] == "was im Chat gesagt wird"
    tenant.http.post(f"{room.url}join/", json={"consent_accepted": True, "language": "de"})
    assert room.row().consent_text == told["text"]


# --- Every page


def is_page(operation: Documented) -> bool:
    return operation.method == "GET" and operation.shows


OF_DEVELOPERS = {"show_reference", "show_guides", "show_guide", "show_error_page", "show_api_changelog"}
# What a page quotes of what developers read says that it is in English.
QUOTED = re.compile(r'<(bdi|p|span)\b[^>]* lang="en".*?</\1>', re.DOTALL)
LEAST = 12  # characters of a text's longest part by which it is known


def english() -> dict[str, str]:
    """What would be left of English, by its texts: each text's longest part that no value stands in."""
    found = {}
    for one in messages(read("ar")):
        for text in forms(one.id):
            part = max(re.split(r"%\(\w+\)s|<[^>]+>", text), key=len).strip()
            if len(part) >= LEAST:
                found[part] = text
    return found


@each(is_page)
def test_every_page_is_in_arabic_for_who_reads_it(operation: Documented, row: Row, tenant: Tenant) -> None:
    row = next(one for one in (row, *row.also) if one.status != 303)
    answer = ask(tenant.live, operation, row, row.state(tenant.live), headers={"Accept-Language": "ar-EG"})
    if operation.id in OF_DEVELOPERS:
        assert '<html lang="en" dir="ltr">' in answer.text
        return
    assert '<html lang="ar-EG" dir="rtl">' in answer.text
    read_by_all = shown(QUOTED.sub("", answer.text))
    left = [part for part in english() if any(part in text for text in read_by_all)]
    assert left == []
