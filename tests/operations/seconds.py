"""How long the tests about all operations take for each of them; three seconds are the most that one should."""

import re
from collections import Counter
from collections.abc import Iterable

import pytest

NAMED = re.compile(r"tests/operations/\w+\.py::\w+\[(\w+)\]$")
MOST = 3.0


def summary(reports: Iterable[pytest.TestReport]) -> str | None:
    """Say it in a line; None where a run had none of these tests."""
    seconds: Counter[str] = Counter()
    for report in reports:
        if report.when == "call" and (found := NAMED.search(report.nodeid)):
            seconds[found[1]] += report.duration  # type: ignore[assignment]
    if not seconds:
        return None
    over = ", ".join(f"{name} {spent:.1f} s" for name, spent in seconds.most_common() if spent > MOST)
    mean = sum(seconds.values()) / len(seconds)
    return (
        f"tests/operations: {len(seconds)} operations, {mean:.1f} s each; over {MOST:.0f} s: {over or 'none'}"
    )
