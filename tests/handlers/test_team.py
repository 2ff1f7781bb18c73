"""The people of an organisation and its invites, through the API."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import update
from starlette.testclient import TestClient

import store
from rules.clock import iso, now
from rules.errors import DuplicateKey, LimitReached, NotFound
from rules.refusal import Refusal
from store.accounts import members
from store.accounts.members import Member, MemberInvite
from store.database.waits import WaitRanOut
from tests.api import Api, Tenant, address
from tests.api import tenant as make_tenant


def add(owner: Tenant, name: str = "Ada Lovelace", role: str = "recruiter", email: str = "") -> Member:
    with store.transaction() as session:
        return members.add(
            session, organisation=owner.organisation, email=email or address(), name=name, role=role
        )


def invite(owner: Tenant, email: str = "", role: str = "reviewer") -> tuple[MemberInvite, str]:
    with store.transaction() as session:
        return members.invite(session, organisation=owner.organisation, email=email or address(), role=role)


def change(made: MemberInvite, **values: Any) -> None:
    with store.transaction() as session:
        session.execute(update(MemberInvite).where(MemberInvite.id == made.id).values(**values))


def listed(api: Api, **query: str) -> list[dict[str, Any]]:
    return list(api.get("/org/member-invites/", params=query).json()["results"])


def seats(owner: Tenant) -> tuple[int, int | None]:
    shown = owner.live.get("/org/billing/").json()
    return shown["seats_used"], shown["seat_limit"]


# --- The team


def test_the_team_is_listed_newest_first_with_its_squads_in_both_modes(tenant: Tenant, other: Tenant) -> None:
    ada, grace = add(tenant), add(tenant, "Grace Hopper", "owner")
    first, second = tenant.live.squad("Zebra"), tenant.live.squad("Apple")
    for squad in (first, second):
        tenant.live.post(f"/org/squads/{squad['id']}/members/", {"user_id": str(ada.user_id)})
    add(other)
    found = tenant.live.get("/org/team/").json()["results"]
    assert [one["user_id"] for one in found] == [str(grace.user_id), str(ada.user_id)]
    assert found[0] == {
        "user_id": str(grace.user_id),
        "name": "Grace Hopper",
        "email": grace.email,
        "role": "owner",
        "joined_at": iso(grace.joined_at),
        "is_bound_to_company": False,
        "squads": [],
    }
    named = [{name: squad[name] for name in ("id", "name", "slug")} for squad in (second, first)]
    assert found[1]["squads"] == named
    assert tenant.test.get("/org/team/").json()["results"] == found


def test_the_team_has_pages(tenant: Tenant) -> None:
    made = [str(add(tenant).user_id) for _ in range(5)]
    seen, at = [], "/org/team/?page_size=2"
    while at:
        answer = tenant.live.get(at.partition("/api/v1/public")[2] or at).json()
        seen += [one["user_id"] for one in answer["results"]]
        at = answer["next"]
    assert seen == made[::-1]


# --- Invites


def test_an_invite_is_shown_as_it_stands_and_never_with_its_token(tenant: Tenant, other: Tenant) -> None:
    ada = add(tenant)
    with store.transaction() as session:
        pending, token = members.invite(
            session,
            organisation=tenant.organisation,
            email="grace@example.com",
            role="admin",
            invited_by=ada.user_id,
        )
    accepted, late = invite(tenant)[0], invite(tenant)[0]
    change(accepted, accepted_at=now())
    change(late, expires_at=now())
    invite(other)
    [shown] = listed(tenant.live)
    assert shown == {
        "id": str(pending.id),
        "email": "grace@example.com",
        "role": "admin",
        "status": "pending",
        "invited_by": str(ada.user_id),
        "created_at": iso(pending.created_at),
        "expires_at": iso(pending.expires_at),
    }
    assert (pending.expires_at - pending.created_at).days in (13, 14)
    assert token not in tenant.live.get("/org/member-invites/", params={"status": "all"}).text
    for status, one in {"pending": pending, "accepted": accepted, "expired": late}.items():
        assert [(row["id"], row["status"]) for row in listed(tenant.test, status=status)] == [
            (str(one.id), status)
        ]
    assert [one["id"] for one in listed(tenant.live, status="all")] == [
        str(one.id) for one in (late, accepted, pending)
    ]


def test_the_token_is_kept_as_a_hash(tenant: Tenant) -> None:
    made, token = invite(tenant)
    assert token not in (made.hash, str(made.id))
    assert len(made.hash) == 64


def test_nobody_is_invited_twice_or_while_they_are_a_member(tenant: Tenant, other: Tenant) -> None:
    add(tenant, email="ada@example.com")
    invite(tenant, "grace@example.com")
    for email in ("ADA@example.com", "Grace@example.com"):
        with pytest.raises(DuplicateKey):
            invite(tenant, email)
        assert invite(other, email)
    with pytest.raises(DuplicateKey):
        add(tenant, email="ada@EXAMPLE.com")


def test_an_expired_invite_makes_room_for_a_new_one(tenant: Tenant) -> None:
    late, _ = invite(tenant, "grace@example.com")
    change(late, expires_at=now())
    assert seats(tenant)[0] == 0
    again, _ = invite(tenant, "grace@example.com")
    assert [one["id"] for one in listed(tenant.live, status="all")] == [str(again.id)]


def test_whoever_joins_takes_the_seat_of_their_invite(tenant: Tenant) -> None:
    made, _ = invite(tenant, "grace@example.com")
    assert seats(tenant)[0] == 1
    add(tenant, email="Grace@example.com")
    assert seats(tenant)[0] == 1
    assert [one["id"] for one in listed(tenant.live, status="accepted")] == [str(made.id)]


def test_removing_takes_a_member_out_of_the_squads_and_an_invite_back(tenant: Tenant, other: Tenant) -> None:
    ada = add(tenant, email="ada@example.com")
    invite(tenant, "grace@example.com")
    squad = tenant.live.squad()
    tenant.live.post(f"/org/squads/{squad['id']}/members/", {"user_id": str(ada.user_id)})

    def remove(owner: Tenant, email: str) -> str:
        with store.transaction() as session:
            return members.remove(session, organisation=owner.organisation, email=email)

    for email in ("ada@example.com", "grace@example.com"):
        with pytest.raises(NotFound):
            remove(other, email)
    assert remove(tenant, "ADA@example.com") == "member"
    assert remove(tenant, "grace@example.com") == "invite"
    assert tenant.live.get("/org/team/").json()["results"] == listed(tenant.live, status="all") == []
    assert tenant.live.get(f"/org/squads/{squad['id']}/members/").json()["results"] == []
    assert seats(tenant)[0] == 0


# --- Seats


def test_members_and_open_invites_take_the_seats_of_the_plan(http: TestClient) -> None:
    owner = make_tenant(http, "starter")
    for _ in range(3):
        add(owner)
    pending = [invite(owner)[0] for _ in range(2)]
    assert seats(owner) == (5, 5)
    for attempt in (add, invite):
        with pytest.raises(LimitReached) as refused:
            attempt(owner)
        assert refused.value.details == {"limit": 5, "used": 5}
    change(pending[0], expires_at=now())
    assert seats(owner) == (4, 5)
    add(owner, email=pending[1].email)  # has a seat already
    assert seats(owner) == (4, 5)
    invite(owner)
    with pytest.raises(LimitReached):
        invite(owner)


def test_parallel_invites_never_take_more_seats_than_there_are(http: TestClient) -> None:
    owner = make_tenant(http, "starter")

    def attempt(number: int) -> bool:
        try:
            (add if number % 2 else invite)(owner)
        except Refusal:
            return False
        except WaitRanOut:  # on a full machine: who is told to come back does
            return attempt(number)
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(16))) == 5
    assert seats(owner) == (5, 5)


def test_enterprise_has_seats_without_end(http: TestClient) -> None:
    owner = make_tenant(http, "enterprise")
    for _ in range(20):
        add(owner)
    assert seats(owner) == (20, None)
