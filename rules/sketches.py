"""Durations counted by size: buckets of a logarithmic scale, each of whose durations is within 1 % of its middle."""

import math
from collections.abc import Mapping

ERROR = 0.01
_GROWTH = (1 + ERROR) / (1 - ERROR)
_LOG = math.log(_GROWTH)
LEAST_MS = 0.01  # what is shorter counts as this


def bucket(ms: float) -> int:
    """Return the bucket of a duration: those longer than GROWTH to the power of one less, up to its own."""
    return math.ceil(math.log(max(ms, LEAST_MS)) / _LOG)


def middle(number: int) -> float:
    """Return the duration that is within 1 % of every one in a bucket, in ms."""
    return float(2 * _GROWTH**number / (_GROWTH + 1))


def quantile(counts: Mapping[int, int], part: float) -> float | None:
    """Return the duration that so large a part of all took at most, within 1 %; None of none."""
    total = sum(counts.values())
    rank, passed = math.ceil(part * total), 0
    for number in sorted(counts):
        passed += counts[number]
        if passed >= rank:
            return middle(number)
    return None
