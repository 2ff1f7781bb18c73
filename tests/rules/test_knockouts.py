"""Conditions on the answers, over every operator and field type."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules import answers
from rules.answers import FIELD_TYPES
from rules.errors import Invalid
from rules.knockouts import FITTING, OPERATORS, check, evaluate

OPTIONS = [{"value": name, "label": name.title()} for name in ("a", "b", "c", "yes", "no")]


def field(kind, key="q"):
    return {"id": f"id-{key}", "key": key, "label": key, "field_type": kind, "options": OPTIONS}


def rule(operator, value=None, key="q", **more):
    return {"field_key": key, "operator": operator, "value": value, **more}


def measure(kind, operator, wanted, given):
    rules, fields = [rule(operator, wanted)], [field(kind)]
    check(rules, fields)
    return evaluate(rules, answers.check({"q": given}, fields)).passed


def faults(rules, fields):
    with pytest.raises(Invalid) as refusal:
        check(rules, fields)
    return [(fault["pointer"], fault["message"]) for fault in refusal.value.details["fields"]]


TEXTS = [
    (operator, wanted, given, passed)
    for operator, wanted, given, passed in [
        ("eq", "Berlin", "berlin", True),
        ("eq", "Berlin", "Bern", False),
        ("neq", "Berlin", "Bern", True),
        ("neq", "Berlin", " BERLIN ", False),
        ("in", ["Berlin", "Bern"], "bern", True),
        ("in", ["Berlin", "Bern"], "Basel", False),
        ("not_in", ["Berlin", "Bern"], "Basel", True),
        ("not_in", ["Berlin", "Bern"], "Bern", False),
        ("truthy", None, "certainly", True),
    ]
]
CASES = [
    *[("short_text", *case) for case in TEXTS],
    *[("long_text", *case) for case in TEXTS],
    ("short_text", "truthy", None, "no", False),
    ("short_text", "falsy", None, "No", True),
    ("short_text", "falsy", None, "none", True),
    ("short_text", "falsy", None, "indeed", False),
    ("url", "eq", "https://a.example", "https://a.example", True),
    ("url", "neq", "https://a.example", "https://b.example", True),
    ("url", "in", ["https://a.example"], "https://b.example", False),
    ("url", "not_in", ["https://a.example"], "https://b.example", True),
    ("url", "truthy", None, "https://a.example", True),
    ("single_select", "eq", "a", "a", True),
    ("single_select", "eq", "a", "b", False),
    ("single_select", "neq", "a", "b", True),
    ("single_select", "in", ["a", "b"], "b", True),
    ("single_select", "in", ["a", "b"], "c", False),
    ("single_select", "not_in", ["a", "b"], "c", True),
    ("single_select", "not_in", ["a", "b"], "a", False),
    ("single_select", "truthy", None, "yes", True),
    ("single_select", "truthy", None, "no", False),
    ("single_select", "falsy", None, "no", True),
    ("single_select", "falsy", None, "yes", False),
    ("multi_select", "eq", ["a", "b"], ["b", "a"], True),
    ("multi_select", "eq", ["a", "b"], ["a"], False),
    ("multi_select", "eq", "a", ["a"], True),
    ("multi_select", "neq", ["a"], ["a", "b"], True),
    ("multi_select", "neq", ["a", "b"], ["b", "a"], False),
    ("multi_select", "in", ["a", "c"], ["b", "c"], True),
    ("multi_select", "in", ["a"], ["b", "c"], False),
    ("multi_select", "not_in", ["a"], ["b", "c"], True),
    ("multi_select", "not_in", ["a"], ["a", "c"], False),
    ("multi_select", "truthy", None, ["c"], True),
    ("number", "eq", 5, "5.00", True),
    ("number", "eq", "5.5", 5, False),
    ("number", "neq", 5, 6, True),
    ("number", "neq", "5", 5, False),
    ("number", "gte", 5, 5, True),
    ("number", "gte", 5, "4.99", False),
    ("number", "lte", 5, 5, True),
    ("number", "lte", 5, "5.01", False),
    ("number", "gt", 5, "5.01", True),
    ("number", "gt", 5, 5, False),
    ("number", "lt", 5, -5, True),
    ("number", "lt", 5, 5, False),
    ("number", "in", [1, "2"], 2, True),
    ("number", "in", [1, 2], 3, False),
    ("number", "not_in", [1, 2], 3, True),
    ("number", "not_in", [1, 2], "1.0", False),
    ("number", "truthy", None, 1, True),
    ("number", "truthy", None, 0, False),
    ("number", "falsy", None, 0, True),
    ("number", "falsy", None, 2, False),
    ("boolean", "eq", True, True, True),
    ("boolean", "eq", "yes", True, True),
    ("boolean", "eq", True, False, False),
    ("boolean", "neq", True, False, True),
    ("boolean", "neq", False, False, False),
    ("boolean", "truthy", None, True, True),
    ("boolean", "truthy", None, False, False),
    ("boolean", "falsy", None, False, True),
    ("boolean", "falsy", None, True, False),
]


@pytest.mark.parametrize(("kind", "operator", "wanted", "given", "passed"), CASES)
def test_an_answer_meets_the_condition_or_not(kind, operator, wanted, given, passed):
    assert measure(kind, operator, wanted, given) is passed


def test_the_cases_cover_every_fitting_operator_of_every_type():
    assert {(kind, operator) for kind, operator, *_ in CASES} == {
        (kind, operator) for kind, operators in FITTING.items() for operator in operators
    }
    assert set(FITTING) == set(FIELD_TYPES)


WANTED = {"number": 1, "boolean": True, "single_select": "a", "multi_select": "a"}


@pytest.mark.parametrize("kind", FIELD_TYPES)
@pytest.mark.parametrize("operator", OPERATORS)
def test_an_operator_fits_a_type_or_is_refused(kind, operator):
    wanted = WANTED.get(kind, "text")
    rules = [rule("truthy"), rule(operator, [wanted] if operator in {"in", "not_in"} else wanted)]
    if operator in FITTING[kind]:
        check(rules, [field(kind)])
        assert not evaluate(rules[1:], []).passed  # unanswered fails whatever the operator
    else:
        ((pointer, message),) = faults(rules, [field(kind)])
        assert pointer == "/rules/1/operator"
        assert "does not fit" in message


@pytest.mark.parametrize(
    ("kind", "operator", "value", "pointer"),
    [
        ("number", "gte", "many", "/rules/0/value"),
        ("number", "eq", None, "/rules/0/value"),
        ("number", "in", [1, "x"], "/rules/0/value"),
        ("number", "in", 1, "/rules/0/value"),
        ("short_text", "in", [], "/rules/0/value"),
        ("short_text", "eq", " ", "/rules/0/value"),
        ("boolean", "eq", "perhaps", "/rules/0/value"),
        ("single_select", "eq", "z", "/rules/0/value"),
        ("multi_select", "in", ["a", "z"], "/rules/0/value"),
        ("multi_select", "eq", [], "/rules/0/value"),
    ],
)
def test_a_value_that_no_answer_can_meet_is_refused(kind, operator, value, pointer):
    assert faults([rule(operator, value)], [field(kind)])[0][0] == pointer


def test_every_fault_of_the_rules_is_listed_at_once():
    rules = [rule("gte", 1, key="nowhere"), rule("gte", 1), rule("eq", "x", key="n"), rule("eq", 1, key="n")]
    assert [pointer for pointer, _ in faults(rules, [field("boolean"), field("number", "n")])] == [
        "/rules/0/field_key",
        "/rules/1/operator",
        "/rules/2/value",
    ]


def fate(*rules):
    rows = answers.check({"q": 1}, [field("number")])
    return evaluate(rules, rows)


def test_reject_wins_over_hold_whatever_the_order():
    hold, reject = rule("eq", 9, on_fail="hold", sort_order=0), rule("eq", 8, on_fail="reject", sort_order=5)
    for rules in ((hold, reject), (reject, hold)):
        result = fate(*rules)
        assert (result.passed, result.failed_rule, result.on_fail) == (False, reject, "reject")


def test_of_two_failing_rules_the_first_in_order_is_named():
    first, second = rule("gte", 5, sort_order=1), rule("gte", 3, sort_order=2)
    assert fate(second, first).failed_rule is first


def test_failing_rejects_unless_the_rule_says_hold():
    assert fate(rule("eq", 9)).on_fail == "reject"
    assert fate(rule("eq", 9, on_fail="hold")).on_fail == "hold"


def test_an_inactive_rule_and_one_on_a_question_no_longer_asked_are_left_out():
    assert fate(rule("eq", 9, is_active=False)).passed
    unasked = [rule("eq", 9, key="gone")]
    assert not evaluate(unasked, []).passed
    assert evaluate(unasked, [], asked={"q"}).passed


def test_no_rules_pass():
    result = evaluate([], [])
    assert (result.passed, result.failed_rule, result.on_fail) == (True, None, None)


@given(st.integers(-50, 50), st.integers(-50, 50))
def test_each_operator_and_its_opposite_disagree(given, bound):
    for one, other in (("eq", "neq"), ("gte", "lt"), ("gt", "lte")):
        assert measure("number", one, bound, given) is not measure("number", other, bound, given)
    assert measure("number", "in", [bound], given) is not measure("number", "not_in", [bound], given)
