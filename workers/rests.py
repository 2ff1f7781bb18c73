"""What fails fails fast, and a flood of it would have every core: whoever failed rests, one after another."""

import random
import threading
import time

LONGEST = 2.0  # seconds for which the rests of others make anybody's longer
SPREAD = 0.5  # the least part of that: who reached it together would fail together once more

_lock = threading.Lock()
_over = 0.0  # when all rests are, on the clock of time.monotonic


def after(seconds: float) -> float:
    """Return for how many seconds to rest whose own rest is so long: it begins when those of others are over."""
    global _over  # noqa: PLW0603 - one process, one line
    with _lock:
        moment = time.monotonic()
        rest = seconds + min(LONGEST * random.uniform(SPREAD, 1.0), max(0.0, _over - moment))  # noqa: S311 - no secret
        _over = max(_over, moment + rest)
        return rest
