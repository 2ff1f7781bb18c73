"""The pages of an organisation's settings: what is changed there, by whom, and what is drawn."""

import re
from uuid import UUID

import pytest

from schemas.area_settings import SECTIONS, charts
from store.auditing import verifying
from tests import api
from tests.api import Tenant
from tests.handlers.test_area_pages import EVIL, Person
from tests.operations import states
from tests.operations.states import LOGO
from tests.probes import refusal
from tests.signing import a_member, area
from tests.store.test_audit_chain import execute
from tests.trail import log, seal

PAGES = [one.path for one in SECTIONS.values() if "{" not in one.path]


@pytest.fixture
def me(tenant: Tenant) -> Person:
    return Person(tenant, "admin")


def test_the_organisation_is_renamed_on_the_page(tenant: Tenant, me: Person) -> None:
    done = me.act("/area/settings/", "update", name=EVIL, notify_on_candidate_completion="true")
    assert done.headers["Location"] == "/area/settings/?done=update"
    page = me.get("/area/settings/?done=update").text
    assert "It is saved." in page
    assert "<script>alert" not in page
    shown = tenant.live.get("/org/").json()
    assert (shown["name"], shown["notify_on_candidate_completion"]) == (EVIL, True)
    me.act("/area/settings/", "update", name="Northwind")
    assert tenant.live.get("/org/").json()["notify_on_candidate_completion"] is False


def test_a_colour_that_cannot_be_seen_is_refused_at_its_field(tenant: Tenant, me: Person) -> None:
    fields = {"language": "de", "colour": "#ffffff", "welcome_html": EVIL}
    wrong = me.act("/area/settings/branding/", "update", **fields)
    assert wrong.status_code == 400
    assert 'id="update-colour" aria-invalid="true"' in wrong.text
    assert tenant.live.get("/org/settings/").json()["language"] == "en"
    assert me.act("/area/settings/branding/", "update", **fields | {"colour": "#0b6e4f"}).status_code == 303
    page = me.get("/area/settings/branding/").text
    assert 'fill="#0b6e4f"' in page
    assert "<script>alert" not in page
    shown = tenant.live.get("/org/settings/").json()
    assert (shown["language"], shown["colour"], shown["reply_to"]) == ("de", "#0b6e4f", None)


def test_a_logo_is_kept_and_removed_on_the_page(tenant: Tenant, me: Person) -> None:
    at = "/area/settings/branding/"

    def send(content: bytes, token: str = me.token) -> int:
        files = {"logo": ("logo.png", content, "image/png")}
        sent = me.api.request(
            "POST", f"{at}logo/", data={"csrf_token": token}, files=files, follow_redirects=False
        )
        return sent.status_code

    assert send(b"no picture") == 400
    assert send(LOGO, token="of another session") == 403
    assert tenant.live.get("/org/settings/").json()["logo_url"] is None
    assert send(LOGO) == 303
    assert tenant.live.get("/org/settings/").json()["logo_url"]
    assert me.act(at, "remove_logo").status_code == 303
    assert tenant.live.get("/org/settings/").json()["logo_url"] is None


def test_privacy_and_retention_are_changed_apart(tenant: Tenant, me: Person) -> None:
    at = "/area/settings/privacy/"
    assert me.act(at, "keep", candidates="365", recordings="30", events="7").status_code == 303
    fields = {"privacy_html": "<p>We keep it.</p>", "consent_required": "true", "privacy_url": ""}
    assert me.act(at, "update", **fields).status_code == 303
    shown = tenant.live.get("/org/settings/").json()
    assert shown["retention_days"] == {"candidates": 365, "recordings": 30, "events": 7}
    assert (shown["consent_required"], shown["receipt_mail"]) == (True, False)
    wrong = me.act(at, "keep", candidates="3", recordings="30", events="7")
    assert (wrong.status_code, 'id="keep-candidates" aria-invalid="true"' in wrong.text) == (400, True)


def test_a_mail_is_written_and_previewed_on_the_page(tenant: Tenant, me: Person) -> None:
    at = "/area/settings/mail/invitation/en/"
    assert at in me.get("/area/settings/mail/").text
    words = {"subject": "Come and show it", "body_text": "Dear {{candidate_name}}, {{invite_url}}"}
    assert me.act(at, "update", **words).status_code == 303
    page = me.get(at).text
    assert "Come and show it" in page
    assert "Dear Ada Lovelace" in page
    wrong = me.act(at, "update", subject="", body_text="{{password}}")
    assert (wrong.status_code, 'id="update-body_text" aria-invalid="true"' in wrong.text) == (400, True)
    assert me.get("/area/settings/mail/nothing/en/").status_code == 404


