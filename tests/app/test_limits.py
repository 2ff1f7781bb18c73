"""Rate limits: exact in a rolling hour, told truthfully, counted in one round trip, missed by nobody."""

import itertools
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
import redis
from sqlalchemy import make_url
from starlette.testclient import TestClient

from app.http import limits as request_limits
from app.http import security
from app.instance.settings import Settings
from rules.plans import EXTRA_CAPS, PLANS
from store.accounts import limits
from store.accounts.limits import Limit, Standing
from store.database import engine
from tests import asgi
from tests.api import Api, Tenant, address, tenant
from tests.app.instances import eventually
from tests.probes import refusal

HOUR = 3600
CANDIDATE = "/api/v1/candidate/invites/nothing/"
_keys = itertools.count(1)


class Clock:
    """Seconds that pass when a test says so."""

    moment = 1_000_000.0

    def __call__(self) -> float:
        return self.moment


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch, app: object) -> Clock:
    """The limiter's clock, which stands still until it is moved."""
    moved = Clock()
    monkeypatch.setattr(limits.time, "time", moved)
    return moved


@pytest.fixture
def raw(redis_url: str) -> Iterator["redis.Redis"]:
    with redis.Redis.from_url(redis_url) as client:
        yield client


def key() -> str:
    return f"limit:test:{next(_keys)}"


def fill(raw: "redis.Redis", tenant: Tenant, kind: str, count: int, *, ago: float = 10) -> None:
    """Let an organisation have made so many requests some seconds ago."""
    moment = int((time.time() - ago) * 1000)
    name = f"limit:{tenant.organisation.id}:{kind}"
    raw.delete(name)
    raw.rpush(name, *[moment] * count)


def standing(response: Any) -> tuple[int, int, int]:
    return tuple(int(response.headers[f"X-RateLimit-{name}"]) for name in ("Limit", "Remaining", "Reset"))  # type: ignore[return-value]


# --- The window


def test_a_window_takes_so_many_and_no_more_in_any_hour(clock: Clock) -> None:
    name, taken = key(), []
    for second in range(0, 3 * HOUR, 240):
        clock.moment = 1_000_000 + second
        _, wait = limits.take([Limit(name, 5)])
        if wait is None:
            taken.append(second)
    assert taken[:6] == [0, 240, 480, 720, 960, 3600]
    assert all(later - earlier >= HOUR for earlier, later in zip(taken, taken[5:], strict=False))


def test_a_request_is_forgotten_an_hour_later_and_not_before(clock: Clock) -> None:
    name = key()
    assert limits.take([Limit(name, 1)])[1] is None
    for moved, wait in ((0, 3600), (3599, 1), (0.999, 1), (0.001, None)):
        clock.moment += moved
        assert limits.take([Limit(name, 1)])[1] == wait


def test_waiting_as_long_as_told_is_enough(clock: Clock) -> None:
    name = key()
    for moved in (0, 17.25, 3.5):
        clock.moment += moved
        limits.take([Limit(name, 3)])
    for _ in range(5):
        _, wait = limits.take([Limit(name, 3)])
        assert wait
        clock.moment += wait
        assert limits.take([Limit(name, 3)])[1] is None


def test_a_standing_says_what_is_left_and_when_there_is_more(clock: Clock) -> None:
    name, start = key(), clock.moment
    seen = []
    for _ in range(3):
        seen.append(limits.take([Limit(name, 3)])[0])
        clock.moment += 100
    assert [(one.limit, one.remaining) for one in seen] == [(3, 2), (3, 1), (3, 0)]
    assert {one.reset for one in seen} == {int(start) + HOUR}
    clock.moment = start + HOUR
    again, wait = limits.take([Limit(name, 3)])
    assert (wait, again.remaining, again.reset) == (None, 0, int(start) + HOUR + 100)


def test_a_refused_request_counts_against_nothing(clock: Clock, raw: "redis.Redis") -> None:
    wide, narrow = key(), key()
    for _ in range(4):
        limits.take([Limit(wide, 10), Limit(narrow, 2)])
    assert (raw.llen(wide), raw.llen(narrow)) == (2, 2)


