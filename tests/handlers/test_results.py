"""Results: from answers to a score, a review and one outcome; all on a real database and the real sandbox."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import pypdfium2
import pytest
from sqlalchemy import select, update

import store
from gateways import sandbox
from rules import members as member_rules
from rules.clock import now
from store.accounts import members
from store.assessing.invitations import Invitation
from store.assessing.sessions import CandidateSession
from store.events import Event
from store.outbox import OutboxItem
from tests.api import Tenant, address
from tests.operations import states
from tests.probes import faults, refusal
from workers import grading

OPTIONS = [{"id": one, "text": one, "is_correct": one in "ab"} for one in "abcd"]
CHOICE = {"case_type": "mcq", "options": [{**one, "is_correct": one["id"] == "a"} for one in OPTIONS]}
CHOICES = {"case_type": "mcq", "options": OPTIONS, "allow_multiple": True}
NUMBER = {"case_type": "numeric", "answer_number": "3.14", "tolerance": "0.01"}
WORD = {"case_type": "text", "accepted_answers": ["Straße"]}
ESSAY = {"case_type": "text", "rubric": "Judge it."}
CODE = {
    "case_type": "coding", "language": "python",
    "test_cases": [
        {"input": "1 2\n", "expected_output": "3", "weight": 1, "hidden": False},
        {"input": "5 5\n", "expected_output": "10", "weight": 3, "hidden": True},
    ],
}  # fmt: skip
NOTHING = object()


@dataclass
class Taken:
    """A session that was handed in."""

    tenant: Tenant
    slug: str
    token: str
    session_id: str

    def grade(self) -> None:
        grading.grade(uuid4(), {"session_id": self.session_id})

    def result(self) -> dict[str, Any]:
        return dict(self.tenant.live.get(f"/invites/{self.token}/result/").json())

    def statuses(self) -> list[str]:
        return [case["status"] for case in self.result()["cases"]]

    def review(self, *cases: tuple[int, Any]) -> Any:
        rows = [{"case_order": order, "score": score} for order, score in cases]
        return self.tenant.live.post(f"/invites/{self.token}/result/review/", {"cases": rows})

    def outcomes(self) -> list[tuple[str, Any]]:
        with store.transaction() as session:
            found = session.execute(
                select(Event.type, Event.data)
                .where(Event.organisation_id == self.tenant.organisation.id, Event.type.like("candidate.%"))
                .order_by(Event.sequence)
            )
            return [
                (type, data["score_percentage"])
                for type, data in found
                if data["session_id"] == self.session_id
            ]


def assessment(tenant: Tenant, *cases: dict[str, Any], **settings: Any) -> str:
    """Make an active assessment of these cases, each worth 10 points times its weight."""
    places = []
    for number, one in enumerate(cases):
        content = {name: value for name, value in one.items() if name != "weight"}
        made = tenant.live.post("/cases/create/", {"title": f"Case {number}", "points": 10, **content}).json()
        places.append({"case_id": made["id"], "source": "org", "weight": one.get("weight", 1)})
    return made_of(tenant, places, settings)


def made_of(tenant: Tenant, places: list[dict[str, Any]], settings: dict[str, Any]) -> str:
    slug = str(
        tenant.live.post("/assessments/create/", {"title": "Engineer", "cases": places, **settings}).json()[
            "slug"
        ]
    )
    assert tenant.live.patch(f"/assessments/{slug}/update/", {"status": "active"}).status_code == 200
    return slug


def start(tenant: Tenant, slug: str) -> tuple[str, list[str]]:
    token = tenant.live.invitation(slug, address(), name="Ada")["invite_token"]
    shown = tenant.http.post(f"/api/v1/candidate/invites/{token}/start/").json()
    return token, [case["assessment_case_id"] for case in shown["cases"]]


def take(tenant: Tenant, slug: str, *answers: Any) -> Taken:
    """Play a candidate: start, answer, hand in."""
    token, places = start(tenant, slug)
    for place, answer in zip(places, answers, strict=True):
        if answer is not NOTHING:
            saved = tenant.http.put(
                f"/api/v1/candidate/invites/{token}/answers/{place}/", json={"answer": answer}
            )
            assert saved.status_code == 200, saved.text
    assert tenant.http.post(f"/api/v1/candidate/invites/{token}/submit/").status_code == 200
    return Taken(tenant, slug, token, session_of(token))


def session_of(token: str) -> str:
    """The session that an invitation's token started."""
    with store.transaction() as session:
        found = select(CandidateSession.id).join(Invitation).where(Invitation.token == token)
        return str(session.scalars(found).one())


