"""What applicants answer, checked against the fields of the job."""

import contextlib
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.answers import FIELD_TYPES, check, value
from rules.errors import Invalid

OPTIONS = [{"value": "berlin", "label": "Berlin"}, {"value": "paris", "label": "Paris"}]


def field(kind, key="q", **more):
    return {
        "id": f"id-{key}",
        "key": key,
        "label": key.title(),
        "field_type": kind,
        "options": OPTIONS,
        **more,
    }


def faults(answers, fields):
    with pytest.raises(Invalid) as refusal:
        check(answers, fields)
    return {fault["pointer"]: fault["message"] for fault in refusal.value.details["fields"]}


@pytest.mark.parametrize(
    ("kind", "given", "kept"),
    [
        ("short_text", " Ada ", "Ada"),
        ("long_text", "two\nlines", "two\nlines"),
        ("url", "https://example.org/a?b=c#d", "https://example.org/a?b=c#d"),
        ("url", "HTTP://example.org", "HTTP://example.org"),
        ("single_select", "berlin", "berlin"),
        ("single_select", " paris ", "paris"),
        ("multi_select", ["paris", "berlin"], ["paris", "berlin"]),
        ("multi_select", ["paris", "paris", ""], ["paris"]),
        ("multi_select", "paris", ["paris"]),
        ("multi_select", '["paris"]', ["paris"]),
        ("number", 5, Decimal(5)),
        ("number", 0, Decimal(0)),
        ("number", "5.50", Decimal("5.5")),
        ("number", " -0.000001 ", Decimal("-0.000001")),
        ("number", 1.25, Decimal("1.25")),
        ("number", "1e3", Decimal(1000)),
        ("boolean", True, True),
        ("boolean", False, False),
        ("boolean", "yes", True),
        ("boolean", "ON", True),
        ("boolean", "0", False),
    ],
)
def test_an_answer_is_kept_in_its_own_type(kind, given, kept):
    (row,) = check({"q": given}, [field(kind)])
    assert value(row) == kept
    assert type(value(row)) is type(kept)
    assert {name for name in row if row[name] not in (None, "") and name.startswith("value_")} == {
        {"number": "value_number", "boolean": "value_boolean", "multi_select": "value_json"}.get(
            kind, "value_text"
        )
    }
    assert (row["field_id"], row["field_key"], row["field_label"], row["field_type"]) == (
        "id-q",
        "q",
        "Q",
        kind,
    )


@pytest.mark.parametrize(
    ("kind", "given", "says"),
    [
        ("short_text", 5, "text"),
        ("short_text", "x" * 1001, "at most 1000"),
        ("short_text", "a\0b", "cannot be kept"),
        ("long_text", "\ud800", "cannot be kept"),
        ("long_text", ["a"], "text"),
        ("url", "example.org", "http"),
        ("url", "javascript:alert(1)", "http"),
        ("url", "https://", "http"),
        ("url", "https://a b.org", "http"),
        ("url", "http://[::1", "http"),
        ("url", "http://example.org:99999", "http"),
        ("single_select", "rome", "one of: berlin, paris"),
        ("single_select", ["berlin"], "text"),
        ("multi_select", ["berlin", "rome"], "one of"),
        ("multi_select", [1], "list of texts"),
        ("multi_select", {"berlin": True}, "list of texts"),
        ("number", "five", "number"),
        ("number", True, "number"),
        ("number", "NaN", "number"),
        ("number", float("inf"), "number"),
        ("number", 10**12, "before the point"),
        pytest.param("number", 10**5000, "number", id="endless integer"),
        ("number", "1e999999999", "before the point"),
        ("number", "0.1234567", "after the point"),
        ("number", "123456789012.0000000000000000000000001", "after the point"),
        ("boolean", "maybe", "true or false"),
        ("boolean", 1, "true or false"),
    ],
)
def test_an_answer_of_another_kind_is_refused(kind, given, says):
    assert says in faults({"q": given}, [field(kind)])["/answers/q"]


@pytest.mark.parametrize("kind", FIELD_TYPES)
@pytest.mark.parametrize("nothing", [None, "", "  "])
def test_nothing_is_no_answer(kind, nothing):
    assert check({"q": nothing}, [field(kind)]) == []
    assert faults({"q": nothing}, [field(kind, is_required=True)]) == {"/answers/q": "An answer is required."}


@pytest.mark.parametrize("kind", FIELD_TYPES)
@pytest.mark.parametrize("nothing", [[], [""]])
def test_an_empty_list_is_no_answer_only_where_several_may_be_chosen(kind, nothing):
    if kind == "multi_select":
        assert check({"q": nothing}, [field(kind)]) == []
        assert "required" in faults({"q": nothing}, [field(kind, is_required=True)])["/answers/q"]
    else:
        assert faults({"q": nothing}, [field(kind)]) == faults({"q": {}}, [field(kind)])


def test_a_missing_answer_counts_only_where_it_is_required():
    assert check({}, [field("number")]) == []
    assert "/answers/q" in faults({}, [field("number", is_required=True)])


def test_no_is_an_answer_to_a_required_question():
    assert value(check({"q": False}, [field("boolean", is_required=True)])[0]) is False


def test_every_fault_is_listed_at_once():
    fields = [field("number", "age"), field("url", "site"), field("short_text", "name", is_required=True)]
    found = faults({"age": "old", "site": "nowhere", "nam": "Ada", "a/b~c": 1}, fields)
    assert list(found) == [
        "/answers/age",
        "/answers/site",
        "/answers/name",
        "/answers/nam",
        "/answers/a~1b~0c",
    ]
    assert found["/answers/nam"] == "The job asks no such question; did you mean name?"


def test_an_inactive_field_is_not_asked():
    assert check({}, [field("number", is_required=True, is_active=False)]) == []
    assert "/answers/q" in faults({"q": 1}, [field("number", is_active=False)])


def test_rows_come_in_the_order_of_the_fields():
    rows = check({"b": "1", "a": "2"}, [field("short_text", "a"), field("short_text", "b")])
    assert [row["field_key"] for row in rows] == ["a", "b"]


@given(
    st.sampled_from(FIELD_TYPES),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ),
)
def test_whatever_is_sent_is_kept_or_refused(kind, given):
    with contextlib.suppress(Invalid):
        assert all(value(row) is not None for row in check({"q": given}, [field(kind)]))


def test_only_some_of_many_unknown_keys_get_a_hint():
    found = faults({f"name{number}": 1 for number in range(50)}, [field("short_text", "name")])
    assert len(found) == 50
    assert sum("did you mean" in message for message in found.values()) == 10
