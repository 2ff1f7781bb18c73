"""The audit log: what leaves a row, what a row says, and how it is asked for."""

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text

import store
from rules.caller import Caller
from rules.clock import now
from schemas import audit
from store.auditing import lists
from store.database import listing
from store.database.engine import Reading
from tests.api import Api, Tenant, address
from tests.trail import log, seal


def test_a_change_by_a_key_leaves_one_row_that_says_who_did_what(tenant: Tenant) -> None:
    assessment = tenant.live.assessment()
    before = len(log(tenant.live))
    answer = tenant.live.post(f"/assessments/{assessment['slug']}/invites/", {"email": address()})
    rows = log(tenant.live)
    assert len(rows) == before + 1
    row = rows[0]
    assert row["action"] == "create_invitation"
    assert row["actor"]["type"] == "key"
    assert row["actor"]["name"] == "live"
    assert UUID(row["actor"]["id"])
    assert (row["channel"], row["method"], row["outcome"]) == ("public_api", "POST", "success")
    assert (row["status_code"], row["error_code"]) == (201, None)
    assert row["path"] == f"/api/v1/public/assessments/{assessment['slug']}/invites/"
    assert row["request_id"] == answer.headers["X-Request-Id"]
    assert row["ip"]
    with store.transaction() as session:
        [(id,)] = session.execute(
            text("SELECT id FROM invitations WHERE token = :token"), {"token": answer.json()["invite_token"]}
        ).all()
    assert (row["resource_type"], row["resource_id"]) == ("invitation", str(id))


def test_rows_are_numbered_without_gaps_in_each_organisation(tenant: Tenant, other: Tenant) -> None:
    for _ in range(3):
        tenant.live.assessment()
        other.test.assessment()
    numbers = [row["number"] for row in log(tenant.live)]
    assert numbers == list(range(len(numbers), 0, -1))
    assert [row["number"] for row in log(other.test)] == numbers


def test_a_read_leaves_no_row(tenant: Tenant) -> None:
    tenant.live.get("/org/")
    tenant.live.get("/assessments/")
    assert log(tenant.live) == []


def test_a_refusal_is_kept_with_its_code_and_none_of_its_text(tenant: Tenant) -> None:
    tenant.live.get("/assessments/zoe@example.com/")
    tenant.live.patch("/assessments/zoe@example.com/update/", {"title": "Zoe"})
    tenant.key(scopes=["jobs:read"]).post("/assessments/create/", {"title": "Secret"})
    rows = log(tenant.live, outcome="error")
    assert [(row["action"], row["status_code"], row["error_code"]) for row in reversed(rows)] == [
        ("get_assessment", 404, "NOT_FOUND"),
        ("update_assessment", 404, "NOT_FOUND"),
        ("create_assessment", 403, "INSUFFICIENT_SCOPE"),
    ]
    assert "zoe" not in str(rows).lower()
    assert rows[1]["path"] == "/api/v1/public/assessments/…/update/"


def requests(api: Api, **query: object) -> list[dict[str, Any]]:
    seal()
    answer = api.get("/org/requests/", params=query)
    assert answer.status_code == 200, answer.text
    return list(answer.json()["results"])


def test_requests_are_found_by_how_they_were_answered(tenant: Tenant) -> None:
    slug = tenant.live.assessment()["slug"]
    refused = tenant.live.post(f"/assessments/{slug}/invites/", {})
    invited = tenant.live.post(f"/assessments/{slug}/invites/", {"email": address()})
    tenant.live.get("/org/")
    newest, before, *_ = requests(tenant.live)
    for row, answer, code in ((newest, invited, None), (before, refused, "VALIDATION_ERROR")):
        assert (row["id"], row["status_code"]) == (answer.headers["X-Request-Id"], answer.status_code)
        assert (row["operation"], row["error_code"]) == ("create_invitation", code)
        assert (row["key"]["name"], row["method"]) == ("live", "POST")
        assert row["ip"]
        assert 0 <= row["duration_ms"] < 60_000
    assert newest["path"] == f"/api/v1/public/assessments/{slug}/invites/"
    assert requests(tenant.live, status=201, operation="create_invitation") == [newest]
    assert requests(tenant.live, code="VALIDATION_ERROR") == [before]
    assert before in requests(tenant.live, key_id=before["key"]["id"], until=newest["occurred_at"])
    assert requests(tenant.live, key_id=str(uuid4())) == requests(tenant.live, status=418) == []
    assert requests(tenant.live, since=newest["occurred_at"]) == [newest]


def test_requests_are_those_of_keys_of_one_mode_in_the_last_week(tenant: Tenant, other: Tenant) -> None:
    token = tenant.live.invitation(tenant.live.assessment(cases=1)["slug"])["invite_token"]
    tenant.http.post(f"/api/v1/candidate/invites/{token}/start/")
    tenant.test.assessment()
    other.live.assessment()
    mine = requests(tenant.live)
    assert "create_invitation" in {row["operation"] for row in mine}
    assert "start_session" not in {row["operation"] for row in mine}
    assert {row["key"]["name"] for row in mine} == {"live"}
    assert {row["key"]["name"] for row in requests(tenant.test)} == {"test"}
    assert not {row["id"] for row in mine} & {row["id"] for row in requests(other.live)}
    older = UUID(int=int((now() - timedelta(days=7, seconds=1)).timestamp() * 1000) << 80)
    with store.transaction() as session:
        session.execute(
            text("UPDATE audit_rows SET id = :id WHERE request_id = :request"),
            {"id": older, "request": mine[0]["id"]},
        )
    assert requests(tenant.live) == mine[1:]