# --- Grading


def test_answers_of_every_kind_come_to_a_score(tenant: Tenant) -> None:
    slug = assessment(tenant, CHOICE, CHOICES, NUMBER, {**WORD, "weight": 2}, passing_score=70)
    taken = take(tenant, slug, "a", ["a", "c"], 3.145, " STRASSE ")
    result = taken.result()
    assert [(case["status"], case["score"], case["max_score"]) for case in result["cases"]] == [
        ("correct", "10.00", "10.00"), ("incorrect", "0.00", "10.00"), ("correct", "10.00", "10.00"),
        ("correct", "20.00", "20.00"),
    ]  # fmt: skip
    assert (result["score"], result["max_score"], result["score_percentage"]) == ("40.00", "50.00", "80.00")
    assert (result["passed"], result["passing_score"], result["status"]) == (True, 70, "completed")
    assert taken.outcomes() == [("candidate.passed", "80.00")]


@pytest.mark.parametrize(("chosen", "status", "score"), [
    (["a", "b"], "correct", "10.00"), (["a"], "partial", "5.00"), (["a", "b", "c"], "partial", "5.00"),
    (["a", "c"], "incorrect", "0.00"), (["c", "d"], "incorrect", "0.00"), (["a", "b", "c", "d"], "incorrect", "0.00"),
    (NOTHING, "skipped", "0.00"), ([], "skipped", "0.00"),
])  # fmt: skip
def test_several_choices_earn_their_share(tenant: Tenant, chosen: Any, status: str, score: str) -> None:
    taken = take(tenant, assessment(tenant, CHOICES), chosen)
    taken.grade()
    [case] = taken.result()["cases"]
    assert (case["status"], case["score"]) == (status, score)


@pytest.mark.parametrize(("percentage", "passed"), [(50, True), (51, False), (0, True), (100, False)])
def test_the_passing_score_itself_passes(tenant: Tenant, percentage: int, passed: bool) -> None:
    taken = take(tenant, assessment(tenant, CHOICE, CHOICE, passing_score=percentage), "a", "b")
    taken.grade()
    assert taken.result()["passed"] is passed
    assert taken.outcomes() == [(f"candidate.{'passed' if passed else 'failed'}", "50.00")]


def test_what_is_rounded_to_the_passing_score_does_not_pass(tenant: Tenant) -> None:
    slug = assessment(tenant, {**ESSAY, "points": 1000, "weight": "0.2"}, passing_score=70)
    taken = take(tenant, slug, "An essay")
    assert taken.review((1, "139.99")).json()["score_percentage"] == "70.00"
    assert taken.result()["passed"] is False
    assert taken.outcomes() == [("candidate.failed", "70.00")]


def test_without_cases_there_is_no_verdict(tenant: Tenant) -> None:
    taken = take(tenant, assessment(tenant, notify_on_completion=True, passing_score=0))
    taken.grade()
    assert (taken.result()["passed"], taken.result()["score_percentage"]) == (None, "0.00")
    assert taken.outcomes() == []


def test_the_passing_score_is_that_of_the_start(tenant: Tenant) -> None:
    slug = assessment(tenant, CHOICE, CHOICE, passing_score=50)
    token, places = start(tenant, slug)
    tenant.live.patch(f"/assessments/{slug}/update/", {"passing_score": 100})
    tenant.http.put(f"/api/v1/candidate/invites/{token}/answers/{places[0]}/", json={"answer": "a"})
    tenant.http.post(f"/api/v1/candidate/invites/{token}/submit/")
    taken = Taken(tenant, slug, token, session_of(token))
    taken.grade()
    assert (taken.result()["passed"], taken.result()["passing_score"]) == (True, 50)


