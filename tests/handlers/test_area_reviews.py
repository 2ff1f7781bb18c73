"""The review desk: what waits, one after the other, without whose it is."""

import re
from html import unescape
from typing import Any

import pytest

from rules.roles import ROLES
from schemas import area_reviews
from tests.api import Tenant
from tests.handlers.test_area_pages import Person
from tests.handlers.test_results import CODE, ESSAY, NOTHING, Taken, assessment, take
from tests.handlers.test_reviews import claim, pass_time, waiting
from tests.probes import refusal

DESK = "/area/reviews/"


@pytest.fixture
def reviewer(tenant: Tenant) -> Person:
    return Person(tenant, "reviewer", livemode=True)


@pytest.fixture
def taken(tenant: Tenant) -> Taken:
    essay = {**ESSAY, "title": "Indexes", "question": "Why **indexes**?", "rubric": "Writes; selectivity."}
    return take(tenant, assessment(tenant, essay, ESSAY, ESSAY), "They cost writes.", "Second", "Third")


def at(id: str) -> str:
    return f"{DESK}{id}/"


def ids(taken: Taken) -> list[str]:
    """What waits of a session, in the order of the queue."""
    return [one["id"] for one in waiting(taken.tenant.live) if one["invite_token"] == taken.token]


def led_to(answer: Any) -> tuple[str, str]:
    """Return the review that a form leads to, and what is said there."""
    assert answer.status_code == 303, answer.text
    found = re.fullmatch(r"/area/reviews/(?:([\w-]{36})/)?\?(?:.*&)?done=(\w+)", answer.headers["Location"])
    assert found, answer.headers["Location"]
    return found[1] or "", found[2]


def text(page: Any) -> str:
    return unescape(page.text)


def test_a_review_is_read_with_what_it_is_judged_by_and_no_name(taken: Taken) -> None:
    first = ids(taken)[-1]
    shown = taken.tenant.live.get(f"/reviews/{first}/").json()
    assert shown.items() >= {
        "case_type": "text", "question": "Why **indexes**?", "answer": "They cost writes.", "max_score": "10.00",
        "rubric": "Writes; selectivity.", "tests": [], "options": [], "language": None, "claimed_by": None,
    }.items()  # fmt: skip
    assert "Ada" not in str(shown)
    taken.review((1, 5))
    refusal(taken.tenant.live.get(f"/reviews/{first}/"), 404)


def test_a_review_of_others_is_not_there(taken: Taken, other: Tenant) -> None:
    for api in (other.live, taken.tenant.test):
        refusal(api.get(f"/reviews/{ids(taken)[0]}/"), 404)
    stranger = Person(other, livemode=True)
    assert stranger.get(at(ids(taken)[0])).status_code == 404
    assert stranger.act(at(ids(taken)[0]), "score", score="5").status_code == 404


def test_the_desk_does_not_say_whose_an_answer_is_unless_it_is_asked(taken: Taken, reviewer: Person) -> None:
    email = taken.tenant.live.get(f"/invites/{taken.token}/").json()["email"]
    for here in (DESK, at(ids(taken)[0])):
        page = text(reviewer.get(here))
        for secret in ("Ada", email, taken.token):
            assert secret not in page, (here, secret)
    page = text(reviewer.get(at(ids(taken)[0]), params={"names": "true"}))
    assert "Ada" in page
    assert email in page


def test_a_reviewer_goes_through_the_queue(taken: Taken, reviewer: Person) -> None:
    queue = ids(taken)
    assert led_to(reviewer.act(DESK, "begin")) == (queue[0], "claim")
    page = text(reviewer.get(at(queue[0])))
    assert "in your hand until" in page
    assert led_to(reviewer.act(at(queue[0]), "score", score="10", comment="Right.")) == (queue[1], "score")
    assert led_to(reviewer.act(at(queue[1]), "skip")) == (queue[2], "skip")
    assert waiting(taken.tenant.live)[0]["claimed_by"] is None  # what was left
    assert led_to(reviewer.act(at(queue[2]), "score", score="2,5", comment="")) == (queue[1], "score")
    assert led_to(reviewer.act(at(queue[1]), "score", score="7.25", comment="")) == ("", "nothing")
    scores = [(one["score"], one["comment"]) for one in taken.result()["cases"]]
    assert scores == [("2.50", ""), ("7.25", ""), ("10.00", "Right.")]
    assert "Nothing waits" in text(reviewer.get(DESK, params={"done": "nothing"}))


def test_going_on_stays_with_the_assessment_and_the_names(taken: Taken, reviewer: Person) -> None:
    take(taken.tenant, assessment(taken.tenant, ESSAY), "Of another assessment")
    asked = {"assessment": taken.slug, "names": "true"}
    queue = ids(taken)
    begun = reviewer.act(DESK, "begin", **asked)
    assert led_to(begun)[0] == queue[0]
    assert "names=true" in begun.headers["Location"]
    page = reviewer.get(begun.headers["Location"]).text
    assert f'name="fields.assessment" value="{taken.slug}"' in page
    assert 'name="fields.names" value="true"' in page
    for number, id in enumerate(queue):
        answer = reviewer.act(at(id), "score", score="1", **asked)
        assert led_to(answer)[0] == (queue[number + 1] if number < 2 else "")


def test_what_somebody_else_has_in_hand_is_left_and_said(
    taken: Taken, tenant: Tenant, reviewer: Person
) -> None:
    queue = ids(taken)
    claim(tenant.live, queue[0])
    assert led_to(reviewer.act(DESK, "begin")) == (queue[1], "claim")
    page = text(reviewer.get(at(queue[0])))
    assert "live has this answer in hand until" in page
    assert 'id="points"' not in page
    assert led_to(reviewer.act(at(queue[0]), "skip")) == (queue[1], "skip")


