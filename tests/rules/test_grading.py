"""What answers are worth."""

import json
from dataclasses import dataclass
from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rules import decimals, grading
from rules.grading import Grade, Result, fold, grade, maximum, status_of, total

D = Decimal


def choices(right="ac", wrong="bd", *, multiple=False):
    ids = sorted(right + wrong)
    options = [{"id": name, "text": name, "is_correct": name in right} for name in ids]
    return {"case_type": "mcq", "options": options, "allow_multiple": multiple}


ONE = choices("b", "acd")
SEVERAL = choices("ac", "bde", multiple=True)
EXACT_PAIR = choices("ac", "bd")
NUMBER = {"case_type": "numeric", "answer_number": "15.4", "tolerance": "0.1"}
SHARP = {"case_type": "numeric", "answer_number": 0.3, "tolerance": None}
WORD = {"case_type": "text", "accepted_answers": ["Strict-Transport-Security", "Straße 7"]}
ESSAY = {"case_type": "text", "accepted_answers": [], "rubric": "Judge it."}
CODE = {"case_type": "coding", "test_cases": [{"weight": 1}, {"weight": 2}, {"weight": 1}]}


@pytest.mark.parametrize(
    ("content", "answer", "share", "status"),
    [
        (ONE, "b", 1, "correct"),
        (ONE, ["b"], 1, "correct"),
        (ONE, "a", 0, "incorrect"),
        (ONE, ["a", "b"], 0, "incorrect"),
        (ONE, "nothing of the kind", 0, "incorrect"),
        (ONE, [], 0, "skipped"),
        (ONE, None, 0, "skipped"),
        (ONE, "", 0, "skipped"),
        (EXACT_PAIR, ["c", "a"], 1, "correct"),
        (EXACT_PAIR, ["a"], 0, "incorrect"),
        (SEVERAL, ["a", "c"], 1, "correct"),
        (SEVERAL, ["c", "a", "c"], 1, "correct"),
        (SEVERAL, "a", "0.5", "partial"),
        (SEVERAL, ["a", "b"], D(1) / 2 - D(1) / 3, "partial"),
        (SEVERAL, ["a", "b", "d"], 0, "incorrect"),
        (SEVERAL, ["a", "b", "c", "d", "e"], 0, "incorrect"),
        (SEVERAL, ["a", "c", "x"], D(1) - D(1) / 3, "partial"),
        (choices("ab", "", multiple=True), ["a", "b"], 1, "correct"),
        (choices("", "ab"), "a", None, "pending_review"),
        (NUMBER, "15.4", 1, "correct"),
        (NUMBER, 15.5, 1, "correct"),
        (NUMBER, 15.3, 1, "correct"),
        (NUMBER, "15.5000001", 0, "incorrect"),
        (NUMBER, 15, 0, "incorrect"),
        (NUMBER, " 15.4 ", 1, "correct"),
        (NUMBER, "fifteen", 0, "incorrect"),
        (NUMBER, True, 0, "incorrect"),
        (NUMBER, "NaN", 0, "incorrect"),
        (NUMBER, "Infinity", 0, "incorrect"),
        (NUMBER, "1e999999999999999999", 0, "incorrect"),
        (NUMBER, "1e99999999999999999999999999", 0, "incorrect"),
        (NUMBER, {"number": 1}, 0, "incorrect"),
        (NUMBER, "  ", 0, "skipped"),
        (NUMBER, 0, 0, "incorrect"),
        (SHARP, 0.3, 1, "correct"),
        (SHARP, 0.1 + 0.2, 0, "incorrect"),
        ({"case_type": "numeric", "answer_number": None, "tolerance": None}, 1, None, "pending_review"),
        (WORD, "  strict-transport-SECURITY ", 1, "correct"),
        (WORD, "strict-transport-security", 1, "correct"),
        (WORD, "STRASSE \t\n 7", 1, "correct"),
        (WORD, "HTTP-Only", None, "pending_review"),
        (WORD, " \u00a0 ", 0, "skipped"),
        (ESSAY, "Because.", None, "pending_review"),
        (ESSAY, "", 0, "skipped"),
    ],
)
def test_an_answer_is_graded_as_worked_out_by_hand(content, answer, share, status):
    result = grade(content, answer)
    assert result.share == (None if share is None else D(share))
    assert result.status == status