@pytest.mark.skipif(not sandbox.available("python"), reason="this machine offers no sandbox")
@pytest.mark.parametrize(("code", "status", "score"), [
    ("print(sum(map(int, input().split())))", "correct", "10.00"), ("print(3)", "partial", "2.50"),
    ("print(10)", "partial", "7.50"), ("print('3 ')\nprint()", "partial", "2.50"), ("raise SystemExit(1)",
    "incorrect", "0.00"),
    ("def (", "incorrect", "0.00"), (" ", "skipped", "0.00"),
])  # fmt: skip
def test_a_program_is_graded_by_its_tests_in_the_sandbox(
    tenant: Tenant, code: str, status: str, score: str
) -> None:
    taken = take(tenant, assessment(tenant, CODE), code)
    taken.grade()
    [case] = taken.result()["cases"]
    assert (case["status"], case["score"]) == (status, score)


@pytest.mark.skipif(not sandbox.available("python"), reason="this machine offers no sandbox")
def test_a_result_says_how_each_test_of_a_program_went(tenant: Tenant) -> None:
    code = "a, b = map(int, input().split())\nprint('\u00e9\\x00' * 9000 if a == 1 else 10 / (a - b))"
    taken = take(tenant, assessment(tenant, CODE), code)
    assert taken.result()["cases"][0]["tests"] == []  # it has not run yet
    taken.grade()
    [case] = taken.result()["cases"]
    first, second = case["tests"]
    assert (case["answer"], case["language"]) == (code, "python")
    assert (first["name"], first["passed"], first["hidden"], first["input"]) == (
        "Test 1",
        False,
        False,
        "1 2\n",
    )
    assert first["output"] == ("\u00e9\ufffd" * 9000)[: len(first["output"])]
    assert 4000 < len(first["output"].encode()) <= 4096
    assert (second["hidden"], second["expected_output"], second["output"]) == (True, "10", "")
    assert "ZeroDivisionError" in second["message"]
    assert all(one["time_ms"] > 0 for one in case["tests"])


@pytest.mark.skipif(not sandbox.available("python"), reason="this machine offers no sandbox")
@pytest.mark.parametrize(("body", "code", "status", "said"), [
    ("return sorted(output.split()) == ['1', '2']", "print('2 1')", "correct", ""),
    ("return output == '1' or 'Print 1.'", "print(2)", "incorrect", "Print 1."),
    ("return 1 / 0", "print(2)", "pending_review",
    "The check of this test failed: ZeroDivisionError: division by zero"),
    ("return 1 / 0", "raise SystemExit(3)", "incorrect", "The program ended with exit code 3."),
])  # fmt: skip
def test_a_check_judges_outputs_and_one_that_fails_fails_nobody(
    tenant: Tenant, body: str, code: str, status: str, said: str
) -> None:
    check = f"def check(input, output, expected_output):\n    {body}\n"
    tests = [{"input": "", "expected_output": "1 2", "check": check, "hidden": True}]
    taken = take(tenant, assessment(tenant, CODE | {"test_cases": tests}), code)
    taken.grade()
    [case] = taken.result()["cases"]
    assert case["status"] == status
    assert case["tests"][0]["message"] == said
    assert case["tests"][0]["passed"] is {"correct": True, "incorrect": False}.get(status)
    assert (taken.result()["passed"] is None) == (status == "pending_review")


def test_what_was_answered_is_in_the_result_whatever_becomes_of_the_case(tenant: Tenant) -> None:
    slug = assessment(tenant, CHOICE, CHOICES, NUMBER, {**ESSAY, "rubric": "Depth."}, CODE)
    taken = take(tenant, slug, "a", ["b", "c"], 3.5, "Because.", NOTHING)
    before = taken.result()["cases"]
    assert [one["answer"] for one in before] == ["a", ["b", "c"], 3.5, "Because.", None]
    assert [one["case_type"] for one in before] == ["mcq", "mcq", "numeric", "text", "coding"]
    assert [one["answered_at"] is None for one in before] == [False] * 4 + [True]
    assert [(one["rubric"], one["tests"]) for one in before[3:]] == [("Depth.", []), (None, [])]
    for one in tenant.live.get("/cases/").json()["results"]:
        changed = {"title": "Another", "rubric": "Breadth."}
        assert tenant.live.patch(f"/cases/{one['id']}/update/", changed).status_code == 200
    assert taken.result()["cases"] == before


