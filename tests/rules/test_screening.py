"""The level 3 score: a table worked out by hand, and what holds for every input."""

from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rules.answers import check
from rules.requirements import normalise
from rules.screening import MODEL_VERSION, advances, score

FIELDS = [
    {
        "id": key,
        "key": key,
        "label": key,
        "field_type": kind,
        "options": [{"value": value} for value in options],
    }
    for key, kind, options in (
        ("remote", "boolean", ()),
        ("visa", "boolean", ()),
        ("years", "number", ()),
        ("tools", "multi_select", ("Jira", "Figma", "Excel")),
        ("city", "single_select", ("Berlin", "Bern")),
        ("degree", "short_text", ()),
        ("stack", "long_text", ()),
        ("role", "short_text", ()),
        ("notice", "number", ()),
    )
]
GIVEN = {
    "remote": True, "visa": False, "years": 4, "tools": ["Jira", "Figma"], "city": "Berlin", "degree": "PhD in Physics",
    "stack": "Every day with k8s and Terraform, and a forklift.", "role": "Engineering Manager",
}  # fmt: skip

# Python is in 84 months (2016-2022), PostgreSQL in 48, C++ in 36, React in 12 that overlap; Docker in none.
PROFILE = {
    "skills": ["Python", "PostgreSQL", "Docker", "Git", "React", "C++"],
    "titles": ["Senior Backend Engineer", "Software Engineer", "Lecturer"],
    "positions": [
        {"title": "Senior Backend Engineer", "employer": "Northwind", "start": "2019-01", "end": "2022-12",
         "skills": ["Python", "PostgreSQL"]},
        {"title": "Software Engineer", "employer": "Harbour", "start": "2016-01", "end": "2018-12",
         "skills": ["Python", "C++"]},
        {"title": "Lecturer", "employer": "College", "start": "2018-07", "end": "2019-06", "skills": ["React"]},
    ],
    "total_years": "7.00",
    "education": [{"level": "master", "degree": "MSc Computer Science", "institution": "University of Leeds"}],
    "text": "Certified forklift operator. Speaks Portuguese. Led a team of 12.",
}  # fmt: skip
DOCTOR = {"education": [{"level": "doctorate", "degree": "PhD Physics", "institution": "ETH"}]}
SCHOOL = {"education": [{"level": "secondary", "text": "Abitur"}]}


def must(kind, *values, **more):
    return {"kind": kind, "importance": "must", "values": list(values), **more}


def should(kind, *values, **more):
    return must(kind, *values, **more) | {"importance": "should"}


def measure(requirements, profile=PROFILE, answers=GIVEN):
    return score(profile, check(answers, FIELDS), normalise(requirements))


