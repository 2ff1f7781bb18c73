"""Usage day by day, and the health of an integration."""

import json
import logging
import math
import statistics
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy import text

import store
from app.http.records.notes import NOTES
from gateways import sandbox
from gateways.languages import LANGUAGES
from rules.caller import Caller
from rules.clock import now
from tests.api import Tenant, address
from tests.hooks import new_endpoint
from tests.trail import log


def usage(tenant: Tenant, **query: str) -> dict[str, Any]:
    NOTES.flush()
    answer = tenant.live.get("/org/usage/", params=query)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def health(tenant: Tenant) -> dict[str, Any]:
    NOTES.flush()
    return dict(tenant.live.get("/org/developer/health/").json())


def move(table: str, column: str, tenant: Tenant, days: int, *, livemode: bool = True) -> None:
    with store.transaction() as session:
        session.execute(
            text(
                f"UPDATE {table} SET {column} = {column} - make_interval(days => :days)"
                " WHERE organisation_id = :id AND livemode = :livemode"
            ),
            {"days": days, "id": tenant.organisation.id, "livemode": livemode},
        )


def played(tenant: Tenant, slug: str, *, finished: bool) -> None:
    token = tenant.live.invitation(slug)["invite_token"]
    assert tenant.http.post(f"/api/v1/candidate/invites/{token}/start/").status_code == 200
    if finished:
        assert tenant.http.post(f"/api/v1/candidate/invites/{token}/submit/").status_code == 200


def test_usage_counts_what_there_is_day_by_day(tenant: Tenant) -> None:
    first, second = (tenant.live.assessment(title=title) for title in ("First", "Second"))
    played(tenant, first["slug"], finished=True)
    for table, column in (
        ("invitations", "created_at"),
        ("sessions", "started_at"),
        ("sessions", "completed_at"),
    ):
        move(table, column, tenant, 3)
    played(tenant, first["slug"], finished=True)
    played(tenant, second["slug"], finished=False)
    tenant.live.invitation(first["slug"])
    tenant.test.invitation(tenant.test.assessment()["slug"])
    found = usage(tenant)
    today = now().date()
    assert found["range"] == {"start": str(today - timedelta(days=29)), "end": str(today)}
    assert found["livemode"] is True
    assert found["total_sessions"] == 3
    assert [line["date"] for line in found["series"]] == [
        str(today - timedelta(days=day)) for day in range(29, -1, -1)
    ]
    counted = {
        line["date"]: (line["invitations"], line["sessions"], line["completions"]) for line in found["series"]
    }
    assert counted.pop(str(today)) == (3, 2, 1)
    assert counted.pop(str(today - timedelta(days=3))) == (1, 1, 1)
    assert set(counted.values()) == {(0, 0, 0)}
    assert found["by_assessment"] == [
        {"slug": first["slug"], "title": "First", "invitations": 3, "completions": 2},
        {"slug": second["slug"], "title": "Second", "invitations": 1, "completions": 0},
    ]
    test = tenant.test.get("/org/usage/").json()
    assert (test["livemode"], test["series"][-1]["invitations"], len(test["by_assessment"])) == (False, 1, 1)


def test_usage_counts_requests_by_method_and_mode(tenant: Tenant, other: Tenant) -> None:
    before = usage(tenant)["series"][-1]
    for _ in range(3):
        tenant.live.get("/org/")
        tenant.test.get("/org/")
        other.live.get("/org/")
    tenant.live.get("/assessments/nothing/")
    tenant.live.post("/jobs/create/", {"title": "Engineer"})
    after = usage(tenant)["series"][-1]
    # The first question about usage is a read too.
    assert after["api_reads"] - before["api_reads"] == 4 + 1
    assert after["api_writes"] - before["api_writes"] == 1