def test_without_a_sandbox_a_program_waits_for_a_person(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "available", lambda language: False)
    taken = take(tenant, assessment(tenant, CODE, CHOICE), "print(3)", "a")
    taken.grade()
    result = taken.result()
    assert (taken.statuses(), result["passed"], result["score"]) == (
        ["pending_review", "correct"],
        None,
        "10.00",
    )
    assert taken.outcomes() == []


def test_grading_twice_or_at_once_has_one_effect(tenant: Tenant) -> None:
    taken = take(tenant, assessment(tenant, CHOICE), "a")
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: taken.grade(), range(6)))
    taken.grade()
    assert taken.outcomes() == [("candidate.passed", "100.00")]


def test_what_runs_or_is_unknown_is_not_graded(tenant: Tenant) -> None:
    token, _ = start(tenant, assessment(tenant, CHOICE))
    for id in (session_of(token), uuid4()):
        grading.grade(uuid4(), {"session_id": str(id)})
    assert tenant.live.get(f"/invites/{token}/result/").json()["status"] == "started"


def test_an_assessment_without_cases_comes_to_nothing(tenant: Tenant) -> None:
    taken = take(tenant, made_of(tenant, [], {"passing_score": 0}))
    taken.grade()
    result = taken.result()
    assert (result["score"], result["max_score"], result["score_percentage"], result["cases"]) == (
        "0.00",
        "0.00",
        "0.00",
        [],
    )


def test_a_result_keeps_the_case_as_it_was_answered(tenant: Tenant) -> None:
    slug = assessment(tenant, CHOICE)
    case = tenant.live.get(f"/assessments/{slug}/cases/").json()["results"][0]["id"]
    taken = take(tenant, slug, "a")
    tenant.live.patch(
        f"/cases/{case}/update/",
        {"title": "Changed", "points": 999, "options": OPTIONS, "allow_multiple": True},
    )
    tenant.live.delete(f"/cases/{case}/")
    taken.grade()
    [shown] = taken.result()["cases"]
    assert (shown["case_title"], shown["max_score"], shown["status"]) == ("Case 0", "10.00", "correct")


# --- Before there is a result


def test_a_result_that_is_not_there_yet_says_how_far_it_is(tenant: Tenant) -> None:
    slug = assessment(tenant, CHOICE)
    token = tenant.live.invitation(slug)["invite_token"]
    at = f"/invites/{token}/result/"
    shown = tenant.live.get(at).json()
    assert (shown["status"], set(shown)) == ("pending", {"status", "message", "meta"})
    tenant.http.post(f"/api/v1/candidate/invites/{token}/start/")
    assert tenant.live.get(at).json()["status"] == "started"
    refusal(tenant.live.get("/invites/nothing/result/"), 404, "NOT_FOUND")


@pytest.mark.parametrize("status", ["pending", "started"])
def test_only_a_completed_session_is_reviewed(tenant: Tenant, status: str) -> None:
    slug = assessment(tenant, ESSAY)
    token = start(tenant, slug)[0] if status == "started" else tenant.live.invitation(slug)["invite_token"]
    answer = tenant.live.post(f"/invites/{token}/result/review/", {"cases": [{"case_order": 1, "score": 1}]})
    assert refusal(answer, 400, "VALIDATION_ERROR")["details"]["status"] == status


# --- Reviews


