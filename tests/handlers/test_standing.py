"""Where a result stands: its skills, its place among all, and candidates side by side."""

from typing import Any

from tests.api import Tenant, address
from tests.handlers.test_results import CHOICE, ESSAY, NUMBER, assessment, take
from tests.probes import refusal

SQL, WEB = {**CHOICE, "tags": ["sql"]}, {**NUMBER, "tags": ["web", "sql"]}
RIGHT, WRONG = ("a", 3.14), ("b", 0)


def compare(tenant: Tenant, slug: str, *tokens: str) -> Any:
    return tenant.live.get(f"/assessments/{slug}/comparison/", params={"invite_token": list(tokens)})


def test_a_result_says_how_the_cases_of_each_tag_went(tenant: Tenant) -> None:
    slug = assessment(tenant, SQL, {**WEB, "weight": 3}, {**ESSAY, "tags": ["writing"]}, CHOICE)
    taken = take(tenant, slug, "b", 3.14, "Because.", "a")
    shares = {one["tag"]: one["score_percentage"] for one in taken.result()["skills"]}
    assert shares == {"sql": "75.00", "web": "100.00", "writing": None}
    taken.review((3, 5))
    assert taken.result()["skills"][-1] == {"tag": "writing", "score_percentage": "50.00"}


def test_a_result_is_placed_among_twenty_and_more(tenant: Tenant) -> None:
    slug = assessment(tenant, CHOICE)
    worse = [take(tenant, slug, "b") for _ in range(15)]
    better = [take(tenant, slug, "a") for _ in range(4)]
    assert worse[0].result()["percentile"] is None
    better.append(take(tenant, slug, "a"))
    assert [one.result()["percentile"] for one in (worse[0], better[0])] == [38, 88]  # 7.5 and 17.5 of 20


def test_what_waits_for_review_has_no_place_yet(tenant: Tenant) -> None:
    slug = assessment(tenant, ESSAY)
    taken = [take(tenant, slug, "Because.") for _ in range(20)]
    for one in taken[1:]:
        one.review((1, 5))
    assert taken[1].result()["percentile"] is None  # of 19
    assert taken[0].review((1, 10)).json()["percentile"] == 98


def test_candidates_stand_side_by_side_with_the_medians_of_all(tenant: Tenant) -> None:
    slug = assessment(tenant, SQL, WEB)
    first, second, third = (take(tenant, slug, *answers) for answers in (RIGHT, WRONG, ("a", 0)))
    answer = compare(tenant, slug, second.token, first.token)
    assert answer.status_code == 200, answer.text
    shown = answer.json()
    assert [one["invite_token"] for one in shown["results"]] == [second.token, first.token]
    assert [one["score_percentage"] for one in shown["results"]] == ["0.00", "100.00"]
    assert [[case["score_percentage"] for case in one["cases"]] for one in shown["results"]] == [
        ["0.00", "0.00"],
        ["100.00", "100.00"],
    ]
    assert shown["results"][1]["skills"] == [
        {"tag": "sql", "score_percentage": "100.00"},
        {"tag": "web", "score_percentage": "100.00"},
    ]
    median = shown["median"]
    assert (median["of"], median["score_percentage"]) == (3, "50.00")
    assert {one["score_percentage"] for one in median["cases"]} == {"100.00", "0.00"}
    assert median["skills"] == [
        {"tag": "sql", "score_percentage": "50.00"},
        {"tag": "web", "score_percentage": "0.00"},
    ]
    places = {one["assessment_case_id"] for one in median["cases"]}
    assert {one["assessment_case_id"] for one in shown["results"][0]["cases"]} == places
    assert third.result()["skills"] == median["skills"]


def test_only_those_who_have_completed_this_assessment_are_compared(tenant: Tenant, other: Tenant) -> None:
    slug = assessment(tenant, CHOICE)
    done = take(tenant, slug, "a")
    waiting = tenant.live.invitation(slug, address())["invite_token"]
    refused = compare(tenant, slug, done.token, waiting)
    found = refusal(refused, 400, "VALIDATION_ERROR")["details"]
    assert (found["status"], found["invite_token"]) == ("pending", waiting)
    elsewhere = take(tenant, assessment(tenant, CHOICE), "a")
    strangers = take(other, assessment(other, CHOICE), "a")
    for one in (elsewhere, strangers):
        refusal(compare(tenant, slug, done.token, one.token), 404, "NOT_FOUND")


def test_two_to_ten_different_candidates_are_named(tenant: Tenant) -> None:
    slug = assessment(tenant, CHOICE)
    token = take(tenant, slug, "a").token
    for tokens in ((), (token,), (token, token), tuple(f"{token}{one}" for one in range(11)), (token, "")):
        refused = refusal(compare(tenant, slug, *tokens), 400, "VALIDATION_ERROR")
        assert refused["details"]["fields"][0]["pointer"].startswith("/query/invite_token")