def test_a_revoked_key_is_known_by_its_rows(tenant: Tenant) -> None:
    expired = tenant.key(expires_at=now())
    assert expired.get("/org/").status_code == 401
    [row] = log(tenant.live)
    assert (row["error_code"], row["actor"]["name"]) == ("EXPIRED_API_KEY", "extra")


def test_a_failed_change_leaves_no_row_of_success(tenant: Tenant) -> None:
    slug = tenant.live.assessment(active=False)["slug"]
    refused = tenant.live.post(f"/assessments/{slug}/invites/", {"email": address()})
    assert refused.status_code == 400
    rows = [row for row in log(tenant.live) if row["action"] == "create_invitation"]
    assert [(row["outcome"], row["error_code"]) for row in rows] == [("error", "ASSESSMENT_NOT_ACTIVE")]


def test_what_a_candidate_does_is_about_their_invitation_and_hides_the_token(tenant: Tenant) -> None:
    token = tenant.live.invitation(tenant.live.assessment(cases=1)["slug"])["invite_token"]
    base = f"/api/v1/candidate/invites/{token}"
    case = tenant.http.post(f"{base}/start/").json()["cases"][0]["assessment_case_id"]
    tenant.http.put(f"{base}/answers/{case}/", json={"answer": None})
    tenant.http.post(f"{base}/violations/", json={"violation_type": "focus_loss"})
    tenant.http.post(f"{base}/submit/")
    tenant.http.post(f"{base}/submit/")
    rows = log(tenant.live, channel="candidate", outcome="success")
    assert [row["action"] for row in reversed(rows)] == ["start_session", "submit_session", "submit_session"]
    for row in rows:
        assert row["actor"] == {"type": "candidate", "id": None, "name": None}
        assert (row["resource_type"], row["ip"]) == ("invitation", None)
        assert "…" in row["path"]
    assert len({row["resource_id"] for row in rows}) == 1
    assert token not in str(rows)


def test_a_candidates_refusal_is_their_organisations(tenant: Tenant, other: Tenant) -> None:
    token = tenant.live.invitation(tenant.live.assessment()["slug"])["invite_token"]
    tenant.http.post(f"/api/v1/candidate/invites/{token}/submit/")
    tenant.http.post("/api/v1/candidate/invites/nobodys-token/submit/")
    rows = log(tenant.live, channel="candidate")
    assert [(row["action"], row["outcome"]) for row in rows] == [("submit_session", "error")]
    assert log(other.live) == []
    assert log(tenant.test) == []


def test_a_repeated_request_is_one_change(tenant: Tenant) -> None:
    named = {"Idempotency-Key": "once"}
    for _ in range(2):
        tenant.live.post("/jobs/create/", {"title": "Engineer"}, headers=named)
    assert [row["action"] for row in log(tenant.live)] == ["create_job"]


def test_an_application_by_each_way_is_one_row(tenant: Tenant) -> None:
    job = tenant.live.job(published=True)["slug"]
    slug = tenant.organisation.slug
    person = {"email": (None, address()), "full_name": (None, "Ada Lovelace")}
    tenant.http.post(f"/api/v1/careers/{slug}/jobs/{job}/apply/", files=person)
    person["email"] = (None, address())
    tenant.http.post(f"/careers/{slug}/{job}/", files=person)
    tenant.live.application(job)
    tenant.live.post(
        "/applications/create/",
        {"job_slug": job, "email": address(), "full_name": "Ada Lovelace"},
        headers={"Idempotency-Key": "apply"},
    )
    rows = [row for row in log(tenant.live) if row["resource_type"] == "application"]
    assert [row["action"] for row in reversed(rows)] == [
        "apply_for_job",
        "apply_on_page",
        "create_application",
        "create_application",
    ]
    assert len({row["resource_id"] for row in rows}) == 4


def test_a_page_with_faults_is_one_refusal(tenant: Tenant) -> None:
    job = tenant.live.job(published=True)["slug"]
    answer = tenant.http.post(
        f"/careers/{tenant.organisation.slug}/{job}/", files={"email": (None, "nonsense")}
    )
    assert answer.status_code == 400
    rows = [row for row in log(tenant.live) if row["action"] == "apply_on_page"]
    assert [(row["outcome"], row["status_code"]) for row in rows] == [("error", 400)]


def test_a_key_sees_its_mode_and_no_other_organisation(tenant: Tenant, other: Tenant) -> None:
    tenant.live.assessment()
    tenant.test.job()
    assert {row["action"] for row in log(tenant.test)} == {"create_job"}
    assert "create_job" not in {row["action"] for row in log(tenant.live)}
    assert log(other.live) == []


