"""Pipelines, and candidates on their way through them."""

from datetime import timedelta
from typing import Any

from sqlalchemy import text, update

import store
from rules.clock import now
from store.advancing.enrollments import Enrollment
from tests.api import Api, Tenant, address
from tests.operations import states
from workers import schedule

MANUAL, INTERVIEW = {"stage_type": "manual_review"}, {"stage_type": "interview"}


def measured(api: Api, *cases: dict[str, Any], override: str | None = None) -> dict[str, Any]:
    """A stage with an assessment of its own; one question about a number unless told otherwise."""
    slug = states.an_assessment(api, *(cases or (states.NUMBER,)))["slug"]
    return {"stage_type": "assessment", "assessment_slug": slug, "pass_score_override": override}


def pipeline(api: Api, *stages: dict[str, Any]) -> str:
    """Make a pipeline of these stages and return its slug."""
    return str(api.pipeline(*stages)["slug"])


def archive(api: Api, slug: str) -> None:
    """Archive a pipeline."""
    assert api.patch(f"/pipelines/{slug}/", {"archived": True}).status_code == 200


def enroll(api: Api, slug: str, email: str | None = None, **fields: Any) -> dict[str, Any]:
    """Enroll somebody new."""
    made = api.post(f"/pipelines/{slug}/enroll/", {"email": email or address(), "name": "Ada", **fields})
    assert made.status_code == 201, made.text
    return dict(made.json())


def shown(api: Api, id: str) -> dict[str, Any]:
    return {
        name: one for name, one in api.get(f"/pipelines/enrollments/{id}/").json().items() if name != "meta"
    }


def act(api: Api, id: str, action: str, **body: Any) -> Any:
    return api.post(f"/pipelines/enrollments/{id}/{action}/", *([body] if body else []))


def sit(api: Api, token: str, answer: Any = 42) -> None:
    """Take an assessment of one question, and hand it in."""
    side, place = states.candidate(api), f"/invites/{token}"
    [case] = states.post(side, f"{place}/start/")["cases"]
    if answer is not None:
        side.put(f"{place}/answers/{case['assessment_case_id']}/", {"answer": answer})
    states.post(side, f"{place}/submit/")


def told(api: Api, *names: str) -> list[dict[str, Any]]:
    """What happened of these kinds, in order; everything about pipelines and invitations unless told otherwise."""
    found = []
    for one in api.get("/events/", params={"page_size": 100}).json()["results"]:
        if one["type"].startswith(names or ("pipeline.", "invitation.")):
            found.append(one)
    return found


def use(tenant: Tenant, used: int) -> None:
    """Say how many of the month's invitations are used."""
    with store.transaction() as session:
        session.execute(
            text(
                "INSERT INTO invite_usage VALUES (:id, :month, :used) "
                "ON CONFLICT (organisation_id, month) DO UPDATE SET used = :used"
            ),
            {"id": tenant.organisation.id, "month": now().date().replace(day=1), "used": used},
        )


def due(id: str) -> None:
    """Let the moment come at which an enrollment's stage is tried again."""
    past = {"retry_at": now() - timedelta(seconds=1), "updated_at": Enrollment.updated_at}
    with store.transaction() as session:
        session.execute(update(Enrollment).where(Enrollment.id == id).values(**past))
    [kind] = [one for one in schedule.KINDS if one.name == "enrollments"]
    while kind.batch()[1]:
        pass
