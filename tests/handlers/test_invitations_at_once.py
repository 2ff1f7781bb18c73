"""An invite that takes no thread: the same as one in a transaction, or it is one."""

import threading
from typing import Any

import pytest
from sqlalchemy import select, update

import store
from rules.caller import Caller
from store import telling
from store.accounts import organisations
from store.assessing import at_once
from store.assessing.assessments import Assessment
from store.assessing.invitations import Invitation
from store.auditing.rows import AuditWaiting
from store.events import Event
from store.outbox import OutboxItem
from store.people.candidates import Candidate
from tests.api import Api, Tenant

BODY = {
    "email": "Ada@Example.com", "name": "Ada Løvelace", "role": "Engineer", "external_id": "ats-1", "tags": ["a", "b"],
    "expires_days": 3, "extra_time_percent": 25, "language": "de",
}  # fmt: skip
# What is each one's own, and how far its work has come.
OWN = {
    "id", "created_at", "updated_at", "token", "candidate_id", "assessment_id", "expires_at", "organisation_id",
    "invite_token", "invite_url", "invitation_id", "assessment_slug", "sequence", "last_activity_at", "due_at",
    "occurred_at", "resource_id", "request_id", "path", "duration_ms", "actor_id", "fanned_out_at", "finished_at",
    "attempts", "last_error",
}  # fmt: skip


def invite(api: Api, slug: str, *, keyed: bool = False, **changes: Any) -> Any:
    headers = {"Idempotency-Key": "one"} if keyed else {}
    return api.post(f"/assessments/{slug}/invites/", BODY | changes, headers=headers)


def common(row: Any) -> dict[str, Any]:
    """What has to be the same however a row came about."""
    facts = (
        row if isinstance(row, dict) else {one.name: getattr(row, one.name) for one in row.__table__.columns}
    )
    inner = {name: common(value) for name, value in facts.items() if isinstance(value, dict)}
    return {name: value for name, value in (facts | inner).items() if name not in OWN}


def left(tenant: Tenant) -> dict[str, list[dict[str, Any]]]:
    """What an organisation has in each table that an invite writes to."""
    with store.transaction() as session:
        return {
            model.__tablename__: [
                common(row)
                for row in session.scalars(select(model).where(model.organisation_id == tenant.organisation.id))
            ]
            for model in (Invitation, Candidate, Event, OutboxItem)
        } | {
            "audit": [
                common(row)
                for row in session.scalars(
                    select(AuditWaiting).where(
                        AuditWaiting.organisation_id == tenant.organisation.id,
                        AuditWaiting.action == "create_invitation",
                    )
                )
            ]
        }  # fmt: skip


@pytest.mark.parametrize("mode", ["live", "test"])
@pytest.mark.parametrize("send_email", [True, False])
def test_it_leaves_what_a_transaction_leaves(
    tenant: Tenant, other: Tenant, begun: list[Any], mode: str, send_email: bool
) -> None:
    made, seen = [], []
    for one, keyed in ((tenant, False), (other, True)):
        api = getattr(one, mode)
        slug = api.assessment(title="Backend engineer")["slug"]
        begun.clear()
        answer = invite(api, slug, keyed=keyed, send_email=send_email)
        assert len(begun) == keyed
        assert answer.status_code == 201
        made.append(common(answer.json()))
        seen.append(left(one))
        assert api.get(f"/assessments/{slug}/").json()["invitation_count"] == 1
        assert api.get("/org/").json()["invites_used"] == (mode == "live")
    assert made[0] == made[1]
    assert seen[0].keys() == seen[1].keys()
    for name in seen[0]:
        assert len(seen[0][name]) == (send_email if name == "outbox" else 1), name
        mail = [
            one.get("arguments", {}).pop("organisation_name", None) for side in seen for one in side[name]
        ]
        assert seen[0][name] == seen[1][name], mail


def test_who_was_invited_before_is_answered_by_a_transaction(tenant: Tenant, begun: list[Any]) -> None:
    slug = tenant.live.assessment()["slug"]
    first = invite(tenant.live, slug).json()
    begun.clear()
    again = invite(tenant.live, slug)
    assert (again.status_code, again.json()["invite_token"]) == (200, first["invite_token"])
    assert len(begun) == 1


def test_what_cannot_be_invited_to_needs_no_thread_to_be_refused(tenant: Tenant, begun: list[Any]) -> None:
    slug = tenant.live.assessment(active=False)["slug"]
    begun.clear()
    assert invite(tenant.live, slug).status_code == 400
    assert invite(tenant.live, "nothing").status_code == 404
    assert begun == []


def test_a_long_body_is_not_read_on_the_loop(tenant: Tenant, begun: list[Any]) -> None:
    slug = tenant.live.assessment()["slug"]
    begun.clear()
    assert invite(tenant.live, slug, tags=["x" * 50] * 20).status_code == 201
    assert len(begun) == 1


def test_an_event_tells_the_title_that_the_assessment_has_as_it_is_written(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    slug = tenant.live.assessment(title="Before")["slug"]
    leave = telling.leave

    def rename_first(*given: Any) -> None:
        def rename() -> None:
            with store.transaction() as session:
                session.execute(update(Assessment).where(Assessment.slug == slug).values(title="After"))

        thread = threading.Thread(target=rename)
        thread.start()
        thread.join()
        leave(*given)

    monkeypatch.setattr(telling, "leave", rename_first)
    assert invite(tenant.live, slug).status_code == 201
    with store.transaction() as session:
        told = session.scalars(select(Event).where(Event.organisation_id == tenant.organisation.id)).all()
    assert [(one.type, one.data["assessment_title"]) for one in told] == [("invitation.created", "After")]
    assert tenant.live.get("/org/").json()["invites_used"] == 1


def test_a_unit_that_makes_no_invitation_is_not_spent(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else invites the same person after the statement has looked: its unit goes back with all of it."""
    slug = tenant.live.assessment()["slug"]
    first = invite(tenant.live, slug).json()
    unseen = at_once._read

    def nobody(session: Any, caller: Caller, given: Any) -> Any:
        found = unseen(session, caller, given)
        return found._replace(was=found.was._replace(id=None))

    monkeypatch.setattr(at_once, "_read", nobody)
    monkeypatch.setitem(at_once._TAKEN, True, organisations.TAKE.format(where=""))  # nor does it look
    monkeypatch.setattr(at_once, "_alone", at_once._alone.__wrapped__)
    again = invite(tenant.live, slug)
    assert (again.status_code, again.json()["invite_token"]) == (200, first["invite_token"])
    assert tenant.live.get("/org/").json()["invites_used"] == 1
    assert tenant.live.get(f"/assessments/{slug}/").json()["invitation_count"] == 1
