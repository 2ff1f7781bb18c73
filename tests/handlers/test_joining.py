"""Joining by an invite's link: who invites to what, once, and what the link says when it works no more."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import select, text
from starlette.testclient import TestClient

import store
from rules.clock import now
from store.accounts import members
from store.accounts.members import Member, MemberInvite
from tests.api import Tenant, address
from tests.api import tenant as make_tenant
from tests.trail import log

NAME = "Grace Hopper"


def invite(owner: Tenant, email: str | None = None, role: str = "reviewer", **who: Any) -> str:
    with store.transaction() as session:
        _, token = members.invite(
            session, organisation=owner.organisation, email=email or address(), role=role, **who
        )
        return token


def join(owner: Tenant, token: str, name: str = NAME) -> Any:
    return owner.http.post(f"/join/{token}", data={"name": name})


def team(owner: Tenant) -> list[dict[str, Any]]:
    return list(owner.live.get("/org/team/").json()["results"])


def changed(token: str, **values: Any) -> None:
    with store.transaction() as session:
        one = session.scalars(select(MemberInvite).where(MemberInvite.hash == members._hash(token))).one()
        for name, value in values.items():
            setattr(one, name, value)


def taken_back(owner: Tenant, email: str) -> None:
    with store.transaction() as session:
        members.remove(session, organisation=owner.organisation, email=email)


def test_the_page_says_who_invites_to_what_and_what_that_means(tenant: Tenant) -> None:
    email = address()
    with store.transaction() as session:
        ada = members.add(
            session, organisation=tenant.organisation, email=address(), name="Ada Lovelace", role="owner"
        )
    page = tenant.http.get(f"/join/{invite(tenant, email, 'recruiter', invited_by=ada.user_id)}")
    assert page.status_code == 200
    for said in ("Ada Lovelace", tenant.organisation.name, email, "recruiter", "You set no password"):
        assert said in page.text
    assert "You get mail about candidates" in page.text
    assert "You get mail about candidates" not in tenant.http.get(f"/join/{invite(tenant)}").text
    assert len(team(tenant)) == 1  # reading joins nobody


def test_whoever_joins_is_a_member_in_the_seat_of_the_invite(tenant: Tenant, other: Tenant) -> None:
    email = address()
    token = invite(tenant, email, "admin")
    used = tenant.live.get("/org/billing/").json()["seats_used"]
    page = join(tenant, token, "  Grace \n Hopper ")
    assert (page.status_code, f"Welcome, {NAME}" in page.text) == (200, True)
    [member] = team(tenant)
    assert (member["email"], member["name"], member["role"]) == (email, NAME, "admin")
    assert tenant.live.get("/org/billing/").json()["seats_used"] == used
    assert team(other) == []
    [shown] = tenant.live.get("/org/member-invites/", params={"status": "accepted"}).json()["results"]
    assert shown["email"] == email


def test_the_audit_log_tells_who_joined_without_a_name(tenant: Tenant) -> None:
    join(tenant, invite(tenant))
    [member] = team(tenant)
    [row] = log(tenant.live)
    assert (row["action"], row["outcome"], row["resource_type"]) == ("join_on_page", "success", "member")
    assert (row["actor"]["type"], row["actor"]["id"]) == ("member", member["user_id"])
    assert "Grace" not in str(row)


ENDS: dict[str, tuple[Callable[[Tenant, str, str], object], str]] = {
    "accepted": (lambda owner, token, email: join(owner, token), "This invite has been used"),
    "expired": (lambda owner, token, email: changed(token, expires_at=now()), "This invite has expired"),
    "revoked": (lambda owner, token, email: taken_back(owner, email), "This invite was taken back"),
}


@pytest.mark.parametrize("state", ENDS)
def test_a_link_that_works_no_more_says_why_and_joins_nobody(tenant: Tenant, state: str) -> None:
    end, words = ENDS[state]
    email = address()
    token = invite(tenant, email)
    end(tenant, token, email)
    before = team(tenant)
    page, answer = tenant.http.get(f"/join/{token}"), join(tenant, token, "Somebody Else")
    assert (page.status_code, answer.status_code) == (200, 400)
    for one in (page, answer):
        assert words in one.text
        assert "<form" not in one.text
    assert team(tenant) == before


def test_a_link_that_leads_nowhere_is_a_page_of_its_own(tenant: Tenant) -> None:
    for token in ("x" * 43, "unknown", "%00"):
        assert tenant.http.get(f"/join/{token}").status_code == 404
        assert join(tenant, token).status_code == 404


def test_who_was_taken_back_may_be_invited_again_and_the_old_link_stays_dead(tenant: Tenant) -> None:
    email = address()
    old = invite(tenant, email)
    taken_back(tenant, email)
    listed = tenant.live.get("/org/member-invites/", params={"status": "all"}).json()["results"]
    assert listed == []
    new = invite(tenant, email)
    assert "taken back" in join(tenant, old).text
    assert join(tenant, new).status_code == 200
    assert "taken back" in tenant.http.get(f"/join/{old}").text


@pytest.mark.parametrize(
    ("name", "words"), [("", "write your name"), ("  \t ", "write your name"), ("x" * 201, "at most 200")]
)
def test_a_name_that_will_not_do_is_asked_for_again(tenant: Tenant, name: str, words: str) -> None:
    token = invite(tenant)
    page = join(tenant, token, name)
    assert page.status_code == 400
    assert words in page.text
    assert team(tenant) == []
    assert join(tenant, token).status_code == 200


def test_a_name_is_text_and_no_program(tenant: Tenant) -> None:
    page = join(tenant, invite(tenant), "<script>alert(1)</script>")
    assert "<script>alert" not in page.text
    assert "&lt;script&gt;" in page.text


def test_many_at_once_join_once(tenant: Tenant) -> None:
    token = invite(tenant)
    with ThreadPoolExecutor(8) as pool:
        pages = list(pool.map(lambda _: join(tenant, token).status_code, range(8)))
    assert sorted(pages) == [200] + [400] * 7
    assert len(team(tenant)) == 1


def test_taking_back_and_joining_at_once_end_in_one_of_them(tenant: Tenant) -> None:
    for _ in range(5):
        email = address()
        token = invite(tenant, email)
        with ThreadPoolExecutor(2) as pool:
            joined = pool.submit(join, tenant, token)
            pool.submit(taken_back, tenant, email).result()  # takes the member out who was faster
        assert joined.result().status_code in (200, 400)
        assert team(tenant) == []


def test_a_plan_that_has_shrunk_has_no_seat(http: TestClient) -> None:
    owner = make_tenant(http, "growth")
    tokens = [invite(owner) for _ in range(7)]
    with store.transaction() as session:
        session.execute(
            text("UPDATE organisations SET plan = 'starter' WHERE id = :id"), {"id": owner.organisation.id}
        )
    page = join(owner, tokens[0])
    assert (page.status_code, "no seat left" in page.text, "<form" in page.text) == (400, True, True)
    with store.transaction() as session:
        mine = select(Member).where(Member.organisation_id == owner.organisation.id)
        assert session.scalars(mine).all() == []
    assert "Join the hiring team" in owner.http.get(f"/join/{tokens[0]}").text
