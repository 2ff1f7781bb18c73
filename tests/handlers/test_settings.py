"""Settings, the logo, and the pages and mails that follow them."""

from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any
from uuid import UUID

import pytest

from app.instance.settings import Settings
from schemas.mails import Own
from tests.api import Api, Tenant
from tests.hooks import nothing_else_is_due, wired
from tests.operations import states
from tests.operations.states import LOGO, candidate, post
from tests.probes import faults, refusal
from workers import actors, mail
from workers.turns import Turns

__all__ = ["nothing_else_is_due", "wired"]

OWN = {
    "language": "en",
    "reply_to": None,
    "help_contact": "",
    "logo_url": None,
    "colour": None,
    "welcome_html": "",
    "closing_html": "",
    "privacy_html": "",
    "privacy_url": None,
    "receipt_mail": False,
    "consent_required": False,
    "source_tracking": False,
    "retention_days": {"candidates": None, "recordings": 90, "events": 30},
}


def shown(api: Api) -> dict[str, Any]:
    return {name: one for name, one in api.get("/org/settings/").json().items() if name != "meta"}


def change(api: Api, **values: Any) -> dict[str, Any]:
    answer = api.patch("/org/settings/", values)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def page(api: Api, path: str) -> str:
    answer = api.http.get(path)
    assert answer.status_code == 200, answer.text
    return answer.text


def test_without_settings_everything_is_the_services_own(tenant: Tenant) -> None:
    assert shown(tenant.live) == shown(tenant.test) == OWN
    assert change(tenant.live) == OWN


def test_only_what_is_sent_changes_in_both_modes(tenant: Tenant, other: Tenant) -> None:
    first = change(tenant.live, help_contact="jobs@example.com", colour="#1f5eff")
    assert first == OWN | {"help_contact": "jobs@example.com", "colour": "#1f5eff"}
    second = change(tenant.test, colour=None, reply_to="Jobs@EXAMPLE.com")
    assert second == OWN | {"help_contact": "jobs@example.com", "reply_to": "Jobs@example.com"}
    assert shown(tenant.live) == second
    assert shown(other.live) == OWN


@pytest.mark.parametrize(
    ("values", "pointer"),
    [
        ({"colour": "#ffff00"}, "/colour"),
        ({"colour": "blue"}, "/colour"),
        ({"reply_to": "nobody"}, "/reply_to"),
        ({"reply_to": "a@example.com\r\nBcc: b@example.com"}, "/reply_to"),
        ({"privacy_url": "javascript:alert(1)"}, "/privacy_url"),
        ({"privacy_url": "ftp://example.com/"}, "/privacy_url"),
        ({"privacy_url": "https://example.com/ x"}, "/privacy_url"),
        ({"language": "German!"}, "/language"),
        ({"logo_url": "https://example.com/logo.png"}, "/logo_url"),
        ({"receipt_mail": "yes"}, "/receipt_mail"),
        ({"consent_required": True}, "/consent_required"),
    ],
)
def test_what_cannot_be_set_is_refused_in_its_place(
    tenant: Tenant, values: dict[str, Any], pointer: str
) -> None:
    assert pointer in faults(tenant.live.patch("/org/settings/", values))
    assert shown(tenant.live) == OWN


def test_html_is_made_safe(tenant: Tenant) -> None:
    hostile = '<p onclick="x()">Hello<script>x()</script><img src=x onerror=x()></p>'
    kept = change(tenant.live, welcome_html=hostile, closing_html=hostile, privacy_html=hostile)
    assert {kept[name] for name in ("welcome_html", "closing_html", "privacy_html")} == {"<p>Hello</p>"}


def test_html_that_grows_too_long_when_it_is_made_safe_is_refused(tenant: Tenant) -> None:
    assert len(change(tenant.live, welcome_html="x" * 20_000)["welcome_html"]) == 20_000
    found = faults(tenant.live.patch("/org/settings/", {"welcome_html": "&" * 20_000, "closing_html": "x"}))
    assert list(found) == ["/welcome_html"]
    assert shown(tenant.live)["closing_html"] == ""