def test_of_two_limits_the_later_one_says_how_long_to_wait(clock: Clock) -> None:
    for order in (slice(None), slice(None, None, -1)):
        early, late = Limit(key(), 1, 60), Limit(key(), 1, HOUR)
        limits.take([early, late])
        clock.moment += 10
        assert limits.take([early, late][order])[1] == HOUR - 10


def test_forty_at_once_are_counted_one_by_one(app: object) -> None:
    name = key()
    with ThreadPoolExecutor(40) as pool:
        found = list(pool.map(lambda _: limits.take([Limit(name, 25)]), range(40)))
    assert sorted(one.remaining for one, wait in found if wait is None) == list(range(25))
    assert sum(wait is not None for _, wait in found) == 15


def test_what_is_counted_is_forgotten_by_redis_too(app: object, raw: "redis.Redis") -> None:
    name = key()
    limits.take([Limit(name, 5)])
    assert HOUR - 5 < raw.ttl(name) <= HOUR


def test_counting_takes_one_round_trip(app: object, raw: "redis.Redis") -> None:
    limits.take([Limit(key(), 5)])  # the script is known from here on

    def calls() -> dict[str, int]:
        found = raw.info("commandstats")
        return {name.removeprefix("cmdstat_"): int(one["calls"]) for name, one in found.items()}

    # The server is shared with other runs, so the connection itself is watched.
    sent: list[Any] = []
    original = redis.Connection.send_packed_command
    with pytest.MonkeyPatch.context() as patch:

        def send(self: Any, command: Any, check_health: bool = True) -> None:
            sent.append(b"".join(command) if isinstance(command, list) else command)
            original(self, command, check_health)

        for kind in (redis.Connection, redis.UnixDomainSocketConnection):
            patch.setattr(kind, "send_packed_command", send)
        before = calls()
        sent.clear()
        limits.take([Limit(key(), 5), Limit(key(), 5)])
        assert len(sent) == 1
        assert b"EVALSHA" in sent[0].upper()
        assert calls()["evalsha"] > before["evalsha"]


def test_a_script_that_redis_forgot_and_a_connection_that_it_closed_are_made_good(
    app: object, raw: "redis.Redis"
) -> None:
    name = key()
    assert limits.take([Limit(name, 5)])[0].remaining == 4
    raw.script_flush()
    assert limits.take([Limit(name, 5)])[0].remaining == 3
    own = limits._script._own.connection
    own.send_command("CLIENT", "ID")
    raw.client_kill_filter(_id=own.read_response())
    assert limits.take([Limit(name, 5)])[0].remaining == 2


# --- Requests


def test_reads_and_writes_are_counted_apart_and_told_truthfully(tenant: Tenant) -> None:
    for number in range(1, 4):
        assert standing(tenant.live.get("/org/"))[:2] == (2_000, 2_000 - number)
        assert standing(tenant.live.patch("/org/", {}))[:2] == (400, 400 - number)
    limit, left, reset = standing(tenant.live.get("/org/"))
    assert (limit, left) == (2_000, 1_996)
    assert time.time() + HOUR - 60 < reset <= time.time() + HOUR + 1


def test_all_keys_of_an_organisation_in_both_modes_share_one_count(tenant: Tenant, other: Tenant) -> None:
    apis = [tenant.live, tenant.test, tenant.key(), tenant.key(livemode=False, scopes=["organisation:read"])]
    assert [standing(api.get("/org/"))[1] for api in apis] == [1_999, 1_998, 1_997, 1_996]
    assert standing(other.live.get("/org/"))[1] == 1_999


