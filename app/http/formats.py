"""The string formats that the documents use: what is well-formed, and what a handler receives for it."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import InvalidOperation
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from rules import decimals
from rules.words import say
from schemas import emails

_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def moment(text: str) -> datetime:
    """Read an ISO 8601 moment with its offset, as UTC."""
    if not _MOMENT.fullmatch(text):
        raise ValueError(text)
    return datetime.fromisoformat(text.upper()).astimezone(UTC)


def day(text: str) -> date:
    """Read a calendar date."""
    if not _DATE.fullmatch(text):
        raise ValueError(text)
    return date.fromisoformat(text)


def identifier(text: str) -> UUID:
    """Read a UUID in its usual form."""
    if not _UUID.fullmatch(text):
        raise ValueError(text)
    return UUID(text)


def uri(text: str) -> str:
    """Read an absolute address."""
    parts = urlsplit(text)
    if not parts.scheme or not (parts.netloc or parts.path) or re.search(r"\s", text):
        raise ValueError(text)
    return text


READERS: dict[str, Callable[[Any], Any]] = {
    "date-time": moment,
    "date": day,
    "uuid": identifier,
    "decimal": decimals.parse,
    "email": emails.normal,
    "uri": uri,
}
EXPECTED = {
    "date-time": "Must be an ISO 8601 time with an offset, such as 2026-11-21T10:00:00Z.",
    "date": "Must be a date, such as 2026-11-21.",
    "uuid": "Must be a UUID.",
    "decimal": "Must be a decimal number, such as 72.50.",
    "email": say("Must be an email address."),
    "uri": "Must be an absolute URL.",
}


def _well_formed(read: Callable[[Any], Any]) -> Callable[[Any], bool]:
    def check(value: Any) -> bool:
        try:
            read(value)
        except (ValueError, OverflowError, InvalidOperation):
            return False
        return True

    return check


CHECKS = {name: _well_formed(read) for name, read in READERS.items()}
