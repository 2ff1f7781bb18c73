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


YEAR = "tests/workers/test_a_year.py::test_a_year_passes_and_every_event_is_foretold"


def year(reports: Iterable[pytest.TestReport]) -> str | None:
    """Say how long the year of a test mode took: under a minute, where nobody else works."""
    played = [one.duration for one in reports if one.when == "call" and one.nodeid == YEAR]
    return f"{YEAR}: {played[0]:.1f} s; 60 s at most" if played else None
