"""The people of an organisation, managed by their owners and admins; an owner stays."""

import pytest
from sqlalchemy import select

import store
from store.accounts.members import Member
from store.outbox import OutboxItem
from tests.api import Api, Tenant, address
from tests.probes import faults, refusal
from tests.signing import a_member, area


@pytest.fixture
def me(tenant: Tenant) -> Api:
    return area(tenant.member("owner"))


def team(api: Api) -> dict[str, str]:
    return {one["email"]: one["role"] for one in api.get("/org/team/").json()["results"]}


def test_somebody_is_invited_by_mail_and_the_invite_taken_back(tenant: Tenant, me: Api) -> None:
    email = address()
    made = me.post("/member-invites/", {"email": email, "role": "recruiter"})
    assert (made.status_code, made.json()["role"]) == (201, "recruiter")
    with store.transaction() as session:
        asked = select(OutboxItem.arguments).where(OutboxItem.arguments["to"].astext == email)
        [mail] = session.scalars(asked)
    assert mail["join_url"].partition("/join/")[2] not in made.text
    [shown] = tenant.live.get("/org/member-invites/").json()["results"]
    assert (shown["email"], shown["invited_by"]) == (email, me.get("/me/").json()["user_id"])
    refusal(me.post("/member-invites/", {"email": email}), 409, "DUPLICATE_KEY")
    assert me.delete(f"/member-invites/{made.json()['id']}/").status_code == 204
    refusal(me.delete(f"/member-invites/{made.json()['id']}/"), 404)
    assert me.post("/member-invites/", {"email": email}).status_code == 201


def test_the_plans_seats_are_the_members(tenant: Tenant, me: Api) -> None:
    answers = [me.post("/member-invites/", {"email": address()}) for _ in range(15)]
    assert [one.status_code for one in answers] == [201] * 14 + [403]
    assert refusal(answers[-1], 403, "LIMIT_REACHED")["details"]["limit"] == 15


def test_a_member_is_given_another_role_and_taken_out(tenant: Tenant, me: Api) -> None:
    other = a_member(tenant, "member")
    at = f"/members/{other.user_id}/"
    assert me.patch(at, {"role": "admin"}).json()["role"] == "admin"
    assert team(tenant.live)[other.email] == "admin"
    assert me.delete(at).status_code == 204
    assert other.email not in team(tenant.live)
    refusal(me.delete(at), 404)
    refusal(me.patch(at, {"role": "member"}), 404)


def test_who_is_taken_out_is_signed_out(tenant: Tenant, me: Api) -> None:
    gone = area(tenant.member("recruiter"))
    user = gone.get("/me/").json()["user_id"]
    assert me.delete(f"/members/{user}/").status_code == 204
    refusal(gone.get("/me/"), 401, "INVALID_SESSION")


def test_an_owner_stays(tenant: Tenant, me: Api) -> None:
    mine = f"/members/{me.get('/me/').json()['user_id']}/"
    assert faults(me.delete(mine))["/role"] == faults(me.patch(mine, {"role": "admin"}))["/role"]
    a_member(tenant, "owner")
    assert me.patch(mine, {"role": "admin"}).json()["role"] == "admin"


def test_an_admin_makes_changes_and_removes_no_owner(tenant: Tenant) -> None:
    owner, plain = a_member(tenant, "owner"), a_member(tenant, "member")
    a_member(tenant, "owner")
    admin = area(tenant.member("admin"))
    for refused in (
        admin.post("/member-invites/", {"email": address(), "role": "owner"}),
        admin.patch(f"/members/{plain.user_id}/", {"role": "owner"}),
        admin.patch(f"/members/{owner.user_id}/", {"role": "member"}),
        admin.delete(f"/members/{owner.user_id}/"),
    ):
        assert "/role" in faults(refused)
    assert admin.delete(f"/members/{plain.user_id}/").status_code == 204


@pytest.mark.parametrize("role", ["developer", "recruiter", "reviewer", "member"])
def test_other_roles_manage_nobody(tenant: Tenant, role: str) -> None:
    person, other = area(tenant.member(role)), a_member(tenant)
    for answer in (
        person.post("/member-invites/", {"email": address()}),
        person.patch(f"/members/{other.user_id}/", {"role": "member"}),
        person.delete(f"/members/{other.user_id}/"),
    ):
        refusal(answer, 403, "INSUFFICIENT_SCOPE")


def test_nobody_manages_people_of_another_organisation(tenant: Tenant, other: Tenant, me: Api) -> None:
    theirs = a_member(other)
    refusal(me.patch(f"/members/{theirs.user_id}/", {"role": "member"}), 404)
    refusal(me.delete(f"/members/{theirs.user_id}/"), 404)
    with store.transaction() as session:
        assert session.get_one(Member, theirs.id).role == "owner"