# --- The logo


def upload(api: Api, content: bytes, name: str = "logo.png") -> Any:
    return api.post("/org/settings/logo/", files={"logo": (name, content)})


def test_a_logo_is_seen_by_everybody_as_what_it_is(tenant: Tenant, other: Tenant) -> None:
    slug = tenant.organisation.slug
    path = f"/brand/{slug}/logo/"
    refusal(candidate(tenant.live).http.get(path), 404, "NOT_FOUND")
    answer = upload(tenant.test, LOGO, "logo.svg")
    assert answer.status_code == 200
    assert answer.json()["logo_url"] == f"http://testserver{path}"
    seen = tenant.http.get(path)
    assert (seen.content, seen.headers["Content-Type"]) == (LOGO, "image/png")
    assert seen.headers["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in seen.headers["Content-Security-Policy"]
    assert tenant.http.get(path, headers={"If-None-Match": seen.headers["ETag"]}).status_code == 304
    upload(tenant.live, LOGO + b"2")
    assert tenant.http.get(path).content == LOGO + b"2"
    refusal(tenant.http.get(f"/brand/{other.organisation.slug}/logo/"), 404, "NOT_FOUND")
    assert tenant.live.delete("/org/settings/logo/").json()["logo_url"] is None
    refusal(tenant.http.get(path), 404, "NOT_FOUND")
    assert tenant.live.delete("/org/settings/logo/").status_code == 200


@pytest.mark.parametrize(
    "content", [b"", b"<svg/>", b"GIF89a", b"<!doctype html>", LOGO.ljust(512 * 1024 + 1)]
)
def test_what_is_no_logo_is_refused(tenant: Tenant, content: bytes) -> None:
    assert list(faults(upload(tenant.live, content, "logo.png"))) == ["/logo"]
    assert shown(tenant.live)["logo_url"] is None


def test_a_logo_is_a_part_of_a_multipart_body(tenant: Tenant) -> None:
    refusal(tenant.live.post("/org/settings/logo/", {"logo": "iVBORw0KGgo="}), 415, "UNSUPPORTED_MEDIA_TYPE")
    for parts in ({"logo": (None, "iVBORw0KGgo=")}, {"logo": ("", b"")}, {"picture": ("logo.png", LOGO)}):
        assert "/logo" in faults(tenant.live.post("/org/settings/logo/", files=parts)), parts


# --- Pages


WORDS = {
    "help_contact": "Ask <Ada> & co",
    "colour": "#1f5eff",
    "welcome_html": "<p>Nice to meet you.</p>",
    "closing_html": "<p>We answer within a week.</p>",
    "privacy_html": "<p>Kept for six months.</p>",
    "privacy_url": "https://northwind.example/privacy",
}


def test_pages_show_the_organisations_own(tenant: Tenant) -> None:
    api = tenant.live
    job = states.an_open_job(api)
    invited = states.an_invitation(api)
    career = f"/careers/{job['org_slug']}/"
    pages = (career, f"{career}{job['job_slug']}/", f"/take/{invited['token']}")
    before = [page(api, path) for path in pages]
    assert not [one for one in before if "/brand/" in one or "Questions?" in one]
    change(api, **WORDS)
    upload(api, LOGO)
    for path in pages:
        seen = page(api, path)
        assert "Ask &lt;Ada&gt; &amp; co" in seen
        assert 'href="https://northwind.example/privacy"' in seen
        assert f'src="/brand/{job["org_slug"]}/logo/"' in seen
        assert f'href="/brand/{job["org_slug"]}/style.css"' in seen
        assert (WORDS["welcome_html"] in seen) == (path != pages[1])
        assert (WORDS["privacy_html"] in seen) == (path != career)
    post(candidate(api), f"/invites/{invited['token']}/start/")
    post(candidate(api), f"/invites/{invited['token']}/submit/")
    assert WORDS["closing_html"] in page(api, pages[2])
    applied = api.http.post(
        pages[1],
        data={"email": "ada@example.com", "full_name": "Ada", "answers.years": "5"},
        files={"cv": ("cv.txt", states.CV)},
    )
    assert WORDS["closing_html"] in applied.text


def test_the_colour_is_a_stylesheet(tenant: Tenant) -> None:
    path = f"/brand/{tenant.organisation.slug}/style.css"
    assert tenant.http.get(path).text == ""
    change(tenant.live, colour="#1F5EFF")
    seen = tenant.http.get(path)
    assert seen.headers["Content-Type"] == "text/css; charset=utf-8"
    assert "background: #1F5EFF" in seen.text
    assert "color: #ffffff" in seen.text
    assert tenant.http.get("/brand/nobody/style.css").status_code == 404


# --- Mails


def mails(wired: Settings, *, livemode: bool = True) -> list[EmailMessage]:
    """Send what waits; return every mail of a mode."""
    actors.work(Turns("mail", threads=2))
    folder = wired.mail_dir if livemode else wired.mail_dir / "test"
    return [message_from_bytes(path.read_bytes(), policy=default) for path in sorted(folder.glob("*.eml"))]


def form(message: EmailMessage, kind: str) -> str:
    body = message.get_body((kind,))
    assert body is not None
    return str(body.get_content())


def last(wired: Settings, **options: bool) -> tuple[EmailMessage, str, str]:
    message = mails(wired, **options)[-1]
    return message, form(message, "plain"), form(message, "html")


@pytest.mark.parametrize("mode", ["live", "test"])
def test_mails_to_candidates_follow_the_settings_when_they_are_sent(
    tenant: Tenant, wired: Settings, nothing_else_is_due: None, mode: str
) -> None:
    api: Api = getattr(tenant, mode)
    api.invitation(api.assessment()["slug"], send_email=True)
    change(tenant.live, reply_to="jobs@example.com", help_contact="Ask <Ada>", colour="#c2410c")
    message, text, html = last(wired, livemode=mode == "live")
    assert message["Reply-To"] == "jobs@example.com"
    assert "Questions? Ask <Ada>" in text
    assert "Questions? Ask &lt;Ada&gt;" in html
    assert "background:#c2410c;color:#ffffff" in html


def test_mails_without_settings_are_the_services_own(
    tenant: Tenant, wired: Settings, nothing_else_is_due: None
) -> None:
    tenant.live.invitation(tenant.live.assessment()["slug"], send_email=True)
    message, text, html = last(wired)
    assert message["Reply-To"] is None
    assert "Questions?" not in text + html


def test_mails_to_members_are_the_services_own(tenant: Tenant, wired: Settings) -> None:
    assert mail._own(UUID(int=0), {"template": "completion"})[0] == Own()
    assert mail._own(UUID(int=0), {"template": "invitation"})[0] == Own()


@pytest.mark.parametrize("on", [True, False])
def test_whoever_applies_is_told_that_it_arrived_if_the_organisation_wants_to(
    tenant: Tenant, wired: Settings, nothing_else_is_due: None, on: bool
) -> None:
    change(tenant.live, receipt_mail=on)
    job = tenant.live.job(published=True, title="Zoologist")["slug"]
    before = len(mails(wired))
    for _ in range(2):  # the second time answers the application that exists
        tenant.live.post(
            "/applications/create/", {"job_slug": job, "email": "ada@example.com", "full_name": "Ada"}
        )
    sent = mails(wired)[before:]
    assert [one["To"] for one in sent] == (["Ada <ada@example.com>"] if on else [])
    for one in sent:
        assert one["Subject"] == f"Your application to {tenant.organisation.name}: Zoologist"
        assert "has arrived" in form(one, "plain")
        assert "has arrived" in form(one, "html")
