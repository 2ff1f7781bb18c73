"""Beside what a bench reached stand the least and the most of its rounds: it gives all of them, and no median."""

import pytest

from app.instance.settings import ROOT
from bench import depth, figures
from bench.depth_lists import every


def test_short_measures_are_put_together_into_rounds_of_neighbours() -> None:
    found = [float(number) for number in range(40)]
    assert figures.in_rounds(found) == [3.5, 11.5, 19.5, 27.5, 35.5]
    assert figures.in_rounds(found, max) == [7, 15, 23, 31, 39]
    assert figures.in_rounds([2.0, 1.0]) == [2.0, 1.0]


def test_a_bench_leaves_the_median_to_its_figures() -> None:
    sources = {path.stem: path.read_text() for path in (ROOT / "bench").glob("*.py")}
    # depth compares its cases by their medians, and gives all rounds of the worst.
    assert {name for name, source in sources.items() if "statistics.median" in source} == {"figures", "depth"}


def test_a_list_is_told_of_with_all_rounds_of_its_worst_case() -> None:
    quick = depth.Found("by nothing", 900, page=9, firsts=[1.0, 2.0, 1.0], lates=[1.0, 2.2, 1.1])
    slow = depth.Found("by status", 90, page=4, firsts=[5.0, 4.0, 6.0], lates=[6.0, 4.0, 9.0])
    told = depth.tell(next(iter(every(1000))), [quick, slow])
    assert {one.name.partition(": ")[2]: (one.value, one.spread) for one in told if one.spread} == {
        "page 1 of 900 rows": (1.0, (1.0, 2.0)),
        "page 10": (1.1, (1.0, 2.2)),
        "page 10 against page 1": (1.1, (1.0, 1.1)),
        "the same at worst of 2 filters in order": (1.2, (1.0, 1.5)),
        "slowest page of them": (6.0, (4.0, 9.0)),
    }


def test_a_page_for_which_an_index_is_walked_from_end_to_end_is_missed() -> None:
    walked = depth.Found("by reminded_at", 3, firsts=[240.0, 250.0, 260.0], passed=900_000)
    [slowest] = [one for one in depth.tell(next(iter(every(1000))), [walked]) if "slowest" in one.name]
    assert (slowest.value, slowest.target, slowest.met) == (250.0, "<= 100", False)


@pytest.mark.parametrize(
    ("others", "kept"),
    [([0.04, 0.01], 0.04), ([0.2, 0.05, 0.0], 0.05), ([0.3, 0.1, 0.2, 0.0], 0.1)],
    ids=["calm at once", "calm at the second", "never calm"],
)
def test_what_others_disturbed_is_measured_again_and_least_of_three_counts(
    others: list[float], kept: float
) -> None:
    coming = iter(others)
    assert figures.calm(lambda: next(coming), lambda one: one) == kept