def test_the_span_of_usage_is_what_was_asked_for(tenant: Tenant) -> None:
    found = usage(tenant, start="2026-01-30", end="2026-02-02")
    assert [line["date"] for line in found["series"]] == [
        "2026-01-30",
        "2026-01-31",
        "2026-02-01",
        "2026-02-02",
    ]
    assert len(usage(tenant, end="2026-02-02")["series"]) == 30
    assert len(usage(tenant, start=str(now().date()))["series"]) == 1
    assert len(usage(tenant, start="2026-01-01", end="2026-06-29")["series"]) == 180


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"start": "2026-02-02", "end": "2026-02-01"}, "after"),
        ({"start": "2026-01-01", "end": "2026-06-30"}, "180"),
        ({"start": "2999-01-01"}, "after"),
        ({"start": "yesterday"}, "date"),
        ({"start": "0001-01-01", "end": "9999-12-31"}, "180"),
    ],
)
def test_a_span_that_is_none_is_refused(tenant: Tenant, query: dict[str, str], words: str) -> None:
    answer = tenant.live.get("/org/usage/", params=query)
    assert answer.status_code == 400
    assert words in answer.json()["error"]["details"]["fields"][0]["message"]


@pytest.mark.parametrize("end", ["0001-01-01", "9999-12-31"])
def test_the_first_and_the_last_day_there_is_are_days(tenant: Tenant, end: str) -> None:
    answer = tenant.live.get("/org/usage/", params={"start": end, "end": end})
    assert answer.status_code == 200
    assert [line["date"] for line in answer.json()["series"]] == [end]
    assert tenant.live.get("/org/usage/", params={"end": end}).status_code == 200


def test_a_day_is_one_of_utc(tenant: Tenant) -> None:
    tenant.live.invitation(tenant.live.assessment()["slug"])
    for moment, day in (
        (datetime(2026, 3, 1, 0, 0, tzinfo=UTC), date(2026, 3, 1)),
        (datetime(2026, 3, 1, 23, 59, 59, 999_999, tzinfo=UTC), date(2026, 3, 1)),
        (datetime(2026, 3, 2, 0, 0, tzinfo=UTC), date(2026, 3, 2)),
    ):
        with store.transaction() as session:
            session.execute(
                text("UPDATE invitations SET created_at = :moment WHERE organisation_id = :id"),
                {"moment": moment, "id": tenant.organisation.id},
            )
        found = usage(tenant, start="2026-02-28", end="2026-03-03")
        assert [line["date"] for line in found["series"] if line["invitations"]] == [str(day)]


def test_health_is_what_the_access_log_says(tenant: Tenant, caplog: pytest.LogCaptureFixture) -> None:
    health(tenant)
    with caplog.at_level(logging.INFO, "hiring.requests"):
        caplog.clear()
        for number in range(40):
            tenant.live.get("/org/")
            if number % 4 == 0:
                tenant.live.post("/jobs/create/", {"title": "Engineer"})
                tenant.live.get("/assessments/nothing/")
        lines = [record for record in caplog.records if record.name == "hiring.requests"]
        found = health(tenant)
    taken = sorted(vars(line)["duration_ms"] for line in lines)
    assert found["sla"]["requests"] == len(taken) + 1  # and the first question
    assert found["sla"]["error_rate"] == 0
    for part, name in ((0.5, "p50_ms"), (0.95, "p95_ms")):
        # The log has a tenth of a millisecond; the question before is one of them too.
        around = taken[max(0, math.ceil(part * len(taken)) - 3) : math.ceil(part * len(taken)) + 3]
        assert min(around) * 0.99 - 0.1 <= found["sla"][name] <= max(around) * 1.01 + 0.1
    assert statistics.mean(taken) > 0
    errors = {error["code"]: error["count"] for error in found["errors"]}
    assert errors == {"NOT_FOUND": 10}
    assert json.dumps(found["errors"][0]["last_seen"])


