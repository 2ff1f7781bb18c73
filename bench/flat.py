"""Whether what was sampled for long stays where it is: a line through the second half, with its confidence."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

BLOCKS = 20
T = 2.101  # Student's t for 95 % on both sides, with BLOCKS - 2 degrees of freedom
WORTH = 0.01  # of the mean in an hour, less than which is no rise


@dataclass(frozen=True)
class Line:
    """How much is added in an hour, at least and at most with 95 % confidence, and the mean."""

    slope: float
    low: float
    high: float
    mean: float

    @property
    def rises(self) -> bool:
        """Say whether it rises: certainly, and by more than a hundredth of itself in an hour."""
        return self.low > 0 and self.slope > WORTH * abs(self.mean)


def fit(points: Sequence[tuple[float, float]]) -> Line:
    """Lay a line through the later half of points (seconds, value), which has BLOCKS of them at least.

    Neighbouring samples are alike, so that a line through each of them would seem surer than it is: it goes through
    the means of twenty equal parts of the time instead.
    """
    first, last = points[0][0], points[-1][0]
    middle = (first + last) / 2
    parts: list[list[tuple[float, float]]] = [[] for _ in range(BLOCKS)]
    for moment, value in points:
        if moment >= middle:
            part = min(BLOCKS - 1, int((moment - middle) / (last - middle) * BLOCKS))
            parts[part].append((moment / 3600, value))
    if not all(parts):
        raise ValueError(f"There are not enough samples: {len(points)}.")
    hours, values = zip(
        *([statistics.fmean(each) for each in zip(*part, strict=True)] for part in parts), strict=True
    )
    slope, zero = statistics.linear_regression(hours, values)
    left = sum((value - slope * hour - zero) ** 2 for hour, value in zip(hours, values, strict=True))
    around = sum((hour - statistics.fmean(hours)) ** 2 for hour in hours)
    error = T * math.sqrt(left / (BLOCKS - 2) / around)
    return Line(slope, slope - error, slope + error, statistics.fmean(values))
