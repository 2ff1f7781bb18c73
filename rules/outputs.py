"""What programs print: when it is what was expected, where it differs, and what is said of a run."""

import signal
from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

LONGEST_LINE = 200  # characters of a line that are shown where it differs
BEFORE = 40  # of them, so many before the difference

# Why a program came to no good end, where it does not say so itself.
ENDS = {
    "timeout": "The program ran out of time.",
    "memory": "The program ran out of memory.",
    "output_limit": "The program wrote too much.",
}
NOT_COMPILED = "The program could not be compiled."


def same(got: str, expected: str) -> bool:
    """Compare outputs, blind to white space that ends a line and to empty last lines."""
    return _lines(got) == _lines(expected)


def difference(got: str, expected: str) -> dict[str, Any] | None:
    """Find the first place at which outputs differ; None where they are the same.

    `line` and `column` count from 1; `expected` and `got` are that line on either side, None where a side has ended.
    """
    if same(got, expected):
        return None
    for number, (wanted, found) in enumerate(zip_longest(_lines(expected), _lines(got)), start=1):
        if wanted != found:
            column = _column(wanted or "", found or "")
            return {
                "line": number,
                "column": column,
                "expected": _around(wanted, column),
                "got": _around(found, column),
            }
    return None


def described(difference: Mapping[str, Any]) -> str:
    """Say in a sentence where outputs differ."""
    line, wanted, got = difference["line"], difference["expected"], difference["got"]
    if got is None:
        return f"The output ends before line {line}, which should be: {wanted}"
    if wanted is None:
        return f"Line {line} should not be there: {got}"
    place = f"Line {line}, column {difference['column']}"
    return f"{place}: expected {wanted or 'an empty line'}, got {got or 'an empty line'}"


def ended(outcome: str, exit_code: int | None) -> str:
    """Say in a sentence how a program ended badly; empty where it ended well. A negative code is a signal."""
    if outcome != "error":
        return ENDS.get(outcome, "")
    if exit_code is None:
        return "The program ended with an error."
    if exit_code >= 0:
        return f"The program ended with exit code {exit_code}."
    try:
        return f"The program was ended by {signal.Signals(-exit_code).name}."
    except ValueError:
        return f"The program was ended by signal {-exit_code}."


def _lines(text: str) -> list[str]:
    trimmed = text.rstrip()
    return [line.rstrip() for line in trimmed.split("\n")] if trimmed else []


def _column(wanted: str, found: str) -> int:
    pairs = enumerate(zip(wanted, found, strict=False), start=1)
    return next((place for place, (a, b) in pairs if a != b), min(len(wanted), len(found)) + 1)


def _around(line: str | None, column: int) -> str | None:
    """Cut a long line to what stands around the difference."""
    if line is None or len(line) <= LONGEST_LINE:
        return line
    start = max(0, min(column - 1 - BEFORE, len(line) - LONGEST_LINE))
    end = start + LONGEST_LINE
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")
