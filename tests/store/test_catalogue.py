"""The platform catalogue is complete, consistent and solvable."""

import re
import time
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from gateways import judging, sandbox
from gateways.languages import LANGUAGES
from rules import cases as rules
from store.catalogue import load

CASES: list[dict[str, Any]] = load()
WRONG = Path(__file__).parents[1] / "catalogue"
SECONDS: dict[str, float] = {}  # that a case's solutions took, right and wrong


@pytest.fixture(scope="module", autouse=True)
def how_long_it_took():
    yield
    if SECONDS:
        print(
            f"\n{len(SECONDS)} coding cases: {sum(SECONDS.values()):.0f} s for their solutions, right and wrong"
        )


def of_type(case_type: str) -> list[Any]:
    return [pytest.param(case, id=case["slug"]) for case in CASES if case["case_type"] == case_type]


every_case = pytest.mark.parametrize("case", [pytest.param(case, id=case["slug"]) for case in CASES])


def test_there_are_enough_cases_in_enough_tracks():
    tracks = Counter(case["track"] for case in CASES)
    assert len(CASES) >= 40
    assert len(tracks) >= 6
    assert min(tracks.values()) >= 3


def test_there_are_at_least_sixty_coding_cases_over_languages_and_levels():
    coding = [case for case in CASES if case["case_type"] == "coding"]
    assert len(coding) >= 60
    levels = Counter((case["language"], case["difficulty"]) for case in coding)
    for language in ("python", "javascript", "sql", "bash"):
        assert min(levels[language, level] for level in ("easy", "medium", "hard")) >= 2, language
    for language in LANGUAGES:
        assert min(levels[language, level] for level in ("easy", "medium", "hard")) >= 1, language


def test_types_and_difficulties_are_mixed():
    assert {case["case_type"] for case in CASES} == {"mcq", "numeric", "text", "coding"}
    assert {case["difficulty"] for case in CASES} == {"easy", "medium", "hard"}


@pytest.mark.parametrize("name", ["slug", "case_number", "title", "question"])
def test_no_two_cases_share(name):
    counted = Counter(case[name] for case in CASES)
    assert [value for value, count in counted.items() if count > 1] == []


def test_cases_come_in_the_order_of_their_numbers():
    numbers = [case["case_number"] for case in CASES]
    assert numbers == sorted(numbers)


def test_loading_twice_gives_cases_that_share_nothing():
    first, second = load(), load()
    assert first == second
    first[0]["tags"].append("changed")
    assert first[0] != second[0]
    assert all(case["tags"] is not other["tags"] for case, other in zip(first[1:], first[:-1], strict=True))


def test_every_case_has_the_same_fields():
    assert {frozenset(case) for case in CASES} == {frozenset(CASES[0])}


@every_case
def test_a_case_is_well_formed(case):
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", case["slug"])
    assert isinstance(case["case_number"], int)
    assert 0 < len(case["title"]) <= 500
    assert case["difficulty"] in {"easy", "medium", "hard"}
    assert case["case_type"] in {"mcq", "numeric", "text", "coding"}
    assert isinstance(case["points"], int)
    assert 0 < case["points"] <= 1000
    assert case["time_limit_minutes"] is None or case["time_limit_minutes"] > 0
    assert case["description"].strip()
    assert case["question"].strip()
    assert case["tags"]
    assert all(isinstance(tag, str) for tag in case["tags"])


@every_case
def test_a_case_carries_only_the_key_of_its_type(case):
    belongs = {
        "mcq": {"options"},
        "numeric": {"answer_number", "tolerance"},
        "text": {"accepted_answers", "rubric"},
        "coding": {"language", "starter_code", "test_cases", "solution"},
    }
    keys = set().union(*belongs.values())
    held = {name for name in keys if case[name] not in (None, "", [])}
    assert held <= belongs[case["case_type"]]
    assert held


