"""Interviews in every state, and what was told and mailed of them."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import select, text

import schemas.interviews
import store
from rules.clock import iso, now
from store.accounts import organisations
from store.interviewing import moves, rooms
from store.outbox import OutboxItem
from tests.api import Api, Tenant, address
from tests.operations import states
from tests.pipelines import INTERVIEW, enroll, pipeline
from workers import schedule


def later(**delta: int) -> str:
    return iso(now() + timedelta(**delta or {"days": 3}))


def make(api: Api, **fields: Any) -> dict[str, Any]:
    """Prepare a room."""
    made = api.post("/interviews/create/", {"title": "Technical interview", **fields})
    assert made.status_code == 201, made.text
    return dict(made.json())


def staged(api: Api, *after: Any, **template: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Enroll somebody whose first stage is an interview; return the enrollment and its room."""
    stage: dict[str, Any] = dict(INTERVIEW)
    if template:
        stage["interview_template_id"] = states.post(api, "/interviews/templates/create/", template)["id"]
    made = enroll(api, pipeline(api, stage, *after))
    [room] = api.get("/interviews/", params={"q": made["email"]}).json()["results"]
    return made, room


def shown(api: Api, id: str) -> dict[str, Any]:
    return {name: one for name, one in api.get(f"/interviews/{id}/").json().items() if name != "meta"}


def act(api: Api, id: str, action: str, **body: Any) -> Any:
    return api.post(f"/interviews/{id}/{action}/", *([body] if body else []))


def moved(id: str, *names: str) -> None:
    """Let the room's two sides do something."""
    with store.transaction() as session:
        row = session.get_one(rooms.Interview, UUID(id))
        caller = organisations.caller_of(session, row)
        row = rooms.get(session, caller, row.id, for_update=True)
        for name in names:
            moves.move(session, row, name, schemas.interviews)


def due(id: str) -> None:
    """Let the moment come at which the schedule moves a room."""
    past = text("UPDATE interviews SET due_at = now() - interval '1 second' WHERE id = :id")
    with store.transaction() as session:
        session.execute(past, {"id": id})
    run()


def run(name: str = "interviews") -> None:
    [kind] = [one for one in schedule.KINDS if one.name == name]
    while kind.batch()[1]:
        pass


def arrange(api: Api, status: str) -> dict[str, Any]:
    """Make a room that is in a status, by the ways that lead there."""
    timed = {} if status == "prepared" else {"scheduled_at": later()}
    made = make(api, candidate_email=address(), **timed)
    ways: dict[str, tuple[str, ...]] = {
        "waiting": ("wait",),
        "active": ("wait", "start"),
        "ended": ("wait", "start", "end"),
    }
    moved(made["id"], *ways.get(status, ()))
    if status == "expired":
        act(api, made["id"], "cancel")
    if status == "no_show":
        due(made["id"])
    found = shown(api, made["id"])
    assert found["status"] == status
    return found


def told(api: Api) -> list[dict[str, Any]]:
    """What happened of interviews, in order."""
    found = api.get("/events/", params={"page_size": 100}).json()["results"]
    return [one for one in found if one["type"].startswith("interview.")]


def mails(to: str) -> list[dict[str, Any]]:
    """The mails that somebody is to get, the first that was asked for first."""
    with store.transaction() as session:
        found = session.scalars(
            select(OutboxItem.arguments).where(OutboxItem.job == "mail").order_by(OutboxItem.id)
        )
        return [one for one in found if one.get("to") == to]


def use(tenant: Tenant, used: int) -> None:
    """Say how many of the month's interviews are used."""
    with store.transaction() as session:
        session.execute(
            text(
                "INSERT INTO interview_usage VALUES (:id, :month, :used) "
                "ON CONFLICT (organisation_id, month) DO UPDATE SET used = :used"
            ),
            {"id": tenant.organisation.id, "month": now().date().replace(day=1), "used": used},
        )


def used(tenant: Tenant) -> int:
    return int(tenant.live.get("/org/billing/").json()["interviews_used"])