# One requirement alone: the score is how far it is met, in percent.
SHARES = [
    # Skills and tools: any name of any value.
    (must("skill", "Python"), "100"),
    (must("skill", "python3"), "100"),
    (must("skill", "postgres"), "100"),
    (must("skill", "Rust"), "0"),
    (must("skill", "Rust", "Go", "C++"), "100"),
    (must("skill", "C"), "0"),  # C++ is another
    (must("skill", "Java"), "0"),
    (must("skill", label="Git"), "100"),  # the label, where there are no values
    (must("skill", "Portuguese"), "100"),  # not in the vocabulary: a phrase of the CV
    (must("skill", "Portu"), "0"),  # whole words only
    (must("tool", "Docker"), "100"),
    (must("tool", "Kubernetes"), "0"),
    (must("tool", "Kubernetes", field="stack"), "100"),  # k8s in the answer
    (must("tool", "Jira", field="tools"), "100"),
    (must("tool", "Excel", field="tools"), "0"),
    (must("skill", "forklift", field="stack"), "100"),
    (should("skill", "Python"), "100"),
    # With years: half for the name, half for the time in positions that name it.
    (must("skill", "Python", min_years=7), "100"),
    (must("skill", "Python", min_years=3), "100"),
    (must("skill", "Python", min_years=14), "75"),  # 7 of 14
    (must("skill", "PostgreSQL", min_years=8), "75"),  # 4 of 8
    (must("skill", "C++", min_years=4), "87.50"),  # 3 of 4
    (must("skill", "React", min_years=3), "66.67"),  # 1 of 3
    (must("skill", "Docker", min_years=5), "50"),  # named, in no position
    (must("skill", "Rust", min_years=1), "0"),
    (must("skill", "C++", "PostgreSQL", min_years=14), "75"),  # 36 and 48 months: 7 of 14
    (must("skill", "Python", min_years=0), "100"),
    # Years.
    (must("years", min_years=7), "100"),
    (must("years", min_years=10), "70"),
    (must("years", min_years=9), "77.78"),
    (must("years", min_years=0), "100"),
    (must("years"), "100"),  # any time will do
    (must("years", "Rust"), "0"),
    (must("years", "PostgreSQL", min_years=5), "80"),
    (must("years", "Lecturer", min_years=4), "25"),  # by title
    (must("years", "Rust", min_years=4), "0"),
    (must("years", min_years=8, field="years"), "87.50"),  # the CV's 7 are more than the answer's 4
    (must("years", "Rust", min_years=5, field="years"), "80"),  # the answer's 4
    (must("years", "Rust", min_years=5, field="notice"), "0"),  # not answered
    # Titles: all words of the value, in any order; half without the rank.
    (must("title", "Backend Engineer"), "100"),
    (must("title", "Senior Backend Engineer"), "100"),
    (must("title", "Sr. Backend Developer"), "100"),
    (must("title", "Back-end Engineer"), "100"),
    (must("title", "Engineer, Backend"), "100"),
    (must("title", "Lead Backend Engineer"), "50"),
    (must("title", "Frontend Engineer"), "0"),
    (must("title", "Sales Manager"), "0"),
    (must("title", "Sales Manager", "Lecturer"), "100"),
    (must("title", "Engineering Manager", field="role"), "100"),
    (must("title", "Lecturer", min_years=2), "75"),  # 1 of 2
    # Education: the level or above; half without the subject.
    (must("education", "Bachelor"), "100"),
    (must("education", "master"), "100"),
    (must("education", "PhD"), "0"),
    (must("education", "Bachelor in Computer Science"), "100"),
    (must("education", "Bachelor of Science in Physics"), "50"),
    (must("education", "computer science"), "100"),
    (must("education", "physics"), "0"),
    (must("education", "PhD in Physics", field="degree"), "100"),
    (must("education", "University of Leeds"), "100"),
    # Custom: an answer, or a phrase of the CV.
    (must("custom", field="remote"), "100"),
    (must("custom", field="visa"), "0"),
    (must("custom", "no", field="visa"), "100"),
    (must("custom", "Berlin", "Bern", field="city"), "100"),
    (must("custom", "Bern", field="city"), "0"),
    (must("custom", "4", field="years"), "100"),
    (must("custom", "Figma", field="tools"), "100"),
    (must("custom", field="notice"), "0"),
    (must("custom", "forklift operator"), "100"),
    (must("custom", "crane operator"), "0"),
    (must("custom", label="team of 12"), "100"),
]


@pytest.mark.parametrize(("requirement", "percent"), SHARES)
def test_one_requirement_is_met_as_far_as_the_cv_and_the_answers_show(requirement, percent):
    result = measure([requirement])
    percent = Decimal(percent).quantize(Decimal("0.01"))
    assert result.score == percent
    assert result.breakdown[requirement["importance"]] == float(percent)
    assert result.breakdown["coverage"] == (100.0 if percent else 0.0)
    (evidence,) = result.evidence
    assert abs(evidence.matched - percent / 100) <= Decimal("0.005")
    assert bool(evidence.found) is bool(percent) or requirement.get("min_years") == 0


PYTHON, RUST = must("skill", "Python"), must("skill", "Rust")
DOCKER, KOTLIN = should("tool", "Docker"), should("skill", "Kotlin")