@pytest.mark.parametrize("case", of_type("mcq"))
def test_a_choice_has_distinct_options_and_a_key_that_fits(case):
    options = case["options"]
    right = [option for option in options if option["is_correct"]]
    assert len(options) >= 3
    assert len({option["id"] for option in options}) == len(options)
    assert len({option["text"] for option in options}) == len(options)
    assert all(option["is_correct"] in (True, False) for option in options)
    assert 0 < len(right) < len(options)
    assert (len(right) > 1) == case["allow_multiple"]
    assert case["allow_multiple"] == ("all** that apply" in case["question"])


def test_the_right_option_is_not_always_in_the_same_place():
    places = Counter(
        next(place for place, option in enumerate(case["options"]) if option["is_correct"])
        for case in CASES
        if case["case_type"] == "mcq" and not case["allow_multiple"]
    )
    assert len(places) >= 4
    assert max(places.values()) <= sum(places.values()) / 2


@pytest.mark.parametrize("case", of_type("numeric"))
def test_a_number_has_an_answer_and_a_tolerance(case):
    assert isinstance(case["answer_number"], Decimal)
    assert isinstance(case["tolerance"], Decimal)
    assert case["tolerance"] >= 0


@pytest.mark.parametrize("case", of_type("text"))
def test_a_text_has_either_accepted_answers_or_a_rubric(case):
    assert bool(case["accepted_answers"]) != bool(case["rubric"].strip())
    assert all(isinstance(answer, str) and answer.strip() for answer in case["accepted_answers"])


@pytest.mark.parametrize("case", of_type("coding"))
def test_a_program_has_visible_and_hidden_tests(case):
    tests = case["test_cases"]
    assert case["language"] in LANGUAGES
    assert case["solution"].strip()
    assert sum(not test["hidden"] for test in tests) >= 2
    assert sum(test["hidden"] for test in tests) >= 3
    for test in tests:
        assert set(test) - {"check"} == {"input", "expected_output", "weight", "hidden"}
        assert isinstance(test["input"], str)
        assert isinstance(test["expected_output"], str)
        assert test["weight"] > 0


def passed(case, code):
    if reason := sandbox.why_not(case["language"]):
        pytest.skip(f"no sandbox here: {reason}")
    tests = case["test_cases"]
    runs = sandbox.run(case["language"], code, [test["input"] for test in tests])
    verdicts = judging.judge(tests, runs)
    assert [verdict.message for verdict in verdicts if verdict.passed is None] == []
    return [verdict.passed for verdict in verdicts]


def is_solved(case, code):
    """Say whether a program passes every test; it is not begun again after one that failed.

    But where it was compiled for all of them, and where a check function has to judge whatever it prints.
    """
    if LANGUAGES[case["language"]].build or any(test.get("check") for test in case["test_cases"]):
        return all(passed(case, code))
    return all(all(passed({**case, "test_cases": [test]}, code)) for test in case["test_cases"])


def wrong_solutions(case):
    """Read what looks like a solution and is none: by the name of its mistake."""
    return yaml.safe_load((WRONG / f"{case['slug']}.yaml").read_text("utf-8"))


@pytest.mark.parametrize("case", of_type("coding"))
def test_the_reference_solution_passes_every_test_and_wrong_ones_do_not(case):
    began = time.monotonic()
    assert all(passed(case, case["solution"]))
    wrong = wrong_solutions(case)
    slipped = [name for name, code in wrong.items() if is_solved(case, code)]
    assert slipped == []
    assert len(wrong) >= 2
    SECONDS[case["slug"]] = time.monotonic() - began


def test_at_least_five_cases_judge_by_a_check_function_that_could_be_kept():
    checked = [case for case in CASES if any(test.get("check") for test in case["test_cases"])]
    assert len(checked) >= 5
    for case in checked:
        assert all(test["check"] for test in case["test_cases"])
        rules.check({"languages": [], **case})


@pytest.mark.parametrize("case", of_type("coding"))
def test_the_starter_code_is_not_a_solution(case):
    assert not is_solved(case, case["starter_code"])


def test_every_wrong_solution_belongs_to_a_case():
    slugs = {case["slug"] for case in CASES if case["case_type"] == "coding"}
    assert {path.stem for path in WRONG.glob("*.yaml")} == slugs