def test_a_claim_that_somebody_else_has_taken_over_is_said_and_nothing_typed_is_lost(
    taken: Taken, tenant: Tenant, reviewer: Person
) -> None:
    id = ids(taken)[0]
    reviewer.act(at(id), "claim")
    pass_time(id)
    claim(tenant.live, id)
    answer = reviewer.act(at(id), "score", score="4", comment="Half of it.")
    assert answer.status_code == 409
    page = text(answer)
    assert "live has this answer in hand until" in page
    assert ">Half of it.</textarea>" in page
    assert 'value="4"' in page
    assert taken.result()["cases"][2]["score"] is None


def test_what_was_scored_meanwhile_is_said_and_nothing_typed_is_lost(taken: Taken, reviewer: Person) -> None:
    id = ids(taken)[0]
    reviewer.act(at(id), "claim")
    taken.review((3, 9))
    answer = reviewer.act(at(id), "score", score="4", comment="Half of it.")
    assert answer.status_code == 404
    assert "Somebody else has scored this answer meanwhile" in text(answer)
    assert "Half of it." in text(answer)
    assert taken.result()["cases"][2]["score"] == "9.00"
    assert reviewer.get(at(id)).status_code == 404
    assert led_to(reviewer.act(at(id), "skip"))[0] == ids(taken)[0]


@pytest.mark.parametrize("points", ["", "-1", "10.01", "many", "1.234"])
def test_points_that_are_none_are_refused_at_their_field(taken: Taken, reviewer: Person, points: str) -> None:
    answer = reviewer.act(at(ids(taken)[0]), "score", score=points, comment="Kept")
    assert answer.status_code == 400
    assert 'id="points" aria-invalid="true"' in answer.text
    assert ">Kept</textarea>" in answer.text


def test_a_program_is_read_with_its_tests(tenant: Tenant, reviewer: Person) -> None:
    failing = {
        **CODE["test_cases"][0],
        "check": "def check(input, output, expected_output):\n    return 1 / 0\n",
    }
    made = take(tenant, assessment(tenant, {**CODE, "test_cases": [failing]}, ESSAY), "print(3)", NOTHING)
    made.grade()
    [id] = ids(made)
    page = text(reviewer.get(at(id)))
    assert "print(3)" in page
    assert "its check failed" in page


@pytest.mark.parametrize("role", ROLES)
def test_who_may_not_review_reads_and_is_shown_no_form(taken: Taken, tenant: Tenant, role: str) -> None:
    person, id = Person(tenant, role, livemode=True), ids(taken)[0]
    may = "assessments:write" in ROLES[role].scopes
    assert ('value="begin"' in person.get(DESK).text) == may
    assert ('value="score"' in person.get(at(id)).text) == may
    assert person.act(at(id), "score", score="1").status_code == (303 if may else 403)


def test_an_action_that_the_desk_has_not_is_refused(taken: Taken, reviewer: Person) -> None:
    assert reviewer.act(DESK, "drop").status_code == 400
    assert reviewer.act(at(ids(taken)[0]), "drop").status_code == 400
    reviewer.token = "of another session"
    assert reviewer.act(at(ids(taken)[0]), "score", score="1").status_code == 403


def test_who_is_not_signed_in_is_led_to_do_so(taken: Taken, reviewer: Person) -> None:
    reviewer.api.headers.pop("Cookie")
    for answer in (
        reviewer.get(at(ids(taken)[0])),
        reviewer.act(DESK, "begin"),
        reviewer.act(at(ids(taken)[0]), "score", score="1"),
    ):
        assert answer.status_code == 303
        assert answer.headers["Location"].startswith("/area/sign-in/?next=/area/reviews/")


def test_going_on_reaches_every_answer_however_long_the_queue_is(
    taken: Taken, tenant: Tenant, reviewer: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(area_reviews, "NEXT", 1)
    for number in range(3):
        take(tenant, taken.slug, f"Of candidate {number}", "Second", "Third")
    queue = [one["id"] for one in waiting(tenant.live)]
    claim(tenant.live, queue[0])
    claim(tenant.live, queue[4])
    seen = [led_to(reviewer.act(DESK, "begin"))[0]]
    for _ in range(len(queue) - 2):
        seen.append(led_to(reviewer.act(at(seen[-1]), "skip"))[0])
    free = [one for one in queue if one not in (queue[0], queue[4])]
    assert seen == [*free, free[0]]


def test_what_one_has_in_hand_is_gone_on_with(taken: Taken, reviewer: Person) -> None:
    queue = ids(taken)
    reviewer.act(at(queue[1]), "claim")
    assert led_to(reviewer.act(at(queue[0]), "skip")) == (queue[1], "skip")


def test_the_queue_after_an_answer_is_read_by_who_sees_it(
    taken: Taken, tenant: Tenant, other: Tenant
) -> None:
    queue = ids(taken)
    after = {"after": queue[1]}
    assert [one["id"] for one in tenant.live.get("/reviews/", params=after).json()["results"]] == [queue[2]]
    taken.review((2, 5))
    assert [one["id"] for one in tenant.live.get("/reviews/", params=after).json()["results"]] == [queue[2]]
    taken_there = take(other, assessment(other, ESSAY), "Of others")
    foreign = {"after": ids(taken_there)[0]}
    assert tenant.live.get("/reviews/", params=foreign).json()["results"] == []
    assert tenant.test.get("/reviews/", params=after).json()["results"] == []