def test_a_squad_is_made_filled_renamed_emptied_and_deleted_on_the_page(tenant: Tenant, me: Person) -> None:
    other = a_member(tenant, "member")
    assert me.act("/area/settings/squads/", "create", name=EVIL[:100]).status_code == 303
    id = tenant.live.get("/org/squads/").json()["results"][0]["id"]
    at = f"/area/settings/squads/{id}/"
    assert f'href="{at}"' in me.get("/area/settings/squads/").text
    user = str(other.user_id)
    assert me.act(at, "add", user_id=user).status_code == 303
    page = me.get(at).text
    assert other.email in page
    assert "<script>alert" not in page
    assert me.act(at, "rename", name="Platform").status_code == 303
    assert me.act(at, "remove", user_id=user).status_code == 303
    assert tenant.live.get(f"/org/squads/{id}/members/").json()["results"] == []
    done = me.act(at, "delete")
    assert done.headers["Location"] == "/area/settings/squads/?done=deleted"
    assert "The squad is deleted." in me.get(done.headers["Location"]).text


def test_a_squad_with_an_open_job_is_not_deleted_on_the_page(tenant: Tenant, me: Person) -> None:
    squad = tenant.live.squad()["id"]
    tenant.live.job(published=True, team_id=squad)
    assert me.act(f"/area/settings/squads/{squad}/", "delete").status_code == 409
    assert tenant.live.get(f"/org/squads/{squad}/").status_code == 200


def test_squads_of_another_organisation_are_not_there(other: Tenant, me: Person) -> None:
    theirs = other.live.squad()["id"]
    assert me.get(f"/area/settings/squads/{theirs}/").status_code == 404
    assert me.act(f"/area/settings/squads/{theirs}/", "delete").status_code == 404
    assert other.live.get(f"/org/squads/{theirs}/").status_code == 200


def test_a_plan_without_squads_says_so(http: api.TestClient) -> None:
    page = Person(api.tenant(http, plan="starter")).get("/area/settings/squads/")
    assert (page.status_code, "PLAN_REQUIRED" in page.text) == (403, True)


@pytest.mark.parametrize("at", PAGES)
def test_who_may_read_settings_alone_finds_no_form_and_changes_nothing(tenant: Tenant, at: str) -> None:
    person = Person(tenant, "developer")
    page = person.get(at)
    assert page.status_code == 200
    actions = set(re.findall(r'name="action" value="(\w+)"', page.text))
    assert actions <= {"mode", "sign_out"}
    section = next(one for one in SECTIONS.values() if one.path == at)
    for action in section.actions:
        assert person.act(at, action, name="Theirs").status_code == 403


def test_what_is_used_is_drawn_as_bars_that_fit_their_picture() -> None:
    day = {"date": "2026-11-01", "sessions": 3, "completions": 2, "invitations": 0}
    days = [day | {"api_reads": reads, "api_writes": 5} for reads in (0, 10, 20)]
    drawn = charts({"usage": {"series": days}})["charts"]
    assert drawn["requests"]["most"] == 25
    for bar in drawn["requests"]["bars"]:
        assert 0 <= bar["x"] <= bar["x"] + bar["width"] <= 720
        assert 0 <= bar["y"] <= bar["y"] + bar["height"] <= 160.1
    assert drawn["invitations"] == {"most": 0, "bars": []}
    assert charts({})["charts"]["sessions"] == {"most": 0, "bars": []}


def test_a_range_of_days_is_shown_with_its_charts_and_their_table(me: Person) -> None:
    page = me.get("/area/settings/usage/?start=2026-11-01&end=2026-11-03").text
    assert page.count("<svg") == 3
    assert 'value="2026-11-03"' in page
    assert me.get("/area/settings/usage/?start=2026-11-03&end=2026-11-01").status_code == 400


def test_the_audit_log_is_filtered_and_paged_with_its_filters(tenant: Tenant) -> None:
    me = Person(tenant, livemode=True)
    for _ in range(25):
        tenant.live.job()
    tenant.live.get("/jobs/nothing/")
    seal()
    page = me.get("/area/settings/audit/?action=create_job&since=2026-01-01").text
    assert "get_job" not in page
    [onward] = re.findall(r'href="\?([^"]+)"', page)
    assert "action=create_job" in onward
    assert "create_job" in me.get(f"/area/settings/audit/?{onward.replace('&amp;', '&')}").text
    assert me.get("/area/settings/audit/?since=yesterday").status_code == 400


def test_the_audit_log_is_downloaded_as_it_is_filtered(tenant: Tenant, other: Tenant) -> None:
    me = Person(tenant, livemode=True)
    for one in (tenant, other):
        one.live.job()
        one.live.get("/jobs/nothing/")
    seal()
    file = me.get("/area/settings/audit/export/?export_format=csv&action=create_job&search=")
    assert file.headers["content-type"].startswith("text/csv")
    assert "attachment" in file.headers["Content-Disposition"]
    assert len(file.text.strip().splitlines()) == 2
    assert "create_job" in file.text
    assert me.get("/area/settings/audit/export/?since=yesterday").status_code == 400
    assert Person(tenant, "reviewer").get("/area/settings/audit/export/").status_code == 403


