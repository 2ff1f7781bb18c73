"""A line through what was sampled: what rises is told from what only wavers, and a warm start counts for nothing."""

import math
from random import Random

import pytest

from bench import flat

HOUR = [(second, second / 3600) for second in range(0, 3600, 5)]


def wavering(seed: int) -> list[float]:
    """Return noise in which neighbours are alike, as in memory that is taken and given back."""
    chance, value, found = Random(seed), 0.0, []
    for _ in HOUR:
        value = 0.7 * value + chance.gauss(0, 1)
        found.append(value)
    return found


def test_what_rises_is_told_with_how_much() -> None:
    line = flat.fit(
        [(at, 100 + 30 * hour + noise) for (at, hour), noise in zip(HOUR, wavering(1), strict=True)]
    )
    assert line.rises
    assert line.low < 30 < line.high
    assert line.low > 20


def test_what_wavers_does_not_rise() -> None:
    lines = [
        flat.fit([(at, 100 + one) for (at, _), one in zip(HOUR, wavering(seed), strict=True)])
        for seed in range(40)
    ]
    # Of forty at 95 % on both sides one is expected to seem to rise; twice as sure, none would be.
    assert sum(line.rises for line in lines) <= 4


def test_what_is_reached_at_the_start_and_kept_does_not_rise() -> None:
    assert not flat.fit([(at, 150 * (1 - math.exp(-hour * 60))) for at, hour in HOUR]).rises


def test_less_than_a_hundredth_in_an_hour_is_no_rise() -> None:
    line = flat.fit([(at, 1000 + 9 * hour) for at, hour in HOUR])
    assert (line.low > 0, line.rises) == (True, False)
    assert flat.fit([(at, 1000 + 11 * hour) for at, hour in HOUR]).rises


def test_what_falls_does_not_rise() -> None:
    assert not flat.fit([(at, 1000 - 100 * hour) for at, hour in HOUR]).rises


def test_too_few_samples_are_refused() -> None:
    with pytest.raises(ValueError, match="not enough samples: 20"):
        flat.fit(HOUR[:20])
