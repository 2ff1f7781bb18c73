"""Percentiles from buckets, against those of all durations."""

import math
import random

import pytest

from rules import sketches


@pytest.mark.parametrize("ms", [0.01, 0.02, 0.5, 1.0, 3.3, 47.0, 999.9, 15_000.0, 86_400_000.0])
def test_a_bucket_stands_for_durations_within_one_percent(ms: float) -> None:
    assert abs(sketches.middle(sketches.bucket(ms)) - ms) <= 0.0100001 * ms


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("part", [0.5, 0.95, 0.99, 1.0])
def test_a_quantile_is_right_within_one_percent(seed: int, part: float) -> None:
    chance = random.Random(seed)
    taken = sorted(chance.lognormvariate(2, 1.5) for _ in range(1_000 + seed))
    counts: dict[int, int] = {}
    for ms in taken:
        counts[sketches.bucket(ms)] = counts.get(sketches.bucket(ms), 0) + 1
    exact = taken[math.ceil(part * len(taken)) - 1]
    found = sketches.quantile(counts, part)
    assert found is not None
    assert abs(found - exact) <= 0.0100001 * exact


def test_nothing_has_no_quantile() -> None:
    assert sketches.quantile({}, 0.5) is None


def test_a_duration_of_nothing_has_a_bucket() -> None:
    assert sketches.bucket(0.0) == sketches.bucket(sketches.LEAST_MS)