def test_health_counts_faults_of_the_service_alone_as_its_errors(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    health(tenant)

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr("store.hiring.jobs.LIST.page", fail)
        answer = tenant.http.get(
            "/api/v1/public/jobs/", headers={"Authorization": f"Bearer {tenant.live.key}"}
        )
        assert answer.status_code == 500
    for _ in range(2):
        tenant.live.get("/assessments/nothing/")
    found = health(tenant)
    assert found["sla"]["requests"] == 4
    assert found["sla"]["error_rate"] == 0.25
    assert {one["code"]: one["count"] for one in found["errors"]} == {"INTERNAL_ERROR": 1, "NOT_FOUND": 2}


def test_health_tells_of_endpoints_and_what_waits(tenant: Tenant) -> None:
    caller = Caller(tenant.organisation.id, livemode=True, plan_name="growth")
    new_endpoint(caller, "https://example.com/one")
    id, _ = new_endpoint(caller, "https://example.com/two")
    assert health(tenant)["webhooks"] == {
        "endpoints": 2, "disabled": 0, "pending": 0, "oldest_pending_seconds": 0,
    }  # fmt: skip
    with store.transaction() as session:
        session.execute(
            text(
                "UPDATE webhook_endpoints SET is_active = false, disabled_reason = 'It failed.' WHERE id = :id"
            ),
            {"id": id},
        )
    found = health(tenant)
    assert found["webhooks"]["disabled"] == 1
    assert "WEBHOOK_DISABLED" in {alert["code"] for alert in found["alerts"]}


def test_health_warns_of_a_month_that_is_nearly_spent(tenant: Tenant) -> None:
    def codes() -> set[str]:
        return {alert["code"] for alert in health(tenant)["alerts"]}

    tenant.live.invitation(tenant.live.assessment()["slug"])
    assert "INVITE_QUOTA_NEARLY_SPENT" not in codes()
    with store.transaction() as session:
        session.execute(
            text("UPDATE invite_usage SET used = 800 WHERE organisation_id = :id"),
            {"id": tenant.organisation.id},
        )
    assert "INVITE_QUOTA_NEARLY_SPENT" in codes()


def test_health_warns_of_languages_that_active_assessments_need_and_the_machine_lacks(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "missing", lambda: ("go", "java"))

    def alerts() -> list[str]:
        return [one["message"] for one in health(tenant)["alerts"] if one["code"] == "PROGRAMS_NOT_RUN"]

    assert health(tenant)["languages"] == sorted(LANGUAGES.keys() - {"go", "java"})
    slug = tenant.live.assessment(active=False)["slug"]
    for language in ("go", "python"):
        case = {"title": "Sum", "case_type": "coding", "language": language, "test_cases": [{"weight": 1}]}
        id = tenant.live.post("/cases/create/", case).json()["id"]
        assert tenant.live.post(
            f"/assessments/{slug}/cases/attach/", {"cases": [{"case_id": id, "source": "org"}]}
        ).is_success
    assert alerts() == []
    assert tenant.live.patch(f"/assessments/{slug}/update/", {"status": "active"}).is_success
    assert alerts() == ["Programs in go wait for a person: this machine cannot run them."]
    assert tenant.test.get("/org/developer/health/").json()["alerts"] == []


def test_what_cannot_be_written_while_the_database_is_away_is_written_later(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    health(tenant)
    tenant.live.get("/assessments/nothing/")

    def fail(*_: object) -> None:
        raise psycopg.OperationalError

    with monkeypatch.context() as patch:
        patch.setattr("app.http.records.notes.counts.add", fail)
        NOTES.flush()
    tenant.live.get("/assessments/nothing/")
    assert {one["code"]: one["count"] for one in health(tenant)["errors"]} == {"NOT_FOUND": 2}


def test_an_address_of_nobody_counts_for_nobody(tenant: Tenant) -> None:
    before = health(tenant)["sla"]["requests"]
    tenant.http.get("/api/v1/public/org/", headers={"Authorization": f"Bearer ct_live_{'x' * 43}"})
    tenant.http.get(f"/api/v1/candidate/invites/{address()}/")
    assert health(tenant)["sla"]["requests"] == before + 1


def test_what_cannot_be_written_of_one_organisation_keeps_no_other_back(
    tenant: Tenant, caplog: pytest.LogCaptureFixture
) -> None:
    assert tenant.live.get("/assessments/no-such/").status_code == 404
    nobody = uuid4()
    with NOTES._lock:
        hour = next(hour for place, hour in NOTES._hours.items() if place[0] == tenant.organisation.id)
        NOTES._hours[nobody, True, int(now().timestamp() // 3600)] = hour
    NOTES.flush()
    assert f"of organisation {nobody} is left out" in caplog.text
    assert f"of organisation {tenant.organisation.id} is left out" not in caplog.text
    assert nobody not in {place[0] for place in NOTES._hours}
    assert ("get_assessment", "error") in [(row["action"], row["outcome"]) for row in log(tenant.live)]