# Several: must and should shares, the score of 70 parts must and 30 should, and the share met at all.
MIXED = [
    ([], "0", 0, 0, 0),
    ([PYTHON, RUST], "50", 50, 100, 50),
    ([PYTHON | {"weight": 3}, RUST], "75", 75, 100, 50),
    ([PYTHON, RUST | {"weight": 3}], "25", 25, 100, 50),
    ([PYTHON, RUST | {"weight": 0}], "100", 100, 100, 50),
    ([PYTHON | {"weight": 0}], "0", 0, 0, 100),  # nothing has weight
    ([PYTHON, RUST | {"is_active": False}], "100", 100, 100, 100),
    ([PYTHON, DOCKER], "100", 100, 100, 100),
    ([PYTHON, KOTLIN], "70", 100, 0, 50),
    ([RUST, DOCKER], "30", 0, 100, 50),
    ([RUST, KOTLIN], "0", 0, 0, 0),
    ([DOCKER, KOTLIN], "50", 100, 50, 50),
    ([DOCKER | {"weight": 2}, KOTLIN], "66.67", 100, 66.67, 50),
    ([PYTHON, RUST, DOCKER, KOTLIN], "50", 50, 50, 50),
    ([PYTHON, RUST, RUST, DOCKER], "53.33", 33.33, 100, 50),  # 70/3 + 30
    ([PYTHON, must("years", min_years=10, weight=2), DOCKER], "86", 80, 100, 100),  # (1 + 1.4)/3
    ([PYTHON, KOTLIN | {"weight": 0}], "100", 100, 100, 50),
    ([must("skill", "React", min_years=3), KOTLIN], "46.67", 66.67, 0, 50),
    ([must("title", "Lead Backend Engineer", weight=5), PYTHON | {"weight": 5}, DOCKER], "82.50", 75, 100, 100),
    ([{"kind": "must", "field": "skill", "values": ["Python"]}, {"kind": "should", "field": "tool", "label": "Jest"}],
     "70", 100, 0, 50),
    ([must("education", "PhD", weight=1), must("custom", field="remote", weight=9), DOCKER, KOTLIN], "78", 90, 50, 50),
]  # fmt: skip


@pytest.mark.parametrize(("requirements", "total", "must_share", "should_share", "coverage"), MIXED)
def test_requirements_are_weighed_within_must_and_should(
    requirements, total, must_share, should_share, coverage
):
    result = measure(requirements)
    assert result.score == Decimal(total)
    assert result.score.as_tuple().exponent == -2
    assert result.breakdown == {"must": must_share, "should": should_share, "coverage": coverage}


def test_the_table_is_long_enough():
    assert len(SHARES) + len(MIXED) >= 60


@pytest.mark.parametrize(
    ("profile", "value", "percent"),
    [
        (DOCTOR, "Master", "100"), (DOCTOR, "Master in Physics", "100"), (DOCTOR, "Master in Law", "50"),
        (SCHOOL, "high school", "100"), (SCHOOL, "Bachelor", "0"), ({}, "Bachelor", "0"), (None, "Bachelor", "0"),
    ],
)  # fmt: skip
def test_a_higher_degree_meets_a_lower_one(profile, value, percent):
    assert measure([must("education", value)], profile, {}).score == Decimal(percent)


def test_without_a_cv_the_answers_still_count():
    result = measure([must("custom", field="remote"), must("skill", "Python")], None)
    assert result.score == 50


def test_evidence_says_where_it_was_found():
    requirements = [
        must("skill", "postgres", "Oracle", key="db", label="Databases", weight=4),
        must("tool", "Jira", field="tools"),
    ]
    first, second = measure(requirements).evidence
    assert first.as_dict() == {
        "key": "db", "label": "Databases", "kind": "skill", "importance": "must", "weight": 4, "matched": "1.00",
        "found": [{"source": "cv", "text": "PostgreSQL", "for": "postgres"}],
    }  # fmt: skip
    assert second.found == [{"source": "answers", "text": "Jira", "for": "Jira"}]


