"""What waits for a person: the list of it, and who takes an answer in hand."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import update

import store
from rules.clock import now
from store.assessing.sessions import SessionCase
from tests.api import Api, Tenant
from tests.handlers.test_results import CHOICE, CODE, ESSAY, NOTHING, Taken, assessment, start, take
from tests.operations import states
from tests.probes import refusal


def waiting(api: Api, **query: Any) -> list[dict[str, Any]]:
    return list(api.get("/reviews/", params=query).json()["results"])


def claim(api: Api, id: str, verb: str = "claim") -> Any:
    return api.post(f"/reviews/{id}/{verb}/")


def pass_time(id: str) -> None:
    """Let a claim's quarter of an hour go by."""
    past = {"claimed_until": now() - timedelta(seconds=1)}
    with store.transaction() as session:
        session.execute(update(SessionCase).where(SessionCase.id == id).values(**past))


def test_what_no_program_could_grade_waits_once_its_session_is_over(tenant: Tenant) -> None:
    slug = assessment(tenant, CHOICE, ESSAY, ESSAY)
    first = take(tenant, slug, "a", "An essay", NOTHING)  # what was left out waits for nobody
    start(tenant, slug)
    second = take(tenant, slug, "a", "Another", "And one more")
    found = waiting(tenant.live)
    assert [(one["invite_token"], one["case_order"]) for one in found] == [
        (second.token, 3), (second.token, 2), (first.token, 2),
    ]  # fmt: skip
    assert found[2].items() >= {
        "assessment": {"slug": slug, "title": "Engineer"}, "case_title": "Case 1", "claimed_by": None,
        "claimed_until": None, "answered_at": first.result()["cases"][1]["answered_at"],
    }.items()  # fmt: skip
    assert waiting(tenant.test) == []


def test_until_its_program_has_run_nothing_of_a_session_waits(tenant: Tenant) -> None:
    take(tenant, assessment(tenant, ESSAY, CODE), "An essay", "print(3)")
    assert waiting(tenant.live) == []


def test_pages_go_on_within_a_session_and_miss_nothing(tenant: Tenant) -> None:
    slug = assessment(tenant, ESSAY, ESSAY, ESSAY)
    for _ in range(2):
        take(tenant, slug, "One", "Two", "Three")
    whole = waiting(tenant.live)
    assert len(whole) == 6
    for query in ({}, {"assessment": slug}, {"claimed": "false"}):
        seen, back, url = [], [], f"{tenant.live.base}/reviews/"
        page = tenant.live.get("/reviews/", params={"page_size": 2, **query}).json()
        while True:
            seen += page["results"]
            if page["next"] is None:
                break
            page = tenant.live.get("/reviews/?" + page["next"].partition("?")[2]).json()
        assert seen == whole, url
        while page["previous"]:
            page = tenant.live.get("/reviews/?" + page["previous"].partition("?")[2]).json()
            back = page["results"] + back
        assert back == whole[:4]


def test_the_list_is_sifted_by_assessment_and_by_whether_somebody_has_it_in_hand(tenant: Tenant) -> None:
    slugs = [assessment(tenant, ESSAY) for _ in range(2)]
    tokens = [take(tenant, slug, "An essay").token for slug in slugs]
    [mine] = waiting(tenant.live, assessment=slugs[0])
    assert mine["invite_token"] == tokens[0]
    assert waiting(tenant.live, assessment="nothing") == []
    assert waiting(tenant.live, claimed="true") == []
    claimed = claim(tenant.live, mine["id"]).json()
    assert waiting(tenant.live, claimed="true") == [claimed]
    assert [one["invite_token"] for one in waiting(tenant.live, claimed="false")] == [tokens[1]]
    pass_time(mine["id"])
    assert waiting(tenant.live, claimed="true") == []
    assert waiting(tenant.live, assessment=slugs[0], claimed="false") == [mine]


@pytest.fixture
def answer(tenant: Tenant) -> tuple[Taken, str]:
    """An answer that waits, and its review's id."""
    taken = take(tenant, assessment(tenant, ESSAY, ESSAY), "One", NOTHING)
    return taken, str(waiting(tenant.live)[0]["id"])


