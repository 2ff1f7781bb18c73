"""A request that names itself has its effect once."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import UUID

import httpx
import pytest
from sqlalchemy import update

import store
from app.instance.settings import Settings
from rules.caller import Caller
from rules.clock import now
from rules.errors import IdempotencyInProgress
from store.accounts import idempotency
from store.accounts.idempotency import DUE, HELD, Asked, IdempotentAnswer, delete_answers, hold, keep, let_go
from store.applying import applications
from store.database import engine
from tests import receiver as receivers
from tests.api import Tenant
from tests.hooks import wait_until
from tests.receiver import Answer, Received, Receiver
from tests.shared import free_port, process

KEY = {"Idempotency-Key": "order-66"}
NEW = {"title": "Backend engineer"}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receivers.running() as running:
        yield running


def caller_of(tenant: Tenant) -> Caller:
    return Caller(tenant.organisation.id, livemode=True, plan_name="growth")


def test_the_encoding_of_a_body_makes_no_other_request(tenant: Tenant) -> None:
    tenant.live.post("/assessments/create/", NEW, headers=KEY)
    again = tenant.live.post("/assessments/create/", data=NEW, headers=KEY)
    assert again.headers["Idempotent-Replayed"] == "true"


def test_a_request_without_its_last_slash_is_the_same_request(tenant: Tenant) -> None:
    first = tenant.live.post("/assessments/create/", NEW, headers=KEY)
    again = tenant.live.post("/assessments/create", NEW, headers=KEY)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.json() == first.json()


def test_a_refused_request_keeps_nothing(tenant: Tenant) -> None:
    slug = tenant.live.assessment(active=False)["slug"]
    body = {"email": "ada@example.com"}
    assert tenant.live.post(f"/assessments/{slug}/invites/", body, headers=KEY).status_code == 400
    tenant.live.patch(f"/assessments/{slug}/update/", {"status": "active"})
    assert tenant.live.post(f"/assessments/{slug}/invites/", body, headers=KEY).status_code == 201


def test_a_hundred_parallel_calls_with_one_key_have_one_effect(tenant: Tenant) -> None:
    with ThreadPoolExecutor(25) as pool:
        answers = list(
            pool.map(lambda _: tenant.live.post("/assessments/create/", NEW, headers=KEY), range(100))
        )
    done = [answer for answer in answers if answer.status_code == 201]
    refused = {answer.json()["error"]["code"] for answer in answers if answer.status_code != 201}
    assert sum("Idempotent-Replayed" not in answer.headers for answer in done) == 1
    assert len({answer.json()["id"] for answer in done}) == 1
    assert refused <= {"IDEMPOTENCY_IN_PROGRESS"}
    assert len(tenant.live.get("/assessments/").json()["results"]) == 1


def test_after_a_day_the_key_is_free(tenant: Tenant) -> None:
    tenant.live.post("/assessments/create/", NEW, headers=KEY)
    yesterday = now() - timedelta(hours=24, seconds=1)
    with store.transaction() as session:
        session.execute(
            update(IdempotentAnswer)
            .where(IdempotentAnswer.organisation_id == tenant.organisation.id)
            .values(created_at=yesterday)
        )
    assert "Idempotent-Replayed" not in tenant.live.post("/assessments/create/", NEW, headers=KEY).headers


def test_old_answers_are_deleted(tenant: Tenant) -> None:
    tenant.live.post("/assessments/create/", NEW, headers=KEY)
    with store.transaction() as session:
        session.execute(update(IdempotentAnswer).values(created_at=now() - timedelta(hours=25)))
    with store.transaction() as session:
        old = DUE.choose(session, 1000)
        assert delete_answers(session, old) == len(old) >= 1
        assert DUE.choose(session, 1000) == []


@pytest.mark.parametrize("key", ["", "x" * 256])
def test_a_key_has_a_length(tenant: Tenant, key: str) -> None:
    refused = tenant.live.post("/assessments/create/", NEW, headers={"Idempotency-Key": key})
    assert refused.json()["error"]["details"]["fields"][0]["pointer"] == "/header/Idempotency-Key"


# --- Requests that reach the network between two transactions

CV = b"Ada Lovelace\nada@example.com\nPython\n"


def held() -> int:
    """The connections that requests hold now."""
    return int(engine.engine().pool.checkedout())  # type: ignore[attr-defined]


def ages(tenant: Tenant, by: timedelta) -> None:
    with store.transaction() as session:
        session.execute(
            update(IdempotentAnswer)
            .where(IdempotentAnswer.organisation_id == tenant.organisation.id)
            .values(created_at=now() - by)
        )


def hook(tenant: Tenant, receiver: Receiver) -> str:
    made = tenant.live.post("/webhooks/create/", {"url": receiver.url, "events": ["*"]})
    return f"/webhooks/{made.json()['id']}"


def told(tenant: Tenant, type: str) -> int:
    return len(tenant.live.get("/events/", params={"type": type}).json()["results"])


@pytest.mark.parametrize("what", ["application", "screening", "ping"])
def test_a_hundred_parallel_calls_in_parts_with_one_key_have_one_effect(
    tenant: Tenant, receiver: Receiver, what: str
) -> None:
    job = tenant.live.job(published=True)["slug"]
    made = tenant.live.application(job)
    path = hook(tenant, receiver)

    def call() -> httpx.Response:
        if what == "screening":
            return tenant.live.post(f"/applications/{made['id']}/screening/rerun/", headers=KEY)
        if what == "ping":
            return tenant.live.post(f"{path}/test/", headers=KEY)
        form = {"job_slug": job, "email": "ada@example.com", "full_name": "Ada"}
        files = {"cv": ("cv.txt", CV)}
        return tenant.live.post("/applications/create/", data=form, files=files, headers=KEY)

    with ThreadPoolExecutor(12) as pool:  # no more than may wait in a lane
        answers = list(pool.map(lambda _: call(), range(100)))
    done = [answer for answer in answers if answer.status_code in (200, 201)]
    refused = {answer.json()["error"]["code"] for answer in answers if answer not in done}
    assert sum("Idempotent-Replayed" not in answer.headers for answer in done) == 1
    assert len({answer.content for answer in [*done, call()]}) == 1
    assert refused <= {"IDEMPOTENCY_IN_PROGRESS"}
    assert told(tenant, "application.submitted") == (2 if what == "application" else 1)
    assert told(tenant, "application.screened") == (1 if what == "screening" else 0)
    assert len(receiver.requests) == (1 if what == "ping" else 0)


def test_an_answer_that_changes_nothing_is_kept_too(tenant: Tenant) -> None:
    job = tenant.live.job(published=True)["slug"]
    made = tenant.live.application(job, "ada@example.com")
    person = {"job_slug": job, "email": "ada@example.com", "full_name": "Ada"}
    first = tenant.live.post("/applications/create/", person, headers=KEY)
    tenant.live.post(f"/applications/{made['id']}/hold/")
    again = tenant.live.post("/applications/create/", person, headers=KEY)
    assert (first.status_code, again.status_code) == (200, 200)
    assert again.content == first.content
    assert again.headers["Idempotent-Replayed"] == "true"


def test_no_connection_is_held_while_the_network_is_asked(tenant: Tenant, receiver: Receiver) -> None:
    path, free = hook(tenant, receiver), threading.Event()

    def answer(_: Received) -> Answer:
        wait_until(lambda: held() == 0, seconds=8)  # but for the bell's, which is soon let go
        free.set()
        return Answer()

    receiver.answer(answer)
    assert tenant.live.post(f"{path}/test/", headers=KEY).status_code == 200
    assert free.is_set()


@pytest.mark.parametrize("status", [500, 200])
def test_a_refusal_in_parts_frees_its_key(tenant: Tenant, receiver: Receiver, status: int) -> None:
    path = hook(tenant, receiver)
    if status == 200:  # refused by the last transaction
        receiver.answer(lambda _: tenant.live.delete(f"{path}/") and Answer())
    else:
        receiver.answer(status)
    assert tenant.live.post(f"{path}/test/", headers=KEY).status_code in (400, 404)
    assert tenant.live.post("/assessments/create/", NEW, headers=KEY).status_code == 201


def test_a_key_is_free_for_nothing_else_while_the_network_is_asked(
    tenant: Tenant, receiver: Receiver
) -> None:
    path, seen = hook(tenant, receiver), []

    def meanwhile(_: Received) -> Answer:
        seen.append(tenant.live.post(f"{path}/test/", headers=KEY))
        seen.append(tenant.live.post("/assessments/create/", NEW, headers=KEY))
        return Answer()

    receiver.answer(meanwhile)
    assert tenant.live.post(f"{path}/test/", headers=KEY).status_code == 200
    codes = [answer.json()["error"]["code"] for answer in seen]
    assert codes == ["IDEMPOTENCY_IN_PROGRESS", "IDEMPOTENCY_MISMATCH"]


def test_who_took_too_long_has_no_effect_beside_the_next(tenant: Tenant, receiver: Receiver) -> None:
    id = tenant.live.application(tenant.live.job(published=True)["slug"])["id"]
    asked = Asked(caller_of(tenant), "slow", "the same")
    with store.transaction() as session:
        slow = hold(session, asked)
    ages(tenant, HELD)
    with store.transaction() as session:
        quick = hold(session, asked)
    assert isinstance(slow, UUID)
    assert isinstance(quick, UUID)

    def late() -> None:
        with store.transaction() as session:
            application = applications.get(session, asked.caller, UUID(id))
            applications.happened(session, application, "late", was=None, actor="system")
            keep(session, asked, slow, idempotency.Answer(200, b"{}"))

    with pytest.raises(IdempotencyInProgress):
        late()
    with store.transaction() as session:
        let_go(session, asked, slow)  # is not his to let go
        keep(session, asked, quick, idempotency.Answer(200, b'{"quick": true}'))
    with store.transaction() as session:
        assert hold(session, asked) == idempotency.Answer(200, b'{"quick": true}')
    types = [one["type"] for one in tenant.live.get(f"/applications/{id}/").json()["events"]]
    assert types == ["submitted"]


def test_a_process_that_is_killed_in_between_leaves_no_effect_and_a_key_that_is_free_soon(
    tenant: Tenant, receiver: Receiver, settings: Settings
) -> None:
    path, patience, port = hook(tenant, receiver), threading.Event(), free_port()
    receiver.answer(lambda _: Answer() if patience.wait(30) else Answer(500))
    headers = {"Authorization": f"Bearer {tenant.live.key}", **KEY}
    url = f"http://127.0.0.1:{port}{tenant.live.base}{path}/test/"
    with (
        process(settings, "web", "--port", str(port), ready="startup complete") as web,
        ThreadPoolExecutor(1) as pool,
        httpx.Client(trust_env=False, timeout=30) as client,
    ):
        lost = pool.submit(client.post, url, headers=headers)
        receiver.wait_for(1)
        web.kill()
        assert isinstance(lost.exception(), httpx.HTTPError)
    patience.set()
    refused = tenant.live.post(f"{path}/test/", headers=KEY)
    assert refused.json()["error"]["code"] == "IDEMPOTENCY_IN_PROGRESS"
    assert tenant.live.get(f"{path}/").json()["is_verified"] is False
    ages(tenant, HELD)
    done = tenant.live.post(f"{path}/test/", headers=KEY)
    assert (done.status_code, done.json()["is_verified"]) == (200, True)
    assert tenant.live.post(f"{path}/test/", headers=KEY).content == done.content
    assert len(receiver.requests) == 2  # a ping is sent again; what it brings about is not
