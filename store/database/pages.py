"""Keyset pages: opaque cursors, no OFFSET, no COUNT."""

import base64
import binascii
import functools
import json
from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, TypeVar
from uuid import UUID

import orjson
from sqlalchemy import BigInteger, Integer
from sqlalchemy.orm import InstrumentedAttribute

from rules import decimals
from rules.errors import Invalid
from rules.pages import Page

Row = TypeVar("Row")
Column = InstrumentedAttribute[Any]


def _integer(value: Any, *, bits: int) -> int:
    if type(value) is not int or abs(value) >= 1 << bits - 1:
        raise ValueError(value)
    return value


def _decimal(value: Any) -> Decimal:
    number = decimals.read(value)
    if number is None or abs(number.adjusted()) > 30:
        raise ValueError(value)
    return number


# How a key's value is read back from a cursor.
_READ: dict[type, Callable[[Any], Any]] = {
    UUID: UUID,
    Decimal: _decimal,
    str: str,
    datetime: datetime.fromisoformat,
}


@functools.cache
def _reader(key: Column) -> Callable[[Any], Any]:
    if isinstance(key.type, Integer):
        return functools.partial(_integer, bits=64 if isinstance(key.type, BigInteger) else 32)
    return _READ[key.type.python_type]  # which takes longer to ask for than everything else here


def past(moment: datetime) -> datetime:
    """Return the last moment that answers show as this one, by the millisecond: what is after it is shown as later."""
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000 + 999)


def containing(text: str) -> str:
    """Write the pattern of LIKE, with `/` as its escape, for texts that hold this one."""
    return "%" + text.replace("/", "//").replace("%", "/%").replace("_", "/_") + "%"


def cut(
    found: Sequence[Any], keys: Sequence[Column], page_size: int, *, backwards: bool, first: bool
) -> Page:
    """Make a page of its rows and the one after them."""
    rows, more = list(found[:page_size]), len(found) > page_size
    if backwards:
        rows.reverse()
    beyond, before = (True, more) if backwards else (more, not first)
    return Page(
        rows,
        next=encode(rows[-1], keys, backwards=False) if rows and beyond else None,
        previous=encode(rows[0], keys, backwards=True) if rows and before else None,
    )


def encode(row: Any, keys: Sequence[Column], *, backwards: bool) -> str:
    """Make the cursor that stands right after (or before) a row."""
    values = [getattr(row, key.key) for key in keys]
    written = [value if isinstance(value, int) else str(value) for value in values]
    text = orjson.dumps(["p" if backwards else "n", *written])
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


def decode(cursor: str, keys: Sequence[Column]) -> tuple[bool, list[Any]]:
    """Read a cursor back, or refuse it."""
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        direction, *values = json.loads(text)
        if direction not in ("n", "p"):
            raise ValueError(direction)
        read = [_reader(key)(value) for key, value in zip(keys, values, strict=True)]
    except (ValueError, TypeError, ArithmeticError, KeyError, AttributeError, RecursionError, binascii.Error):
        raise Invalid.at(
            "/query/cursor", "Not a cursor of this list; take it from `next` or `previous`."
        ) from None
    return direction == "p", read