def test_a_review_settles_what_waits_and_the_last_one_tells(tenant: Tenant) -> None:
    taken = take(
        tenant, assessment(tenant, ESSAY, CHOICE, ESSAY, passing_score=60), "An essay", "a", "Another"
    )
    taken.grade()
    assert taken.statuses() == ["pending_review", "correct", "pending_review"]
    first = taken.review((1, "7.50")).json()
    assert (first["passed"], first["score"], first["cases"][0]["status"]) == (None, "17.50", "partial")
    assert taken.outcomes() == []
    last = tenant.live.post(
        f"/invites/{taken.token}/result/review/", {"cases": [{"case_order": 3, "score": 0, "comment": "No."}]}
    ).json()
    assert (last["passed"], last["score_percentage"]) == (False, "58.33")
    assert (last["cases"][2]["status"], last["cases"][2]["comment"]) == ("incorrect", "No.")
    assert taken.outcomes() == [("candidate.failed", "58.33")]
    assert {k: v for k, v in taken.result().items() if k != "meta"} == last


def test_several_cases_are_settled_at_once(tenant: Tenant) -> None:
    taken = take(tenant, assessment(tenant, ESSAY, ESSAY), "One", "Two")
    taken.grade()
    assert taken.review((2, 10), (1, "10")).json()["score_percentage"] == "100.00"
    assert taken.outcomes() == [("candidate.passed", "100.00")]


@pytest.mark.parametrize(("reviews", "pointers"), [
    ([(1, 10.01)], {"/cases/0/score"}), ([(1, -1)], {"/cases/0/score"}), ([(1, "1.234")], {"/cases/0/score"}),
    ([(2, 5)], {"/cases/0/case_order"}), ([(9, 5)], {"/cases/0/case_order"}), ([(1, 1), (1, 2)],
    {"/cases/1/case_order"}),
    ([(2, 5), (1, 11), (9, 1)], {"/cases/0/case_order", "/cases/1/score", "/cases/2/case_order"}), ([], {"/cases"}),
])  # fmt: skip
def test_a_bad_review_settles_nothing_and_names_every_fault(
    tenant: Tenant, reviews: list, pointers: set
) -> None:
    taken = take(tenant, assessment(tenant, ESSAY, CHOICE), "An essay", "a")
    taken.grade()
    assert set(faults(taken.review(*reviews))) == pointers
    assert taken.statuses() == ["pending_review", "correct"]


def test_a_score_is_kept_with_two_digits(tenant: Tenant) -> None:
    taken = take(tenant, assessment(tenant, ESSAY, ESSAY), "One", "Two")
    taken.grade()
    shown = taken.review((1, 9.999), (2, 0.001)).json()["cases"]
    assert [(case["score"], case["status"]) for case in shown] == [
        ("10.00", "correct"),
        ("0.00", "incorrect"),
    ]


def test_a_result_is_there_when_the_session_is_handed_in(tenant: Tenant) -> None:
    taken = take(tenant, assessment(tenant, CHOICE, ESSAY), "a", "An essay")
    assert (taken.statuses(), taken.result()["score"]) == (["correct", "pending_review"], "10.00")
    assert taken.review((2, 10)).status_code == 200
    taken.grade()  # finds nothing to do
    assert taken.outcomes() == [("candidate.passed", "100.00")]


def test_until_its_program_has_run_a_session_has_no_grades_and_no_review(tenant: Tenant) -> None:
    taken = take(tenant, assessment(tenant, ESSAY, CODE), "An essay", "print(3)")
    assert (taken.result()["passed"], taken.statuses()) == (None, ["pending_review"] * 2)
    assert "/cases/0/case_order" in faults(taken.review((1, 5)))
    assert taken.outcomes() == []


def test_what_is_settled_is_not_reviewed_again(tenant: Tenant) -> None:
    taken = take(tenant, assessment(tenant, ESSAY), "An essay")
    assert taken.review((1, 10)).status_code == 200
    assert "/cases/0/case_order" in faults(taken.review((1, 0)))
    taken.grade()
    assert taken.outcomes() == [("candidate.passed", "100.00")]


def test_racing_reviews_settle_each_case_once_and_tell_once(tenant: Tenant) -> None:
    taken = take(tenant, assessment(tenant, ESSAY, ESSAY), "One", "Two")
    taken.grade()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda number: taken.review((1 + number % 2, 10)).status_code, range(8)))
    assert sorted(answers) == [200, 200] + [400] * 6
    assert taken.outcomes() == [("candidate.passed", "100.00")]


# --- Lists


