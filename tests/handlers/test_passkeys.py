"""Passkeys: a device signs its person in, and nothing else does."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import httpx
import pytest

from rules import links
from store.accounts import passkeys
from store.accounts.signed_in import MemberSession
from store.accounts.starts import SignInStart
from tests.api import Api, Tenant, of_session
from tests.device import PRESENT, Device
from tests.handlers.test_company_sign_in import kept
from tests.handlers.test_sign_in import age
from tests.probes import faults, refusal
from tests.signing import area, cookie, nobody
from tests.trail import log


@pytest.fixture
def me(tenant: Tenant) -> Api:
    return area(tenant.member("developer"))


@pytest.fixture
def device() -> Device:
    return Device(links.origin())


def begin(me: Api) -> tuple[dict[str, Any], dict[str, str]]:
    """Begin to add one: what the browser is asked, and the headers of the same browser."""
    answer = me.post("/passkeys/options/")
    assert answer.status_code == 200, answer.text
    session = {**me.headers, "Cookie": f"{me.headers['Cookie']}; {kept(answer)['Cookie']}"}
    return answer.json()["options"], session


def add(me: Api, device: Device, name: str = "Work laptop") -> httpx.Response:
    options, browser = begin(me)
    return me.post("/passkeys/", {"name": name, "credential": device.make(options)}, headers=browser)


def sign_in(tenant: Tenant, device: Device) -> httpx.Response:
    begun = nobody(tenant).post("/sign-in/passkey/")
    assert begun.status_code == 200, begun.text
    answer = {"credential": device.sign(begun.json()["options"])}
    return nobody(tenant).post("/sign-in/passkey/answer/", answer, headers=kept(begun))


def test_a_passkey_is_added_signs_in_and_is_removed(tenant: Tenant, me: Api, device: Device) -> None:
    made = add(me, device)
    assert made.status_code == 201, made.text
    assert made.json()["last_used_at"] is None
    for _ in range(2):
        answer = sign_in(tenant, device)
        assert answer.status_code == 200, answer.text
        assert answer.json()["user_id"] == me.get("/me/").json()["user_id"]
        assert nobody(tenant).get("/me/", headers=of_session(cookie(answer))).status_code == 200
    [shown] = me.get("/passkeys/").json()["passkeys"]
    assert (shown["name"], bool(shown["last_used_at"])) == ("Work laptop", True)
    assert me.delete(f"/passkeys/{shown['id']}/").status_code == 204
    assert me.get("/passkeys/").json()["passkeys"] == []
    refusal(sign_in(tenant, device), 400, "SIGN_IN_FAILED")


def test_what_is_done_with_passkeys_is_in_the_audit_log(tenant: Tenant, me: Api, device: Device) -> None:
    add(me, device)
    who = sign_in(tenant, device).json()["user_id"]
    for action in ("create_passkey", "sign_in_by_passkey"):
        [told] = log(tenant.test, action=action)
        assert told["actor"]["id"] == who


@pytest.mark.parametrize("lie", [
    lambda one: setattr(one, "origin", "https://evil.example"),
    lambda one: setattr(one, "host", "evil.example"),
    lambda one: setattr(one, "flags", PRESENT),  # nobody has shown the device who they are
    lambda one: setattr(one, "flags", 0),
    lambda one: setattr(one, "key", Device("").key),
    lambda one: setattr(one, "count", 0),  # a copy of the device, which does not know what this one did
    lambda one: setattr(one, "id", Device("").id),
], ids=["origin", "host", "unverified", "absent", "key", "count", "unknown"])  # fmt: skip
def test_a_device_that_proves_nothing_signs_nobody_in(
    tenant: Tenant, me: Api, device: Device, lie: Callable[[Device], None]
) -> None:
    add(me, device)
    assert sign_in(tenant, device).status_code == 200
    lie(device)
    answer = sign_in(tenant, device)
    refusal(answer, 400, "SIGN_IN_FAILED")
    assert "Set-Cookie" not in answer.headers


@pytest.mark.parametrize("lie", [
    lambda one: setattr(one, "origin", "https://evil.example"),
    lambda one: setattr(one, "host", "evil.example"),
    lambda one: setattr(one, "flags", PRESENT),
], ids=["origin", "host", "unverified"])  # fmt: skip
def test_what_was_not_made_for_this_service_is_not_added(
    me: Api, device: Device, lie: Callable[[Device], None]
) -> None:
    lie(device)
    refusal(add(me, device), 400, "SIGN_IN_FAILED")
    assert me.get("/passkeys/").json()["passkeys"] == []


def test_an_answer_counts_once_and_in_its_own_browser(tenant: Tenant, me: Api, device: Device) -> None:
    add(me, device)
    begun, another = (nobody(tenant).post("/sign-in/passkey/") for _ in range(2))
    answer = {"credential": device.sign(begun.json()["options"])}
    for browser in (kept(another), {}, {"Cookie": f"{links.starting_cookie()}=planted"}):
        refused = nobody(tenant).post("/sign-in/passkey/answer/", answer, headers=browser)
        refusal(refused, 400, "SIGN_IN_FAILED")
    assert nobody(tenant).post("/sign-in/passkey/answer/", answer, headers=kept(begun)).status_code == 200
    again = {"credential": device.sign(begun.json()["options"])}
    refused = nobody(tenant).post("/sign-in/passkey/answer/", again, headers=kept(begun))
    refusal(refused, 400, "SIGN_IN_FAILED")


def confirm(me: Api, device: Device) -> httpx.Response:
    begun = me.post("/confirm/passkey/")
    assert begun.status_code == 200, begun.text
    browser = {**me.headers, "Cookie": f"{me.headers['Cookie']}; {kept(begun)['Cookie']}"}
    answer = {"credential": device.sign(begun.json()["options"])}
    return me.post("/confirm/passkey/answer/", answer, headers=browser)


def test_a_passkey_confirms_who_is_there_still(tenant: Tenant, me: Api, device: Device) -> None:
    assert me.get("/me/").json()["has_passkey"] is False
    made = add(me, device).json()
    assert me.get("/me/").json()["has_passkey"] is True
    age(MemberSession, proven_at=timedelta(minutes=11))
    refusal(me.delete(f"/passkeys/{made['id']}/"), 403, "CONFIRMATION_REQUIRED")
    answer = confirm(me, device)
    assert answer.json()["proven_until"] == me.get("/me/").json()["session"]["proven_until"]
    assert me.delete(f"/passkeys/{made['id']}/").status_code == 204


def test_a_passkey_of_somebody_else_confirms_nobody(tenant: Tenant, me: Api, device: Device) -> None:
    add(me, device)
    other = area(tenant.member("owner"))
    for device_of_none in (device, Device(links.origin())):
        refusal(confirm(other, device_of_none), 400, "SIGN_IN_FAILED")


def test_a_confirmation_counts_once_for_who_began_it(tenant: Tenant, me: Api, device: Device) -> None:
    add(me, device)
    begun, signing_in = me.post("/confirm/passkey/"), nobody(tenant).post("/sign-in/passkey/")
    answer = {"credential": device.sign(begun.json()["options"])}
    browser = {**me.headers, "Cookie": f"{me.headers['Cookie']}; {kept(begun)['Cookie']}"}
    elsewhere = {**me.headers, "Cookie": f"{me.headers['Cookie']}; {kept(signing_in)['Cookie']}"}
    other = area(tenant.member("developer"))
    theirs = {**other.headers, "Cookie": f"{other.headers['Cookie']}; {kept(begun)['Cookie']}"}
    for asking, headers in ((me, elsewhere), (me, me.headers), (other, theirs)):
        refusal(asking.post("/confirm/passkey/answer/", answer, headers=headers), 400, "SIGN_IN_FAILED")
    assert me.post("/confirm/passkey/answer/", answer, headers=browser).status_code == 200
    refusal(me.post("/confirm/passkey/answer/", answer, headers=browser), 400, "SIGN_IN_FAILED")


def test_who_confirms_too_often_waits(me: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("handlers.sign_in.OF_ONE", 0)
    refusal(me.post("/confirm/passkey/"), 429, "RATE_LIMITED")
    refusal(me.post("/confirm/passkey/answer/", {"credential": {}}), 429, "RATE_LIMITED")


def test_what_one_person_has_begun_no_other_finishes(tenant: Tenant, me: Api, device: Device) -> None:
    """Nobody puts their passkey into somebody else's hands."""
    other = area(tenant.member())
    options, browser = begin(me)
    made = {"name": "Not theirs", "credential": device.make(options)}
    start = browser["Cookie"].rpartition("; ")[2]
    theirs = {**other.headers, "Cookie": f"{other.headers['Cookie']}; {start}"}
    refusal(other.post("/passkeys/", made, headers=theirs), 400, "SIGN_IN_FAILED")
    assert me.post("/passkeys/", made, headers=browser).status_code == 201
    refusal(me.post("/passkeys/", made, headers=browser), 400, "SIGN_IN_FAILED")


