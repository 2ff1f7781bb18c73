"""The audit log: who may act, by which way, and how rows are chained so that none can be changed unseen."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

CHANNELS = ("public_api", "candidate", "system", "cli", "area")
OUTCOMES = ("success", "error")

# Whose the rows are that belong to no organisation: what is done to the instance itself.
INSTANCE = UUID(int=0)

# Kept one by one nowhere: a sitting has hundreds of them, and they are kept with it.
UNTOLD = frozenset({"candidate.violation"})

GENESIS = bytes(32)  # what the first row of a chain follows
ANCHOR_ROWS, ANCHOR_SECONDS = 1_000, 600  # an anchor after so many rows, or so long after the last one


def outcome(status: int | None, error_code: str | None) -> str:
    """Say how something ended, by its status; what has none by its code."""
    return "error" if error_code or (status or 0) >= 400 else "success"


def link(previous: bytes, facts: Sequence[Any]) -> bytes:
    """Return the hash of a row: of the row before it and of all that the row says, its number first."""
    return hashlib.sha256(previous + _written(facts)).digest()


def _written(facts: Sequence[Any]) -> bytes:
    return json.dumps(facts, separators=(",", ":"), ensure_ascii=False).encode()


def statement(kind: str, facts: Sequence[Any]) -> bytes:
    """Return what is signed of a head or an anchor; `kind` keeps one from standing for the other."""
    return kind.encode() + b"\0" + _written(facts)


def cell(value: Any) -> str:
    """Write a value for a table of cells: what a spreadsheet would take for a formula is marked as text."""
    text = "" if value is None else str(value)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text