@pytest.mark.parametrize("plan", PLANS)
def test_each_plan_has_its_numbers(http: TestClient, raw: "redis.Redis", plan: str) -> None:
    owner, numbers = tenant(http, plan), PLANS[plan]
    assert (numbers.reads, numbers.writes) == {
        "starter": (500, 100), "growth": (2_000, 400), "enterprise": (10_000, 2_000),
    }[plan]  # fmt: skip
    for kind, limit, ask in (
        ("reads", numbers.reads, lambda: owner.live.get("/org/")),
        ("writes", numbers.writes, lambda: owner.live.patch("/org/", {})),
    ):
        fill(raw, owner, kind, limit - 1)
        assert standing(ask())[:2] == (limit, 0)
        error = refusal(ask(), 429, "RATE_LIMITED")
        assert error["details"]["retry_after_seconds"] == pytest.approx(HOUR - 10, abs=5)


def test_a_refusal_says_when_to_come_back(tenant: Tenant, raw: "redis.Redis") -> None:
    fill(raw, tenant, "reads", 2_000, ago=HOUR - 42)
    response = tenant.live.get("/org/")
    error = refusal(response, 429, "RATE_LIMITED")
    assert response.headers["Retry-After"] == str(error["details"]["retry_after_seconds"])
    assert 30 < int(response.headers["Retry-After"]) <= 42
    assert standing(response)[:2] == (2_000, 0)
    assert time.time() < standing(response)[2] <= time.time() + 43
    assert tenant.live.patch("/org/", {}).status_code == 200  # writes have a count of their own
    fill(raw, tenant, "reads", 2_000, ago=HOUR + 1)
    assert standing(tenant.live.get("/org/"))[:2] == (2_000, 1_999)


def test_what_is_refused_before_the_limit_counts_for_nothing(tenant: Tenant) -> None:
    for api in (
        Api(tenant.http, None),
        tenant.key(scopes=["cases:read"]),
        tenant.key(cidrs=["192.0.2.0/24"]),
    ):
        assert api.get("/org/").status_code in (401, 403)
    tenant.live.checked = False
    assert tenant.live.post("/org/", {}).status_code == 405
    assert tenant.live.get("/nothing/").status_code == 404
    assert standing(tenant.live.get("/org/"))[1] == 1_999


def test_what_is_refused_after_the_limit_has_counted(tenant: Tenant) -> None:
    assert tenant.live.get("/org/?nothing=1").status_code == 400
    assert tenant.live.get("/assessments/nothing/").status_code == 404
    assert standing(tenant.live.get("/org/"))[1] == 1_997


def test_bulk_invites_have_a_cap_of_their_own_beside_the_hours_writes(
    tenant: Tenant, raw: "redis.Redis"
) -> None:
    slug = tenant.live.assessment()["slug"]
    at, body = f"/assessments/{slug}/invites/bulk/", {"candidates": [{"email": address()}]}
    for _ in range(EXTRA_CAPS["bulk_invite"]):
        assert standing(tenant.live.post(at, body))[0] == 400
    refusal(tenant.live.post(at, body), 429, "RATE_LIMITED")
    refusal(tenant.key().post(at, body), 429, "RATE_LIMITED")
    assert raw.llen(f"limit:{tenant.organisation.id}:writes") == 22  # the refused ones are not among them
    assert tenant.live.patch("/org/", {}).status_code == 200


OURS = "192.0.2.77"  # nobody else's: a minute of other tests counts for their own


def test_a_candidates_address_has_a_limit_of_its_own(http: TestClient) -> None:
    request_limits.configure(3)
    try:
        for host in ("/api/v1/candidate/invites/nothing/", "/api/v1/candidate/invites/other/"):
            assert asgi.send(http, "GET", host, peer=OURS).status == 404
        for forged in ("198.51.100.1", "198.51.100.2"):
            answer = asgi.send(http, "GET", CANDIDATE, ("X-Forwarded-For", forged), peer=OURS)
        assert answer.status == 429
        assert 0 < int(answer.headers["retry-after"]) <= 60
        assert b'"RATE_LIMITED"' in answer.body
        assert asgi.send(http, "GET", CANDIDATE, peer="192.0.2.2").status == 404  # somebody else's address
    finally:
        request_limits.configure(1_000_000)


