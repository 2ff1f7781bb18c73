"""The test world: how far its clock may be moved at once, and how much of what happened is named."""

import math
from datetime import datetime, timedelta

LONGEST_SECONDS = 31_622_400  # a leap year
MOST_NAMED = 1_000
# Work that waits for a model: a clock neither does it nor waits for it.
OF_MODELS = frozenset({"brief", "speak", "summarise"})


def whole_seconds(until: datetime, moment: datetime) -> int:
    """Return how many whole seconds reach a moment; 0 where it is not ahead.

    What is due within one second is reached in one step: the schedule itself looks no oftener.
    """
    return max(0, math.ceil((until - moment) / timedelta(seconds=1)))