def verified(tenant: Tenant) -> dict[str, object]:
    answer = area(tenant.member("owner")).post("/audit-log/verify/")
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_an_audit_log_that_was_left_alone_is_intact(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    assert verified(tenant)["is_intact"]
    for _ in range(5):
        tenant.live.job()
    seal()
    found = verified(tenant)
    assert (found["is_intact"], found["from_number"], found["faults"]) == (True, 1, [])
    monkeypatch.setattr(verifying, "NEWEST", 3)
    seal()
    found = verified(tenant)
    assert (found["is_intact"], found["rows"]) == (True, 3)
    assert int(str(found["from_number"])) > 1


@pytest.mark.parametrize("deed", [
    "UPDATE audit_rows SET action = 'nothing' WHERE organisation_id = :owner AND number = 4",
    "DELETE FROM audit_rows WHERE organisation_id = :owner AND number = 4",
    "DELETE FROM audit_rows WHERE organisation_id = :owner AND number >= 4",
    "UPDATE audit_chains SET hash = 'x' WHERE organisation_id = :owner",
    "UPDATE audit_chains SET seal = 'x' WHERE organisation_id = :owner",
    "DELETE FROM audit_chains WHERE organisation_id = :owner",
    "UPDATE audit_rows SET number = 1000 WHERE organisation_id = :owner AND number = 5",
])  # fmt: skip
def test_what_was_done_to_an_audit_log_is_named(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, deed: str
) -> None:
    for _ in range(5):
        tenant.live.job()
    seal()
    owner = UUID(str(tenant.organisation.id))
    execute(deed, owner=owner)
    for most in (10_000, 2):
        monkeypatch.setattr(verifying, "NEWEST", most)
        if most == 2 and "number = 4" in deed and "UPDATE" in deed:
            continue  # older than what is looked at
        found = verified(tenant)
        assert not found["is_intact"], deed
        assert found["faults"]


def test_nobody_verifies_who_may_not_change_the_organisation(tenant: Tenant) -> None:
    refusal(area(tenant.member("developer")).post("/audit-log/verify/"), 403, "INSUFFICIENT_SCOPE")


def test_what_was_found_stands_on_the_page(tenant: Tenant, me: Person) -> None:
    tenant.live.job()
    seal()
    shown = me.act("/area/settings/audit/", "verify")
    assert (shown.status_code, "All is as it was sealed" in shown.text) == (200, True)


def test_what_a_pages_form_is_refused_leaves_the_row_of_the_operation(tenant: Tenant) -> None:
    me = Person(tenant, livemode=True)
    me.act("/area/keys/", "create", name="", livemode="true")
    [told] = log(tenant.live, action="create_key")
    assert (told["outcome"], told["status_code"], told["error_code"]) == ("error", 400, "VALIDATION_ERROR")
    assert (told["channel"], told["actor"]["type"]) == ("area", "member")


def test_the_area_speaks_the_organisations_language_where_the_browser_asks_for_none(
    tenant: Tenant, me: Person
) -> None:
    tenant.live.patch("/org/settings/", {"language": "fr"})
    assert '<html lang="fr"' in me.get("/area/").text
    me.api.headers["Accept-Language"] = "xx"
    assert '<html lang="fr"' in me.get("/area/").text
    me.api.headers["Accept-Language"] = "de"
    assert '<html lang="de"' in me.get("/area/").text


def test_what_a_member_writes_of_somebody_carries_who_they_are(tenant: Tenant) -> None:
    me = tenant.member("recruiter", livemode=True)
    user = area(me).get("/me/").json()["user_id"]
    person = states.a_candidate(tenant.live)["candidate_id"]
    note = me.post(f"/candidates/{person}/notes/", {"body": "Starts in May."}).json()
    assert (note["author"], note["author_id"]) == ("member", user)
    card = {"criteria": [{"name": "SQL", "score": 4}], "total": "4"}
    assert me.post(f"/candidates/{person}/scorecards/", card).json()["author_id"] == user
    enrollment = states.an_enrollment(tenant.live)["enrollment_id"]
    note = me.post(f"/pipelines/enrollments/{enrollment}/notes/", {"body": "Starts in May."}).json()
    assert (note["author"], note["author_id"]) == ("member", user)
    key = tenant.live.post(f"/candidates/{person}/notes/", {"body": "By a key."}).json()
    assert (key["author"], key["author_id"]) == ("public_api", None)


def test_a_deliverys_headers_are_shown(tenant: Tenant) -> None:
    made = states.a_delivery(tenant.live)
    page = Person(tenant, livemode=True).get(f"/area/webhooks/{made['id']}/").text
    assert "<dt>webhook-id</dt><dd>evt_" in page
    assert "Hiring-Webhooks/1.1" in page
