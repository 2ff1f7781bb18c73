"""Degrees and months of work."""

from datetime import date

import pytest

from rules import degrees, periods


@pytest.mark.parametrize(
    ("text", "level", "subject"),
    [
        ("BSc Computer Science", "bachelor", "computer science"),
        ("B.Sc. (Hons) Mathematics", "bachelor", "hons mathematics"),
        ("Bachelor of Science in Computer Engineering", "bachelor", "computer engineering"),
        ("Bachelor’s degree in Nursing", "bachelor", "nursing"),
        ("Bachelor of Arts", "bachelor", ""),
        ("Master of Business Administration", "master", ""),
        ("MBA", "master", ""),
        ("Ph.D. Statistics", "doctorate", "statistics"),
        ("Diplom-Informatiker", "master", ""),
        ("Licence en droit", "bachelor", "droit"),
        ("Driving licence", None, "driving licence"),
        ("Laurea magistrale in Fisica", "master", "fisica"),
        ("магистр, прикладная математика", "master", "прикладная математика"),
        ("计算机科学 硕士", "master", "计算机科学"),
        ("工学部 学士", "bachelor", "工学部"),
        ("Abitur", "secondary", ""),
        ("a degree in physics", None, "physics"),
        ("University of Leeds", None, "university of leeds"),
        ("Baker", None, "baker"),
    ],
)
def test_a_degree_has_a_level_and_a_subject(text, level, subject):
    assert (degrees.level(text), degrees.subject(text)) == (level, subject)


def test_a_degree_reaches_its_own_level_and_those_below():
    for number, held in enumerate(degrees.LEVELS):
        assert [degrees.reaches(held, wanted) for wanted in degrees.LEVELS] == [
            place <= number for place in range(len(degrees.LEVELS))
        ]
    assert not degrees.reaches(None, "secondary")


def month(text):
    return date.fromisoformat(f"{text}-01")


@pytest.mark.parametrize(
    ("spans", "months"),
    [
        ([], 0),
        ([("2020-01", "2020-01")], 1),
        ([("2020-01", "2020-12")], 12),
        ([("2019-07", "2020-06"), ("2020-07", "2021-06")], 24),
        ([("2019-01", "2020-12"), ("2020-01", "2021-12")], 36),  # a year of overlap counts once
        ([("2019-01", "2021-12"), ("2020-02", "2020-03")], 36),  # one inside the other
        ([("2021-01", "2021-12"), ("2019-01", "2019-12")], 24),  # a gap, in any order
    ],
)
def test_months_that_overlap_count_once(spans, months):
    assert periods.months((month(start), month(end)) for start, end in spans) == months


def test_a_position_without_both_ends_has_no_time():
    assert periods.of({"start": "2020-01", "end": None}) is None
    assert periods.of({"start": "2020-13", "end": "2021-01"}) is None
    assert periods.of({"start": "2021-01", "end": "2020-01"}) is None
    assert periods.of({"start": "2020-01", "end": "2020-01"}) == (month("2020-01"), month("2020-01"))