def test_what_was_begun_is_finished_within_ten_minutes(tenant: Tenant, me: Api, device: Device) -> None:
    options, browser = begin(me)
    age(SignInStart, expires_at=timedelta(0))
    made = {"name": "Late", "credential": device.make(options)}
    refusal(me.post("/passkeys/", made, headers=browser), 400, "SIGN_IN_FAILED")


def test_a_passkey_is_one_persons(tenant: Tenant, me: Api, device: Device) -> None:
    made = add(me, device).json()
    other = area(tenant.member())
    refusal(add(other, device), 409, "DUPLICATE_KEY")
    assert other.get("/passkeys/").json()["passkeys"] == []
    refusal(other.delete(f"/passkeys/{made['id']}/"), 404)


def test_passkeys_are_changed_by_whoever_has_just_confirmed_who_they_are(
    tenant: Tenant, me: Api, device: Device
) -> None:
    made = add(me, device).json()
    options, browser = begin(me)
    age(MemberSession, proven_at=timedelta(minutes=11))
    refusal(me.post("/passkeys/options/"), 403, "CONFIRMATION_REQUIRED")
    body = {"name": "Another", "credential": Device(links.origin()).make(options)}
    refusal(me.post("/passkeys/", body, headers=browser), 403, "CONFIRMATION_REQUIRED")
    refusal(me.delete(f"/passkeys/{made['id']}/"), 403, "CONFIRMATION_REQUIRED")


