"""A request that names itself has its effect once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import update

import store
from rules.clock import now
from store.idempotency import IdempotentAnswer, delete_answers
from tests.api import Tenant

KEY = {"Idempotency-Key": "order-66"}
NEW = {"title": "Backend engineer"}


def test_the_same_request_is_answered_with_the_first_answer(tenant: Tenant) -> None:
    first = tenant.live.post("/assessments/create/", NEW, headers=KEY)
    again = tenant.live.post("/assessments/create/", NEW, headers=KEY)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert "Idempotent-Replayed" not in first.headers
    assert again.headers["Idempotent-Replayed"] == "true"
    assert len(tenant.live.get("/assessments/").json()["results"]) == 1


def test_the_encoding_of_a_body_makes_no_other_request(tenant: Tenant) -> None:
    tenant.live.post("/assessments/create/", NEW, headers=KEY)
    again = tenant.live.post("/assessments/create/", data=NEW, headers=KEY)
    assert again.headers["Idempotent-Replayed"] == "true"


@pytest.mark.parametrize(
    ("path", "body"), [("/assessments/create/", {"title": "Other"}), ("/cases/create/", NEW)]
)
def test_another_request_with_the_key_is_refused(tenant: Tenant, path: str, body: dict) -> None:
    tenant.live.post("/assessments/create/", NEW, headers=KEY)
    if "cases" in path:
        body = body | {"case_type": "text"}
    refused = tenant.live.post(path, body, headers=KEY)
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "IDEMPOTENCY_MISMATCH")


def test_a_key_belongs_to_one_organisation_and_mode(tenant: Tenant, other: Tenant) -> None:
    answers = [
        api.post("/assessments/create/", NEW, headers=KEY) for api in (tenant.live, tenant.test, other.live)
    ]
    assert [answer.status_code for answer in answers] == [201] * 3
    assert len({answer.json()["id"] for answer in answers}) == 3


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
        assert delete_answers(session, 1000) >= 1
        assert delete_answers(session, 1000) == 0


@pytest.mark.parametrize("key", ["", "x" * 256])
def test_a_key_has_a_length(tenant: Tenant, key: str) -> None:
    refused = tenant.live.post("/assessments/create/", NEW, headers={"Idempotency-Key": key})
    assert refused.json()["error"]["details"]["fields"][0]["pointer"] == "/header/Idempotency-Key"
