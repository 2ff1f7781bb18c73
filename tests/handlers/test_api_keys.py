"""API keys that an organisation's people make, follow by others, and revoke."""

from datetime import timedelta

import pytest

from app.http import security
from rules.clock import iso, now
from tests.api import Api, Tenant
from tests.app.instances import eventually
from tests.probes import faults, refusal
from tests.signing import area

NAME = '<script>alert("key")</script>'


@pytest.fixture
def me(tenant: Tenant) -> Api:
    return area(tenant.member("admin"))


@pytest.fixture(autouse=True)
def fresh() -> None:
    security.forget()


def test_a_key_is_shown_once_and_works_as_it_was_made(tenant: Tenant, me: Api) -> None:
    wanted = {"name": NAME, "livemode": True, "scopes": ["jobs:read"], "cidrs": []}
    made = me.post("/keys/", wanted).json()
    assert {name: made[name] for name in wanted} == wanted
    works = Api(tenant.http, made["key"])
    assert works.get("/key/").json()["name"] == NAME
    refusal(works.get("/org/"), 403, "INSUFFICIENT_SCOPE")
    [shown, *_] = me.get("/keys/").json()["results"]
    assert shown["id"] == made["id"]
    assert "key" not in shown
    assert made["key"].startswith(shown["prefix"])
    assert made["key"] not in str(shown)


def test_a_key_works_from_its_networks_alone(tenant: Tenant, me: Api) -> None:
    wanted = {"name": "ATS", "livemode": True, "cidrs": ["203.0.113.0/24", "2001:db8::/32", "203.0.113.0/24"]}
    made = me.post("/keys/", wanted).json()
    assert made["cidrs"] == ["203.0.113.0/24", "2001:db8::/32"]
    refusal(Api(tenant.http, made["key"]).get("/org/"), 403, "IP_NOT_ALLOWED")


def test_keys_of_both_modes_are_listed_with_their_last_use(tenant: Tenant, me: Api) -> None:
    assert tenant.live.get("/org/").status_code == 200

    def used() -> bool:
        rows = me.get("/keys/").json()["results"]
        assert {one["livemode"] for one in rows} == {True, False}
        return any(one["last_used_from"] for one in rows)

    eventually(used)


def test_what_is_wrong_with_a_key_is_said_at_its_place(me: Api) -> None:
    wrong = {"name": "ATS", "livemode": True, "cidrs": ["203.0.113.7/24"], "expires_at": iso(now())}
    assert set(faults(me.post("/keys/", wrong))) == {"/cidrs/0", "/expires_at"}
    unknown = faults(me.post("/keys/", {"name": "", "livemode": True, "scopes": ["jobs:drop"]}))
    assert set(unknown) == {"/name", "/scopes/0"}


def test_a_revoked_key_stays_revoked(tenant: Tenant, me: Api) -> None:
    made = me.post("/keys/", {"name": "ATS", "livemode": False}).json()
    first = me.post(f"/keys/{made['id']}/revoke/").json()
    assert first["revoked_at"]
    assert me.post(f"/keys/{made['id']}/revoke/").json() == first
    refusal(Api(tenant.http, made["key"]).get("/org/"), 401, "INVALID_API_KEY")
    refused = me.post(f"/keys/{made['id']}/rotate/", {})
    assert refusal(refused, 400)["details"]["status"] == "revoked"


def test_a_key_that_is_followed_by_another_goes_on_for_a_while(tenant: Tenant, me: Api) -> None:
    made = me.post("/keys/", {"name": "ATS", "livemode": True, "scopes": ["organisation:read"]}).json()
    after = me.post(f"/keys/{made['id']}/rotate/", {"overlap_hours": 2}).json()
    assert (after["name"], after["scopes"], after["livemode"]) == ("ATS", ["organisation:read"], True)
    for key in (made["key"], after["key"]):
        assert Api(tenant.http, key).get("/org/").status_code == 200
    old = next(one for one in me.get("/keys/").json()["results"] if one["id"] == made["id"])
    assert iso(now()) < old["expires_at"] < iso(now() + timedelta(hours=2))


def test_a_key_may_be_followed_at_once(tenant: Tenant, me: Api) -> None:
    made = me.post("/keys/", {"name": "ATS", "livemode": True}).json()
    assert me.post(f"/keys/{made['id']}/rotate/", {"overlap_hours": 0}).status_code == 201
    refusal(Api(tenant.http, made["key"]).get("/org/"), 401, "EXPIRED_API_KEY")


