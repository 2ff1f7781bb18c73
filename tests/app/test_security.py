"""Who may do what: keys, addresses, scopes, and the order in which a request is refused."""

import io
import itertools
import logging
import sys
import threading
import time
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, text, update
from sqlalchemy.exc import DBAPIError
from starlette.datastructures import Headers
from starlette.testclient import TestClient

import store
from app.http import security
from app.http.context import Request
from app.instance import logs
from rules import networks, tokens
from rules.clock import now
from rules.refusal import Refusal
from rules.scopes import SCOPES, TWINS
from store.accounts import keys, limits
from tests import asgi
from tests.api import Tenant, address, tenant
from tests.app.instances import eventually
from tests.documents import operations
from tests.probes import refusal

OPERATIONS = [one for one in operations("openapi").values() if one.scopes]  # the document itself needs no key
V4, V6, MAPPED = "203.0.113.9", "2001:db8::9", "::ffff:203.0.113.9"


@pytest.fixture(scope="module")
def owner(http: TestClient) -> Tenant:
    return tenant(http, "enterprise")


@pytest.fixture(autouse=True)
def fresh() -> None:
    security.forget()


def identify(
    key: str | None, required: list[str] | tuple[str, ...] = (), *, at: str = V4, scheme: str = "Bearer"
) -> Any:
    """The caller, or the code of the refusal with its details."""
    try:
        given = {} if key is None else {"authorization": f"{scheme} {key}"}
        request = Request("req_1", at, "GET", "/", b"", Headers(given))
        return security.identify(request, [{"bearer": list(required)}])
    except Refusal as refused:
        return refused.code, refused.details


def test_whoever_had_a_key_waits_for_nobody_else_from_their_address(owner: Tenant) -> None:
    def party(key: str) -> Any:
        return security.party(
            Request("req_1", V4, "GET", "/", b"", Headers({"authorization": f"Bearer {key}"}))
        )

    key = str(owner.live.key)
    assert party(key) == V4  # nobody has looked it up
    identify(key)
    assert party(key) == (owner.organisation.id, True)
    unknown = "ct_live_" + "x" * 40
    identify(unknown)
    assert party(unknown) == V4


def change(key: str | None, **values: Any) -> None:
    with store.transaction() as session:
        session.execute(update(keys.ApiKey).where(keys.ApiKey.hash == keys.digest(str(key))).values(**values))


# --- Keys

MALFORMED = ["", "nothing", "ct_live_", "ct_live_short", "ct_prod_" + "a" * 40, "CT_LIVE_" + "a" * 40,
"ct_live_" + "a" * 31,
             "ct_live_" + "a" * 129, "ct_live_" + "ä" * 40, "ct_live_" + "a" * 39 + "\x00",
             "ct_live_" + "a" * 100_000,
             "ct_live_" + "a" * 20 + " " + "a" * 20, "' OR 1=1 --", "ct_live_" + "a" * 40 + "\n"]  # fmt: skip


@pytest.mark.parametrize("header", [
    None, "", "Bearer", "Bearer ", "Basic dXNlcjpwYXNz", "Token ct_live_" + "a" * 43, "ct_live_" + "a" * 43,
    "Bearer,ct_live_" + "a" * 43, "Bearer ct_live_" + "a" * 43, *(f"Bearer {one}" for one in MALFORMED),
], ids=lambda header: str(header)[:30])  # fmt: skip
def test_a_key_that_is_none_is_refused(http: TestClient, header: str | None) -> None:
    headers = [] if header is None else [("Authorization", header)]
    if header and not header.isascii():
        return
    answer = asgi.send(http, "GET", "/api/v1/public/org/", *headers)
    assert answer.status == 401
    assert b'"INVALID_API_KEY"' in answer.body
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert "x-ratelimit-limit" not in answer.headers


def test_a_scheme_is_read_in_any_case_and_a_key_is_not(owner: Tenant) -> None:
    assert identify(owner.live.key, scheme="bEARER").organisation_id == owner.organisation.id
    assert identify(f" {owner.live.key} ").livemode
    swapped = str(owner.live.key)[:-1] + ("A" if str(owner.live.key)[-1] != "A" else "B")
    assert identify(swapped)[0] == "INVALID_API_KEY"
    assert identify(str(owner.live.key).replace("live", "test", 1))[0] == "INVALID_API_KEY"