def test_evidence_of_years_says_how_many():
    (evidence,) = measure([must("skill", "React", min_years=3)]).evidence
    assert [one["text"] for one in evidence.found] == ["React", "1.00 years"]


def test_evidence_comes_in_the_order_of_the_requirements():
    result = measure([must("skill", "Git", sort_order=2), must("skill", "Python", sort_order=1)])
    assert [one.label for one in result.evidence] == ["Python", "Git"]


def test_the_rules_have_a_name():
    assert measure([]).model_version == MODEL_VERSION
    assert MODEL_VERSION.startswith("l3-1.")


@pytest.mark.parametrize(
    ("enabled", "l1_passed", "l3_score", "minimum", "moves"),
    [
        (True, True, "80", "80", True),
        (True, True, "79.99", "80", False),
        (True, True, "100", "80", True),
        (True, True, "0", "0", True),
        (False, True, "100", "80", False),
        (True, False, "100", "80", False),
        (True, None, "100", "80", False),
        (True, True, None, "80", False),
        (True, True, "100", None, False),
    ],
)
def test_an_application_moves_on_by_itself_past_the_bar(enabled, l1_passed, l3_score, minimum, moves):
    decimals = [None if value is None else Decimal(value) for value in (l3_score, minimum)]
    result = advances(enabled=enabled, l1_passed=l1_passed, l3_score=decimals[0], minimum=decimals[1])
    assert result is moves


ONES = st.sampled_from([requirement for requirement, _ in SHARES])
WEIGHTED = st.lists(
    st.builds(lambda one, weight, sort: one | {"weight": weight, "importance": sort}, ONES,
              st.integers(0, 100), st.sampled_from(["must", "should"])),
    max_size=8,
)  # fmt: skip
MET = [requirement for requirement, percent in SHARES if percent == "100"]
UNMET = [requirement for requirement, percent in SHARES if percent == "0"]
SORTS = st.sampled_from(["must", "should"])


@given(WEIGHTED)
def test_a_score_is_between_0_and_100_and_the_same_every_time(requirements):
    result = measure(requirements)
    assert 0 <= result.score <= 100
    assert all(0 <= share <= 100 for share in result.breakdown.values())
    assert measure(requirements) == result


@given(WEIGHTED, st.sampled_from(MET), st.integers(0, 100), SORTS)
def test_a_requirement_that_is_met_never_lowers_the_score(requirements, met, weight, sort):
    more = [*requirements, met | {"weight": weight, "importance": sort}]
    assert measure(more).score >= measure(requirements).score


@given(WEIGHTED, st.sampled_from(UNMET), st.integers(0, 100), SORTS)
def test_a_requirement_that_is_not_met_never_raises_the_score(requirements, unmet, weight, sort):
    assume(any(one["weight"] and one["importance"] == sort for one in requirements))
    more = [*requirements, unmet | {"weight": weight, "importance": sort}]
    assert measure(more).score <= measure(requirements).score


@given(WEIGHTED, st.integers(1, 300))
def test_weights_count_against_each_other_alone(requirements, factor):
    scaled = [one | {"weight": one["weight"] * factor} for one in requirements]
    assert measure(scaled).score == measure(requirements).score


@given(WEIGHTED, st.randoms(use_true_random=False))
def test_the_order_of_requirements_changes_nothing(requirements, random):
    shuffled = random.sample(requirements, len(requirements))
    assert measure(shuffled).score == measure(requirements).score


@given(WEIGHTED, st.lists(st.sampled_from(["Rust", "Java", "Kubernetes", "C", "Oracle"]), max_size=5))
def test_a_richer_cv_never_scores_less(requirements, learnt):
    richer = PROFILE | {"skills": [*PROFILE["skills"], *learnt]}
    assert measure(requirements, richer).score >= measure(requirements).score


def test_a_number_in_evidence_is_written_as_people_write_it():
    (evidence,) = measure([must("custom", "4", field="years")], answers={"years": "4.000"}).evidence
    assert evidence.found == [{"source": "answers", "text": "4", "for": "4"}]
