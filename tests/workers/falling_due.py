"""Rows of every kind that falls due by itself, and one that cannot be worked on."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import Session

import store
from rules.clock import iso, now
from store import outbox
from store.accounts import keys, members, sign_ins, starts
from store.branding import settings
from store.database import aside
from store.database.aside import Row
from store.database.ids import new_id
from store.delivering import fanout
from store.interviewing import presence
from store.measuring import counts
from store.people import candidates
from tests import recording
from tests.api import Tenant, address
from tests.hooks import deliveries_of, happen, new_caller, new_endpoint, wait_until
from tests.pipelines import enroll, measured, pipeline
from workers.schedule import Kind

COUNT = 3
NOTED = "of old"


def later() -> str:
    return iso(now() + timedelta(days=2))


def started(tenant: Tenant) -> None:
    slug = tenant.live.assessment(cases=1, time_limit_minutes=30)["slug"]
    for _ in range(COUNT):
        token = tenant.live.invitation(slug)["invite_token"]
        assert tenant.http.post(f"/api/v1/candidate/invites/{token}/start/").status_code == 200


def invited(tenant: Tenant) -> None:
    slug = tenant.live.assessment()["slug"]
    for _ in range(COUNT):
        tenant.live.invitation(slug)


def drafted(tenant: Tenant) -> None:
    for _ in range(COUNT):
        tenant.live.job(scheduled_publish_at=later())


def opened(tenant: Tenant) -> None:
    for _ in range(COUNT):
        tenant.live.job(published=True, expires_at=later())


def applied(tenant: Tenant) -> None:
    for _ in range(COUNT):
        tenant.live.application(tenant.live.job(published=True)["slug"])


def rejected(tenant: Tenant) -> None:
    job = tenant.live.job(published=True, rejection_visibility="delayed")["slug"]
    for _ in range(COUNT):
        made = tenant.live.application(job)
        tenant.live.post(f"/applications/{made['id']}/reject/")


def waiting(tenant: Tenant) -> None:
    stage = measured(tenant.live)
    slug = pipeline(tenant.live, stage)
    for _ in range(COUNT):
        email = address()
        tenant.live.invitation(stage["assessment_slug"], email)
        enroll(tenant.live, slug, email)  # what it may have missed is looked for


def offered(tenant: Tenant, **moments: str) -> list[str]:
    job = tenant.live.job(published=True)["slug"]
    made = []
    for _ in range(COUNT):
        application = tenant.live.application(job)["id"]
        offer = {
            "application_id": application,
            "title": "Engineer",
            "body_html": "<p>Welcome.</p>",
            **moments,
        }
        made.append(tenant.live.post("/offers/", offer).json()["id"])
    return made


def scheduled(tenant: Tenant) -> None:
    offered(tenant, scheduled_send_at=later())


def sent(tenant: Tenant) -> None:
    for id in offered(tenant, expires_at=later()):
        assert tenant.live.post(f"/offers/{id}/send/").status_code == 200


def roomed(tenant: Tenant) -> None:
    for _ in range(COUNT):
        room = {"title": "Interview", "scheduled_at": later()}
        assert tenant.live.post("/interviews/create/", room).status_code == 201


def came(tenant: Tenant) -> None:
    made = [
        tenant.live.post("/interviews/create/", {"title": "Interview"}).json()["id"] for _ in range(COUNT)
    ]
    with store.writing() as writing:
        presence.stay(writing, [(UUID(id), "candidate") for id in made])


def happened(_: Tenant) -> None:
    happen(new_caller(), *["job.created"] * COUNT)
    with store.transaction() as session:
        session.execute(text("UPDATE events SET fanned_out_at = now() WHERE fanned_out_at IS NULL"))


def happened_to_who_keeps_less(_: Tenant) -> None:
    caller = new_caller()
    with store.transaction() as session:
        settings.change(session, caller, {"events_days": 7})
    happen(caller, *["job.created"] * COUNT)
    with store.transaction() as session:
        session.execute(text("UPDATE events SET fanned_out_at = now() WHERE fanned_out_at IS NULL"))


def known(_: Tenant) -> None:
    caller = new_caller()
    people = [{"email": address(), "name": "", "source": ""} for _ in range(COUNT)]
    with store.transaction() as session:
        settings.change(session, caller, {"candidates_days": 30})
        candidates.meet_all(session, caller, people)


def recorded(tenant: Tenant) -> None:
    for _ in range(COUNT):
        assert recording.send(tenant.live, recording.a_result(tenant.live)).status_code == 200


def recorded_where_less_is_kept(tenant: Tenant) -> None:
    tenant.live.patch("/org/settings/", {"retention_days": {"recordings": 7}})
    recorded(tenant)


def delivered(_: Tenant) -> None:
    caller = new_caller()
    id, _ = new_endpoint(caller)
    happen(caller, *["job.created"] * COUNT)
    with store.transaction() as session:
        while fanout.fan_out(session, limit=1000).events:
            pass
    wait_until(lambda: len(deliveries_of(id)) == COUNT)  # a worker may be faster


def fanned_out(_: Tenant) -> None:
    caller = new_caller()
    ids = [new_endpoint(caller, f"https://example.com/{number}")[0] for number in range(COUNT)]
    happen(caller, "job.created")
    with store.transaction() as session:
        while fanout.fan_out(session, limit=1000).events:
            pass
    wait_until(lambda: all(map(deliveries_of, ids)))  # a worker may be faster


def worked(_: Tenant) -> None:
    with store.transaction() as session:
        outbox.add_all(session, None, "done", [{}] * COUNT)
    with store.transaction() as session:
        session.execute(text("UPDATE outbox SET finished_at = now() WHERE job = 'done'"))


def noted(_: Tenant) -> None:
    with store.transaction() as session:
        aside.keep(session, NOTED, [Row(new_id()) for _ in range(COUNT)], ValueError(), again=False)


def answered(tenant: Tenant) -> None:
    for _ in range(COUNT):
        tenant.live.post("/jobs/create/", {"title": "Once"}, headers={"Idempotency-Key": address()})


def told(tenant: Tenant) -> None:
    for _ in range(COUNT):
        tenant.live.job()


def counted(_: Tenant) -> None:
    """Count requests of each kind; of organisations of their own, for each has one row of an hour."""
    hour = now().replace(minute=0, second=0, microsecond=0)
    callers = [new_caller() for _ in range(COUNT)]
    places = [
        {"organisation_id": one.organisation_id, "livemode": one.livemode, "hour": hour} for one in callers
    ]
    batch = counts.Batch(
        [one | {"reads": 1, "writes": 1, "faults": 0} for one in places],
        [one | {"bucket": 7, "count": 1} for one in places],
        [one | {"code": "NOT_FOUND", "count": 1, "last_seen": hour} for one in places],
    )
    with store.transaction() as session:
        counts.add(session, batch)


def signed_in(tenant: Tenant) -> None:
    for _ in range(COUNT):
        tenant.member()


def mailed_codes(tenant: Tenant) -> None:
    with store.transaction() as session:
        for _ in range(COUNT):
            made = members.Member(
                organisation_id=tenant.organisation.id, email=address(), name="Grace", role="member"
            )
            session.add(made)
            session.flush()
            sign_ins.make(session, made)


def ending(tenant: Tenant) -> None:
    with store.transaction() as session:
        for _ in range(COUNT):
            end = now() + timedelta(days=30)
            keys.create(session, organisation=tenant.organisation, name="ATS", livemode=True, expires_at=end)


def begun(_: Tenant) -> None:
    with store.transaction() as session:
        for _number in range(COUNT):
            starts.begin(session, "company")


MAKERS: dict[str, Callable[[Tenant], None]] = {
    "invitations": invited,
    "sessions": started,
    "job publications": drafted,
    "job expiries": opened,
    "application tallies": applied,
    "delivery tallies": fanned_out,
    "rejection mails": rejected,
    "enrollments": waiting,
    "offers to send": scheduled,
    "offer expiries": sent,
    "interviews": roomed,
    "presences": came,
    "candidates": known,
    "events": happened,
    "events kept shorter": happened_to_who_keeps_less,
    "recordings": recorded,
    "recordings kept shorter": recorded_where_less_is_kept,
    "deliveries": delivered,
    "outbox": worked,
    "set aside": noted,
    "idempotent answers": answered,
    "sessions of members": signed_in,
    "codes to sign in with": mailed_codes,
    "keys that end": ending,
    "sign-ins that were begun": begun,
    "audit rows": told,
    "request counts": counted,
    "request sketches": counted,
    "request refusals": counted,
}


def make(kind: Kind, tenant: Tenant) -> list[UUID]:
    """Make rows of a kind and let their moment come; a kind that is not in the table has to be told about here."""
    due = kind.due
    with store.transaction() as session:
        before = set(session.scalars(select(due._id)))
    MAKERS[kind.name](tenant)

    def let_fall_due(session: Session) -> list[UUID]:
        fresh = [id for id in session.scalars(select(due._id).order_by(due._order)) if id not in before]
        fresh = fresh[-COUNT:]
        moment = now() - due._after - timedelta(seconds=1)
        these = due._id.in_(fresh)
        # Rows go in the order of their ids: whatever is before them goes too.
        if due._order is not due._moment:
            these = due._id <= max(fresh)
        session.execute(due.model.__table__.update().where(these).values({due._moment.key: moment}))
        return fresh

    return store.in_transaction(let_fall_due)  # workers may be at the same rows


@contextmanager
def stubborn(kind: Any, *bad: UUID) -> Iterator[None]:
    """Let the database refuse every change of some rows of a kind."""
    table, id = kind.due.model.__tablename__, str(kind.due._id.compile(dialect=postgresql.dialect()))
    ids = ", ".join(f"'{one}'" for one in bad)
    with refusing(kind.due.kind, table, f"{id.replace(f'{table}.', 'OLD.')} IN ({ids})"):
        yield


@contextmanager
def refusing(name: str, table: str, condition: str) -> Iterator[None]:
    """Let the database refuse every change of the rows of a table that a condition on OLD is true of."""
    refuse = "refuse_" + name.replace(" ", "_").replace("-", "_")
    with store.transaction() as session:
        session.execute(
            text(f"""
            CREATE FUNCTION {refuse}() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF {condition} THEN RAISE EXCEPTION 'This row is stubborn.'; END IF;
                IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
                RETURN NEW;
            END $$;
            CREATE TRIGGER {refuse} BEFORE UPDATE OR DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION {refuse}();
            """)
        )
    try:
        yield
    finally:
        with store.transaction() as session:
            session.execute(text(f"DROP TRIGGER {refuse} ON {table}; DROP FUNCTION {refuse}()"))