def test_results_come_by_their_start_and_by_each_filter(tenant: Tenant) -> None:
    slug = assessment(tenant, CHOICE, CODE, passing_score=50)
    given = (["b", NOTHING], ["a", NOTHING], ["a", "print(3)"])  # a program has to run before it is graded
    failed, passed, ungraded = (take(tenant, slug, *answers) for answers in given)
    running, _ = start(tenant, slug)
    tenant.live.invitation(slug)  # has no session
    for one in (failed, passed):
        one.grade()

    def found(**query: Any) -> list[str]:
        shown = tenant.live.get(f"/assessments/{slug}/results/", params=query).json()["results"]
        return [one["invite_token"] for one in shown]

    assert found() == [running, ungraded.token, passed.token, failed.token]
    assert found(status="started") == [running]
    assert found(status="completed") == [ungraded.token, passed.token, failed.token]
    assert (found(passed=True), found(passed=False)) == ([passed.token], [failed.token])
    assert found(passed="true", status="completed") == [passed.token]
    assert found(status="started", passed=True) == []
    assert found(updated_after="2100-01-01T00:00:00Z") == []
    shown = tenant.live.get(f"/assessments/{slug}/results/").json()["results"]
    assert [one["passed"] for one in shown] == [None, None, True, False]
    assert [one["score_percentage"] for one in shown] == [None, None, "50.00", "0.00"]
    assert [one["status"] for one in shown] == ["started", *["completed"] * 3]
    page = tenant.live.get(f"/assessments/{slug}/results/?page_size=3").json()
    assert [one["invite_token"] for one in page["results"]] == found()[:3]
    after = tenant.live.get(page["next"].partition("/api/v1/public")[2]).json()
    assert [one["invite_token"] for one in after["results"]] == [failed.token]
    assert "/query/passed" in faults(tenant.live.get(f"/assessments/{slug}/results/?passed=maybe"))


def test_violations_are_counted_and_listed(tenant: Tenant) -> None:
    slug = assessment(tenant, CHOICE, violation_review_threshold=2)
    token, _ = start(tenant, slug)
    at = f"/api/v1/candidate/invites/{token}"
    for body in ({"violation_type": "focus_loss", "case_order": 1}, {"violation_type": "fullscreen"}):
        assert tenant.http.post(f"{at}/violations/", json=body).status_code == 201
    tenant.http.post(f"{at}/submit/")
    result = tenant.live.get(f"/invites/{token}/result/").json()
    assert result["violation_counts"] == {"focus_loss": 1, "fullscreen": 1}
    assert [(one["violation_type"], one["case_order"]) for one in result["violation_events"]] == [
        ("focus_loss", 1), ("fullscreen", None),
    ]  # fmt: skip
    assert result["integrity_review_status"] == "needs_review"


def test_violations_beyond_the_first_thousand_are_counted_alone(tenant: Tenant) -> None:
    token, _ = start(tenant, assessment(tenant, CHOICE))
    at = f"/api/v1/candidate/invites/{token}"
    with store.transaction() as session:
        sitting = session.get_one(CandidateSession, UUID(session_of(token)))
        sitting.violation_counts = {"fullscreen": 999}
    for _ in range(3):
        assert tenant.http.post(f"{at}/violations/", json={"violation_type": "focus_loss"}).status_code == 201
    tenant.http.post(f"{at}/submit/")
    result = tenant.live.get(f"/invites/{token}/result/").json()
    assert result["violation_counts"] == {"fullscreen": 999, "focus_loss": 3}
    assert len(result["violation_events"]) == 1
    told = tenant.live.get("/events/", params={"type": "candidate.violation"}).json()["results"]
    assert [one["data"]["violation_counts"] for one in told] == [{"fullscreen": 999, "focus_loss": 1}]


# --- Notices


