"""What the service does by itself leaves rows of the audit log."""

import threading

import pytest
from sqlalchemy import text

import store
from tests.api import Tenant
from tests.trail import log
from workers import schedule

KINDS = {kind.name: kind for kind in schedule.KINDS}


def due(kind: str, statement: str, tenant: Tenant) -> None:
    """Let the moment of some rows come, and have done what is due."""
    with store.transaction() as session:
        session.execute(text(statement), {"id": tenant.organisation.id})
    schedule.turn(KINDS[kind], threading.Event())


def test_each_invitation_that_expires_leaves_a_row_of_its_mode(tenant: Tenant) -> None:
    slug = tenant.live.assessment()["slug"]
    for _ in range(3):
        tenant.live.invitation(slug)
    due(
        "invitations",
        "UPDATE invitations SET expires_at = now() - interval '1 second' WHERE organisation_id = :id",
        tenant,
    )
    rows = log(tenant.live, channel="system")
    assert [row["action"] for row in rows] == ["invitation.expired"] * 3
    assert {row["resource_type"] for row in rows} == {"invitation"}
    assert len({row["resource_id"] for row in rows}) == 3
    for row in rows:
        assert row["actor"] == {"type": "system", "id": None, "name": None}
        assert (row["outcome"], row["status_code"], row["method"], row["path"]) == (
            "success",
            None,
            None,
            None,
        )
    assert log(tenant.test) == []


@pytest.mark.parametrize(
    ("expires", "outcome"), [("NULL", ("success", None)), ("now()", ("error", "VALIDATION_ERROR"))]
)
def test_a_job_whose_moment_comes_leaves_what_became_of_it(
    tenant: Tenant, expires: str, outcome: tuple[str, str | None]
) -> None:
    job = tenant.live.job(scheduled_publish_at="2099-01-01T00:00:00Z")
    due(
        "job publications",
        f"UPDATE jobs SET scheduled_publish_at = now() - interval '1 second', expires_at = {expires}"
        " WHERE organisation_id = :id",
        tenant,
    )
    [row] = log(tenant.live, channel="system")
    assert (row["action"], row["resource_id"]) == ("job.published", job["id"])
    assert (row["outcome"], row["error_code"]) == outcome


def test_a_session_whose_time_is_up_is_finished_by_the_service_whoever_looks(tenant: Tenant) -> None:
    token = tenant.live.invitation(tenant.live.assessment(cases=1, time_limit_minutes=30)["slug"])[
        "invite_token"
    ]
    base = f"/api/v1/candidate/invites/{token}"
    place = tenant.http.post(f"{base}/start/").json()["cases"][0]["assessment_case_id"]
    with store.transaction() as session:
        session.execute(
            text("UPDATE sessions SET deadline_at = now() - interval '1 second' WHERE organisation_id = :id"),
            {"id": tenant.organisation.id},
        )
    late = tenant.http.put(f"{base}/answers/{place}/", json={"answer": None})
    assert late.status_code == 409
    rows = [(row["channel"], row["action"], row["outcome"]) for row in log(tenant.live)]
    assert ("system", "assessment.completed", "success") in rows
    assert ("candidate", "save_answer", "error") in rows
