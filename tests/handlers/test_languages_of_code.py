"""Code in the language that the candidate chooses, on inputs of their own, and in languages that a machine lacks."""

from typing import Any
from uuid import uuid4

import pytest
from starlette.testclient import TestClient

import gateways.sandbox
from gateways.sandbox import Run
from tests.sittings import CHOICE, CODE, Invited, invite
from workers import grading

pytestmark = pytest.mark.usefixtures("app")
CHOICE_OF_TWO = CODE | {"languages": ["javascript", "python"]}


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[str]]]:
    """The languages and inputs of programs, all of which print 3."""
    seen: list[tuple[str, list[str]]] = []

    def run(language: str, _code: str, inputs: list[str], **_limits: Any) -> list[Run]:
        seen.append((language, inputs))
        return [Run("3\n", "", "ok", 20, 0) for _ in inputs]

    monkeypatch.setattr(gateways.sandbox, "available", lambda language: language != "go")
    monkeypatch.setattr(gateways.sandbox, "run", run)
    return seen


def started(http: TestClient, *cases: dict[str, Any]) -> Invited:
    invited = invite(*cases)
    assert http.post(f"{invited.url}start/").is_success
    return invited


def case_of(http: TestClient, invited: Invited) -> dict[str, Any]:
    return dict(http.get(invited.url).json()["cases"][0])


def save(http: TestClient, invited: Invited, **body: Any) -> Any:
    return http.put(f"{invited.url}answers/{invited.cases[0]}/", json={"answer": "x", **body})


def run(http: TestClient, invited: Invited, **body: Any) -> Any:
    return http.post(f"{invited.url}answers/{invited.cases[0]}/run/", json={"answer": "x", **body})


def test_the_language_that_was_chosen_runs_stays_and_is_graded(
    http: TestClient, ran: list[tuple[str, list[str]]]
) -> None:
    invited = started(http, CHOICE_OF_TWO)
    shown = case_of(http, invited)
    assert (shown["language"], shown["languages"]) == ("python", ["python", "javascript"])
    assert run(http, invited).is_success
    assert run(http, invited, language="javascript").is_success
    assert save(http, invited, language="javascript").is_success
    assert save(http, invited).is_success
    assert case_of(http, invited)["language"] == "javascript"
    assert run(http, invited).is_success
    assert http.post(f"{invited.url}submit/").is_success
    (asked,) = invited.grading_asked()
    grading.grade(uuid4(), asked)
    assert [language for language, _ in ran] == ["python", "javascript", "javascript", "javascript"]
    [row] = invited.rows()
    assert (row.code_language, len(row.tests or ())) == ("javascript", 3)


@pytest.mark.parametrize(
    ("case", "language"), [(CHOICE_OF_TWO, "go"), (CODE, "javascript"), (CHOICE, "python")]
)
def test_a_language_that_the_case_does_not_offer_is_refused(
    http: TestClient, ran: list[Any], case: dict[str, Any], language: str
) -> None:
    invited = started(http, case)
    body = {"language": language} | ({"answer": "b"} if case is CHOICE else {})
    answers = [save(http, invited, **body)] + ([] if case is CHOICE else [run(http, invited, **body)])
    for answer in answers:
        assert answer.status_code == 400
        assert answer.json()["error"]["details"]["fields"][0]["pointer"] == "/language"
    assert (invited.answers(), ran) == ([None], [])


def test_an_input_of_ones_own_takes_the_place_of_the_tests(http: TestClient, ran: list[Any]) -> None:
    invited = started(http, CODE)
    for given in ("40 2\n", ""):
        [result] = run(http, invited, input=given).json()["results"]
        assert (result["input"], result["stdout"], result["expected_output"]) == (given, "3\n", None)
        assert (result["passed"], result["judged"], result["difference"], result["message"]) == (
            None, False, None, "",
        )  # fmt: skip
    assert ran == [("python", ["40 2\n"]), ("python", [""])]


def test_a_program_that_ends_badly_on_ones_own_input_says_so(
    http: TestClient, ran: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    ways = [Run("", "", "timeout"), Run("", "main.go:1: no", "error", compiled=False)]
    monkeypatch.setattr(gateways.sandbox, "run", lambda *_, **__: [ways.pop()])
    invited = started(http, CODE)
    [result] = run(http, invited, input="1").json()["results"]
    assert (result["message"], result["stderr"]) == ("The program could not be compiled.", "main.go:1: no")
    [result] = run(http, invited, input="1").json()["results"]
    assert (result["message"], result["passed"]) == ("The program ran out of time.", None)


def test_what_could_not_be_compiled_fails_each_test_in_the_compilers_words(
    http: TestClient, ran: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = Run("", "Main.java:2: error: ';' expected", "error", compiled=False)
    monkeypatch.setattr(gateways.sandbox, "run", lambda *_, **__: [failed] * 2)
    results = run(http, started(http, CODE | {"language": "java"})).json()["results"]
    assert [(one["passed"], one["message"], one["exit_code"]) for one in results] == [
        (False, "The program could not be compiled.", None)
    ] * 2
    assert "';' expected" in results[0]["stderr"]


def test_code_in_a_language_that_the_machine_lacks_waits_for_a_person(
    http: TestClient, ran: list[Any]
) -> None:
    invited = started(http, CODE | {"language": "go"})
    assert run(http, invited).json() == {"available": False, "results": []}
    assert save(http, invited).is_success
    assert http.post(f"{invited.url}submit/").is_success
    grading.grade(uuid4(), invited.grading_asked()[0])
    assert ([row.status for row in invited.rows()], ran) == (["pending_review"], [])


def test_who_begins_in_a_language_that_is_slow_to_start_has_processes_wait_for_it(
    http: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected: dict[str, float] = {}
    monkeypatch.setattr(gateways.sandbox, "_expected", expected)
    invited = invite(CODE | {"language": "javascript"})
    assert http.get(invited.url).is_success
    assert not expected
    assert http.post(f"{invited.url}start/").is_success
    assert set(expected) == {"javascript"}