@pytest.mark.parametrize(("organisation", "of_assessment", "told"), [
    (False, False, False), (True, False, True), (False, True, True), (True, True, True),
])  # fmt: skip
def test_members_are_mailed_once_where_somebody_asked(
    tenant: Tenant, organisation: bool, of_assessment: bool, told: bool
) -> None:
    people = {role: address() for role in member_rules.ROLES}
    with store.transaction() as session:
        for role, email in people.items():
            members.add(session, organisation=tenant.organisation, email=email, name=role.title(), role=role)
    tenant.live.patch("/org/", {"notify_on_candidate_completion": organisation})
    taken = take(tenant, assessment(tenant, CHOICE, notify_on_completion=of_assessment), "a")
    taken.grade()
    taken.grade()
    with store.transaction() as session:
        mails = session.scalars(
            select(OutboxItem.arguments).where(OutboxItem.job == "mail").order_by(OutboxItem.id)
        )
        to = [
            one["to"] for one in mails if one.get("to") in people.values() and one["template"] == "completion"
        ]
    assert to == (
        [people[role] for role in member_rules.ROLES if role in member_rules.NOTIFIED] if told else []
    )


def test_a_session_whose_time_is_up_is_handed_in_and_graded_with_what_was_saved(tenant: Tenant) -> None:
    slug = assessment(tenant, CHOICE, CHOICE, time_limit_minutes=30)
    token, places = start(tenant, slug)
    at = f"/api/v1/candidate/invites/{token}"
    tenant.http.put(f"{at}/answers/{places[0]}/", json={"answer": "a"})
    with store.transaction() as session:
        over = CandidateSession.id == UUID(session_of(token))
        session.execute(update(CandidateSession).where(over).values(deadline_at=now()))
    late = tenant.http.put(f"{at}/answers/{places[1]}/", json={"answer": "a"})
    refusal(late, 409, "SESSION_CLOSED")
    grading.grade(uuid4(), {"session_id": session_of(token)})
    result = tenant.live.get(f"/invites/{token}/result/").json()
    assert [case["status"] for case in result["cases"]] == ["correct", "skipped"]
    assert result["score_percentage"] == "50.00"


def report(api: Any, token: str) -> str:
    """Return the words of a report in one line."""
    answer = api.get(f"/invites/{token}/report/")
    assert answer.status_code == 200
    assert answer.headers["Content-Disposition"] == "attachment; filename=report.pdf"
    pages = pypdfium2.PdfDocument(answer.content)
    return " ".join(" ".join(page.get_textpage().get_text_range() for page in pages).split())


def test_a_report_tells_what_the_result_tells(tenant: Tenant) -> None:
    api = tenant.live
    made = states.a_submission(api)
    words = report(api, made["token"])
    result = api.get(f"/invites/{made['token']}/result/").json()
    for told in (
        tenant.organisation.name,
        result["assessment"]["title"],
        result["candidate_email"],
        result["cases"][0]["case_title"],
        "None yet",
        "Waits for review",
        "Another window was used",
    ):
        assert told in words
    assert result["report_url"].endswith(f"/api/v1/public/invites/{made['token']}/report/")
    review = {
        "cases": [
            {"case_order": 1, "score": result["cases"][0]["max_score"], "comment": "<b>Sound</b> & brief 🙂"}
        ]
    }
    assert api.post(f"/invites/{made['token']}/result/review/", review).status_code == 200
    words = report(api, made["token"])
    assert "Result Not passed Score 10.00 of 20.00 (50.00 %, 70 % to pass)" in words
    assert "<b>Sound</b> & brief" in words
    [told] = api.get("/events/", params={"type": "candidate.failed"}).json()["results"]
    assert told["data"]["report_url"] == result["report_url"]


@pytest.mark.parametrize("state", [states.an_invitation, states.a_sitting, states.an_expired_invitation])
def test_there_is_no_report_before_the_end(tenant: Tenant, state: Any) -> None:
    made = state(tenant.live)
    answer = tenant.live.get(f"/invites/{made['token']}/report/")
    refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.json()["error"]["details"]["status"] in ("pending", "started", "expired")


def test_a_report_of_an_assessment_without_cases_says_so(tenant: Tenant) -> None:
    api = tenant.live
    token = api.invitation(api.assessment()["slug"])["invite_token"]
    base = f"/api/v1/candidate/invites/{token}"
    tenant.http.post(f"{base}/start/")
    tenant.http.post(f"{base}/submit/")
    assert "None, as there are no cases" in report(api, token)