def test_neighbours_of_one_network_count_together_and_each_is_shown_whole(
    http: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    request_limits.configure(3)
    caplog.set_level("INFO", "hiring.requests")
    try:
        neighbours = [f"2001:db8:77:1::{number:x}" for number in range(1, 5)]
        said = [asgi.send(http, "GET", CANDIDATE, peer=one).status for one in neighbours]
        assert said == [404, 404, 404, 429]
        assert asgi.send(http, "GET", CANDIDATE, peer="2001:db8:77:2::1").status == 404
        told = [vars(line)["address"] for line in caplog.records if line.name == "hiring.requests"]
        assert told[:4] == neighbours
    finally:
        request_limits.configure(1_000_000)


# --- Outages


@pytest.fixture
def frozen(settings: Settings) -> Iterator[str]:
    """A Redis that takes connections and says nothing; the usual one afterwards."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        yield f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
    limits.configure(settings.redis_url)


@pytest.mark.parametrize("how", ["frozen", "gone"])
def test_without_redis_everybody_is_served_and_counted_here(tenant: Tenant, frozen: str, how: str) -> None:
    before = request_limits.COUNTED_HERE._value.get()
    limits.configure(frozen if how == "frozen" else "redis://127.0.0.1:1/0")
    began = time.monotonic()
    stood = [standing(tenant.live.get("/org/")) for _ in range(3)]
    assert time.monotonic() - began < 1
    assert [(limit, remaining) for limit, remaining, _ in stood] == [(2000, 1999), (2000, 1998), (2000, 1997)]
    assert tenant.http.get(CANDIDATE).status_code == 404
    assert limits.away()
    assert request_limits.COUNTED_HERE._value.get() == before + 4


def test_a_process_lets_through_its_share(clock: Clock, frozen: str) -> None:
    limits.configure(frozen, share=0.5)
    minute, hour = key(), key()
    waits = [limits.take([Limit(minute, 4, 60), Limit(hour, 10)])[1] for _ in range(3)]
    assert waits == [None, None, 60]
    clock.moment += 60
    assert limits.take([Limit(minute, 4, 60), Limit(hour, 10)]) == (
        Standing(4, 1, int(clock.moment) + 60),
        None,
    )


def test_redis_is_asked_again_once_it_is_back(
    frozen: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "PROBE_SECONDS", 0.01)
    limits.configure(frozen)
    limits.take([Limit(key(), 4)])
    assert limits.away()
    assert limits._client
    back = redis.Redis.from_url(settings.redis_url)
    monkeypatch.setattr(limits._client, "ping", back.ping)
    assert eventually(lambda: not limits.away())


def test_a_redis_that_forgot_its_scripts_is_told_again(tenant: Tenant, raw: "redis.Redis") -> None:
    tenant.live.get("/org/")
    raw.script_flush()
    assert standing(tenant.live.get("/org/"))[1] == 1_998


def test_without_the_database_nothing_is_answered_and_then_again(tenant: Tenant, settings: Settings) -> None:
    engine.configure("postgresql://nobody@127.0.0.1:1/nothing")
    tenant.live.checked = False
    try:
        for ask in (lambda: tenant.live.get("/org/"), lambda: tenant.http.get(CANDIDATE)):
            response = ask()
            refusal(response, 503, "UNAVAILABLE")
            assert int(response.headers["Retry-After"]) > 0
    finally:
        engine.configure(settings.database_url, pool_size=settings.threads + 4)
    assert tenant.live.get("/org/").status_code == 200


def test_connections_that_the_database_dropped_are_made_anew(
    tenant: Tenant, servers: dict[str, str], settings: Settings
) -> None:
    assert tenant.live.get("/org/").status_code == 200
    with psycopg.connect(servers["postgres"], autocommit=True) as admin:
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()",
            [make_url(settings.database_url).database],
        )
    tenant.live.checked = False
    statuses = [tenant.live.get("/org/").status_code for _ in range(3)]
    assert set(statuses) <= {200, 503}
    assert statuses[-1] == 200
    # One loss tells of all, whichever way to the database it was found on.
    security.forget()
    assert tenant.live.get("/invites/").status_code == 200
    assert tenant.live.post("/assessments/create/", {"title": "After the outage"}).status_code == 201
