"""What can be slow has threads of its own, and one organisation in one mode a share of them."""

import asyncio
import dataclasses
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from connexion import FlaskApp
from starlette.testclient import TestClient

import gateways.sandbox
from app.http.application import BELL, KEYS, create_app
from app.http.threads import lanes
from app.http.threads.hop import Hop
from app.http.threads.lanes import ORDINARY
from app.http.threads.places import Places
from app.instance.settings import Settings
from gateways import files
from gateways.load import Load
from gateways.sandbox import Run
from handlers import health as handlers
from store.database import greenlets, loops
from store.operating import health
from tests import api, asgi, receiver
from tests.api import Api, Tenant
from tests.client import Client
from tests.hooks import wait_until
from tests.receiver import Answer, Received, Receiver
from tests.sittings import CODE, Invited, invite

PATIENCE = 60
CV = {"cv": ("cv.txt", b"Ada Lovelace, mathematician.", "text/plain")}
ENDLESS = "while True: pass"


@pytest.fixture(scope="module")
def small(settings: Settings) -> FlaskApp:
    """The application with lanes of few threads: of each two for one party, of programs one."""
    return create_app(dataclasses.replace(settings, network_threads=4, files_threads=4, programs=2))


@pytest.fixture(scope="module")
def http(small: FlaskApp, settings: Settings) -> Iterator[TestClient]:
    with Client(small, base_url=settings.base_url, raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def going_on() -> Iterator[threading.Event]:
    """What waits for this stands for what never ends; the end of the test sets it."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def pool(going_on: threading.Event) -> Iterator[Callable[..., Future[Any]]]:
    """Call functions in threads; all have ended when the test has."""
    with ThreadPoolExecutor(64) as threads:
        yield threads.submit
        going_on.set()


@pytest.fixture
def endpoint(going_on: threading.Event) -> Iterator[Receiver]:
    """An endpoint that says nothing for as long, but for the paths of those that answer."""

    def respond(received: Received) -> Answer:
        if received.path == "/hook":
            going_on.wait(PATIENCE)
        return Answer()

    with receiver.running() as running:
        running.answer(respond)
        yield running


def pinging(api: Api, url: str) -> Callable[[], httpx.Response]:
    """Register an endpoint; return what tests it."""
    made = api.post("/webhooks/create/", {"url": url, "events": ["*"]}).json()
    unchecked = dataclasses.replace(api, checked=False)
    return lambda: unchecked.post(f"/webhooks/{made['id']}/test/")


def refused_for_now(answer: httpx.Response) -> bool:
    assert answer.status_code == 503, answer.text
    assert answer.json()["error"]["code"] == "UNAVAILABLE"
    return answer.headers["Retry-After"].isdigit()


def test_endpoints_that_say_nothing_hold_up_no_other_request(
    tenant: Tenant, other: Tenant, http: TestClient, endpoint: Receiver, pool: Callable[..., Future[Any]],
    going_on: threading.Event,
) -> None:  # fmt: skip
    pings = [pool(ping) for one in (tenant, other) for ping in [pinging(one.live, endpoint.url)] * 8]
    endpoint.wait_for(4)  # the whole lane; before there were lanes, all of one or most request threads
    third = api.tenant(http)
    for one in (third.live, other.live, tenant.live, tenant.test):
        assert one.get("/org/").status_code == 200
        assert one.patch("/org/", {"name": "Still here"}).status_code == 200
    assert http.get("/healthz").status_code == http.get("/readyz").status_code == 200
    assert not [ping for ping in pings if ping.done()]
    going_on.set()
    assert {ping.result(PATIENCE).status_code for ping in pings} == {200}


def test_who_hangs_where_nothing_is_computed_crowds_nobody_out(settings: Settings) -> None:
    load = Load()
    made = lanes.make(settings, load)
    assert [name for name, lane in made.items() if lane.hop.work.load is load] == [ORDINARY]


@pytest.mark.parametrize("make", [lanes.reads, lanes.changes])
@pytest.mark.parametrize("at_once", [4, 8, 16, 24])
def test_two_that_wait_for_locks_leave_places_to_others(
    at_once: int, make: Callable[[int, Load], Places]
) -> None:
    async def run() -> bool:
        places = make(at_once, Load())
        waiting = [
            asyncio.ensure_future(greenlets.run(places.take, SimpleNamespace(party=party)))
            for party in "ab"
            for _ in range(at_once)
        ]
        await asyncio.sleep(0)
        other = asyncio.ensure_future(greenlets.run(places.take, SimpleNamespace(party="c")))
        await asyncio.sleep(0)
        for one in waiting:
            one.cancel()
        return other.done()

    assert asyncio.run(run()) == (at_once > 4)


def test_what_is_beyond_an_organisations_share_is_refused_for_it_alone(
    tenant: Tenant, other: Tenant, endpoint: Receiver, pool: Callable[..., Future[Any]],
    going_on: threading.Event,
) -> None:  # fmt: skip
    ping = pinging(tenant.live, endpoint.url)
    answering = endpoint.url.replace("/hook", "/answers")
    elsewhere = [pinging(one, answering) for one in (other.live, other.test, tenant.test)]
    pings = [pool(ping) for _ in range(2)]
    endpoint.wait_for(2)  # they are under way, and leave the room to others
    pings += [pool(ping) for _ in range(16 + 4)]  # waiting, and too many
    refused: set[Future[Any]] = set()
    while len(refused) < 4:
        found, _ = wait(set(pings) - refused, PATIENCE, FIRST_COMPLETED)
        assert found, "nobody was refused"
        refused |= found
    assert all(refused_for_now(one.result()) for one in refused)
    assert [ping().status_code for ping in elsewhere] == [200, 200, 200]
    assert refused == {one for one in pings if one.done()}
    going_on.set()
    assert [one.result(PATIENCE).status_code for one in pings if one not in refused] == [200] * 18


# --- Who has no key counts for whom they are there for


def running(http: TestClient, invited: Invited, answer: str) -> httpx.Response:
    return http.post(f"{invited.url}answers/{invited.cases[0]}/run/", json={"answer": answer})


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch, going_on: threading.Event) -> threading.Semaphore:
    """Programs are released as they begin; the endless ones end with the test, without a CPU."""
    begun = threading.Semaphore(0)

    def run(_language: str, code: str, inputs: list[str], **_limits: Any) -> list[Run]:
        begun.release()
        if code == ENDLESS:
            going_on.wait(PATIENCE)
        return [Run("", "", "ok") for _ in inputs]

    monkeypatch.setattr(gateways.sandbox, "available", lambda _language: True)
    monkeypatch.setattr(gateways.sandbox, "run", run)
    return begun


def test_endless_programs_of_one_organisation_leave_the_others_theirs(
    http: TestClient, pool: Callable[..., Future[Any]], programs: threading.Semaphore,
    going_on: threading.Event,
) -> None:  # fmt: skip
    first, second = invite(CODE), invite(CODE)
    for one in (first, second):
        assert http.post(f"{one.url}start/").status_code == 200
    endless = [pool(running, http, first, ENDLESS) for _ in range(2 + 32 + 2)]
    refused = set()
    while len(refused) < 2:
        found, _ = wait(set(endless) - refused, PATIENCE, FIRST_COMPLETED)
        assert found, "nobody was refused"
        refused |= found
    assert all(refused_for_now(one.result()) for one in refused)
    assert running(http, second, "print(1)").json()["available"]
    for one in (first, second):
        saved = http.put(f"{one.url}answers/{one.cases[0]}/", json={"answer": "while it runs"})
        assert saved.status_code == 200
    assert refused == {one for one in endless if one.done()}
    going_on.set()
    assert {one.result(PATIENCE).status_code for one in set(endless) - refused} == {200}


def test_a_program_is_begun_for_no_more_than_the_share(
    http: TestClient, pool: Callable[..., Future[Any]], programs: threading.Semaphore,
    going_on: threading.Event,
) -> None:  # fmt: skip
    first, second = invite(CODE), invite(CODE)
    for one in (first, second):
        http.post(f"{one.url}start/")
    endless = [pool(running, http, first, ENDLESS) for _ in range(4)]
    for _ in range(2):
        assert programs.acquire(timeout=PATIENCE)
    assert running(http, second, "print(1)").status_code == 200
    assert programs.acquire(timeout=PATIENCE)
    assert not programs.acquire(blocking=False)
    going_on.set()
    assert {one.result(PATIENCE).status_code for one in endless} == {200}


def test_a_candidate_sees_which_place_their_program_has(
    http: TestClient, pool: Callable[..., Future[Any]], programs: threading.Semaphore,
    going_on: threading.Event,
) -> None:  # fmt: skip
    def run(one: Invited) -> dict[str, Any]:
        return dict(http.get(f"{one.url}run/").json())

    invited = [invite(CODE) for _ in range(6)]
    for one in invited:
        assert http.post(f"{one.url}start/").status_code == 200
        assert run(one) == {"state": "idle", "place": None}
    asked = []
    for number, one in enumerate(invited, start=1):  # four threads; two have to wait
        asked.append(pool(running, http, one, ENDLESS))
        if number <= 4:
            assert programs.acquire(timeout=PATIENCE)
            wait_until(lambda one=one: run(one) == {"state": "running", "place": None})
        else:
            wait_until(lambda one=one, place=number - 4: run(one) == {"state": "waiting", "place": place})
    going_on.set()
    assert {one.result(PATIENCE).status_code for one in asked} == {200}
    wait_until(lambda: all(run(one)["state"] == "idle" for one in invited))


class Slow(files.Folder):
    """A folder that is very slow with the files of one organisation."""

    def __init__(self, folder: Any, organisation: Any, going_on: threading.Event) -> None:
        super().__init__(folder)
        self.organisation, self.going_on, self.begun = str(organisation), going_on, threading.Semaphore(0)

    def put(self, key: str, content: bytes) -> None:
        if self.organisation in key:
            self.begun.release()
            self.going_on.wait(PATIENCE)
        super().put(key, content)


@pytest.mark.parametrize("place", ["/api/v1/careers/{org}/jobs/{job}/apply/", "/careers/{org}/{job}/"])
def test_applicants_count_for_the_organisation_that_they_apply_to(
    tenant: Tenant, other: Tenant, http: TestClient, settings: Settings, pool: Callable[..., Future[Any]],
    going_on: threading.Event, place: str,
) -> None:  # fmt: skip
    slow = Slow(settings.files_dir, tenant.organisation.id, going_on)
    jobs = {one.organisation.slug: one.live.job(published=True)["slug"] for one in (tenant, other)}

    def apply(owner: Tenant) -> int:
        slug = owner.organisation.slug
        person = {"email": api.address(), "full_name": "Ada"}
        path = place.format(org=slug, job=jobs[slug])
        return http.post(path, data=person, files=CV, headers={"Accept": "application/json"}).status_code

    files.configure(slow)
    try:
        held = [pool(apply, tenant) for _ in range(6)]
        assert slow.begun.acquire(timeout=PATIENCE)
        assert slow.begun.acquire(timeout=PATIENCE)
        assert apply(other) in (200, 201)
        assert not slow.begun.acquire(blocking=False)
        going_on.set()
        assert {one.result(PATIENCE) for one in held} <= {200, 201}
    finally:
        files.configure(files.Folder(settings.files_dir))


def test_an_organisation_that_is_not_there_has_no_share(http: TestClient) -> None:
    for path in ("/api/v1/careers/nobody/jobs/none/apply/", "/api/v1/careers/a%00/jobs/none/apply/"):
        answer = http.post(path, data={"email": api.address(), "full_name": "Ada"})
        assert answer.status_code in (400, 404)


# --- Health


def hold_all(http: TestClient, hops: list[Hop], going_on: threading.Event) -> None:
    """Have every thread of these wait."""
    started = threading.Semaphore(0)

    def hold() -> None:
        started.release()
        going_on.wait(PATIENCE)

    def submit() -> None:
        for hop in hops:
            for number in range(hop.threads):
                hop.submit(hold, party=number)

    assert http.portal
    http.portal.call(submit)
    for _ in range(sum(hop.threads for hop in hops)):
        assert started.acquire(timeout=PATIENCE)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_health_is_answered_while_every_thread_is_busy(
    small: FlaskApp, http: TestClient, going_on: threading.Event, method: str
) -> None:
    front = asgi.front(small)
    hold_all(http, [front.telling, *(lane.hop for lane in front.lanes.values())], going_on)
    assert http.request(method, "/healthz").status_code == 200
    assert not going_on.is_set()


def test_readiness_waits_for_no_request_thread_and_not_long_for_the_database(
    small: FlaskApp, http: TestClient, going_on: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(health, "_database", lambda: going_on.wait(PATIENCE) and ("ok", "ok"))
    monkeypatch.setattr(handlers, "_found", (0.0, {}))
    monkeypatch.setattr(health, "_look", None)
    hold_all(http, [asgi.front(small).lanes[ORDINARY].hop], going_on)
    answer = http.get("/readyz")
    assert (answer.status_code, answer.json()["checks"]["database"]) == (503, "does not answer")
    assert not going_on.is_set()


def test_an_application_has_connections_for_keys_and_the_bell_beside_those_of_every_place(
    settings: Settings,
) -> None:
    create_app(settings)
    readers, writers = loops._sizes
    assert readers - settings.reads_at_once == KEYS > 0
    assert writers - settings.changes_at_once == BELL > 0