def test_a_key_is_stored_as_its_hash_alone(owner: Tenant) -> None:
    with store.transaction() as session:
        [row, *_] = keys.listing(session, owner.organisation)
    kept = {str(value) for value in vars(row).values()}
    assert keys.digest(str(owner.live.key)) in kept
    assert not any(str(owner.live.key)[14:] in value for value in kept)
    assert str(owner.live.key).startswith(row.prefix)


def test_a_revoked_key_is_refused_within_a_second_also_where_it_is_remembered(owner: Tenant) -> None:
    api = owner.key()
    assert api.get("/org/").status_code == 200
    with store.transaction() as session:
        found = keys.find(session, str(api.key))
        assert found
        keys.revoke(session, found.id)
    assert security._FRESH_SECONDS + security._WHILE_ONE_LOOKS < 1
    remembered = security._kept[str(api.key)]
    security._kept[str(api.key)] = remembered._replace(until=remembered.until - 1)  # a second later
    refusal(api.get("/org/"), 401, "INVALID_API_KEY")


def test_while_one_request_looks_a_key_up_again_the_others_go_on(
    owner: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = str(owner.key().key)
    identify(key)
    find, looks, asked_meanwhile = keys.find, [], []

    def look(*given: Any) -> Any:
        looks.append(1)
        if len(looks) == 1:
            asked_meanwhile.extend(identify(key) for _ in range(3))
        return find(*given)

    monkeypatch.setattr(keys, "find", look)
    security._kept[key] = security._kept[key]._replace(until=time.monotonic())
    assert identify(key).livemode
    assert (len(looks), len(asked_meanwhile)) == (1, 3)
    # What is older than they may use, the next looks up for itself.
    looks.clear()
    security._kept[key] = security._kept[key]._replace(until=time.monotonic() - 1)
    assert identify(key).livemode
    assert len(looks) == 2


@pytest.mark.parametrize("values", [
    {"scopes": ["cases:read"]}, {"cidrs": ["192.0.2.0/24"]}, {"expires_at": now() - timedelta(days=1)},
])  # fmt: skip
def test_a_changed_key_is_felt_as_soon(owner: Tenant, values: dict[str, Any]) -> None:
    api = owner.key()
    assert identify(api.key, ["organisation:read"]).livemode
    change(api.key, **values)
    security.forget()
    assert isinstance(identify(api.key, ["organisation:read"]), tuple)


def test_a_key_expires_at_its_moment(owner: Tenant) -> None:
    assert identify(owner.key(expires_at=now()).key) == ("EXPIRED_API_KEY", {})
    assert identify(owner.key(expires_at=now() + timedelta(minutes=1)).key).livemode
    refusal(owner.key(expires_at=now()).get("/org/"), 401, "EXPIRED_API_KEY")


def test_a_key_that_expires_while_it_is_remembered_is_refused_at_once(owner: Tenant) -> None:
    api = owner.key()
    identify(api.key)
    kept = security._kept[str(api.key)]
    row = kept.row._replace(expires_at=now() - timedelta(microseconds=1))
    security._kept[str(api.key)] = kept._replace(row=row)
    assert identify(api.key)[0] == "EXPIRED_API_KEY"


def test_a_keys_last_use_is_noted_and_no_request_waits_for_it(owner: Tenant) -> None:
    api = owner.key()

    def last_use() -> Any:
        with store.transaction() as session:
            found = keys.find(session, str(api.key))
            assert found
            return found.last_used_at

    with store.transaction() as holder:
        holder.execute(
            select(keys.ApiKey).where(keys.ApiKey.hash == keys.digest(str(api.key))).with_for_update()
        )
        began = time.monotonic()
        identify(api.key)
        assert time.monotonic() - began < 1
        assert last_use() is None
    assert eventually(last_use) > now() - timedelta(minutes=1)


def test_the_uses_of_many_keys_are_written_together(owner: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    written, touch = [], keys.touch

    def counted(session: Any, uses: Any) -> Any:
        written.append(set(uses))
        return touch(session, uses)

    monkeypatch.setattr(keys, "touch", counted)
    asked = [owner.key().key for _ in range(20)]
    for key in asked:
        identify(key, at=V6)
    with store.reading() as reading:
        ids = {keys.find(reading, str(key)).id for key in asked}
    eventually(lambda: set().union(*written) >= ids)
    assert len(written) < len(asked)

    def noted() -> bool:
        with store.reading() as reading:
            return all(keys.find(reading, str(key)).last_used_from == V6 for key in asked)

    eventually(noted)


def test_a_key_that_somebody_has_in_hand_keeps_no_other_ones_use_waiting(owner: Tenant) -> None:
    held, free = owner.key().key, owner.key().key

    def last_use(key: str | None) -> Any:
        with store.reading() as reading:
            return keys.find(reading, str(key)).last_used_at

    with store.transaction() as holder:
        holder.execute(
            select(keys.ApiKey).where(keys.ApiKey.hash == keys.digest(str(held))).with_for_update()
        )
        identify(held)
        identify(free)
        assert eventually(lambda: last_use(free))
        assert last_use(held) is None
    assert eventually(lambda: last_use(held))


def test_uses_that_cannot_be_written_do_not_pile_up(owner: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    is_at_it, goes_on = threading.Event(), threading.Event()

    def stuck(_session: Any, _uses: Any) -> Any:
        is_at_it.set()
        goes_on.wait(30)
        return {}

    monkeypatch.setattr(keys, "touch", stuck)
    key = owner.key().key
    try:
        identify(key)
        assert is_at_it.wait(15)
        for _ in range(50):
            security.forget()
            identify(key)
        assert sum(map(len, security._uses.waiting.values())) == 1
    finally:
        goes_on.set()


def test_an_unknown_key_is_looked_for_once_a_second(owner: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    monkeypatch.setattr(keys, "find", lambda _reading, key: looked.append(key))
    key = tokens.new_key(livemode=True)
    for _ in range(5):
        assert identify(key) == ("INVALID_API_KEY", {})
    assert looked == [key]
    assert security._unknown[key] <= time.monotonic() + 1
    security._unknown[key] = time.monotonic()
    assert identify(key) == ("INVALID_API_KEY", {})
    assert looked == [key, key]


def test_an_address_that_guesses_is_told_to_wait_and_known_keys_are_not(
    owner: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = owner.key()
    identify(api.key)
    monkeypatch.setattr(security, "_UNKNOWN_A_MINUTE", 3)
    said = [identify(tokens.new_key(livemode=True))[0] for _ in range(5)]
    assert said == [*["INVALID_API_KEY"] * 3, *["RATE_LIMITED"] * 2]
    assert identify(api.key).livemode
    security.forget()


def test_neighbours_of_one_network_guess_as_one(owner: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(security, "_UNKNOWN_A_MINUTE", 3)
    said = [
        identify(tokens.new_key(livemode=True), at=f"2001:db8:5:1::{number}")[0] for number in range(1, 5)
    ]
    assert said == [*["INVALID_API_KEY"] * 3, "RATE_LIMITED"]
    assert identify(tokens.new_key(livemode=True), at="2001:db8:5:2::1")[0] == "INVALID_API_KEY"
    security.forget()


# --- Addresses


@pytest.mark.parametrize(("cidrs", "at", "allowed"), [
    ([], V4, True), ([], "testclient", True),
    (["203.0.113.0/24"], V4, True), (["203.0.113.9"], V4, True), (["203.0.113.8/32"], V4, False),
    (["203.0.113.0/24"], MAPPED, True), (["203.0.113.0/24"], "::ffff:cb00:7109", True), (["198.51.100.0/24"],
    MAPPED, False),
    (["203.0.113.0/24"], "203.0.114.1", False), (["0.0.0.0/0"], V4, True), (["0.0.0.0/0"], V6, False),
    (["::/0"], V4, False),
    (["2001:db8::/32"], V6, True), (["2001:db8::/32"], "2001:0DB8:0:0::9", True), (["2001:db8::/32"],
    "2001:db9::9", False),
    (["2001:db8::/32"], "2001:db8::9%eth0", True), (["198.51.100.0/24", "2001:db8::/32"], V6, True),
    (["203.0.113.77/24"], V4, True), (["203.0.113.0/24"], "", False), (["203.0.113.0/24"], "nonsense", False),
    (["203.0.113.0/24"], "203.0.113.9, 203.0.113.9", False), (["::ffff:203.0.113.0/120"], V4, True),
])  # fmt: skip
def test_a_key_works_from_its_networks_alone(owner: Tenant, cidrs: list[str], at: str, allowed: bool) -> None:
    found = identify(owner.key(cidrs=cidrs).key, at=at)
    if allowed:
        assert found.organisation_id == owner.organisation.id
    else:
        assert found == ("IP_NOT_ALLOWED", {"ip": at})


@pytest.mark.parametrize(("peer", "forwarded", "trusted", "client"), [
    (V4, [], (), V4), (V4, ["198.51.100.1"], (), V4), ("10.0.0.1", ["198.51.100.1"], (), "10.0.0.1"),
    ("10.0.0.1", ["198.51.100.1"], ("10.0.0.0/8",), "198.51.100.1"),
    ("10.0.0.1", ["6.6.6.6, 198.51.100.1"], ("10.0.0.0/8",), "198.51.100.1"),  # the client's own invention
    ("10.0.0.1", ["10.9.9.9, 198.51.100.1"], ("10.0.0.0/8",), "198.51.100.1"),  # … that poses as a proxy
    ("10.0.0.1", ["6.6.6.6, 198.51.100.1, 10.0.0.2"], ("10.0.0.0/8",), "198.51.100.1"),
    ("10.0.0.1", ["6.6.6.6", "198.51.100.1, 10.0.0.2"], ("10.0.0.0/8",), "198.51.100.1"),
    ("10.0.0.1", ["10.0.0.3, 10.0.0.2"], ("10.0.0.0/8",), "10.0.0.3"), ("10.0.0.1", [], ("10.0.0.0/8",), "10.0.0.1"),
    ("198.51.100.1", ["203.0.113.9"], ("10.0.0.0/8",), "198.51.100.1"), ("::1", ["2001:db8::1"], ("::1/128",),
    "2001:db8::1"),
    ("::ffff:10.0.0.1", ["198.51.100.1"], ("10.0.0.0/8",), "198.51.100.1"),
    ("10.0.0.1", ["::ffff:198.51.100.1"], ("10.0.0.0/8",), "198.51.100.1"),
    ("10.0.0.1", ["[2001:db8::1]"], ("10.0.0.0/8",), "2001:db8::1"),
    ("10.0.0.1", ["198.51.100.1:4711"], ("10.0.0.0/8",), "198.51.100.1"),
    ("10.0.0.1", ["[2001:db8::1]:4711"], ("10.0.0.0/8",), "2001:db8::1"),
    ("10.0.0.1", ["unknown"], ("10.0.0.0/8",), "10.0.0.1"), ("10.0.0.1", [""], ("10.0.0.0/8",), "10.0.0.1"),
    ("10.0.0.1", ["198.51.100.1,"], ("10.0.0.0/8",), "10.0.0.1"), ("10.0.0.1", ["x" * 9_000], ("10.0.0.0/8",),
    "10.0.0.1"),
])  # fmt: skip
def test_the_clients_address_is_what_trusted_proxies_say(
    peer: str, forwarded: list[str], trusted: tuple[str, ...], client: str
) -> None:
    assert networks.client(peer, forwarded, trusted) == client


def test_a_forwarded_address_counts_for_nothing_without_a_trusted_proxy(
    http: TestClient, owner: Tenant
) -> None:
    api = owner.key(cidrs=["198.51.100.0/24"])
    for header in (
        "X-Forwarded-For",
        "X-Real-IP",
        "Forwarded",
        "X-Client-IP",
        "CF-Connecting-IP",
        "True-Client-IP",
    ):
        value = "for=198.51.100.1" if header == "Forwarded" else "198.51.100.1"
        answer = asgi.send(
            http, "GET", "/api/v1/public/org/", ("Authorization", f"Bearer {api.key}"), (header, value)
        )
        assert answer.status == 403
        assert b'"ip":"192.0.2.1"' in answer.body


# --- Scopes


def test_the_documents_scopes_are_the_scopes() -> None:
    assert len(SCOPES) == len(set(SCOPES)) == 29
    assert {scope for one in OPERATIONS for scope in one.scopes} <= set(SCOPES)
    assert all(len(one.scopes) == 1 for one in OPERATIONS)
    assert {frozenset(pair) for pair in TWINS.items()} == {
        frozenset({"cases:read", "tasks:read"}), frozenset({"cases:write", "tasks:write"}),
    }  # fmt: skip


def satisfied(required: str, granted: tuple[str, ...]) -> bool:
    return not granted or required in granted or TWINS.get(required) in granted


def test_the_whole_matrix_of_operations_scopes_and_circumstances(owner: Tenant, http: TestClient) -> None:
    stranger, cells = tenant(http), 0
    grants = [(), *((scope,) for scope in SCOPES), SCOPES]
    circumstances: dict[str, tuple[dict[str, Any], str | None]] = {
        "fine": ({}, None),
        "revoked": ({"revoked_at": now()}, "INVALID_API_KEY"),
        "expired": ({"expires_at": now()}, "EXPIRED_API_KEY"),
        "wrong address": ({"cidrs": ["192.0.2.0/24"]}, "IP_NOT_ALLOWED"),
        "revoked, expired, wrong address": (
            {"revoked_at": now(), "expires_at": now(), "cidrs": ["192.0.2.0/24"]}, "INVALID_API_KEY",
        ),
        "expired, wrong address": ({"expires_at": now(), "cidrs": ["192.0.2.0/24"]}, "EXPIRED_API_KEY"),
    }  # fmt: skip
    owners = ((owner, True), (owner, False), (stranger, True))
    for (circumstance, (values, refused)), granted, (whose, livemode) in itertools.product(
        circumstances.items(), grants, owners
    ):
        key = whose.key(livemode=livemode, scopes=granted).key
        if values:
            change(key, **values)
        for operation in OPERATIONS:
            [required] = operation.scopes
            found, cells = identify(key, operation.scopes), cells + 1
            about = (operation.id, circumstance, granted)
            if refused:
                assert found[0] == refused, about
            elif satisfied(required, granted):
                assert (found.organisation_id, found.livemode) == (whose.organisation.id, livemode), about
            else:
                assert found == ("INSUFFICIENT_SCOPE", {"required_scope": required}), about
    assert cells == len(circumstances) * (len(SCOPES) + 2) * len(owners) * len(OPERATIONS)


# --- The order of refusal

FAULTS = ("key", "address", "scope", "rate", "body", "plan", "existence", "state")
EXPECTED = {
    "key": (401, "EXPIRED_API_KEY"), "address": (403, "IP_NOT_ALLOWED"), "scope": (403, "INSUFFICIENT_SCOPE"),
    "rate": (429, "RATE_LIMITED"), "body": (400, "VALIDATION_ERROR"), "plan": (403, "PLAN_REQUIRED"),
    "existence": (404, "NOT_FOUND"), "state": (400, "VALIDATION_ERROR"), None: (200, None),
}  # fmt: skip


@pytest.mark.parametrize(
    "first", [*range(len(FAULTS)), None], ids=lambda n: "none" if n is None else FAULTS[n]
)
def test_of_all_that_is_wrong_the_first_in_order_is_told(
    http: TestClient, first: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request has the fault named and every fault that comes after it."""
    has = set() if first is None else set(FAULTS[first:])
    owner = tenant(http, "starter" if "plan" in has else "growth")
    slug = owner.live.assessment()["slug"]
    api = owner.key(
        scopes=["cases:read" if "scope" in has else "assessments:write"],
        cidrs=["192.0.2.0/24"] if "address" in has else [],
        expires_at=now() if "key" in has else None,
    )
    body: dict[str, Any] = {"title": "Changed", "status": "draft" if "state" in has else "active"}
    body |= {"webcam_recording_enabled": True} if "plan" in has else {}
    body |= {"nonsense": 1} if "body" in has else {}
    if "rate" in has:
        for _ in range(100):
            limits.take([limits.Limit(f"limit:{owner.organisation.id}:writes", 10_000)])
    response = api.patch(f"/assessments/{'nothing' if 'existence' in has else slug}/update/", body)
    status, code = EXPECTED[None if first is None else FAULTS[first]]
    assert response.status_code == status, response.text
    if code:
        error = refusal(response, status, code)
        assert ("fields" in error["details"]) == (first == FAULTS.index("body"))


def test_the_plan_is_asked_before_existence_and_existence_before_quota(http: TestClient) -> None:
    owner = tenant(http, "starter")
    body = {
        "title": "A pool",
        "pool_mode": True,
        "assignment_size": 1,
        "cases": [{"case_id": str(owner.organisation.id)}],
    }
    refusal(owner.live.post("/assessments/create/", body), 403, "PLAN_REQUIRED")
    for _ in range(15):
        owner.live.assessment(active=False)
    refusal(owner.live.post("/assessments/create/", {**body, "pool_mode": False}), 404, "CASE_NOT_FOUND")
    refusal(owner.live.post("/assessments/create/", {"title": "One more"}), 403, "ASSESSMENT_LIMIT_REACHED")
    for path in ("/assessments/?team_slug=nothing", f"/applications/?team_id={owner.organisation.id}"):
        refusal(owner.live.get(path), 403, "PLAN_REQUIRED")
    refusal(owner.live.get("/assessments/?team_slug=nothing&nonsense=1"), 400, "VALIDATION_ERROR")


# --- Secrets


def test_no_secret_ever_reaches_a_log(http: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = io.StringIO()
    listener = logging.StreamHandler(lines)
    listener.setFormatter(logs._Lines())
    root = logging.getLogger()
    root.addHandler(listener)
    level = root.level
    root.setLevel(logging.DEBUG)
    try:
        owner = tenant(http)
        slug = owner.live.assessment(cases=3)["slug"]
        invited = owner.live.invitation(slug, address(), external_id="ats-1", send_email=True)
        token = invited["invite_token"]
        for at in (
            f"/take/{token}",
            f"/api/v1/candidate/invites/{token}/",
            f"/api/v1/candidate/invites/{token}",
            f"/take/{token}/",
            f"/join/{token}",
        ):
            http.get(at)
        http.post(f"/api/v1/candidate/invites/{token}/start/")
        http.put(f"/api/v1/candidate/invites/{token}/answers/{owner.organisation.id}/", json={"answer": 1})
        http.post(f"/api/v1/candidate/invites/{token}/submit/")
        for at in ("", "result/", "nothing/"):
            owner.live.get(f"/invites/{token}/{at}")
        owner.live.delete(f"/invites/{token}/")
        owner.live.get(f"/assessments/{slug}/", headers={"Authorization": f"bearer  {owner.live.key}x"})
        with monkeypatch.context() as patch:  # a fault in the middle of it

            def fail(*_: Any, **__: Any) -> None:
                raise RuntimeError(f"Bearer {owner.live.key} at /take/{token} whsec_{'a' * 44}")

            patch.setattr("store.assessing.invitations.read", fail)
            owner.live.checked = False
            refusal(owner.live.get(f"/invites/{token}/"), 500, "INTERNAL_ERROR")
    finally:
        root.removeHandler(listener)
        root.setLevel(level)
    written = lines.getvalue()
    assert written.count("\n") > 20
    for secret in (owner.live.key, owner.test.key, token, "whsec_" + "a" * 44):
        assert str(secret) not in written
        assert str(secret)[-20:] not in written


@pytest.mark.parametrize("statement", [
    "SELECT 1/0 WHERE :secret = :secret",
    "INSERT INTO organisations SELECT * FROM organisations WHERE slug <> :secret LIMIT 1",
    "UPDATE organisations SET slug = :secret, plan = NULL",
])  # fmt: skip
def test_a_fault_of_the_database_is_logged_without_what_was_asked(owner: Tenant, statement: str) -> None:
    secret = "t" * 43
    try:
        with store.transaction() as session:
            session.execute(text(statement), {"secret": secret})
    except DBAPIError:
        record = logging.LogRecord("hiring", logging.ERROR, "", 0, "A fault.", (), sys.exc_info())
        line = logs._Lines().format(record)
        assert "psycopg.errors" in line
        for told in (secret, owner.organisation.slug, str(owner.organisation.id)):
            assert told not in line
    else:
        pytest.fail("nothing went wrong")