@pytest.mark.parametrize(
    ("passed", "share", "status"),
    [
        ([True, True, True], 1, "correct"),
        ([False, True, False], "0.5", "partial"),
        ([True, False, False], "0.25", "partial"),
        ([False, False, False], 0, "incorrect"),
        (None, None, "pending_review"),
    ],
)
def test_a_program_earns_the_weight_of_the_tests_it_passes(passed, share, status):
    result = grade(CODE, "print()", passed)
    assert (result.share, result.status) == (None if share is None else D(share), status)


def test_an_empty_program_is_skipped_even_where_nothing_can_run():
    assert grade(CODE, " \n", None).status == "skipped"


def test_tests_without_any_weight_count_alike():
    content = {"case_type": "coding", "test_cases": [{"weight": 0}, {"weight": 0}]}
    assert grade(content, "x", [True, False]).share == D("0.5")


def test_a_program_without_tests_waits_for_a_person():
    assert grade({"case_type": "coding", "test_cases": []}, "x", []).status == "pending_review"


def test_outcomes_that_do_not_fit_the_tests_are_a_fault():
    with pytest.raises(ValueError, match="zip"):
        grade(CODE, "x", [True])


@pytest.mark.parametrize(
    ("share", "max_score", "score"),
    [(D(1) / 3, "10", "3.33"), (D(2) / 3, "10", "6.67"), (D("0.005"), "1", "0.01"), (D(1), "7.5", "7.50")],
)
def test_a_score_is_shown_with_two_digits_halves_up(share, max_score, score):
    assert str(decimals.cents(Grade(share).score(D(max_score)))) == score


@pytest.mark.parametrize(
    ("shares", "points", "score", "percentage"),
    [
        ([2, 2, 2], 1, "2.00", "66.67"),
        ([2], 1, "0.67", "66.67"),
        ([1, 1, 1], 10, "10.00", "33.33"),
        ([1, 2, 3], 1, "2.00", "66.67"),
    ],
)
def test_thirds_of_points_add_up_exactly(shares, points, score, percentage):
    cases = [Case(Grade(D(share) / 3).score(D(points)), D(points)) for share in shares]
    result = grading.total(cases, 67)
    assert (str(result.score), str(result.score_percentage), result.passed) == (score, percentage, False)


def test_thirds_that_come_to_the_passing_score_pass():
    cases = [Case(Grade(D(1) / 3).score(D(10)), D(10)) for _ in range(6)] + [Case(D(0), D(20))]
    assert grading.total(cases, 25).passed is True


def test_a_pending_grade_has_no_score():
    assert Grade(None).score(D(10)) is None


def test_the_maximum_is_points_times_weight():
    assert str(maximum(15, D("1.50"))) == "22.50"
    assert str(maximum(10)) == "10.00"


@pytest.mark.parametrize(
    ("score", "max_score", "status"),
    [("10", "10", "correct"), ("4", "10", "partial"), ("0", "10", "incorrect"), ("0", "0", "incorrect")],
)
def test_a_reviewed_score_is_named(score, max_score, status):
    assert status_of(D(score), D(max_score)) == status


@dataclass
class Case:
    score: Decimal | None
    max_score: Decimal


