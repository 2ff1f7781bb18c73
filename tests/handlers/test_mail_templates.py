"""The mails that candidates get, in the organisation's own words."""

import itertools
from typing import Any

import pytest

from app.instance.settings import Settings
from rules.languages import CATALOGUES
from rules.mail_templates import KINDS
from tests.api import Api, Tenant
from tests.handlers.test_settings import last
from tests.hooks import nothing_else_is_due, wired
from tests.probes import faults, refusal

__all__ = ["nothing_else_is_due", "wired"]

PLACE = "/org/mail-templates/{}/en/"


def shown(api: Api, kind: str = "invitation") -> dict[str, Any]:
    return {name: one for name, one in api.get(PLACE.format(kind)).json().items() if name != "meta"}


def change(api: Api, kind: str = "invitation", **texts: str) -> dict[str, Any]:
    answer = api.patch(PLACE.format(kind), texts)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_every_kind_has_a_template_with_a_preview(tenant: Tenant) -> None:
    listed = tenant.live.get("/org/mail-templates/").json()["templates"]
    assert [(one["kind"], one["language"]) for one in listed] == list(itertools.product(KINDS, CATALOGUES))
    for one in listed:
        for form in ("text", "html"):
            assert "Ada Lovelace" in one["preview"][form]
        if one["language"] != "en":
            continue
        assert one == shown(tenant.live, one["kind"]) == shown(tenant.test, one["kind"])
        assert (one["language"], one["subject"], one["body_text"]) == ("en", "", "")
        assert one["placeholders"] == KINDS[one["kind"]].placeholders
        assert "Northwind Labs" in one["preview"]["subject"]


def test_ones_own_words_are_previewed_and_can_be_taken_back(tenant: Tenant, other: Tenant) -> None:
    before = shown(tenant.live)
    own = change(tenant.live, subject="A task, {{candidate_name}}", body_text="Go:\n{{invite_url}}\n\nBye")
    assert own["preview"]["subject"] == "A task, Ada Lovelace"
    assert own["preview"]["text"] == "Go:\nhttps://hiring.example.com/take/7Qd0n2\n\nBye\n"
    link = '<a href="https://hiring.example.com/take/7Qd0n2">https://hiring.example.com/take/7Qd0n2</a>'
    assert f"<p>Go:<br>{link}</p>" in own["preview"]["html"]
    assert "<p>Bye</p>" in own["preview"]["html"]
    assert shown(tenant.test) == own
    assert shown(other.live) == before
    assert shown(tenant.live, "reminder")["subject"] == ""
    half = change(tenant.live, body_text="")
    assert (half["subject"], half["preview"]["text"]) == (own["subject"], before["preview"]["text"])
    assert change(tenant.live, subject="") == before


def test_what_a_text_may_not_name_is_refused_by_name(tenant: Tenant) -> None:
    found = faults(
        tenant.live.patch(PLACE.format("invitation"), {"subject": "{{x}}", "body_text": "Hi {{y}}"})
    )
    assert "'x'" in found["/subject"]
    assert "/body_text" in found
    assert (
        "invite_url" in faults(tenant.live.patch(PLACE.format("reminder"), {"body_text": "Hi"}))["/body_text"]
    )
    assert list(faults(tenant.live.patch(PLACE.format("reminder"), {"subject": "a\nb"}))) == ["/subject"]
    assert shown(tenant.live)["subject"] == ""


@pytest.mark.parametrize("place", ["completion/en", "invitation/xx", "layout/en"])
def test_another_kind_or_language_is_not_there(tenant: Tenant, place: str) -> None:
    for answer in (
        tenant.live.get(f"/org/mail-templates/{place}/"),
        tenant.live.patch(f"/org/mail-templates/{place}/", {"subject": "x"}),
    ):
        refusal(answer, 404, "NOT_FOUND")


def test_mails_go_out_in_the_organisations_words(
    tenant: Tenant, other: Tenant, wired: Settings, nothing_else_is_due: None
) -> None:
    api = tenant.live
    change(api, subject="For {{ candidate_name }}\u2028Bcc", body_text="{{candidate_name}}: {{invite_url}}")
    person = {"name": "Zoë <b>{{ invite_url }}</b>", "send_email": True}
    made = api.invitation(api.assessment()["slug"], **person)
    message, text, html = last(wired)
    assert message["Subject"] == "For Zoë <b>{{ invite_url }}</b> Bcc"
    assert text.splitlines() == [f"Zoë <b>{{{{ invite_url }}}}</b>: {made['invite_url']}"]
    assert "Zoë &lt;b&gt;{{ invite_url }}&lt;/b&gt;: <a href=" in html
    assert f'href="{made["invite_url"]}"' in html
    other.live.invitation(other.live.assessment()["slug"], **person)
    assert last(wired)[0]["Subject"].startswith("Your assessment for")
    api.post(f"/invites/{made['invite_token']}/remind/")
    assert last(wired)[0]["Subject"].startswith("Reminder")


def test_a_text_is_no_program(tenant: Tenant) -> None:
    own = change(tenant.live, "rejection", body_text="{% for x in y %}{{ job_title }}{# no #}<script>")
    assert own["preview"]["text"] == "{% for x in y %}Senior backend engineer{# no #}<script>\n"
    assert "&lt;script&gt;" in own["preview"]["html"]


def test_a_job_has_its_own_words_for_those_it_rejects(
    tenant: Tenant, wired: Settings, nothing_else_is_due: None
) -> None:
    change(tenant.live, "rejection", subject="From {{organisation_name}}", body_text="Of all jobs.")
    for text in ("Dear {{candidate_name}},\n\nnot as {{job_title}}.", ""):
        job = tenant.live.job(published=True, rejection_visibility="immediate", rejection_text=text)
        made = tenant.live.application(job["slug"])
        tenant.live.post(f"/applications/{made['id']}/reject/", {})
        sent, plain, html = last(wired)
        assert sent["Subject"] == f"From {tenant.organisation.name}"
        assert ("Dear Ada Lovelace," in plain, "Of all jobs." in plain) == (bool(text), not text)
        assert (f"<p>not as {job['title']}.</p>" in html) == bool(text)
