"""Requirements in both forms, brought into one."""

import pytest

from rules.errors import Invalid
from rules.requirements import IMPORTANCES, KINDS, normalise


def faults(*requirements, field_keys=None):
    with pytest.raises(Invalid) as refusal:
        normalise(requirements, field_keys)
    return [fault["pointer"] for fault in refusal.value.details["fields"]]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("importance", IMPORTANCES)
def test_both_forms_come_to_the_same(kind, importance):
    rest = {
        "key": "k",
        "label": "L",
        "weight": 3,
        "min_years": 2,
        "values": ["v"],
        "sort_order": 7,
        "is_active": False,
    }
    one = normalise([{"kind": kind, "importance": importance, **rest}])
    other = normalise([{"kind": importance, "field": kind, **rest}])
    assert one == other == [{"kind": kind, "importance": importance, "field": None, **rest}]


def test_what_is_left_out_has_a_default():
    first, second = normalise([{"kind": "skill", "label": "C++ und C#"}, {"kind": "years", "min_years": 0}])
    assert first == {
        "kind": "skill", "importance": "must", "field": None, "key": "c-plus-plus-und-c-sharp", "label": "C++ und C#",
        "weight": 1, "min_years": None, "values": [], "sort_order": 0, "is_active": True,
    }  # fmt: skip
    assert (second["key"], second["label"], second["sort_order"]) == ("requirement-2", "", 1)


def test_the_label_is_made_of_the_key_or_the_first_value():
    by_key, by_value = normalise(
        [{"kind": "skill", "key": "python"}, {"kind": "tool", "values": ["Jira", "Trello"]}]
    )
    assert (by_key["label"], by_value["label"], by_value["key"]) == ("python", "Jira", "jira")


def test_weight_nought_stays():
    assert normalise([{"kind": "skill", "label": "x", "weight": 0}])[0]["weight"] == 0


def test_keys_that_are_made_differ_and_keys_that_are_given_must():
    given = [
        {"kind": "skill", "label": "Go"},
        {"kind": "tool", "label": "Go"},
        {"kind": "title", "key": "go-2"},
    ]
    assert [one["key"] for one in normalise(given)] == ["go", "go-3", "go-2"]
    assert len({one["key"] for one in normalise([{"kind": "skill", "label": "x" * 64}] * 12)}) == 12
    assert faults({"kind": "skill", "key": "a"}, {"kind": "tool", "key": "a"}) == ["/requirements/1/key"]


@pytest.mark.parametrize(
    ("requirement", "at"),
    [
        ({"kind": "magic", "label": "x"}, "kind"),
        ({"label": "x"}, "kind"),
        ({"kind": "must", "label": "x"}, "field"),
        ({"kind": "should", "field": "magic", "label": "x"}, "field"),
        ({"kind": "must", "field": "skill", "importance": "should", "label": "x"}, "importance"),
        ({"kind": "skill", "importance": "perhaps", "label": "x"}, "importance"),
        ({"kind": "skill"}, "values"),
        ({"kind": "skill", "values": ["", " "]}, "values"),
        ({"kind": "custom", "field": "nowhere"}, "field"),
    ],
)
def test_a_requirement_that_cannot_be_measured_is_refused(requirement, at):
    assert faults(requirement, field_keys={"remote"}) == [f"/requirements/0/{at}"]


def test_saying_the_importance_twice_is_no_contradiction():
    (one,) = normalise([{"kind": "must", "importance": "must", "field": "skill", "label": "x"}])
    assert one["importance"] == "must"


def test_every_fault_is_listed_at_once():
    assert faults({"kind": "skill"}, {"kind": "skill", "label": "x"}, {"kind": "must", "field": "?"}) == [
        "/requirements/0/values",
        "/requirements/2/field",
    ]


def test_a_field_names_a_question_of_the_job():
    (one,) = normalise([{"kind": "custom", "field": "remote"}], {"remote"})
    assert one["field"] == "remote"