def test_every_filter_keeps_what_it_names(tenant: Tenant) -> None:
    tenant.live.job()
    moment = now().isoformat()
    job = tenant.live.job()
    tenant.live.get("/assessments/nothing/")
    rows = log(tenant.live)
    assert len(rows) == 3
    assert log(tenant.live, action="create_job") == rows[1:]
    assert log(tenant.live, outcome="error") == rows[:1]
    assert log(tenant.live, channel="public_api") == rows
    assert log(tenant.live, channel="cli") == []
    assert log(tenant.live, since=moment) == rows[:2]
    assert log(tenant.live, until=moment) == rows[2:]
    assert log(tenant.live, since=rows[1]["occurred_at"], until=rows[0]["occurred_at"]) == rows[1:2]
    assert log(tenant.live, search=job["id"][4:20].upper()) == rows[1:2]
    assert log(tenant.live, search=rows[0]["request_id"]) == rows[:1]
    assert log(tenant.live, search="create_jo", outcome="error") == []
    assert log(tenant.live, action="nothing", search="%") == []


@pytest.mark.parametrize(
    "query", [{"channel": "mail"}, {"outcome": "maybe"}, {"since": "today"}, {"action": ""}]
)
def test_a_filter_that_means_nothing_is_refused(tenant: Tenant, query: dict[str, str]) -> None:
    assert tenant.live.get("/org/audit-log/", params=query).status_code == 400


def test_pages_of_the_log_are_the_log(tenant: Tenant) -> None:
    for _ in range(5):
        tenant.live.job()
    seal()
    first = tenant.live.get("/org/audit-log/", params={"page_size": 2}).json()
    found, url = list(first["results"]), first["next"]
    while url:
        page = tenant.live.get(url.partition("/api/v1/public")[2]).json()
        found, url = found + page["results"], page["next"]
    assert found == log(tenant.live)


def test_the_export_has_the_rows_of_the_list(tenant: Tenant) -> None:
    tenant.live.job()
    tenant.live.get("/assessments/nothing/")
    rows = log(tenant.live)
    answer = tenant.live.get("/org/audit-log/export/", params={"export_format": "json"})
    assert answer.json() == rows
    assert answer.headers["Content-Disposition"].startswith("attachment; filename=")
    answer = tenant.live.get("/org/audit-log/export/", params={"outcome": "error"})
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    [line] = csv.DictReader(io.StringIO(answer.text))
    assert (line["id"], line["error_code"], line["actor_name"]) == (rows[0]["id"], "NOT_FOUND", "live")


@pytest.mark.parametrize("at_once", [1, 1000])
@pytest.mark.parametrize("jobs", [0, 1, 4])
def test_an_export_in_parts_is_the_whole_of_it(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, at_once: int, jobs: int
) -> None:
    for _ in range(jobs):
        tenant.live.job()
    rows = log(tenant.live)
    monkeypatch.setattr(listing, "AT_ONCE", at_once)
    assert tenant.live.get("/org/audit-log/export/", params={"export_format": "json"}).json() == rows
    answer = tenant.live.get("/org/audit-log/export/")
    assert "Content-Length" not in answer.headers
    read = list(csv.DictReader(io.StringIO(answer.text)))
    assert [line["id"] for line in read] == [row["id"] for row in rows]


def test_nothing_is_held_from_one_part_of_an_export_to_the_next(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        tenant.live.job()
    seal()
    monkeypatch.setattr(listing, "AT_ONCE", 1)
    held: list[str] = []

    @contextmanager
    def readings() -> Iterator[Reading]:
        with store.reading() as reading:
            held.append("begun")
            yield reading
        held.append("ended")

    caller = Caller(tenant.organisation.id, livemode=True, plan_name="enterprise")
    for number, _ in enumerate(audit.stream(lists.batches(readings, caller), "csv").parts, start=1):
        assert held == ["begun", "ended"] * number
    assert len(held) == 6


def test_a_formula_in_a_cell_is_text(tenant: Tenant) -> None:
    with store.transaction() as session:
        session.execute(
            text("UPDATE api_keys SET name = '=1+1' WHERE organisation_id = :id AND livemode"),
            {"id": tenant.organisation.id},
        )
    tenant.live.job()
    seal()
    text_ = tenant.live.get("/org/audit-log/export/").text
    assert ",'=1+1," in text_


def test_refusals_are_bounded_for_an_organisation_and_minute(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.http.records.notes.REFUSALS_A_MINUTE", 3)
    monkeypatch.setattr("app.http.records.notes.time.time", lambda: 1_000_000_000.0)
    for _ in range(5):
        tenant.live.get("/assessments/nothing/")
    assert len(log(tenant.live)) == 3


def test_what_waits_is_not_shown_before_it_is_sealed(tenant: Tenant) -> None:
    tenant.live.job()
    assert tenant.live.get("/org/audit-log/").json()["results"] == []
    seal()
    assert len(tenant.live.get("/org/audit-log/").json()["results"]) == 1