def test_who_has_one_in_hand_is_named_and_goes_on_with_it(tenant: Tenant, answer: tuple[Taken, str]) -> None:
    _, id = answer
    first = claim(tenant.live, id).json()
    key = tenant.live.get("/key/").json()
    assert first["claimed_by"] == {"type": "key", "id": key["id"], "name": "live"}
    until = datetime.fromisoformat(first["claimed_until"])
    assert timedelta(minutes=14) < until - now() <= timedelta(minutes=15)
    again = claim(tenant.live, id).json()
    assert again["claimed_until"] > first["claimed_until"]
    assert waiting(tenant.live) == [again]


def test_another_key_waits_for_the_claim_to_end(tenant: Tenant, answer: tuple[Taken, str]) -> None:
    _, id = answer
    colleague = tenant.key()
    held = claim(tenant.live, id).json()
    for verb in ("claim", "release"):
        refused = refusal(claim(colleague, id, verb), 409, "ALREADY_CLAIMED")
        assert refused["details"].items() >= {k: held[k] for k in ("claimed_by", "claimed_until")}.items()
    pass_time(id)
    assert claim(colleague, id).json()["claimed_by"]["name"] == "extra"
    refusal(claim(tenant.live, id), 409, "ALREADY_CLAIMED")
    assert claim(colleague, id, "release").json()["claimed_by"] is None
    assert claim(tenant.live, id).json()["claimed_by"]["name"] == "live"


def test_what_nobody_has_in_hand_may_be_let_go(tenant: Tenant, answer: tuple[Taken, str]) -> None:
    _, id = answer
    for _ in range(2):
        released = claim(tenant.live, id, "release")
        assert (released.status_code, released.json()["claimed_until"]) == (200, None)


def test_of_many_who_take_one_at_once_one_has_it(tenant: Tenant, answer: tuple[Taken, str]) -> None:
    _, id = answer
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda api: claim(api, id).status_code, [tenant.key() for _ in range(8)]))
    assert sorted(answers) == [200] + [409] * 7


def test_a_grade_ends_the_review_whoever_has_it_in_hand(tenant: Tenant, answer: tuple[Taken, str]) -> None:
    taken, id = answer
    claim(tenant.key(), id)
    assert taken.review((1, 10)).status_code == 200
    assert waiting(tenant.live) == []
    for verb in ("claim", "release"):
        refusal(claim(tenant.live, id, verb), 404, "NOT_FOUND")
    with store.transaction() as session:
        row = session.get_one(SessionCase, id)
        assert (row.claimed_by, row.claimed_until) == (None, None)


def test_others_see_nothing_of_it(tenant: Tenant, other: Tenant, answer: tuple[Taken, str]) -> None:
    _, id = answer
    for stranger in (other.live, other.test, tenant.test):
        assert waiting(stranger) == []
        for verb in ("claim", "release"):
            refusal(claim(stranger, id, verb), 404, "NOT_FOUND")
    refusal(claim(tenant.live, str(uuid4())), 404, "NOT_FOUND")
    refusal(claim(tenant.live, "nothing"), 400, "VALIDATION_ERROR")


def test_the_answers_of_who_is_erased_wait_for_nobody(tenant: Tenant, answer: tuple[Taken, str]) -> None:
    taken, id = answer
    claim(tenant.live, id)
    person = tenant.live.get(f"/invites/{taken.token}/").json()["candidate_id"]
    held = states.post(tenant.live, f"/candidates/{person}/erase/")
    assert held["counts"]["invitations"] == 1
    assert waiting(tenant.live) == []
    refusal(claim(tenant.live, id), 404, "NOT_FOUND")


def test_who_has_an_answer_in_hand_is_not_told_to_its_candidate(
    tenant: Tenant, answer: tuple[Taken, str]
) -> None:
    taken, id = answer
    claim(tenant.live, id)
    person = tenant.live.get(f"/invites/{taken.token}/").json()["candidate_id"]
    assert "claimed" not in tenant.live.get(f"/candidates/{person}/export/").text


def test_a_member_has_one_in_hand_by_name(tenant: Tenant, answer: tuple[Taken, str]) -> None:
    _, id = answer
    reviewer = tenant.member("reviewer", livemode=True)
    held = claim(reviewer, id).json()["claimed_by"]
    assert (held["type"], held["name"]) == ("member", "Grace")
    refusal(claim(tenant.live, id), 409, "ALREADY_CLAIMED")
    refusal(claim(tenant.member("reviewer", livemode=True), id), 409, "ALREADY_CLAIMED")
    assert claim(reviewer, id, "release").json()["claimed_by"] is None