def test_there_are_so_many_passkeys_at_most(me: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passkeys, "MOST", 1)
    assert add(me, Device(links.origin())).status_code == 201
    assert list(faults(add(me, Device(links.origin())))) == ["/name"]


GARBAGE: list[Any] = [
    {}, {"id": 7}, {"id": "AAAA", "rawId": "AAAA", "type": "public-key", "response": {}},
    {
        "id": "AAAA", "rawId": "AAAA", "type": "public-key",
        "response": {"clientDataJSON": "////", "attestationObject": "////"},
    },
    {"id": "x" * 20_000},
]  # fmt: skip


@pytest.mark.parametrize("credential", GARBAGE, ids=lambda one: str(one)[:30])
def test_what_is_no_credential_is_refused(
    tenant: Tenant, me: Api, device: Device, credential: dict[str, Any]
) -> None:
    _, browser = begin(me)
    made = {"name": "Garbage", "credential": credential}
    refusal(me.post("/passkeys/", made, headers=browser), 400, "SIGN_IN_FAILED")
    add(me, device)
    begun = nobody(tenant).post("/sign-in/passkey/")
    mine = credential | {"id": device.sign(begun.json()["options"])["id"]}
    for one in (credential, mine):
        begun = nobody(tenant).post("/sign-in/passkey/")
        refused = nobody(tenant).post("/sign-in/passkey/answer/", {"credential": one}, headers=kept(begun))
        refusal(refused, 400, "SIGN_IN_FAILED")


def test_who_begins_too_often_from_one_place_waits_for_passkeys_too(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handlers.sign_in.OF_A_CLIENT", 0)
    refusal(nobody(tenant).post("/sign-in/passkey/"), 429, "RATE_LIMITED")
    refused = nobody(tenant).post("/sign-in/passkey/answer/", {"credential": {}})
    refusal(refused, 429, "RATE_LIMITED")
