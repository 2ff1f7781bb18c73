"""Candidates from a file of comma-separated values, as spreadsheets write them."""

import csv
import io
from typing import Any

from rules.errors import Invalid
from rules.words import say

COLUMNS = ("email", "name", "role", "external_id")
LONGEST = {"email": 254, "name": 200, "role": 200, "external_id": 255}
MOST = 1_000
LARGEST = 256 * 1024  # bytes, of which a thousand rows need a third
DELIMITERS = ",;\t"


def text(content: bytes) -> str:
    """Read a file's text; raises Invalid where it is too large or no UTF-8."""
    if len(content) > LARGEST:
        raise _wrong(say("The file is larger than %(count)s KiB.", count=LARGEST // 1024))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = content.count(b"\n", 0, fault.start) + 1
        raise _wrong(say("Line %(line)s is not UTF-8: save the file as CSV UTF-8.", line=line)) from None


def read(given: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the candidates of a text, and the lines that cannot be sent, each with the reason.

    The first line names the columns; one with an address is a candidate, and the columns are in the usual order.
    Raises Invalid for what is no table of candidates.
    """
    lines = _lines(str(given or "").removeprefix("\ufeff"))
    if not lines:
        raise _wrong(say("There is no line in it."))
    columns: list[str] = list(COLUMNS)
    if not any("@" in cell for cell in lines[0][1]):
        columns = [cell.strip().casefold().replace(" ", "_") for cell in lines.pop(0)[1]]
    if "email" not in columns:
        raise _wrong(say("No column is called email."))
    if not lines:
        raise _wrong(say("There is no line below the names of the columns."))
    if len(lines) > MOST:
        raise _wrong(say("There are more than %(count)s candidates: divide the file.", count=MOST))
    candidates, faults = [], []
    for number, cells in lines:
        row = {name: cell.strip() for name, cell in zip(columns, cells, strict=False) if name in COLUMNS}
        if long := [name for name, value in row.items() if len(value) > LONGEST[name]]:
            reason = say("%(column)s is longer than %(count)s.", column=long[0], count=LONGEST[long[0]])
            faults.append({"line": number, "email": row.get("email", "")[:254], "reason": reason})
        else:
            candidates.append({name: value for name, value in row.items() if value or name == "email"})
    return candidates, faults


def candidates(given: Any) -> list[dict[str, Any]]:
    """Return the candidates of a text alone."""
    return read(given)[0]


def _lines(given: str) -> list[tuple[int, list[str]]]:
    """Return the lines that have anything in them, by the number of their last."""
    first = given.lstrip().partition("\n")[0]
    reader = csv.reader(
        io.StringIO(given, newline=""), delimiter=max(DELIMITERS, key=first.count), strict=True
    )
    try:
        return [(reader.line_num, cells) for cells in reader if any(cell.strip() for cell in cells)]
    except csv.Error:
        raise _wrong(
            say("Line %(line)s cannot be read: its quotation marks do not match.", line=reader.line_num)
        ) from None


def _wrong(reason: str) -> Invalid:
    return Invalid.at("/candidates", reason)
