"""Identifiers."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, ColumnElement, Uuid, cast, extract, func
from uuid_utils import uuid7 as uuid7_fast
from uuid_utils.compat import uuid7


def new_id() -> UUID:
    """Return a UUIDv7: newer ids sort after older ones, so `id` is the keyset of every list."""
    return uuid7()


def new_hex() -> str:
    """Return the same as a text without its dashes, for what is only written."""
    return str(uuid7_fast().hex)


CLOSE = timedelta(seconds=10)  # within which a row's id and its `created_at` are made


def first_id(moment: ColumnElement[Any]) -> ColumnElement[UUID]:
    """Write in SQL the least id that may have been made at a moment: an id begins with its own, in ms."""
    ms = cast(extract("epoch", moment) * 1000, BigInteger)
    begins = func.lpad(func.to_hex(func.greatest(ms, 0)), 12, "0")
    return cast(func.rpad(begins, 32, "0"), Uuid)