@pytest.mark.parametrize(
    ("cases", "passing_score", "result"),
    [
        ([("10", "10"), ("5", "20")], 50, ("15.00", "30.00", "50.00", True)),
        ([("10", "10"), ("5", "20")], 51, ("15.00", "30.00", "50.00", False)),
        ([("2", "3")], 67, ("2.00", "3.00", "66.67", False)),
        ([("2", "3")], 66, ("2.00", "3.00", "66.67", True)),
        ([("10", "10"), (None, "10")], 40, ("10.00", "20.00", "50.00", None)),
        ([("0", "0")], 70, ("0.00", "0.00", "0.00", False)),
        ([("0", "0")], 0, ("0.00", "0.00", "0.00", True)),
        ([("69.995", "100")], 70, ("70.00", "100.00", "70.00", False)),
        ([("69.999999", "100")], 70, ("70.00", "100.00", "70.00", False)),
        ([("2.8", "4")], 70, ("2.80", "4.00", "70.00", True)),
        ([], 0, ("0.00", "0.00", "0.00", None)),
        ([], 70, ("0.00", "0.00", "0.00", None)),
    ],
)
def test_a_session_is_added_up(cases, passing_score, result):
    marked = [Case(None if score is None else D(score), D(max_score)) for score, max_score in cases]
    got = total(marked, passing_score)
    assert (str(got.score), str(got.max_score), str(got.score_percentage), got.passed) == result


multiple = st.integers(1, 6).flatmap(
    lambda right: st.integers(0, 6).map(
        lambda wrong: choices("abcdef"[:right], "uvwxyz"[:wrong], multiple=True)
    )
)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
answers = scalars | st.lists(st.sampled_from("abcdefuvwxyz?")) | st.lists(scalars)


@given(st.sampled_from([ONE, SEVERAL, EXACT_PAIR, NUMBER, SHARP, WORD, ESSAY]) | multiple, answers)
def test_whatever_is_answered_the_share_is_between_0_and_1(content, answer):
    result = grade(content, answer)
    assert result.share is None or 0 <= result.share <= 1
    assert (result.share is None) == (result.status == "pending_review")
    assert (result.share == 1) == (result.status == "correct")


@given(multiple)
def test_choosing_exactly_the_correct_options_earns_everything(content):
    right = [option["id"] for option in content["options"] if option["is_correct"]]
    assert grade(content, right).share == 1


@given(multiple, st.data())
def test_one_more_wrong_choice_never_earns_more(content, data):
    ids = [option["id"] for option in content["options"]]
    wrong = [option["id"] for option in content["options"] if not option["is_correct"]]
    assume(wrong)
    chosen = data.draw(st.lists(st.sampled_from(ids), min_size=1, unique=True))
    more = {*chosen, data.draw(st.sampled_from(wrong))}
    assert grade(content, sorted(more)).share <= grade(content, chosen).share


@given(
    st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-1000, max_value=1000),
    st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=0, max_value=10),
)
def test_the_tolerance_is_inclusive_on_both_sides(expected, tolerance):
    content = {"case_type": "numeric", "answer_number": str(expected), "tolerance": str(tolerance)}
    for answer in (expected - tolerance, expected, expected + tolerance):
        assert grade(content, str(answer)).status == "correct"
    assert grade(content, str(expected + tolerance + D("0.001"))).status == "incorrect"


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1))
def test_a_program_that_passes_more_never_earns_less(tests):
    content = {"case_type": "coding", "test_cases": [{"weight": weight} for weight, _ in tests]}
    some = grade(content, "x", [passed for _, passed in tests]).share
    assert 0 <= some <= grade(content, "x", [True] * len(tests)).share == 1


@given(st.text())
def test_folding_twice_changes_nothing(text):
    assert fold(fold(text)) == fold(text)


@given(st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 100))), st.integers(0, 100))
def test_a_session_never_exceeds_its_maximum(cases, passing_score):
    marked = [Case(Grade(D(share) / 100).score(maximum(points)), maximum(points)) for points, share in cases]
    result = total(marked, passing_score)
    assert isinstance(result, Result)
    assert 0 <= result.score <= result.max_score
    assert 0 <= result.score_percentage <= 100
    if not marked:
        assert result.passed is None
    else:
        score, most = sum(case.score for case in marked), sum(case.max_score for case in marked)
        assert result.passed == ((100 * score / most if most else 0) >= passing_score)


def test_a_snapshot_grades_alike_after_a_trip_through_json():
    for content, answer in ((ONE, "b"), (SEVERAL, ["a", "b"]), (NUMBER, 15.5), (WORD, "x"), (SHARP, 0.3)):
        assert grade(json.loads(json.dumps(content)), json.loads(json.dumps(answer))) == grade(
            content, answer
        )
