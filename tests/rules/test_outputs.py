"""Outputs of programs: what is the same, where they differ, and what is said of an end."""

import pytest

from rules import outputs


@pytest.mark.parametrize(
    ("got", "expected"), [("a\n", "a"), ("a  \nb\t\n\n", "a\nb"), ("", "\n \n"), ("\n", ""), ("a\r\n", "a\n")]
)
def test_space_that_ends_a_line_and_empty_last_lines_make_no_difference(got, expected):
    assert outputs.same(got, expected)
    assert outputs.difference(got, expected) is None


@pytest.mark.parametrize(
    ("got", "expected", "found", "said"),
    [
        ("a\nbx", "a\nby", (2, 2, "by", "bx"), "Line 2, column 2: expected by, got bx"),
        ("ab", "abc", (1, 3, "abc", "ab"), "Line 1, column 3: expected abc, got ab"),
        ("a", "a\nb", (2, 1, "b", None), "The output ends before line 2, which should be: b"),
        ("a\nb", "a", (2, 1, None, "b"), "Line 2 should not be there: b"),
        ("", "a", (1, 1, "a", None), "The output ends before line 1, which should be: a"),
        ("\nb", "a\nb", (1, 1, "a", ""), "Line 1, column 1: expected a, got an empty line"),
        (" a", "a", (1, 1, "a", " a"), "Line 1, column 1: expected a, got  a"),
        ("A", "a", (1, 1, "a", "A"), "Line 1, column 1: expected a, got A"),
    ],
)
def test_the_first_difference_has_its_place_and_its_lines(got, expected, found, said):
    difference = outputs.difference(got, expected)
    assert tuple(difference.values()) == found
    assert outputs.described(difference) == said


def test_of_a_long_line_is_shown_what_stands_around_the_difference():
    difference = outputs.difference("x" * 900 + "?" + "y" * 900, "x" * 900 + "!" + "y" * 900)
    assert difference["column"] == 901
    assert "?" in difference["got"]
    assert "!" in difference["expected"]
    assert len(difference["got"]) == outputs.LONGEST_LINE + 2


@pytest.mark.parametrize(
    ("outcome", "code", "said"),
    [
        ("ok", 0, ""),
        ("ok", 1, ""),
        ("error", 3, "The program ended with exit code 3."),
        ("error", -11, "The program was ended by SIGSEGV."),
        ("error", -99, "The program was ended by signal 99."),
        ("error", None, "The program ended with an error."),
        ("timeout", None, "The program ran out of time."),
        ("memory", -9, "The program ran out of memory."),
        ("output_limit", None, "The program wrote too much."),
    ],
)
def test_every_end_has_its_sentence(outcome, code, said):
    assert outputs.ended(outcome, code) == said