@pytest.mark.parametrize("role", ["recruiter", "reviewer", "member"])
def test_other_roles_neither_see_nor_make_keys(tenant: Tenant, role: str) -> None:
    person = area(tenant.member(role))
    refusal(person.get("/keys/"), 403, "INSUFFICIENT_SCOPE")
    refusal(person.post("/keys/", {"name": "ATS", "livemode": True}), 403, "INSUFFICIENT_SCOPE")


def test_a_key_may_do_no_more_than_who_makes_it_or_follows_it(tenant: Tenant, me: Api) -> None:
    developer = area(tenant.member("developer"))
    for scopes in ([], ["jobs:write", "organisation:write"]):
        wanted = {"name": "ATS", "livemode": True, "scopes": scopes}
        assert list(faults(developer.post("/keys/", wanted))) == ["/scopes"]
        theirs = me.post("/keys/", wanted).json()
        assert list(faults(developer.post(f"/keys/{theirs['id']}/rotate/", {}))) == ["/scopes"]
    assert (
        developer.post("/keys/", {"name": "ATS", "livemode": True, "scopes": ["jobs:write"]}).status_code
        == 201
    )


def test_a_key_is_changed_and_what_is_left_out_stays(tenant: Tenant, me: Api) -> None:
    made = me.post("/keys/", {"name": "ATS", "livemode": True, "scopes": ["jobs:read"]}).json()
    works = Api(tenant.http, made["key"])
    assert works.get("/jobs/").status_code == 200
    end = iso(now() + timedelta(days=30))
    changed = me.patch(f"/keys/{made['id']}/", {"name": " Sync ", "expires_at": end}).json()
    assert (changed["name"], changed["scopes"], changed["expires_at"]) == ("Sync", ["jobs:read"], end)
    changed = me.patch(f"/keys/{made['id']}/", {"scopes": ["organisation:read"] * 2, "expires_at": None})
    assert (changed.json()["scopes"], changed.json()["expires_at"]) == (["organisation:read"], None)
    security.forget()
    refusal(works.get("/jobs/"), 403, "INSUFFICIENT_SCOPE")
    assert works.get("/org/").status_code == 200
    me.patch(f"/keys/{made['id']}/", {"cidrs": ["203.0.113.0/24"]})
    security.forget()
    refusal(works.get("/org/"), 403, "IP_NOT_ALLOWED")


def test_a_key_that_works_no_more_is_not_changed(me: Api) -> None:
    made = me.post("/keys/", {"name": "ATS", "livemode": True}).json()
    me.post(f"/keys/{made['id']}/revoke/")
    refused = me.patch(f"/keys/{made['id']}/", {"expires_at": None})
    assert refusal(refused, 400)["details"]["status"] == "revoked"
    ended = me.post("/keys/", {"name": "ATS", "livemode": True}).json()
    me.post(f"/keys/{ended['id']}/rotate/", {"overlap_hours": 0})
    refused = me.patch(f"/keys/{ended['id']}/", {"expires_at": None})
    assert refusal(refused, 400)["details"]["status"] == "expired"


def test_what_is_wrong_with_a_change_is_said_at_its_place(me: Api) -> None:
    at = f"/keys/{me.post('/keys/', {'name': 'ATS', 'livemode': True}).json()['id']}/"
    wrong = {"cidrs": ["203.0.113.7/24"], "expires_at": iso(now())}
    assert set(faults(me.patch(at, wrong))) == {"/cidrs/0", "/expires_at"}
    refusal(me.patch(at, {}), 400)
    assert set(faults(me.patch(at, {"livemode": False}))) == {"/livemode"}


def test_nobody_changes_a_key_into_more_than_they_may_nor_one_that_is_more(tenant: Tenant, me: Api) -> None:
    developer = area(tenant.member("developer"))
    mine = developer.post("/keys/", {"name": "ATS", "livemode": True, "scopes": ["jobs:read"]}).json()
    for scopes in ([], ["organisation:write"]):
        assert list(faults(developer.patch(f"/keys/{mine['id']}/", {"scopes": scopes}))) == ["/scopes"]
    theirs = me.post("/keys/", {"name": "ATS", "livemode": True}).json()
    assert list(faults(developer.patch(f"/keys/{theirs['id']}/", {"name": "Mine"}))) == ["/scopes"]


def test_a_key_of_another_organisation_is_not_there_to_be_changed(other: Tenant, me: Api) -> None:
    made = me.post("/keys/", {"name": "ATS", "livemode": True}).json()
    refusal(area(other.member()).patch(f"/keys/{made['id']}/", {"name": "Theirs"}), 404)
